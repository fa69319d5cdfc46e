import type { Knex } from 'knex';
import { createKeyedSemaphore } from '../../db/semaphore.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';
import type { PrincipalChanges } from '../principal-changes.ts';
import type { StoredUser, TenantIds } from '../store.ts';
import { createPasswordHasher, type PasswordHasher, type StoredPassword } from './password-hash.ts';
import { assertPassword, type PasswordUser } from './password-rules.ts';
import {
  createPasswordStore,
  type PasswordVersion,
  type Trier,
  type TryLimits,
  type TryWindow,
  type WrongTries,
} from './password-store.ts';
import { createSessionStore } from './session-store.ts';
import type { ConsoleSession } from './sessions.ts';

export interface PasswordTry {
  readonly email: string;
  readonly password: string;
  readonly organizationId?: number | undefined;
  /** Network that the log-in comes from. */
  readonly network: string;
}

type PasswordOutcome =
  | { readonly kind: 'right'; readonly user: TenantIds & PasswordVersion }
  /** `user` is the user whose password it is not, if there is one. */
  | { readonly kind: 'wrong'; readonly user: TenantIds | undefined };

interface PasswordChange {
  readonly user: TenantIds;
  readonly network: string;
  /**
   * Session of the caller; undefined if the request carries the user's secret, which counts for more than a password.
   */
  readonly session: ConsoleSession | undefined;
  readonly currentPassword?: string | undefined;
  readonly password: string;
}

/**
 * Stores a prepared password and ends all sessions of the user except `keptSession`.
 * @returns the number of ended sessions
 */
export type WritePassword = (via: Knex.Transaction, keptSession?: number) => Promise<number>;

/**
 * Log-in by password. After ten wrong tries in ten minutes, further tries wait. They are counted for one e-mail address from one network,
 * so that nobody can lock out users elsewhere. Tries for an address from all networks (100) and from a network for all addresses (50) are
 * counted too. But a network from which there was a recent log-in with the address waits only for its own tries.
 */
export type Passwords = ReturnType<typeof createPasswords>;

export interface PasswordParts {
  readonly principals: Pick<PrincipalChanges, 'change'>;
  readonly getUser: (accountId: number, userId: number) => Promise<StoredUser>;
  readonly hasher?: PasswordHasher;
}

/** Limits of one network: two of its tries at a time, so that those of others do not wait behind it. */
const OF_A_NETWORK = { atOnce: 2, mostWaiting: 32, waitMs: 5_000 };
const LIMITS: TryLimits = { both: 10, email: 100, network: 50 };
const WINDOW_MS = 10 * 60_000;
const TRUSTED_MS = 30 * 24 * 60 * 60_000;

