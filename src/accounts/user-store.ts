import type { Knex } from 'knex';
import { nextId } from '../db/next-id.ts';
import type { ColumnsOf, RowOf } from '../db/row.ts';
import { EXACT_IN_SQL, type Sql, type SqlQueryable } from '../where/index.ts';

type UserColumn =
  | 'organization_id'
  | 'account_id'
  | 'id'
  | 'email_address'
  | 'first_name'
  | 'last_name'
  | 'external_id'
  | 'active'
  | 'created_at'
  | 'last_login_at';

export interface UserRow extends RowOf<'app_user', UserColumn> {
  /** By their keys. */
  readonly roles: readonly string[];
  /** Those that every user of the account has beside his own. */
  readonly accountRoles: readonly string[];
}

/** What can be changed. */
export type UserValues = RowOf<'app_user', 'email_address' | 'first_name' | 'last_name' | 'external_id' | 'active'>;

export type NewUserRow = UserValues & RowOf<'app_user', 'organization_id' | 'account_id' | 'id'>;

export type UserKey = Pick<UserRow, 'accountId' | 'id'>;

/** Whose users are listed: all of an organization, or those of an account, or one. */
export interface UserScope {
  readonly organizationId: number;
  readonly accountId?: number | undefined;
  readonly userId?: number | undefined;
}

export interface UserFilter {
  readonly condition?: Sql | undefined;
  /** Only ids above it: the listing goes from old to new. */
  readonly afterId?: number | undefined;
  readonly limit: number;
}

const COLUMNS: ColumnsOf<'app_user', UserColumn> = {
  organizationId: 'organization_id',
  accountId: 'account_id',
  id: 'id',
  emailAddress: 'email_address',
  firstName: 'first_name',
  lastName: 'last_name',
  externalId: 'external_id',
  active: 'active',
  createdAt: 'created_at',
  lastLoginAt: 'last_login_at',
};

const ROLES_OF_USER = `array (select role from user_role
  where user_role.account_id = app_user.account_id and user_role.user_id = app_user.id order by role)`;

const ROLES_OF_ACCOUNT = `array (select role from account_role
  where account_role.account_id = app_user.account_id order by role)`;

const text = { type: 'string', nullable: false, filter: EXACT_IN_SQL } as const;
const integer = { type: 'integer', nullable: false, filter: EXACT_IN_SQL } as const;

/** What a listing of users can be filtered by, under the names of the user record. */
export const FILTERABLE_USER: SqlQueryable = {
  fields: {
    id: integer,
    email: { ...text, collation: 'ci' },
    firstName: text,
    lastName: text,
    externalId: { ...text, nullable: true },
    active: { type: 'boolean', nullable: false, filter: EXACT_IN_SQL },
    accountId: integer,
    createdDate: { type: 'datetime', nullable: false, filter: EXACT_IN_SQL },
    lastLoginDate: { type: 'datetime', nullable: true, filter: EXACT_IN_SQL },
  },
  columns: {
    id: COLUMNS.id,
    email: COLUMNS.emailAddress,
    firstName: COLUMNS.firstName,
    lastName: COLUMNS.lastName,
    externalId: COLUMNS.externalId,
    active: COLUMNS.active,
    accountId: COLUMNS.accountId,
    createdDate: COLUMNS.createdAt,
    lastLoginDate: COLUMNS.lastLoginAt,
  },
};

/** Users who are not deleted: every statement names their organization or their account. */
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

    /** In any case. */
    findByEmail: async (organizationId: number, email: string, via = knex): Promise<UserRow | undefined> =>
      (await rows(organizationId, via).whereRaw('lower(email_address) = lower(?)', [email]).select(columns))[0],

    /** From old to new. */
    list: async ({ organizationId, accountId, userId }: UserScope, filter: UserFilter): Promise<UserRow[]> => {
      const { condition, afterId, limit } = filter;
      const query = rows(organizationId, knex).orderBy('id').limit(limit).select(columns);
      if (accountId !== undefined) query.where({ account_id: accountId });
      if (userId !== undefined) query.where({ id: userId });
      if (afterId !== undefined) query.where('id', '>', afterId);
      if (condition !== undefined) query.whereRaw(condition.sql, condition.bindings.map(toMutable));
      return query;
    },

    /** By default the organization's default account. */
    findAccount: (organizationId: number, id?: number): Promise<number | undefined> =>
      accountId(accounts(knex, organizationId, id)),

    /** The same, which is not deleted before the end of the transaction. */
    lockAccount: (via: Knex, organizationId: number, id?: number): Promise<number | undefined> =>
      accountId(accounts(via, organizationId, id).forShare()),

    /** A password is bound to the id of its user, and hashed before there is the user. */
    nextId: () => nextId(knex, 'app_user'),

    insert: async (via: Knex, { organizationId, accountId, id, ...row }: NewUserRow): Promise<void> => {
      const values = { organization_id: organizationId, account_id: accountId, id, ...toColumns(row) };
      const places = Object.keys(values).map(() => '?');
      await via.raw(`insert into app_user (??) overriding system value values (${places.join(', ')})`, [
        Object.keys(values),
        ...Object.values(values),
      ]);
    },

    update: async (via: Knex, { accountId, id }: UserKey, values: UserValues): Promise<void> => {
      await via('app_user').where({ account_id: accountId, id }).update(toColumns(values));
    },

    remove: async (via: Knex, { accountId, id }: UserKey): Promise<void> => {
      await via('app_user').where({ account_id: accountId, id }).update({ deleted_at: via.fn.now() });
    },
  };
}

function toColumns({ emailAddress, firstName, lastName, externalId, active }: UserValues) {
  return {
    email_address: emailAddress,
    first_name: firstName,
    last_name: lastName,
    external_id: externalId,
    active,
  };
}

/** knex asks for arrays it could change. */
function toMutable(binding: string | readonly string[]): string | string[] {
  return typeof binding === 'string' ? binding : [...binding];
}
