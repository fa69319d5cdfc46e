import type { Knex } from 'knex';
import { FLAG, filterable, INSTANT, INTEGER, type Selection, selectPage, TEXT } from '../db/listing.ts';
import { columnsOf, firstOf, type RowWith, toColumns } from '../db/row.ts';

/** Row of an account that is not deleted. */
export type AccountRow = RowWith<'account', typeof COLUMNS>;

export type AccountValues = Pick<AccountRow, 'externalId' | 'name' | 'description' | 'active'>;

interface AccountFilter extends Selection {
  /** Restricts the list to the account with this id. */
  readonly id?: number | undefined;
}

const COLUMNS = columnsOf('account', [
  'id',
  'organization_id',
  'external_id',
  'name',
  'description',
  'active',
  'default_account',
  'created_at',
]);

/** Fields that a list of accounts can be filtered by, under their names in the API. */
export const FILTERABLE_ACCOUNT = filterable({
  id: [INTEGER, 'id'],
  externalId: [TEXT, 'external_id'],
  name: [TEXT, 'name'],
  description: [TEXT, 'description'],
  active: [FLAG, 'active'],
  defaultAccount: [FLAG, 'default_account'],
  type: [TEXT, "case when default_account then 'Default' else 'CompanyAccount' end"],
  createdDate: [INSTANT, "date_trunc('milliseconds', created_at)"],
  status: [TEXT, "case when active then 'active' else 'inactive' end"],
});

/** Deletes an account, and in the same statement the data that must end with it. The rest is removed later. */
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

/** Whether a user outside of the account can administer the organization. */
const HAS_ADMINISTRATOR = `
  select exists (
    select from app_user join user_role on user_role.account_id = app_user.account_id and user_id = app_user.id
    where organization_id = :organizationId and app_user.account_id <> :id and role = 'org-admin' and active and deleted_at is null
  ) as found`;

/** Creates the store of accounts. Every statement names the organization. */
export function createAccountStore(knex: Knex) {
  const select = (organizationId: number, via = knex) =>
    via('account').select(COLUMNS).where({ organization_id: organizationId }).whereNull('deleted_at');

  return {
    find: async (organizationId: number, id: number): Promise<AccountRow | undefined> =>
      (await select(organizationId).where({ id }))[0],

    /** Locks the account until the end of the transaction. */
    lock: async (via: Knex, organizationId: number, id: number): Promise<AccountRow | undefined> =>
      (await select(organizationId, via).where({ id }).forNoKeyUpdate())[0],

    /** Lists accounts from old to new. */
    list: async (organizationId: number, { id, ...selection }: AccountFilter): Promise<AccountRow[]> => {
      const query = selectPage(select(organizationId), selection);
      if (id !== undefined) query.where({ id });
      return query;
    },

    /**
     * Inserts an account.
     * @throws the error of PostgreSQL if the organization already has the external id
     */
    insert: async (via: Knex, organizationId: number, values: AccountValues): Promise<AccountRow> => {
      const inserted = await via('account')
        .insert({ organization_id: organizationId, ...toColumns('account', changeable(values)) })
        .returning('id');
      return firstOf(await select(organizationId, via).where(firstOf(inserted)));
    },

    /**
     * Changes a locked account.
     * @throws the error of PostgreSQL if the organization already has the external id
     */
    update: async (via: Knex, { organizationId, id }: AccountRow, values: AccountValues): Promise<AccountRow> => {
      await via('account')
        .where({ organization_id: organizationId, id })
        .update(toColumns('account', changeable(values)));
      return firstOf(await select(organizationId, via).where({ id }));
    },

    /** Deletes a locked account with its users, their secrets and its OAuth proxies. */
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

/** Returns the columns of an account that can change. None of them is a secret. */
export function changeable({ externalId, name, description, active }: AccountValues): AccountValues {
  return { externalId, name, description, active };
}
