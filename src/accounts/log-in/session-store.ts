import type { Knex } from 'knex';
import { firstOf, type RowOf } from '../../db/row.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';
import { MAY_CALL, RIGHTS, type StoredRights, type TenantIds } from '../store.ts';
import { createPasswordStore, type PasswordVersion } from './password-store.ts';

type SessionColumn = 'id' | 'created_at' | 'ends_at';

/** A session with the rights of its user. */
export type StoredSession = RowOf<'console_session', SessionColumn> & StoredRights;

export type SessionUser = Pick<TenantIds, 'accountId' | 'userId'>;

interface NewSession {
  readonly token: string;
  readonly createdAt: Date;
  readonly endsAt: Date;
  /** Maximum number of sessions of the user. */
  readonly most: number;
}

/** The names of the logged-in user, for display. */
interface SessionNames {
  readonly organizationName: string;
  readonly accountName: string;
  readonly emailAddress: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly hasPassword: boolean;
}

/** Creates the store of the console's sessions. */
export function createSessionStore({ knex, keys }: Pick<Platform, 'knex' | 'keys'>) {
  const passwords = createPasswordStore(knex);
  const columnsOf = ({ accountId, userId }: SessionUser) => ({ account_id: accountId, user_id: userId });

  return {
    /**
     * Inserts a session. Concurrent log-ins of a user take turns, and the newest `most` sessions stay.
     * @param password the one that the user logged in with
     * @returns its id
     * @throws AppError UNAUTHENTICATED for a user who was deactivated or deleted meanwhile, or whose password was changed
     */
    insert: async (
      via: Knex.Transaction,
      user: SessionUser,
      password: PasswordVersion | undefined,
      { token, createdAt, endsAt, most }: NewSession,
    ): Promise<number> => {
      const of = columnsOf(user);
      // This locks the row of the user, so that a deactivation ends this session too.
      const found = await via('app_user')
        .where({ account_id: user.accountId, id: user.userId, active: true, deleted_at: null })
        .update({ last_login_at: createdAt });
      if (found === 0)
        throw new AppError('UNAUTHENTICATED', 'The user was deactivated or deleted while the log-in was under way.');
      // And this the password, so that its change ends this session too.
      if (password !== undefined && !(await passwords.lockPassword(via, password)))
        throw new AppError('UNAUTHENTICATED', 'The password was changed while the log-in was under way.');
      const times = { created_at: createdAt, used_at: createdAt, ends_at: endsAt };
      const rows = await via('console_session')
        .insert({ ...of, ...times, token_hash: keys.lookupHash(token) })
        .returning('id');
      const newest = via('console_session').where(of).orderBy('id', 'desc').limit(most).select('id');
      await via('console_session').where(of).whereNotIn('id', newest).delete();
      return firstOf(rows).id;
    },

    /** Notes the use of a session that has not ended, and returns it if its user may call. */
    use: async (token: string, at: Date, usedSince: Date): Promise<StoredSession | undefined> => {
      const { rows } = await knex.raw<{ rows: StoredSession[] }>(
        `update console_session as session set used_at = ?
         from app_user join account on account.id = app_user.account_id
         where session.token_hash = ? and session.ends_at > ? and session.used_at > ?
           and app_user.account_id = session.account_id and app_user.id = session.user_id and ${MAY_CALL}
         returning session.id, session.created_at as "createdAt", session.ends_at as "endsAt", ${RIGHTS}`,
        [at, keys.lookupHash(token), at, usedSince],
      );
      return rows[0];
    },

    remove: async (via: Knex, user: SessionUser, id: number): Promise<void> => {
      await via('console_session')
        .where({ ...columnsOf(user), id })
        .delete();
    },

    /**
     * Ends all sessions of a user except one.
     * @returns the number of ended sessions
     */
    removeOthers: (via: Knex, user: SessionUser, id: number | undefined): Promise<number> =>
      via('console_session')
        .where(columnsOf(user))
        .whereRaw('id is distinct from ?', [id ?? null])
        .delete(),

    findNames: async ({ accountId, userId }: SessionUser): Promise<SessionNames> => {
      const { rows } = await knex.raw<{ rows: SessionNames[] }>(
        `select organization.name as "organizationName", account.name as "accountName", email_address as "emailAddress",
           first_name as "firstName", last_name as "lastName",
           exists (select from user_password where user_password.account_id = app_user.account_id and user_id = app_user.id)
             as "hasPassword"
         from app_user
           join account on account.id = app_user.account_id
           join organization on organization.id = app_user.organization_id
         where app_user.account_id = ? and app_user.id = ?`,
        [accountId, userId],
      );
      return firstOf(rows);
    },

    /**
     * Deletes sessions that have ended.
     * @returns the number of deleted sessions
     */
    purge: (at: Date, usedSince: Date): Promise<number> =>
      knex('console_session').where('ends_at', '<=', at).orWhere('used_at', '<=', usedSince).delete(),
  };
}
