import { AppError } from '../../errors.ts';
import type { Connector } from '../contract.ts';

/** How an instance with `simulator: true` reaches its provider's simulator. */
export interface SimulatorRoute {
  /** Tells the simulator which host was meant: the value of `forwarded` (RFC 7239). */
  readonly forwarded: (provider: URL) => string;
  /** The simulator's URL of a provider's URL. */
  readonly enter: (provider: URL) => URL;
  /** The path and query at the provider of a URL that a simulator answered with; undefined when it is not the simulator's. */
  readonly leave: (url: URL) => string | undefined;
}

/** @throws AppError REQUEST_INVALID where no simulators run. */
export function createSimulatorRoute(
  simulatorsUrl: string | undefined,
  connector: Pick<Connector, 'key' | 'name'>,
): SimulatorRoute {
  if (simulatorsUrl === undefined) {
    throw new AppError(
      'REQUEST_INVALID',
      `Simulators are not running here: set "simulator" to false to reach ${connector.name} itself.`,
    );
  }
  const root = new URL(`${simulatorsUrl.replace(/\/+$/, '')}/${connector.key}`);
  return {
    forwarded: ({ host }) => `host=${quoteHost(host)}`,
    enter: ({ pathname, search }) => new URL(root.href + pathname + search),
    leave: ({ origin, pathname, search }) =>
      origin === root.origin && pathname.startsWith(`${root.pathname}/`)
        ? pathname.slice(root.pathname.length) + search
        : undefined,
  };
}

/** A colon is not allowed in a bare value of `forwarded`. */
function quoteHost(host: string): string {
  return host.includes(':') ? `"${host}"` : host;
}
