import type { Knex } from 'knex';
import { FLAG, filterable, INSTANT, INTEGER, orNull, type Selection, selectPage, TEXT } from '../db/listing.ts';
import { nextId } from '../db/next-id.ts';
import { columnsOf, type RowOf, type RowWith, toColumns } from '../db/row.ts';

export interface UserRow extends RowWith<'app_user', typeof COLUMNS> {
  /** Role keys of the user. */
  readonly roles: readonly string[];
  /** Roles of the account, which each of its users has in addition to the user's own. */
  readonly accountRoles: readonly string[];
}

/** Columns of a user that can change. */
type UserValues = RowOf<'app_user', 'email_address' | 'first_name' | 'last_name' | 'external_id' | 'active'>;

type NewUserRow = UserValues & RowOf<'app_user', 'organization_id' | 'account_id' | 'id'>;

export type UserKey = Pick<UserRow, 'accountId' | 'id'>;

/** Selection of users: those of an organization, of an account, or a single one. */
export interface UserScope {
  readonly organizationId: number;
  readonly accountId?: number | undefined;
  readonly userId?: number | undefined;
}

const COLUMNS = columnsOf('app_user', [
  'organization_id',
  'account_id',
  'id',
  'email_address',
  'first_name',
  'last_name',
  'external_id',
  'active',
  'created_at',
  'last_login_at',
]);

const ROLES_OF_USER = `array (select role from user_role
  where user_role.account_id = app_user.account_id and user_role.user_id = app_user.id order by role)`;

const ROLES_OF_ACCOUNT = `array (select role from account_role
  where account_role.account_id = app_user.account_id order by role)`;

/** Fields that a list of users can be filtered by, under their names in the API. */
export const FILTERABLE_USER = filterable({
  id: [INTEGER, 'id'],
  email: [{ ...TEXT, collation: 'ci' }, 'email_address'],
  firstName: [TEXT, 'first_name'],
  lastName: [TEXT, 'last_name'],
  externalId: [orNull(TEXT), 'external_id'],
  active: [FLAG, 'active'],
  accountId: [INTEGER, 'account_id'],
  createdDate: [INSTANT, 'created_at'],
  lastLoginDate: [orNull(INSTANT), 'last_login_at'],
});

/** Creates the store of users. It leaves out deleted users, and every statement names the organization or the account. */
export function createUserStore(knex: Knex) {
  const rows = (organizationId: number, via: Knex) =>
    via('app_user').where({ organization_id: organizationId }).whereNull('deleted_at');
  const columns = { ...COLUMNS, roles: knex.raw(ROLES_OF_USER), accountRoles: knex.raw(ROLES_OF_ACCOUNT) };
  const accounts = (via: Knex, organizationId: number, id: number | undefined) =>
    via('account')
      .where({ organization_id: organizationId, ...(id === undefined ? { default_account: true } : { id }) })
      .whereNull('deleted_at');
  const accountId = async (query: ReturnType<typeof accounts>) => (await query.first('id'))?.id;

  return {
    findById: async (organizationId: number, id: number, via = knex): Promise<UserRow | undefined> =>
      (await rows(organizationId, via).where({ id }).select(columns))[0],

    /** Finds a user by e-mail address, ignoring case. */
    findByEmail: async (organizationId: number, email: string, via = knex): Promise<UserRow | undefined> =>
      (await rows(organizationId, via).whereRaw('lower(email_address) = lower(?)', [email]).select(columns))[0],

    /** Lists users from old to new. */
    list: async ({ organizationId, accountId, userId }: UserScope, selection: Selection): Promise<UserRow[]> => {
      const query = selectPage(rows(organizationId, knex).select(columns), selection);
      if (accountId !== undefined) query.where({ account_id: accountId });
      if (userId !== undefined) query.where({ id: userId });
      return query;
    },

    /** Finds an account of the organization; without an id, its default account. */
    findAccount: (organizationId: number, id?: number): Promise<number | undefined> =>
      accountId(accounts(knex, organizationId, id)),

    /**
     * Finds an account of the organization, and prevents its deletion until the end of the transaction. Without an id, it is the default
     * account.
     */
    lockAccount: (via: Knex, organizationId: number, id?: number): Promise<number | undefined> =>
      accountId(accounts(via, organizationId, id).forShare()),

    /** Reserves the id of a new user. Its password is hashed before the user is inserted, and the hash is bound to the id. */
    nextId: () => nextId(knex, 'app_user'),

    insert: async (via: Knex, row: NewUserRow): Promise<void> => {
      const values = toColumns('app_user', row);
      const placeholders = Object.keys(values).map(() => '?');
      await via.raw(`insert into app_user (??) overriding system value values (${placeholders.join(', ')})`, [
        Object.keys(values),
        ...Object.values(values),
      ]);
    },

    update: async (via: Knex, { accountId, id }: UserKey, values: UserValues): Promise<void> => {
      await via('app_user').where({ account_id: accountId, id }).update(toColumns('app_user', values));
    },

    remove: async (via: Knex, { accountId, id }: UserKey): Promise<void> => {
      await via('app_user').where({ account_id: accountId, id }).update({ deleted_at: via.fn.now() });
    },
  };
}
