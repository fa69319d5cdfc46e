import { OPERATIONS } from '../../generated/operations.ts';
import type { AccountRecord } from '../accounts/account-records.ts';
import type { Principal } from '../accounts/accounts.ts';
import { AppError, cutText } from '../errors.ts';
import { missing } from '../shared-errors.ts';
import { assertPrivilege } from './access.ts';
import type { ApiServices } from './api-services.ts';
import { assertAsRead } from './body-faults.ts';
import type { Handlers, OperationBody, OperationResult } from './operation.ts';
import { type PageSeal, respondWithPage } from './page-tokens.ts';

export function createAccountHandlers({ accountRecords }: ApiServices, seal: PageSeal) {
  async function update(principal: Principal, body: OperationBody<'updateAccount'>) {
    const { organizationId, accountId } = principal;
    const { externalId, name, description, active, ...rest } = body;
    const account = await accountRecords.get(organizationId, accountId);
    assertAsRead(rest, { shown: toAccountView(account) });
    // By it the organization knows the account.
    if (externalId !== undefined && externalId.trim() !== account.externalId) {
      assertPrivilege(principal, 'manageOrganization');
      assertNames(externalId);
    }
    const changes = { externalId, name, description, active };
    return { body: toAccountView(await accountRecords.update(organizationId, accountId, changes)) };
  }

  const direct = {
    listAccounts: ({ principal, ...request }) => {
      const { organizationId, homeAccountId, privileges } = principal;
      const id = privileges.has('manageOrganization') ? undefined : homeAccountId;
      return respondWithPage(seal, request, {
        context: ['accounts', organizationId, id, request.query.where],
        read: (page) => accountRecords.list(principal, { ...page, id }),
        toView: toAccountView,
      });
    },

    createAccount: async ({ principal, body }) => {
      assertNames(body.externalId);
      return { body: toAccountView(await accountRecords.create(principal.organizationId, body)) };
    },

    getAccount: async ({ principal: { organizationId, accountId } }) => ({
      body: toAccountView(await accountRecords.get(organizationId, accountId)),
    }),

    updateAccount: ({ principal, body }) => update(principal, body),

    replaceAccount: async ({ principal, body }) => {
      const { externalId } = await accountRecords.get(principal.organizationId, principal.accountId);
      const ofNewOne = { description: body.externalId ?? externalId, active: true };
      return update(principal, { ...ofNewOne, ...body });
    },

    deleteAccount: async ({ principal: { organizationId, accountId } }) => {
      await accountRecords.remove(organizationId, accountId);
      return { body: { id: accountId } };
    },
  } satisfies Partial<Handlers>;

  return {
    ...direct,
    listOrganizationAccounts: inOwnOrganization(direct.listAccounts),
    createOrganizationAccount: inOwnOrganization(direct.createAccount),
    getOrganizationAccount: inOwnOrganization(direct.getAccount),
  } satisfies Partial<Handlers>;
}

/** Returns the same operation below `/organizations/{organizationId}`. Any organization but the caller's own is not found. */
function inOwnOrganization<Request extends { readonly principal: Principal }, Result>(
  handle: (request: Request) => Promise<Result>,
): (request: Request & { readonly path: { readonly organizationId: string } }) => Promise<Result> {
  return async (request) => {
    const { organizationId: named } = request.path;
    if (named === 'me' || named === String(request.principal.organizationId)) return handle(request);
    throw missing('organization', named);
  };
}

/** The other words that follow `/accounts/` in a path. */
const WORDS = Object.values(OPERATIONS).flatMap(({ path }) => /^\/accounts\/([^{/]+)/.exec(path)?.[1] ?? []);

/**
 * Rejects an external id that has another meaning in paths, because its changes would affect another account.
 * @throws AppError REQUEST_INVALID
 */
function assertNames(externalId: string): void {
  const name = externalId.trim();
  const why = /^\d+$/.test(name)
    ? 'consists of digits, which paths and headers read as the id of an account. Add a letter, such as customer-'
    : WORDS.includes(name)
      ? `is reserved for the path /accounts/${name}. Choose another, such as account-`
      : undefined;
  if (why === undefined) return;
  const message = `body.externalId ${why}${cutText(name)}.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/externalId', message }] });
}

function toAccountView(account: AccountRecord): OperationResult<'getAccount'> {
  const { id, externalId, name, description, active, defaultAccount, createdAt } = account;
  return {
    id,
    externalId,
    name,
    description,
    active,
    defaultAccount,
    type: defaultAccount ? 'Default' : 'CompanyAccount',
    createdDate: createdAt.toISOString(),
    status: active ? 'active' : 'inactive',
  };
}