export function createPasswords(
  platform: Pick<Platform, 'knex' | 'keys' | 'clock' | 'random' | 'shares'>,
  { principals, getUser, hasher = createPasswordHasher(platform) }: PasswordParts,
) {
  const { knex, keys, clock, shares } = platform;
  const store = createPasswordStore(knex);
  const sessions = createSessionStore(platform);
  const semaphores = createKeyedSemaphore({ ...OF_A_NETWORK, clock, refuse: refuseMore });

  const trierOf = (email: string, network: string): Trier => ({
    emailHash: keys.digest(email.normalize('NFKC').toLowerCase(), 'log_in_try.email_hash'),
    network,
  });

  const assertMayTry = async (via: Knex, trier: Trier, atMs: number) =>
    assertFewTries(await store.readTries(via, trier, LIMITS, windowAt(atMs)), atMs);

  /**
   * Counts a try as wrong before its password is checked. So concurrent tries cannot exceed the limit. A try that has to wait costs one
   * statement.
   */
  async function begin(trier: Trier): Promise<number> {
    const atMs = clock.now();
    await assertMayTry(knex, trier, atMs);
    return knex.transaction(async (via) => {
      await store.lockTries(via, trier);
      await assertMayTry(via, trier, atMs);
      return store.insertTry(via, trier, new Date(atMs));
    });
  }

  /** Checks the password of a user, who may not exist. A check that failed for another reason is no wrong try. */
  function tryPassword<Found extends StoredPassword | undefined>(
    trier: Trier,
    password: string,
    find: () => Promise<Found>,
  ): Promise<Tried<Found>> {
    return semaphores.run(trier.network, async () => {
      const id = await shares.lookUp('stranger', () => begin(trier));
      try {
        const found = await shares.lookUp('stranger', find);
        return { id, found, isRight: await hasher.verify(password, found) };
      } catch (error) {
        await store.forgetTry(id);
        throw error;
      }
    });
  }

  /** @returns the password that was checked; undefined where none had to be */
  async function assertCurrent(
    change: PasswordChange,
    { emailAddress }: StoredUser,
  ): Promise<PasswordVersion | undefined> {
    const { user, network, session, currentPassword } = change;
    const stored = await store.findPassword(user);
    if (session === undefined || stored.passwordHash === null) return undefined;
    if (currentPassword === undefined) {
      const message = 'The user already has a password. Send it as currentPassword.';
      throw new AppError('REQUEST_INVALID', message, { details: [{ path: CURRENT, message }] });
    }
    const trier = trierOf(emailAddress, network);
    const { id, isRight } = await tryPassword(trier, currentPassword, async () => stored);
    if (!isRight) throw wrongPassword();
    await store.noteGood(id, trier);
    return stored;
  }

  async function prepare(user: TenantIds, known: PasswordUser, password: string): Promise<WritePassword> {
    await assertPassword(password, known);
    const hash = await hasher.hash(password, user);
    return async (via, keptSession) => {
      await store.setPassword(via, user, hash, new Date(clock.now()));
      return sessions.removeOthers(via, user, keptSession);
    };
  }

  return {
    /**
     * Prepares a password for another or a new user. It becomes valid by `write` in the transaction that changes the user.
     * @throws AppError REQUEST_INVALID, OVERLOADED
     */
    prepare,

    /**
     * Returns whether any user of the installation has a password. This reveals nothing about an account.
     * @throws AppError OVERLOADED
     */
    exist: () => shares.lookUp('stranger', store.havePasswords),

    /**
     * Checks a password. The work and the number of statements are the same whether the user exists or not.
     * @throws AppError RATE_LIMITED without checking the password, OVERLOADED
     */
    check: async ({ email, password, organizationId, network }: PasswordTry): Promise<PasswordOutcome> => {
      const trier = trierOf(email, network);
      const { id, found, isRight } = await tryPassword(trier, password, () => store.findUser(email, organizationId));
      if (!isRight || found?.mayCall !== true) {
        // A wrong password of a user has an entry in the audit log, and one of an unknown user has this row.
        if (found === undefined) await store.noteUnknown(id);
        return { kind: 'wrong', user: found };
      }
      await store.noteGood(id, trier);
      const { passwordHash } = found;
      if (passwordHash !== null && !hasher.isCurrent(passwordHash))
        await store.replaceHash(found, await hasher.hash(password, found));
      return { kind: 'right', user: found };
    },

    /**
     * Changes the password and ends all other sessions of the user, on every process.
     * @returns the number of ended sessions
     * @throws AppError REQUEST_INVALID, RATE_LIMITED, OVERLOADED; FORBIDDEN if the current password is wrong, or by now another one
     */
    set: async (change: PasswordChange) => {
      const { user, session, password } = change;
      const known = await getUser(user.accountId, user.userId);
      const current = await assertCurrent(change, known);
      const write = await prepare(user, known, password);
      const replace = async (via: Knex.Transaction) => {
        if (current !== undefined && !(await store.lockPassword(via, current))) throw wrongPassword();
        return write(via, session?.id);
      };
      return principals.change(user.organizationId, replace, (endedSessions) => ({
        targetId: String(user.userId),
        changes: { password: 'set', endedSessions },
      }));
    },

    /**
     * Deletes tries that no longer count, and the passwords of deleted users.
     * @returns number of rows
     */
    purge: async (at: Date) => {
      const tries = await store.purgeTries(windowAt(at.getTime()));
      return tries + (await store.purgePasswords());
    },
  };
}

interface Tried<Found> {
  /** The id of the row that counts the try. */
  readonly id: number;
  readonly found: Found;
  readonly isRight: boolean;
}

const CURRENT = '/body/currentPassword';

function wrongPassword(): AppError {
  const details = [{ path: CURRENT, message: 'is wrong' }];
  return new AppError('FORBIDDEN', 'The current password is wrong.', { details });
}

function refuseMore(): AppError {
  const message = 'Too many log-ins from this network are under way. Try again in a moment.';
  return new AppError('RATE_LIMITED', message, { retryAfterSeconds: 1 });
}

function windowAt(atMs: number): TryWindow {
  return { since: new Date(atMs - WINDOW_MS), trustedSince: new Date(atMs - TRUSTED_MS) };
}

/** @throws AppError RATE_LIMITED until the first of those that are too many is forgotten */
function assertFewTries({ both, email, network, isTrusted }: WrongTries, atMs: number): void {
  const counted = isTrusted ? [both] : [both, email, network];
  const lasts = counted.flatMap((last) => (last === null ? [] : [last.getTime()]));
  if (lasts.length === 0) return;
  const retryAfterSeconds = Math.ceil((Math.max(...lasts) + WINDOW_MS - atMs) / 1000);
  const budget = { limit: LIMITS.both, remaining: 0, resetSeconds: retryAfterSeconds };
  const message = `Too many wrong passwords. Try again in ${retryAfterSeconds} s.`;
  throw new AppError('RATE_LIMITED', message, { retryAfterSeconds, budget });
}
