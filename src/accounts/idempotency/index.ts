import { createHash } from 'node:crypto';
import { encryptionContext } from '../../db/encrypted-columns.ts';
import { AppError, type ErrorCode, isAppError } from '../../errors.ts';
import { parseJson } from '../../numbers/exact-json.ts';
import type { Platform } from '../../platform.ts';
import { createIdempotencyStore, type IdempotencyKey } from './store.ts';

/** A request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly accountId: number;
  readonly userId: number;
  readonly key: string;
  /** Identifies a request: operation, address and body. */
  readonly fingerprint: string;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

const KEEP_HOURS = 24;

/** Errors after which it is unknown whether the provider did the work. Doing it again could do it twice. */
const OUTCOME_UNKNOWN: readonly ErrorCode[] = [
  'PROVIDER_TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_PROTOCOL',
  'INTERNAL',
];

type Stored<Body> =
  | { readonly kind: 'answer'; readonly body: Body }
  | { readonly kind: 'failure'; readonly code: ErrorCode; readonly message: string };

export function createIdempotency({ knex, keyring, keys }: Pick<Platform, 'knex' | 'keyring' | 'keys'>) {
  const store = createIdempotencyStore(knex);

  async function remember(key: IdempotencyKey, status: number, stored: Stored<unknown>): Promise<void> {
    await store.finish(key, status, keyring.encrypt(JSON.stringify(stored), contextOf(key)));
  }

  async function run<Body>(key: IdempotencyKey, work: () => Promise<Body>): Promise<Body> {
    try {
      const body = await work();
      await remember(key, 200, { kind: 'answer', body });
      return body;
    } catch (error) {
      if (isAppError(error) && !OUTCOME_UNKNOWN.includes(error.code)) await store.release(key);
      else await remember(key, 500, failureOf(error));
      throw error;
    }
  }

  /** Returns a keyed hash of a request. Bodies contain passwords, and a reader of the table could test guesses against an unkeyed hash. */
  function hashOf(fingerprint: string): Buffer {
    return keys.digest(fingerprint, 'idempotency_record.request_hash');
  }

  /**
   * Returns whether a stored hash belongs to the request. Records live for 24 hours, so after an upgrade there still are records with the
   * unkeyed hash of an earlier release.
   */
  function isSame(requestHash: Buffer, fingerprint: string): boolean {
    return requestHash.equals(hashOf(fingerprint)) || requestHash.equals(sha256(fingerprint));
  }

  async function recall<Body>(key: IdempotencyKey, fingerprint: string): Promise<Body> {
    const row = await store.find(key);
    if (row === undefined)
      throw new AppError(
        'CONFLICT',
        'The first request with this Idempotency-Key has just failed. Send the request again.',
      );
    if (!isSame(row.requestHash, fingerprint)) {
      throw new AppError(
        'CONFLICT',
        'This Idempotency-Key was used for another request in the last 24 hours. Send a new key.',
      );
    }
    if (row.state === 'running' || row.response === null) {
      throw new AppError(
        'CONFLICT',
        'The first request with this Idempotency-Key has not finished. Try again later. If it never finishes, its outcome is unknown.',
      );
    }
    // Authenticated by the keyring: it is what `run` stored.
    const stored = parseJson(keyring.decrypt(row.response, contextOf(key))) as Stored<Body>;
    if (stored.kind === 'answer') return stored.body;
    throw new AppError(
      stored.code,
      `${stored.message} This is the first result of this Idempotency-Key; the request was not sent again.`,
    );
  }

  return {
    /**
     * Does the work at most once per key.
     * @returns the result of the first call, for 24 hours
     * @throws AppError CONFLICT when the key belongs to another request, or when its request is running or was cut off
     */
    once: async <Body>(
      { accountId, userId, key: text, fingerprint }: KeyedRequest,
      work: () => Promise<Body>,
    ): Promise<Body> => {
      const key = { accountId, userId, keyHash: sha256(text) };
      const isClaimed = await store.claim(key, hashOf(fingerprint), KEEP_HOURS);
      return isClaimed ? run(key, work) : recall(key, fingerprint);
    },
    /**
     * Deletes the records that were created before the given time.
     * @returns the number of deleted records
     */
    purge: store.purge,
    /** Deletes a batch of an account's records. */
    removeSome: store.removeSome,
  };
}

function failureOf(error: unknown): Stored<never> {
  if (isAppError(error)) return { kind: 'failure', code: error.code, message: error.message };
  return { kind: 'failure', code: 'INTERNAL', message: 'The request failed here.' };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function contextOf({ accountId, userId, keyHash }: IdempotencyKey): string {
  return encryptionContext('idempotency_record.response', accountId, userId, keyHash);
}
