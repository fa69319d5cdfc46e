import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { type ChangeNote, changeInTurn, differences } from '../../db/change.ts';
import { listPage, type PageQuery } from '../../db/listing.ts';
import { assertAllStorable } from '../../db/storable.ts';
import { takeTurns } from '../../db/transaction.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';
import { missing } from '../../shared-errors.ts';
import { type FoundPrincipal, type Principal, toPrincipal } from '../accounts.ts';
import type { PrincipalChanges } from '../principal-changes.ts';
import { OVERLAP_SECONDS } from '../secrets.ts';
import { createKeyText, isKeyText, lastFourOf } from './key-text.ts';
import type { AccessKey, AccessKeyScope } from './scope.ts';
import { type AccessKeyRow, createAccessKeyStore, FILTERABLE_KEY, type FoundKey, type KeyRow } from './store.ts';

interface NewAccessKey extends AccessKeyScope {
  readonly name: string;
  /** Validity in seconds. Default: the key does not expire. */
  readonly expiresIn?: number | undefined;
}

interface AccessKeyChanges {
  readonly name?: string | undefined;
  /** Validity in seconds from now; null for a key that does not expire. */
  readonly expiresIn?: number | null | undefined;
}

/** An access key that was found by its secret, and the user for whom it acts. */
export interface FoundAccessKey extends FoundPrincipal {
  readonly key: AccessKey;
}

const MOST_KEYS = 500;
/** Maximum number of valid secrets of a key. */
const MOST_SECRETS = 5;
const DAY_MS = 24 * 60 * 60_000;
const KEPT_MS = 30 * DAY_MS;
/** Milliseconds between two updates of the last use. A key in constant use costs one statement in this time. */
const USE_MS = 5 * 60_000;

