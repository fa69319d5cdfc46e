import type { SimulatorRoute } from '../../connector/client/url.ts';
import type { Config, OAuthValue } from '../../connector/contract.ts';
import { pointer } from '../../errors.ts';
import { ExactNumber } from '../../numbers/exact-json.ts';
import { invalidConfiguration } from '../configuration.ts';
import { isOfProvider, parseRedirectUrl } from './addresses.ts';
import type { OAuthConnector } from './fields.ts';

/** The error of a declared value that is missing or invalid. Callers may read its message, which does not contain the value. */
export class ValueFault extends Error {
  override readonly name = 'ValueFault';
  /** The provider's name of the value. */
  readonly member: string;

  constructor(member: string, message: string) {
    super(message);
    this.member = member;
  }
}

interface ValueSource {
  readonly connector: OAuthConnector;
  readonly config: Config;
  readonly from: OAuthValue['from'];
  /** Values from the provider, under its own names. */
  readonly said: Readonly<Record<string, unknown>>;
  /** The provider's address that sent the values. An address of the simulator is converted to it. */
  readonly origin: URL;
  readonly simulator: SimulatorRoute | undefined;
  /** Whether the provider must have sent all values. If false, earlier values stay. */
  readonly complete: boolean;
}

/** Returns the values that the connector declares for this source, by configuration key. @throws ValueFault */
export function readValues(source: ValueSource): Readonly<Record<string, string>> {
  const declared = Object.entries(source.connector.auth.values ?? {}).filter(([, { from }]) => from === source.from);
  return Object.fromEntries(
    declared.flatMap(([key, value]) => {
      const text = readText(source.said[value.name]);
      if (text !== undefined && isAcceptable(source, value, text)) return [[key, readValue(source, value, text)]];
      if (source.complete && value.required !== false) throw new ValueFault(value.name, `'${value.name}' is missing`);
      return [];
    }),
  );
}

/**
 * Whether to take a value. When an earlier value stays, a bad new one is ignored, because an error would lose the tokens that came with it,
 * and the old ones may be used up.
 */
function isAcceptable(source: ValueSource, value: OAuthValue, text: string): boolean {
  if (source.complete) return true;
  try {
    readValue(source, value, text);
    return true;
  } catch (error) {
    if (error instanceof ValueFault) return false;
    throw error;
  }
}

function readText(said: unknown): string | undefined {
  if (typeof said === 'number' || said instanceof ExactNumber) return String(said);
  return typeof said === 'string' && said !== '' ? said : undefined;
}

function readValue(source: ValueSource, value: OAuthValue, text: string): string {
  const read = value.type === 'url' ? readUrl(source, value, text) : text;
  if (value.pattern === undefined || isWhollyMatched(value.pattern, read)) return read;
  throw new ValueFault(value.name, `'${value.name}' is not as expected`);
}

function isWhollyMatched(pattern: RegExp, text: string): boolean {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(text)?.[0] === text;
}

/**
 * Asserts that the values of a caller have only hosts of the connector.
 * @throws AppError REQUEST_INVALID
 */
export function assertGivenValues(connector: OAuthConnector, config: Config): void {
  const faults = Object.entries(connector.auth.values ?? {}).flatMap(([key, { type }]) => {
    const value = config[key];
    if (type !== 'url' || value === undefined) return [];
    const url = parseRedirectUrl(String(value));
    if (url !== undefined && isOfProvider(connector, config, url)) return [];
    return [
      { path: pointer('body', 'configuration', key), message: `'${key}' must lead to a host of ${connector.name}.` },
    ];
  });
  if (faults.length > 0) throw invalidConfiguration(connector, faults);
}

/** Bearer tokens will be sent there, so it must be the provider's own address, with nothing that hides another one. */
function readUrl({ connector, config, origin, simulator }: ValueSource, { name }: OAuthValue, text: string): string {
  const given = parseRedirectUrl(text);
  if (given === undefined) throw new ValueFault(name, `'${name}' is not a URL that can be used`);
  const url = simulator === undefined ? given : leaveSimulator(simulator, given, origin);
  if (url.protocol !== 'https:' && url.protocol !== origin.protocol) {
    throw new ValueFault(name, `'${name}' is an address without TLS`);
  }
  if (isOfProvider(connector, config, url)) return url.href.replace(/\/+$/, '');
  throw new ValueFault(name, `'${name}' leads to the host ${url.host}, which is not a host of ${connector.name}`);
}

function leaveSimulator(simulator: SimulatorRoute, url: URL, origin: URL): URL {
  // The simulator's own root stands without a slash, as the addresses of providers do.
  const path = simulator.leave(url.pathname.endsWith('/') ? url : new URL(`${url.href}/`));
  return path === undefined ? url : new URL(origin.origin + path);
}
