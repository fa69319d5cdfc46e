import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { encryptionContext } from '../../../db/encrypted-columns.ts';
import { DecryptionError, type Keyring } from '../../../db/keyring.ts';
import type { Notifier } from '../../../db/notifier.ts';
import { AppError } from '../../../errors.ts';
import { planMarginMs } from './lifetime.ts';
import type { NewTokens, TokenKey, TokenRow, TokenStore } from './token-store.ts';

/** The tokens of an instance in clear. Times are on the process's monotonic clock; infinite where there is none. */
export interface Held {
  readonly generation: number;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** From then on a refresh makes sense; before everything when the tokens were refused, so that no path overlooks it. */
  readonly refreshAtMs: number;
  /** From then on the provider may think the access token has ended. */
  readonly trustedUntilMs: number;
  readonly expiresAtMs: number;
  /** Before that nobody asks the provider again. */
  readonly retryAtMs: number;
  readonly interrupted: boolean;
  readonly failures: number;
  readonly refusedReason: string | undefined;
}

interface Reload {
  readonly name: string;
  isOutdated: boolean;
}

interface Secrets {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
}

export interface HeldPorts {
  readonly store: Pick<TokenStore, 'find'>;
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

export type HeldTokens = ReturnType<typeof createHeldTokens>;

const KEPT_INSTANCES = 10_000;
/** Changes are announced; this is for an announcement that was lost. */
const KEEP_MS = 30_000;
const TOPIC = 'oauth_token';

/** Tokens in memory, as long as nobody says that they changed: a call with them costs no query and no decryption. */
export function createHeldTokens({ store, keyring, notifier, clock }: HeldPorts) {
  const kept = new LRUCache<string, { readonly held: Held; readonly readAtMs: number }>({ max: KEPT_INSTANCES });
  const reads = new Map<string, Promise<Held | undefined>>();
  const watchers = new Map<string, Set<() => void>>();
  // What was read before a change of the same tokens was announced must not be kept after it; what changes elsewhere is no concern of theirs.
  const reloads = new Set<Reload>();

  function outdate(isMeant: (name: string) => boolean): void {
    for (const reload of reloads) if (isMeant(reload.name)) reload.isOutdated = true;
  }

  function forget(name: string): void {
    outdate((reloading) => reloading === name);
    kept.delete(name);
    reads.delete(name);
  }

  notifier.subscribe(TOPIC, (payload) => {
    const [accountId, id, generation] = payload.split(':');
    const name = `${accountId}:${id}`;
    const isNews = generation === undefined || Number(generation) > (kept.get(name)?.held.generation ?? 0);
    if (isNews) forget(name);
    for (const wake of watchers.get(name) ?? []) wake();
  });
  notifier.onGap(() => {
    outdate(() => true);
    kept.clear();
    reads.clear();
    for (const wakes of watchers.values()) for (const wake of wakes) wake();
  });

  function peek(key: TokenKey): Held | undefined {
    const entry = kept.get(nameOf(key));
    return entry !== undefined && clock() - entry.readAtMs < KEEP_MS ? entry.held : undefined;
  }

  function keep(key: TokenKey, held: Held): void {
    kept.set(nameOf(key), { held, readAtMs: clock() });
  }

  function keepNew(key: TokenKey, held: Held): void {
    forget(nameOf(key));
    keep(key, held);
  }

  async function reload(key: TokenKey): Promise<Held | undefined> {
    const reloading: Reload = { name: nameOf(key), isOutdated: false };
    reloads.add(reloading);
    try {
      const row = await store.find(key);
      if (row === undefined) return undefined;
      const held = decode(key, row);
      if (!reloading.isOutdated) keep(key, held);
      return held;
    } finally {
      reloads.delete(reloading);
    }
  }

  /** From memory, or by one query for all who ask meanwhile. */
  function read(key: TokenKey): Promise<Held | undefined> {
    const held = peek(key);
    if (held !== undefined) return Promise.resolve(held);
    const name = nameOf(key);
    const running = reads.get(name);
    if (running !== undefined) return running;
    const reading = reload(key).finally(() => {
      if (reads.get(name) === reading) reads.delete(name);
    });
    reads.set(name, reading);
    return reading;
  }

  function decode(key: TokenKey, row: TokenRow): Held {
    try {
      const secrets: Secrets = JSON.parse(keyring.decrypt(row.tokens, contextOf(key)));
      return hold(secrets, row);
    } catch (cause) {
      if (!(cause instanceof DecryptionError)) throw cause;
      const message = `The stored tokens of instance ${key.id} cannot be read. Authenticate it again.`;
      throw new AppError('INSTANCE_CREDENTIALS_FAILED', message, { cause });
    }
  }

  function hold({ accessToken, refreshToken }: Secrets, row: Omit<TokenRow, 'tokens'>): Held {
    const nowMs = clock();
    const { generation, interrupted, failures } = row;
    const refusedReason = row.refusedReason ?? undefined;
    const expiresAtMs = nowMs + (row.expiresInMs ?? Number.POSITIVE_INFINITY);
    const refreshAtMs = nowMs + (row.refreshInMs ?? row.expiresInMs ?? Number.POSITIVE_INFINITY);
    return {
      generation,
      accessToken,
      refreshToken,
      refreshAtMs: refusedReason === undefined ? refreshAtMs : Number.NEGATIVE_INFINITY,
      trustedUntilMs: expiresAtMs - planMarginMs(row),
      expiresAtMs,
      retryAtMs: nowMs + (row.retryInMs ?? Number.NEGATIVE_INFINITY),
      interrupted,
      failures,
      refusedReason,
    };
  }

  return {
    peek,
    keepNew,
    read,
    /** From the database, whatever is in memory. */
    reload,
    decode,

    /** Tokens that were just stored, as if they had been read back. */
    holdNew: (secrets: Secrets, row: Omit<NewTokens, 'tokens'> & { readonly generation: number }): Held =>
      hold(secrets, { ...row, interrupted: false, failures: 0, retryInMs: null, refusedReason: null }),

    encode: (key: TokenKey, secrets: Secrets): string => keyring.encrypt(JSON.stringify(secrets), contextOf(key)),

    /** Forgets them here at once, and in every process; with `via` at its commit. */
    changed: async (key: TokenKey, via?: Knex): Promise<void> => {
      forget(nameOf(key));
      await notifier.publish(TOPIC, nameOf(key), via);
    },

    /** Tells every process that there is a newer generation; whoever has it keeps it. */
    announce: (key: TokenKey, generation: number): Promise<void> =>
      notifier.publish(TOPIC, `${nameOf(key)}:${generation}`),

    /** Resolves at the next announcement about these tokens; `end` when nobody waits any more. */
    watch: (key: TokenKey): { readonly changed: Promise<void>; readonly end: () => void } => {
      const name = nameOf(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      const wakes = watchers.get(name) ?? new Set();
      watchers.set(name, wakes.add(resolve));
      const end = () => {
        wakes.delete(resolve);
        if (wakes.size === 0 && watchers.get(name) === wakes) watchers.delete(name);
      };
      return { changed: promise, end };
    },
  };
}

function nameOf({ accountId, id }: TokenKey): string {
  return `${accountId}:${id}`;
}

function contextOf({ accountId, id }: TokenKey): string {
  return encryptionContext('oauth_token.tokens', accountId, id);
}
