import { defined } from '../../../connector/kit/kinds.ts';
import { assertAllStorable } from '../../../db/storable.ts';
import { AppError, type ErrorDetail, inWords, pointer } from '../../../errors.ts';
import { isJsonObject } from '../../../numbers/exact-json.ts';
import { MASK } from '../../configuration.ts';
import { parseRedirectUrl } from '../addresses.ts';
import type { ProxyRow } from './proxy-store.ts';

/** Client credentials with their own redirect URL. They belong to an account. If they are shared, its whole organization may use them. */
export interface OAuthProxy extends Omit<ProxyRow, 'apiSecret'> {
  /** The encrypted client secret. */
  readonly sealedSecret: string;
  /** The redirect URL to register at the provider. */
  readonly proxyUrl: string;
}

export interface NewProxy {
  readonly name: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly configuration?: string | undefined;
  readonly shared?: boolean | undefined;
}

/** Changes of a proxy. Its URL never changes, so applications at providers keep their registered callback. */
export interface ProxyChanges extends Partial<NewProxy> {
  /** The id and the URL cannot change. They are accepted unchanged, so that a proxy can be sent back as it was read. */
  readonly id?: number | undefined;
  readonly proxyUrl?: string | undefined;
}

/**
 * Asserts that fixed values do not change.
 * @throws AppError REQUEST_INVALID that names them
 */
export function assertFixed(proxy: OAuthProxy, changes: ProxyChanges): void {
  const faults = (['id', 'proxyUrl'] as const)
    .filter((member) => changes[member] !== undefined && changes[member] !== proxy[member])
    .map((member) => ({ path: pointer('body', member), message: `${member} of an OAuth proxy cannot change.` }));
  refuse(faults);
}

/** Reads the new values of a proxy. A mask keeps the stored secret. @throws AppError REQUEST_INVALID */
export function readChanges({ name, apiKey, apiSecret, configuration, shared }: ProxyChanges): Partial<NewProxy> {
  const given = defined({ name: name?.trim(), apiKey, configuration });
  assertAllStorable(given);
  return {
    ...given,
    ...(shared !== undefined && { shared }),
    ...(apiSecret !== undefined && apiSecret !== MASK && { apiSecret }),
  };
}

/**
 * Asserts that a stored secret is used only with its client id, and sent only to the origins that it was given for. With others it must be
 * sent again. Otherwise a caller who may change a proxy could read the masked secret at a server of their own.
 * @throws AppError REQUEST_INVALID that names what to send
 */
export function assertSecretMayStay(
  before: Pick<OAuthProxy, 'apiKey' | 'configuration'>,
  given: Partial<NewProxy>,
  stored: OAuthProxy['configuration'],
): void {
  const { apiKey = before.apiKey, apiSecret, configuration } = given;
  const origins = readTokenOrigins(before.configuration, 'configuration');
  const isNew = (origin: string) => !origins.includes(origin);
  const hasNewOrigins = readTokenOrigins(configuration ?? stored, '/body/configuration').some(isNew);
  const faults: ErrorDetail[] = [];
  if (apiSecret === undefined && apiKey !== before.apiKey) faults.push(missing('apiSecret', BELONGS));
  if (apiSecret === undefined && hasNewOrigins) faults.push(missing('apiSecret', GOES));
  if (configuration === undefined && hasNewOrigins) faults.push(missing('configuration', NOT_IN_FORCE));
  refuse(faults);
}

const BELONGS = 'it belongs to the apiKey, which changes.';
const GOES = 'Causeway sends it to the tokenOrigins, which change.';
const NOT_IN_FORCE = 'the tokenOrigins that are stored were not in force.';

function missing(member: keyof NewProxy, why: string): ErrorDetail {
  return { path: pointer('body', member), message: `${member} must be sent again: ${why}` };
}

function refuse(faults: readonly ErrorDetail[]): void {
  const [first] = faults;
  if (first !== undefined) throw new AppError('REQUEST_INVALID', first.message, { details: faults });
}

/** The only member of a proxy's `configuration` that Causeway reads. */
const TOKEN_ORIGINS = 'tokenOrigins';

/**
 * Reads the origins in a proxy's `configuration`, a JSON object as text.
 * @param path the JSON pointer of the configuration in the request
 * @throws AppError REQUEST_INVALID
 */
export function readTokenOrigins(configuration: string, path: string): readonly string[] {
  const settings = parseObject(configuration);
  if (settings === undefined) throw invalid(path, `${inWords(path)} must be a text that holds a JSON object.`);
  const origins = settings[TOKEN_ORIGINS] ?? [];
  const read = Array.isArray(origins) ? origins.map(readOrigin) : [undefined];
  if (read.every((origin) => origin !== undefined)) return read;
  throw invalid(
    path,
    `${TOKEN_ORIGINS} in ${inWords(path)} must be a list of origins, such as https://acme.example.com.`,
  );
}

function readOrigin(text: unknown): string | undefined {
  const url = typeof text === 'string' ? parseRedirectUrl(text) : undefined;
  return url?.href === `${url?.origin}/` ? url?.origin : undefined;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function invalid(path: string, message: string): AppError {
  return new AppError('REQUEST_INVALID', message, { details: [{ path, message }] });
}
