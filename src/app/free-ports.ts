import { createServer, type Server } from 'node:net';
import type { ServiceConfig } from '../config/index.ts';
import { SIMULATORS_HOST } from '../connector/simulators/index.ts';
import { StartError } from '../errors.ts';

/** A port on which a process will listen, with the variable that sets it. */
export interface WantedPort {
  readonly variable: 'PORT' | 'SIMULATORS_PORT' | 'METRICS_PORT';
  readonly host: string;
  readonly port: number;
}

/** Returns the ports of a configuration. A worker serves no simulators. */
export function wantedPorts({ host, port, metricsPort, simulatorsPort, role }: ServiceConfig): readonly WantedPort[] {
  return [
    { variable: 'PORT', host, port },
    ...(simulatorsPort === undefined || role === 'worker'
      ? []
      : [{ variable: 'SIMULATORS_PORT', host: SIMULATORS_HOST, port: simulatorsPort } as const]),
    ...(metricsPort === undefined ? [] : [{ variable: 'METRICS_PORT', host, port: metricsPort } as const]),
  ];
}

/**
 * Asserts that all ports are free, by listening on them briefly, before anything else is started.
 * @throws StartError that names the variable
 */
export async function assertPortsFree(ports: readonly WantedPort[]): Promise<void> {
  const taken: Server[] = [];
  try {
    for (const wanted of ports) taken.push(await take(wanted));
  } finally {
    await Promise.all(taken.map((server) => new Promise((closed) => server.close(closed))));
  }
}

function take(wanted: WantedPort): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(describeListenError(error, wanted)));
    server.listen(wanted.port, wanted.host, () => resolve(server));
  });
}

const REASONS: Readonly<Record<string, (wanted: WantedPort) => string>> = {
  EADDRINUSE: ({ variable, host, port }) =>
    `${variable} ${port} is in use on ${host}; stop what listens there, or set ${variable} to another port (with 0 the service chooses a free one)`,
  EACCES: ({ variable, port }) =>
    `${variable} ${port} needs rights that this user does not have; set it to 1024 or above`,
  EADDRNOTAVAIL: ({ host }) => `HOST ${host} is not an address of this machine`,
  ENOTFOUND: ({ host }) => `HOST ${host} has no address`,
  EAI_AGAIN: ({ host }) => `HOST ${host} cannot be resolved at the moment`,
  EAFNOSUPPORT: ({ host }) => `HOST ${host} belongs to an address family that this machine does not have`,
};

/** Returns a StartError that names the variable and what to do. Other errors are returned unchanged. */
export function describeListenError(error: unknown, wanted: WantedPort): unknown {
  const describe = REASONS[String(Object(error).code)];
  return describe === undefined ? error : new StartError(describe(wanted), { cause: error });
}
