import { LRUCache } from 'lru-cache';
import { atMost } from '../../bounded.ts';
import type { ProviderCall, ProviderClient } from '../../connector/client/index.ts';
import type { Operation, WebhookCall, Webhooks } from '../../connector/contract.ts';
import { AppError, type ErrorCode, isAppError } from '../../errors.ts';
import type { Instance } from '../../instances/instance.ts';
import type { Platform } from '../../platform.ts';

/**
 * Finds the key that a call was signed with. It is read from the provider under the name in the call; undefined if
 * the provider knows no such key.
 * @throws AppError OVERLOADED when it cannot be read now
 */
export type FindSigningKey = (
  target: { readonly instance: Instance; readonly webhooks: Webhooks },
  call: WebhookCall,
) => Promise<string | undefined>;

interface SigningKeyNeighbours {
  readonly client: Pick<ProviderClient, 'execute'>;
  readonly tokensOf: (instance: Instance) => ProviderCall['tokens'];
}

const KEEP_MS = 10 * 60_000;
const MOST_KEPT = 5_000;
const READ_MS = 8_000;
/** Everybody who knows the address of an instance can name keys, so this limits how many are read at a time for one instance. */
const AT_A_TIME = 4;
const RETRY_SECONDS = 30;

/** The errors of providers for a key that does not exist. A repetition would change nothing. */
const REFUSALS = [
  'NOT_FOUND',
  'PROVIDER_PROTOCOL',
  'PROVIDER_REJECTED',
  'INSTANCE_CREDENTIALS_FAILED',
  'CONFLICT',
] as const satisfies readonly ErrorCode[];

/** A key, or that there is none under its name: also that is kept, as who makes names up can make up many. */
interface Found {
  readonly key: string | undefined;
}

export function createSigningKeys(
  { clock }: Pick<Platform, 'clock'>,
  { client, tokensOf }: SigningKeyNeighbours,
): FindSigningKey {
  const kept = new LRUCache<string, Found>({
    ...atMost(MOST_KEPT),
    ttl: KEEP_MS,
    perf: { now: clock.steady },
    ttlResolution: 0,
  });
  const underWay = new Map<string, number>();

  async function read(instance: Instance, operation: Operation<undefined, string>): Promise<Found> {
    const late = new AbortController();
    const endWait = clock.after(READ_MS, () => late.abort(new Error('A signing key took too long to read.')));
    const { connector, config, accountId } = instance;
    try {
      const as = { connector, config, accountId, signal: late.signal, tokens: tokensOf(instance) };
      return { key: await client.execute(operation, undefined, as) };
    } catch (error) {
      if (isAppError(error, ...REFUSALS)) return { key: undefined };
      throw new AppError('OVERLOADED', 'The key of the signature cannot be read at the moment. Try again later.', {
        cause: error,
        retryAfterSeconds: RETRY_SECONDS,
      });
    } finally {
      endWait();
    }
  }

  return async ({ instance, webhooks: { signingKey } }, call) => {
    const request = signingKey?.request(call, instance.config);
    if (signingKey === undefined || request === undefined) return undefined;
    const owner = `${instance.accountId}:${instance.id}:${instance.settingsVersion}`;
    const name = `${owner}:${JSON.stringify(request)}`;
    const known = kept.get(name);
    if (known !== undefined) return known.key;
    const reads = underWay.get(owner) ?? 0;
    if (reads >= AT_A_TIME) {
      const message =
        'Too many requests for this instance name different signing keys at the same time. Try again later.';
      throw new AppError('OVERLOADED', message, { retryAfterSeconds: RETRY_SECONDS });
    }
    underWay.set(owner, reads + 1);
    try {
      const found = await read(instance, { request: () => request, read: signingKey.read });
      kept.set(name, found);
      return found.key;
    } finally {
      const left = (underWay.get(owner) ?? 1) - 1;
      if (left === 0) underWay.delete(owner);
      else underWay.set(owner, left);
    }
  };
}
