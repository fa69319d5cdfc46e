import type { Principal } from '../accounts/accounts.ts';
import { ROLE_KEYS } from '../accounts/privileges.ts';
import type { CreatedUser, UserChanges, UserRow, UserScope } from '../accounts/users.ts';
import { AppError } from '../errors.ts';
import type { ApiServices } from './api-services.ts';
import { assertAsRead } from './body-faults.ts';
import type { Handlers, OperationBody, OperationRequest, OperationResult } from './operation.ts';
import { toSecretView } from './organizations.ts';
import { type PageRequest, type PageSeal, respondWithPage } from './page-tokens.ts';

type UserView = OperationResult<'getUser'>;

/** A request whose path names a user. */
interface Named extends Pick<OperationRequest<'updateUser'>, 'principal' | 'session'> {
  readonly user: UserRow;
}

export function createUserHandlers({ users, secrets }: ApiServices, seal: PageSeal) {
  async function listPage({ accountId }: Principal, scope: UserScope, request: PageRequest) {
    return respondWithPage(seal, request, {
      context: ['users', scope, request.query.where],
      read: (page) => users.list(accountId, scope, page),
      toView: toUserView,
    });
  }

  async function update(named: Named, body: OperationBody<'updateUser'>) {
    const { email, firstName, lastName, externalId, active, password, ...rest } = body;
    return write(named, { email, firstName, lastName, externalId, active, password }, rest);
  }

  async function write({ principal, user, session }: Named, changes: UserChanges, rest: object) {
    // A person who finds an open console does not know the password that it requires here.
    if (changes.password !== undefined && session !== undefined && user.id === principal.userId) throw asksForCurrent();
    assertAsRead(rest, { shown: toUserView(user), drifting: ['lastLoginDate'] });
    return { body: toUserView(await users.update(principal, user.id, changes)) };
  }

  async function remove({ principal, user: { id } }: Omit<Named, 'session'>) {
    await users.remove(principal, id);
    return { body: { id } };
  }

  const getSelf = ({ organizationId, userId }: Principal) => users.get(organizationId, userId);

  return {
    listOrganizationUsers: ({ principal, query, url }) => listPage(principal, widestOf(principal), { query, url }),
    createOrganizationUser: async ({ principal, body: { accountId, ...input } }) => {
      const named = principal.isAccountNamed === true ? principal.accountId : undefined;
      return { body: toCreatedUser(await users.create(principal, accountId ?? named, input)) };
    },
    getOrganizationUser: ({ user }) => ({ body: toUserView(user) }),
    updateOrganizationUser: ({ body, ...named }) => update(named, body),
    deleteOrganizationUser: remove,

    listAccountUsers: ({ principal, query, url }) => listPage(principal, ofAccount(principal), { query, url }),
    createAccountUser: async ({ principal, body }) => ({
      body: toCreatedUser(await users.create(principal, principal.accountId, body)),
    }),
    getAccountUser: ({ user }) => ({ body: toUserView(user) }),
    updateAccountUser: ({ body, ...named }) => update(named, body),
    replaceAccountUser: ({ body, ...named }) => {
      const { email, firstName, lastName, externalId = null, active = true, password, ...rest } = body;
      return write(named, { email, firstName, lastName, externalId, active, password }, rest);
    },
    deleteAccountUser: remove,

    listUsers: ({ principal, query, url }) => listPage(principal, visibleTo(principal), { query, url }),
    getUser: ({ user }) => ({ body: toUserView(user) }),
    updateUser: ({ body, ...named }) => update(named, body),
    deleteUser: remove,

    getOwnUser: async ({ principal }) => ({ body: toUserView(await getSelf(principal)) }),
    updateOwnUser: async ({ principal, session, body }) =>
      update({ principal, session, user: await getSelf(principal) }, body),

    listOwnUserSecrets: async ({ principal: { homeAccountId, userId }, sent }) => {
      const owned = await secrets.list({ accountId: homeAccountId, userId }, sent.user);
      return { body: owned.map(toSecretView), headers: { 'Elements-Returned-Count': owned.length } };
    },
    rotateOwnUserSecret: async ({ principal: { organizationId, homeAccountId, userId }, body }) => {
      const owner = { accountId: homeAccountId, userId };
      return { body: toSecretView(await secrets.rotate(organizationId, owner, body.overlapSeconds)) };
    },
  } satisfies Partial<Handlers>;
}

/** Returns the scope of the account that the request names, or else of the whole organization. */
function widestOf(principal: Principal): UserScope {
  return principal.isAccountNamed === true ? ofAccount(principal) : { organizationId: principal.organizationId };
}

function ofAccount({ organizationId, accountId }: Principal): UserScope {
  return { organizationId, accountId };
}

function visibleTo(principal: Principal): UserScope {
  const { privileges, userId } = principal;
  if (privileges.has('viewOrganizationUsers')) return widestOf(principal);
  return privileges.has('viewAccountUsers') ? ofAccount(principal) : { ...widestOf(principal), userId };
}

function toUserView(user: UserRow): UserView {
  const { id, emailAddress, firstName, lastName, externalId, active, accountId, roles, createdAt, lastLoginAt } = user;
  return {
    id,
    email: emailAddress,
    firstName,
    lastName,
    fullName: `${firstName} ${lastName}`.trim(),
    externalId,
    active,
    accountId,
    roles: ROLE_KEYS.filter((role) => roles.includes(role)),
    createdDate: createdAt.toISOString(),
    lastLoginDate: lastLoginAt?.toISOString() ?? null,
  };
}

function asksForCurrent(): AppError {
  const message =
    'In a session of the console, change your own password with PUT /users/me/password and currentPassword.';
  return new AppError('FORBIDDEN', message, { details: [{ path: '/body/password', message }] });
}

function toCreatedUser({ user, secret }: CreatedUser) {
  return { ...toUserView(user), secret };
}
