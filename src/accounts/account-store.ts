import type { Knex } from 'knex';
import { type ColumnsOf, firstOf, type RowOf } from '../db/row.ts';
import { EXACT_IN_SQL, type Sql, type SqlQueryable } from '../where/index.ts';

type ReadColumn =
  | 'id'
  | 'organization_id'
  | 'external_id'
  | 'name'
  | 'description'
  | 'active'
  | 'default_account'
  | 'created_at';

/** One that is not deleted. */
export type AccountRow = RowOf<'account', ReadColumn>;

export type AccountValues = Pick<AccountRow, 'externalId' | 'name' | 'description' | 'active'>;

export interface AccountFilter {
  /** Only this one. */
  readonly id?: number | undefined;
  /** True for the rows to list. */
  readonly condition?: Sql | undefined;
  /** Only ids above it: the listing goes from old to new. */
  readonly afterId?: number | undefined;
  readonly limit: number;
}

const COLUMNS: ColumnsOf<'account', ReadColumn> = {
  id: 'id',
  organizationId: 'organization_id',
  externalId: 'external_id',
  name: 'name',
  description: 'description',
  active: 'active',
  defaultAccount: 'default_account',
  createdAt: 'created_at',
};

const text = { type: 'string', nullable: false, filter: EXACT_IN_SQL } as const;
const flag = { type: 'boolean', nullable: false, filter: EXACT_IN_SQL } as const;

/** What a listing of accounts can be filtered by, under the names of the record, whose words the expressions are. */
export const FILTERABLE_ACCOUNT: SqlQueryable = {
  fields: {
    id: { type: 'integer', nullable: false, filter: EXACT_IN_SQL },
    externalId: text,
    name: text,
    description: text,
    active: flag,
    defaultAccount: flag,
    type: text,
    createdDate: { type: 'datetime', nullable: false, filter: EXACT_IN_SQL },
    status: text,
  },
  columns: {
    id: COLUMNS.id,
    externalId: COLUMNS.externalId,
    name: COLUMNS.name,
    description: COLUMNS.description,
    active: COLUMNS.active,
    defaultAccount: COLUMNS.defaultAccount,
    type: `case when default_account then 'Default' else 'CompanyAccount' end`,
    createdDate: `date_trunc('milliseconds', created_at)`,
    status: `case when active then 'active' else 'inactive' end`,
  },
};

/** What ends with an account, in the same statement as it. The rest is removed by and by. */
const REMOVE = `
  with gone as (
    update account set deleted_at = now(), removal_due = now() where organization_id = :organizationId and id = :id returning id
  ),
  secrets as (delete from user_secret where account_id = (select id from gone)),
  passwords as (delete from user_password where account_id = (select id from gone)),
  sessions as (delete from console_session where account_id = (select id from gone)),
  roles as (delete from account_role where account_id = (select id from gone)),
  users as (update app_user set deleted_at = now() where account_id = (select id from gone) and deleted_at is null)
  delete from oauth_proxy where account_id = (select id from gone)`;

/** Somebody outside of the account can manage the organization. */
const HAS_ADMINISTRATOR = `
  select exists (
    select from app_user join user_role on user_role.account_id = app_user.account_id and user_id = app_user.id
    where organization_id = :organizationId and app_user.account_id <> :id and role = 'org-admin' and active and deleted_at is null
  ) as found`;

/** Every statement names the organization. */
export function createAccountStore(knex: Knex) {
  const select = (organizationId: number, via = knex) =>
    via('account').select(COLUMNS).where({ organization_id: organizationId }).whereNull('deleted_at');

  return {
    find: async (organizationId: number, id: number): Promise<AccountRow | undefined> =>
      (await select(organizationId).where({ id }))[0],

    /** Nobody else changes it before the end of the transaction. */
    lock: async (via: Knex, organizationId: number, id: number): Promise<AccountRow | undefined> =>
      (await select(organizationId, via).where({ id }).forNoKeyUpdate())[0],

    /** From old to new. */
    list: async (organizationId: number, { id, condition, afterId, limit }: AccountFilter): Promise<AccountRow[]> => {
      const query = select(organizationId).orderBy('id').limit(limit);
      if (id !== undefined) query.where({ id });
      if (afterId !== undefined) query.where('id', '>', afterId);
      if (condition !== undefined) query.whereRaw(condition.sql, [...condition.bindings]);
      return query;
    },

    /** @throws what PostgreSQL says of an external id that the organization has */
    insert: async (via: Knex, organizationId: number, values: AccountValues): Promise<AccountRow> => {
      const inserted = await via('account')
        .insert({ organization_id: organizationId, ...toColumns(values) })
        .returning('id');
      return firstOf(await select(organizationId, via).where(firstOf(inserted)));
    },

    /** Of one that is locked. @throws what PostgreSQL says of an external id that the organization has */
    update: async (via: Knex, { organizationId, id }: AccountRow, values: AccountValues): Promise<AccountRow> => {
      await via('account').where({ organization_id: organizationId, id }).update(toColumns(values));
      return firstOf(await select(organizationId, via).where({ id }));
    },

    /** Of one that is locked: its users, their secrets and its OAuth proxies end with it. */
    remove: async (via: Knex, { organizationId, id }: AccountRow): Promise<void> => {
      await via.raw(REMOVE, { organizationId, id });
    },

    hasAdministratorElsewhere: async (via: Knex, { organizationId, id }: AccountRow): Promise<boolean> => {
      const { rows } = await via.raw<{ rows: { readonly found: boolean }[] }>(HAS_ADMINISTRATOR, {
        organizationId,
        id,
      });
      return firstOf(rows).found;
    },
  };
}

function toColumns({ externalId, name, description, active }: AccountValues) {
  return { external_id: externalId, name, description, active };
}