/** Access keys: secrets of users for programs, each of which can do less than its user. */
export function createAccessKeys(
  { knex, shares, keys, random, clock, log }: Pick<Platform, 'knex' | 'shares' | 'keys' | 'random' | 'clock' | 'log'>,
  principals: Pick<PrincipalChanges, 'change'>,
) {
  const store = createAccessKeyStore(knex);
  const now = () => new Date(clock.now());
  const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000);

  async function addSecret(via: Knex, { accountId, id }: Pick<KeyRow, 'accountId' | 'id'>): Promise<string> {
    const secret = createKeyText(random);
    const row = { accountId, keyId: id, secretHash: keys.lookupHash(secret), lastFour: lastFourOf(secret) };
    await store.insertSecret(via, { ...row, createdAt: now() });
    return secret;
  }

  /** @throws AppError NOT_FOUND */
  async function lock(via: Knex, principal: Principal, id: number): Promise<AccessKeyRow> {
    const found = await store.lock(via, principal.accountId, id);
    return assertReached(principal, id, found);
  }

  async function noteUse(found: FoundKey): Promise<void> {
    if (found.lastUsedAt !== null && clock.now() - found.lastUsedAt.getTime() < USE_MS) return;
    try {
      await store.noteUse(found, now());
    } catch (error) {
      // A request does not fail because of this.
      log.warn({ err: error }, 'could not write the last use of an access key');
    }
  }

  return {
    /**
     * Creates a key that acts for the user in the account that the request is about.
     * @returns the key and its secret, which is not stored
     * @throws AppError REQUEST_INVALID; CONFLICT when the account has too many keys
     */
    create: async ({ accountId, userId }: Principal, { name, expiresIn, access, allow, ...scope }: NewAccessKey) => {
      assertAllStorable({ name: name.trim() });
      const id = await store.nextId();
      const expiresAt = expiresIn === undefined ? null : inSeconds(expiresIn);
      const row = { accountId, id, userId, name: name.trim(), access, allow, scope, createdAt: now(), expiresAt };
      const insert = async (via: Knex) => {
        await takeTurns(via, 'new access keys of an account', [accountId]);
        if ((await store.count(via, accountId, now())) >= MOST_KEYS) throw tooManyKeys();
        await store.insert(via, row);
        const secret = await addSecret(via, row);
        return { key: await found(via, row), secret };
      };
      return changeInTurn(knex, insert, ({ key }) => ({ targetId: String(id), changes: toAudit(key) }));
    },

    /**
     * Lists keys from old to new: those of the user, or all of the account for a user who administers its users.
     * @throws AppError WHERE_SYNTAX, WHERE_INVALID
     */
    list: async (principal: Principal, query: PageQuery) => {
      const { accountId, userId } = principal;
      const owner = seesAll(principal) ? undefined : userId;
      return listPage(FILTERABLE_KEY, query, (selection) =>
        shares.list(accountId, (via) => createAccessKeyStore(via).list(accountId, owner, selection)),
      );
    },

    /**
     * Returns a key.
     * @throws AppError NOT_FOUND, also for a key of another user that the user may not see
     */
    get: async (principal: Principal, id: number) =>
      assertReached(principal, id, await store.find(principal.accountId, id)),

    /**
     * Changes the name or the expiry. The change is in effect in every process when this ends.
     * @throws AppError NOT_FOUND, REQUEST_INVALID
     */
    update: (principal: Principal, id: number, { name, expiresIn }: AccessKeyChanges) => {
      assertAllStorable({ name: name?.trim() });
      const work = async (via: Knex) => {
        const before = await lock(via, principal, id);
        const expiresAt = expiresIn === undefined ? before.expiresAt : expiresIn === null ? null : inSeconds(expiresIn);
        await store.update(via, before, { name: name?.trim() ?? before.name, expiresAt });
        return { before, after: await found(via, before) };
      };
      const note = ({ before, after }: { before: AccessKeyRow; after: AccessKeyRow }): ChangeNote => ({
        targetId: String(id),
        changes: differences(toAudit(before), toAudit(after)),
      });
      return principals.change(principal.organizationId, work, note).then(({ after }) => after);
    },

    /**
     * Deletes a key. It is refused by every process when this ends.
     * @throws AppError NOT_FOUND
     */
    remove: async (principal: Principal, id: number): Promise<void> => {
      const work = async (via: Knex) => {
        const key = await lock(via, principal, id);
        await store.remove(via, key);
        return key;
      };
      await principals.change(principal.organizationId, work, (key) => ({
        targetId: String(id),
        changes: toAudit(key),
      }));
    },

    /**
     * Replaces the secret of a key. Earlier secrets stay valid for `overlapSeconds`; 0 ends them at once. Only the user of the key
     * can replace it, because a request with the secret acts for that user.
     * @throws AppError NOT_FOUND; FORBIDDEN for a key of another user; CONFLICT when too many secrets are valid
     */
    rotate: (principal: Principal, id: number, overlapSeconds: number = OVERLAP_SECONDS) => {
      const work = async (via: Knex) => {
        const key = await lock(via, principal, id);
        if (key.userId !== principal.userId) throw notOwn();
        // The database compares with its own clock, which may be behind: a secret that ends at once gets a time in the distant past.
        await store.endSecrets(via, key, overlapSeconds === 0 ? new Date(0) : inSeconds(overlapSeconds));
        if ((await found(via, key)).secrets.length >= MOST_SECRETS) throw tooManySecrets();
        const secret = await addSecret(via, key);
        return { key: await found(via, key), secret };
      };
      const note = (): ChangeNote => ({ targetId: String(id), changes: { overlapSeconds } });
      return principals.change(principal.organizationId, work, note);
    },

    /**
     * Finds the caller of an access key. Undefined for an unknown, deleted or expired key, and for one whose user may not send requests or
     * may no longer work in the account.
     */
    findBySecret: async (secret: string): Promise<FoundAccessKey | undefined> => {
      if (!isKeyText(secret)) return undefined;
      const hash = keys.lookupHash(secret);
      const stored = await store.findBySecret(hash);
      if (stored === undefined || !timingSafeEqual(stored.secretHash, hash)) return undefined;
      const { keyAccountId: accountId, keyId: id, name, access, allow, scope, keyExpiresAt, secretExpiresAt } = stored;
      const ends = [keyExpiresAt, secretExpiresAt].filter((end) => end !== null).map((end) => end.getTime());
      const { principal, expiresAt } = toPrincipal(
        stored,
        true,
        ends.length === 0 ? null : new Date(Math.min(...ends)),
      );
      if (principal.homeAccountId !== accountId && !principal.privileges.has('manageOrganization')) return undefined;
      await noteUse(stored);
      const key = { id, name, access, allow, ...scope, expiresAt };
      return { principal: { ...principal, accountId }, expiresAt, key };
    },

    /** Deletes a batch of an account's keys. */
    removeSome: store.removeSome,
    /** Deletes the keys that had expired 30 days before the given time. */
    purge: (at: Date) => store.purge(new Date(at.getTime() - KEPT_MS)),
  };
}

/** Returns whether the user may see and delete all keys of the account: the privilege to edit its users includes this. */
function seesAll({ privileges }: Pick<Principal, 'privileges'>): boolean {
  return privileges.has('editAccountUsers');
}

function assertReached(principal: Principal, id: number, key: AccessKeyRow | undefined): AccessKeyRow {
  if (key === undefined || !(key.userId === principal.userId || seesAll(principal))) throw missing('key', id);
  return key;
}

/** Returns a row that this transaction has written or locked. */
async function found(via: Knex, { accountId, id }: Pick<KeyRow, 'accountId' | 'id'>): Promise<AccessKeyRow> {
  const row = await createAccessKeyStore(via).find(accountId, id);
  if (row === undefined) throw missing('key', id);
  return row;
}

/** Returns the values for the audit log. */
function toAudit({ name, userId, access, allow, scope, expiresAt }: KeyRow) {
  return { name, userId, access, allow, ...scope, expiresAt: expiresAt?.toISOString() };
}

function tooManyKeys(): AppError {
  return new AppError('CONFLICT', `The account has ${MOST_KEYS} keys, the maximum. Delete some that are not used.`);
}

function tooManySecrets(): AppError {
  const message = `${MOST_SECRETS} secrets of this key are valid, the maximum. Wait until one expires, or rotate with overlapSeconds 0, which ends all of them.`;
  return new AppError('CONFLICT', message);
}

function notOwn(): AppError {
  return new AppError(
    'FORBIDDEN',
    'Only the user who created a key can rotate it, because the key acts for that user. You can delete the key.',
  );
}
