import type { ProviderCall, ProviderClient } from '../connector/client/index.ts';
import type { CodeExchange, Config, Connector } from '../connector/contract.ts';
import { AppError, isAppError, pointer } from '../errors.ts';
import { readShown } from './credential-change.ts';

/** The code of a `custom` authentication is exchanged once for the token, which is stored. */

interface Settings {
  readonly given: Readonly<Record<string, unknown>>;
  readonly base: Config;
}

/**
 * Returns the given and earlier settings without the member that the other replaces: a new code removes the token,
 * anything else removes the code. Codes are not stored, so a mask counts as no code.
 */
export function withCodeForToken({ code, token }: CodeExchange, { given, base }: Settings): Settings {
  const key = readShown(given).has(code) ? token : code;
  return { given: without(given, key), base: without(base, key) };
}

function without(settings: Config, key: string): Config {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => name !== key));
}

/**
 * Sends the code once, because a provider may revoke the token of a code that is sent twice.
 * @returns the settings with the token in place of the code
 * @throws AppError PROVIDER_CREDENTIALS_INVALID when the provider rejects the code; PROVIDER_* when it does not respond
 */
export async function exchangeCode(
  client: ProviderClient,
  exchange: CodeExchange,
  call: ProviderCall,
): Promise<Config> {
  const { config } = call;
  const { read } = exchange;
  const request = () => ({ ...exchange.request(config), anonymous: true });
  try {
    const token = await client.execute({ request, read }, undefined, { ...call, retry: false });
    return Object.freeze({ ...without(config, exchange.code), [exchange.token]: token });
  } catch (error) {
    throw describeExchangeFailure(call.connector, exchange, error);
  }
}

function describeExchangeFailure({ name }: Connector, { code }: CodeExchange, error: unknown): unknown {
  if (!isAppError(error)) return error;
  const { details, providerMessage, retryAfterSeconds } = error;
  const said = { cause: error, ...(providerMessage !== undefined && { providerMessage }) };
  if (REFUSALS.has(error.code)) {
    const message = `${name} refuses the code in '${code}' or the other settings. A code can be used once, and only for a short time. Get a new one. Nothing was stored.`;
    const refused = [{ path: pointer('body', 'configuration', code), message: 'is refused' }];
    return new AppError('PROVIDER_CREDENTIALS_INVALID', message, { ...said, details: refused });
  }
  if (!MAY_HAVE_USED_IT.has(error.code)) return error;
  const message = `${error.message} The code in '${code}' may be used up. If it is refused, get a new one. Nothing was stored.`;
  return new AppError(error.code, message, {
    ...said,
    ...(details && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Some providers report a wrong code or secret as "not found" or "forbidden". */
const REFUSALS: ReadonlySet<string> = new Set(['INSTANCE_CREDENTIALS_FAILED', 'PROVIDER_REJECTED', 'NOT_FOUND']);

const MAY_HAVE_USED_IT: ReadonlySet<string> = new Set([
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_TIMEOUT',
  'PROVIDER_PROTOCOL',
]);

/**
 * Returns whether a call failed for a temporary reason: the provider is down, slow or limits the rate. After an
 * exchange, such a failure says nothing about the settings, and they must be kept because the code is spent.
 */
export function isPassing(error: unknown): boolean {
  return isAppError(error, 'PROVIDER_UNAVAILABLE', 'PROVIDER_TIMEOUT', 'PROVIDER_RATE_LIMITED');
}
