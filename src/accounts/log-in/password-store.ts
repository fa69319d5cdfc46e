import type { Knex } from 'knex';
import { firstOf } from '../../db/row.ts';
import { MAY_CALL, type TenantIds } from '../store.ts';
import type { PasswordOwner, StoredPassword } from './password-hash.ts';

/** A password as it was read. A hash of another cost leaves the time as it is. */
export interface PasswordVersion extends PasswordOwner {
  /** Time at which it was set; null for a user without a password. */
  readonly changedAt: Date | null;
}

/** A user who may be logging in. */
interface LogInUser extends TenantIds, StoredPassword, PasswordVersion {
  readonly mayCall: boolean;
}

/** The source of a try: an e-mail address and a network. */
export interface Trier {
  readonly emailHash: Buffer;
  readonly network: string;
}

/** Times at which each limit of wrong tries was exceeded; null if it was not. */
export interface WrongTries {
  /** Limit for one e-mail address from one network. */
  readonly both: Date | null;
  readonly email: Date | null;
  readonly network: Date | null;
  /** Whether there was a recent log-in with the address from the network. */
  readonly isTrusted: boolean;
}

/** Maximum numbers of wrong tries. */
export type TryLimits = Readonly<Record<'both' | 'email' | 'network', number>>;

export interface TryWindow {
  readonly since: Date;
  readonly trustedSince: Date;
}

/** Any number, the same in every process: it names the locks within the database. */
const TRY_LOCKS = 7_205_015;

const WRONG = 'select tried_at from log_in_try where not good and tried_at > :since';
const NTH_LAST = 'order by tried_at desc limit 1 offset';

/** Creates the store of passwords and of tries to log in. */
export function createPasswordStore(knex: Knex) {
  return {
    /**
     * Finds a user by e-mail address: the one in the organization or, without an organization, the oldest one with a password. Inactive
     * users are also found, because tries with their names must be logged.
     */
    findUser: async (emailAddress: string, organizationId: number | undefined): Promise<LogInUser | undefined> => {
      const { rows } = await knex.raw<{ rows: LogInUser[] }>(
        `select app_user.organization_id as "organizationId", app_user.account_id as "accountId", app_user.id as "userId",
           password_hash as "passwordHash", changed_at as "changedAt", (${MAY_CALL}) as "mayCall"
         from app_user
           join account on account.id = app_user.account_id
           left join user_password on user_password.account_id = app_user.account_id and user_password.user_id = app_user.id
         where lower(email_address) = lower(:emailAddress) and app_user.deleted_at is null
           and app_user.organization_id = coalesce(cast(:organizationId as bigint), app_user.organization_id)
         order by password_hash is null, app_user.id limit 1`,
        { emailAddress, organizationId: organizationId ?? null },
      );
      return rows[0];
    },

    /** Returns whether any user of the installation has a password. It is called before a log-in. */
    havePasswords: async (): Promise<boolean> => (await knex('user_password').first(knex.raw('1'))) !== undefined,

    findPassword: async ({ accountId, userId }: PasswordOwner): Promise<StoredPassword & PasswordVersion> => {
      const of = { account_id: accountId, user_id: userId };
      const row = await knex('user_password').where(of).first('password_hash', 'changed_at');
      return { accountId, userId, passwordHash: row?.password_hash ?? null, changedAt: row?.changed_at ?? null };
    },

    setPassword: async (via: Knex, { accountId, userId }: PasswordOwner, hash: string, at: Date): Promise<void> => {
      await via('user_password')
        .insert({ account_id: accountId, user_id: userId, password_hash: hash, changed_at: at })
        .onConflict(['account_id', 'user_id'])
        .merge({ password_hash: hash, changed_at: at });
    },

    /** Locks a password until the end of the transaction. Returns false when it was changed since it was read. */
    lockPassword: async (via: Knex, { accountId, userId, changedAt }: PasswordVersion): Promise<boolean> => {
      const of = { account_id: accountId, user_id: userId };
      const row = await via('user_password').where(of).forNoKeyUpdate().first('changed_at');
      return row?.changed_at.getTime() === changedAt?.getTime();
    },

    /** Replaces the hash by one with another cost, unless the password was changed meanwhile. */
    replaceHash: async ({ accountId, userId, passwordHash }: StoredPassword, hash: string): Promise<void> => {
      const of = { account_id: accountId, user_id: userId };
      await knex('user_password')
        .where(of)
        .whereRaw('password_hash = ?', [passwordHash])
        .update({ password_hash: hash });
    },

    /** Locks further tries for the address or from the network until the end of the transaction. */
    lockTries: async (via: Knex.Transaction, { emailHash, network }: Trier): Promise<void> => {
      for (const subject of [emailHash.toString('base64'), network])
        await via.raw('select pg_advisory_xact_lock(?, hashtext(?))', [TRY_LOCKS, subject]);
    },

    readTries: async (
      via: Knex,
      trier: Trier,
      limits: TryLimits,
      { since, trustedSince }: TryWindow,
    ): Promise<WrongTries> => {
      const { rows } = await via.raw<{ rows: WrongTries[] }>(
        `select
           (${WRONG} and email_hash = :emailHash and network = :network ${NTH_LAST} :both) as both,
           (${WRONG} and email_hash = :emailHash ${NTH_LAST} :email) as email,
           (${WRONG} and network = :network ${NTH_LAST} :ofNetwork) as network,
           exists (select from log_in_try where good and email_hash = :emailHash and network = :network
             and tried_at > :trustedSince) as "isTrusted"`,
        {
          ...trier,
          since,
          trustedSince,
          both: limits.both - 1,
          email: limits.email - 1,
          ofNetwork: limits.network - 1,
        },
      );
      return firstOf(rows);
    },

    /**
     * Stores a try as wrong; `noteGood` changes this later.
     * @returns its id
     */
    insertTry: async (via: Knex, { emailHash, network }: Trier, at: Date): Promise<number> =>
      firstOf(await via('log_in_try').insert({ email_hash: emailHash, network, tried_at: at }).returning('id')).id,

    /** Deletes the wrong tries of the address from the network, because they were mistakes of the user who now logged in. */
    noteGood: async (id: number, { emailHash, network }: Trier): Promise<void> => {
      await knex.raw(
        `with others as (delete from log_in_try where email_hash = ? and network = ? and id <> ?)
         update log_in_try set good = true where id = ?`,
        [emailHash, network, id, id],
      );
    },

    noteUnknown: async (id: number): Promise<void> => {
      await knex('log_in_try').where({ id }).update({ known: false });
    },

    forgetTry: async (id: number): Promise<void> => {
      await knex('log_in_try').where({ id }).delete();
    },

    purgeTries: ({ since, trustedSince }: TryWindow): Promise<number> =>
      knex('log_in_try')
        .where('tried_at', '<=', trustedSince)
        .orWhere((row) => row.where('good', false).where('tried_at', '<=', since))
        .delete(),

    /** Deletes the passwords of deleted users and accounts. */
    purgePasswords: async (): Promise<number> => {
      const { rowCount } = await knex.raw(
        `delete from user_password using app_user join account on account.id = app_user.account_id
         where app_user.account_id = user_password.account_id and app_user.id = user_password.user_id
           and (app_user.deleted_at is not null or account.deleted_at is not null)`,
      );
      return rowCount;
    },
  };
}
