import { type ChangeNote, changeInTurn, differences } from '../db/change.ts';
import { listPage, type PageQuery } from '../db/listing.ts';
import { assertAllStorable } from '../db/storable.ts';
import { isUniqueViolation } from '../db/violations.ts';
import { AppError, pointer } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { REMOVAL_TOPIC } from './account-removal.ts';
import {
  type AccountRow,
  type AccountValues,
  changeable,
  createAccountStore,
  FILTERABLE_ACCOUNT,
} from './account-store.ts';
import type { Accounts } from './accounts.ts';
import type { PrincipalChanges } from './principal-changes.ts';
import { createRoleStore } from './role-store.ts';

/** An account of an organization, as it is administered. */
export type AccountRecord = AccountRow;

interface AccountQuery extends PageQuery {
  /** Restricts the list to the account with this id. */
  readonly id?: number | undefined;
}

/** The service that manages the accounts of organizations. Every process applies a change at once. */
export function createAccountRecords(
  { knex, notifier, shares }: Pick<Platform, 'knex' | 'notifier' | 'shares'>,
  {
    accounts,
    principals,
  }: { readonly accounts: Pick<Accounts, 'accountChanged'>; readonly principals: Pick<PrincipalChanges, 'change'> },
) {
  const store = createAccountStore(knex);
  const roleStore = createRoleStore(knex);

  return {
    /**
     * Returns an account of the organization.
     * @throws AppError NOT_FOUND
     */
    get: async (organizationId: number, id: number) => (await store.find(organizationId, id)) ?? notFound(id),

    /**
     * Lists accounts from old to new. The query counts for the share of the caller's account.
     * @throws AppError for an invalid `where`
     */
    list: (
      { organizationId, accountId }: { readonly organizationId: number; readonly accountId: number },
      query: AccountQuery,
    ) =>
      listPage(FILTERABLE_ACCOUNT, query, (selection) =>
        shares.list(accountId, (via) => createAccountStore(via).list(organizationId, selection)),
      ),

    /**
     * Creates an account. Name and description default to the external id.
     * @throws AppError CONFLICT if the organization already has the external id
     */
    create: (organizationId: number, input: Pick<AccountValues, 'externalId'> & Partial<AccountValues>) => {
      const externalId = input.externalId.trim();
      const values = { name: externalId, description: externalId, active: true, ...readGiven(input), externalId };
      return orTaken(
        externalId,
        changeInTurn(
          knex,
          (via) => store.insert(via, organizationId, values),
          ({ id }) => ({ targetId: String(id), changes: values }),
        ),
      );
    },

    /**
     * Changes an account. Values that are not sent stay unchanged.
     * @throws AppError NOT_FOUND; CONFLICT if the organization already has the external id
     */
    update: async (organizationId: number, id: number, changes: Partial<AccountValues>) => {
      const values = readGiven(changes);
      const { after } = await orTaken(
        values.externalId,
        principals.change(
          organizationId,
          async (via) => {
            const before = (await store.lock(via, organizationId, id)) ?? notFound(id);
            const after = await store.update(via, before, { ...before, ...values });
            await accounts.accountChanged(before, via);
            return { before, after };
          },
          ({ before, after }) => ({
            targetId: String(id),
            changes: differences(changeable(before), changeable(after)),
          }),
        ),
      );
      return after;
    },

    /**
     * Deletes an account. Its users, their secrets and its polls end at once; its other data is removed in the background
     * (`account-removal.ts`).
     * @throws AppError NOT_FOUND; CONFLICT for the default account, and for the one with the last administrator of the organization
     */
    remove: async (organizationId: number, id: number) => {
      await principals.change(
        organizationId,
        async (via) => {
          await roleStore.lock(via, organizationId);
          const account = (await store.lock(via, organizationId, id)) ?? notFound(id);
          if (account.defaultAccount) throw isDefault(account);
          if (!(await store.hasAdministratorElsewhere(via, account))) throw hasLastAdministrator(account);
          await store.remove(via, account);
          await accounts.accountChanged(account, via);
          await notifier.publish(REMOVAL_TOPIC, '', via);
          return account;
        },
        ({ externalId, name }): ChangeNote => ({ targetId: String(id), changes: { externalId, name } }),
      );
    },
  };
}

/**
 * Returns the given values in the form in which they are stored.
 * @throws AppError REQUEST_INVALID for values that cannot be stored
 */
function readGiven({ externalId, name, description, active }: Partial<AccountValues>): Partial<AccountValues> {
  const texts = {
    ...(externalId !== undefined && { externalId: externalId.trim() }),
    ...(name !== undefined && { name: name.trim() }),
    ...(description !== undefined && { description: description.trim() }),
  };
  assertAllStorable(texts);
  return { ...texts, ...(active !== undefined && { active }) };
}

async function orTaken<Result>(externalId: string | undefined, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const message = `An account with the external id '${externalId}' already exists in the organization.`;
    throw new AppError('CONFLICT', message, { details: [{ path: pointer('body', 'externalId'), message }] });
  }
}

function notFound(id: number): never {
  throw missing('account', id);
}

function isDefault({ id }: AccountRow): AppError {
  return new AppError('CONFLICT', `Account ${id} is the default account of the organization and cannot be deleted.`);
}

function hasLastAdministrator({ id }: AccountRow): AppError {
  const message = `Account ${id} has the last active user with the role org-admin. Give the role to a user of another account first.`;
  return new AppError('CONFLICT', message);
}
