import type { Accounts, Principal } from '../accounts/accounts.ts';
import { PRIVILEGES, type Privilege } from '../accounts/privileges.ts';
import { AppError, cutText } from '../errors.ts';
import type { ApiOperationId } from './operation.ts';

/** What a caller needs for an operation, and what the audit log says of it. */
export interface Access {
  /** Any of several is enough; without one, whoever is known may. */
  readonly privilege?: Privilege | readonly Privilege[];
  /** The path parameter that names an account of the organization; without one it is the caller's, or that of the header. */
  readonly account?: string;
  /** For an operation that changes something or shows a secret. */
  readonly audit?: Audited;
}

export interface Audited {
  readonly action: AuditAction;
  readonly target: AuditTarget;
  /** The path parameter with the id of the target. */
  readonly id?: string;
}

export type AuditAction = 'create' | 'update' | 'delete' | 'rotate' | 'show' | 'login' | 'logout' | 'run';

export type AuditTarget =
  | 'organization'
  | 'account'
  | 'user'
  | 'role'
  | 'secret'
  | 'session'
  | 'settings'
  | 'element'
  | 'instance'
  | 'oauth-proxy'
  | 'subscription'
  | 'delivery'
  | 'poll';

const INSTANCE = 'createElementInstances';

const instance = (action: AuditAction): Access => ({
  privilege: INSTANCE,
  audit: { action, target: 'instance', id: 'id' },
});
const proxy = (action: AuditAction): Access => ({
  privilege: INSTANCE,
  audit: { action, target: 'oauth-proxy', id: 'id' },
});
const subscription = (action: AuditAction): Access => ({
  privilege: INSTANCE,
  audit: { action, target: 'subscription', id: 'id' },
});
const delivery = (action: AuditAction): Access => ({
  privilege: INSTANCE,
  audit: { action, target: 'delivery', id: 'id' },
});
const poll = (action: AuditAction): Access => ({
  privilege: INSTANCE,
  audit: { action, target: 'poll', id: 'resource' },
});
const settings = (account?: string): Access => ({
  privilege: 'editAccount',
  ...(account !== undefined && { account }),
  audit: { action: 'update', target: 'settings' },
});

const account = (action: AuditAction, privilege: Privilege): Access => ({
  privilege,
  account: 'id',
  audit: { action, target: 'account', id: 'id' },
});

/** How much of the log is read depends on which it is. */
const VIEW_LOGS: Access = { privilege: ['viewOrganizationLogs', 'viewAccountLogs'] };
const VIEW_ELEMENTS: Access = { privilege: 'viewElements' };

/** Everybody of the account. What goes to a provider is its to allow; what happened there is in the activity, not in the audit log. */
const EVERYBODY: Access = {};

/** Every operation of the API: one that is missing does not compile. */
export const ACCESS: Readonly<Record<ApiOperationId, Access>> = {
  getOrganization: EVERYBODY,
  updateOrganization: { privilege: 'manageOrganization', audit: { action: 'update', target: 'organization' } },
  listOrganizationSecrets: { privilege: 'modifySecurity', audit: { action: 'show', target: 'secret' } },
  rotateOrganizationSecret: { privilege: 'modifySecurity', audit: { action: 'rotate', target: 'secret' } },

  listAccounts: EVERYBODY,
  createAccount: { privilege: 'manageOrganization', audit: { action: 'create', target: 'account' } },
  getAccount: { account: 'id' },
  updateAccount: account('update', 'editAccount'),
  replaceAccount: account('update', 'editAccount'),
  deleteAccount: account('delete', 'manageOrganization'),
  listOwnAccountInstances: EVERYBODY,
  listAccountInstances: { account: 'id' },
  getOwnAccountSettings: EVERYBODY,
  setOwnAccountSettings: settings(),
  updateOwnAccountSettings: settings(),
  getAccountSettings: { account: 'accountId' },
  setAccountSettings: settings('accountId'),
  updateAccountSettings: settings('accountId'),

  listAuditLogs: VIEW_LOGS,
  listAuthenticationAuditLogs: VIEW_LOGS,
  listInstancesAuditLogs: VIEW_LOGS,
  listInstanceAuditLogs: VIEW_LOGS,
  listElementsAuditLogs: VIEW_LOGS,
  listElementAuditLogs: VIEW_LOGS,
  listUsersAuditLogs: VIEW_LOGS,
  listSettingsAuditLogs: VIEW_LOGS,

  // To oneself.
  createConsoleSession: { audit: { action: 'login', target: 'session' } },
  getConsoleSession: EVERYBODY,
  deleteConsoleSession: { audit: { action: 'logout', target: 'session' } },
  setOwnPassword: { audit: { action: 'update', target: 'secret' } },

  listElements: VIEW_ELEMENTS,
  getElement: VIEW_ELEMENTS,
  getOAuthUrl: { privilege: INSTANCE },
  beginOAuth: { privilege: INSTANCE },
  listElementInstances: EVERYBODY,
  createElementInstance: instance('create'),
  listHubs: VIEW_ELEMENTS,

  listInstances: EVERYBODY,
  createInstance: instance('create'),
  getInstance: EVERYBODY,
  updateInstance: instance('update'),
  replaceInstance: instance('update'),
  deleteInstance: instance('delete'),
  updateThisInstance: instance('update'),
  replaceThisInstance: instance('update'),
  deleteThisInstance: instance('delete'),
  enableInstance: instance('update'),
  disableInstance: instance('update'),
  getInstanceConfiguration: EVERYBODY,
  updateInstanceConfiguration: instance('update'),
  listInstanceEvents: EVERYBODY,
  listInstancePolls: EVERYBODY,
  runInstancePoll: poll('run'),
  replayInstancePoll: poll('update'),

  listOAuthProxies: EVERYBODY,
  createOAuthProxy: proxy('create'),
  getOAuthProxy: EVERYBODY,
  updateOAuthProxy: proxy('update'),
  deleteOAuthProxy: proxy('delete'),
  listOAuthProxyApplicationUrls: EVERYBODY,
  addOAuthProxyApplicationUrl: proxy('update'),
  removeOAuthProxyApplicationUrl: proxy('update'),

  listNotifications: EVERYBODY,
  listSubscriptions: EVERYBODY,
  getSubscription: subscription('show'),
  updateSubscription: subscription('update'),
  deleteSubscription: subscription('delete'),
  listDeliveries: EVERYBODY,
  releaseDeliveries: delivery('update'),
  acknowledgeDeliveries: delivery('delete'),
  countDeliveries: EVERYBODY,
  getDelivery: EVERYBODY,
  acknowledgeDelivery: delivery('delete'),
  redeliver: delivery('run'),
  redeliverPeriod: delivery('run'),
  sendTestEvent: EVERYBODY,

  listObjects: EVERYBODY,
  listHubObjects: EVERYBODY,
  getObjectMetadata: EVERYBODY,
  getHubObjectMetadata: EVERYBODY,
  ping: EVERYBODY,
  pingHub: EVERYBODY,
  explainQuery: EVERYBODY,
  search: EVERYBODY,
  searchHub: EVERYBODY,
  listRecords: EVERYBODY,
  listHubRecords: EVERYBODY,
  createRecord: EVERYBODY,
  createHubRecord: EVERYBODY,
  getRecord: EVERYBODY,
  getHubRecord: EVERYBODY,
  updateRecord: EVERYBODY,
  updateHubRecord: EVERYBODY,
  replaceRecord: EVERYBODY,
  replaceHubRecord: EVERYBODY,
  deleteRecord: EVERYBODY,
  deleteHubRecord: EVERYBODY,
  listChildRecords: EVERYBODY,
  listHubChildRecords: EVERYBODY,
};

/**
 * The principal of a call that is about another account of the organization than its caller's own.
 * @throws AppError NOT_FOUND for whoever may not, as for one that is not there
 */
export async function actIn(
  accounts: Pick<Accounts, 'getAccount'>,
  principal: Principal,
  named: string,
): Promise<Principal> {
  if (named === String(principal.accountId)) return principal;
  const { organizationId, homeAccountId, privileges } = principal;
  const { id } = await accounts.getAccount(organizationId, named);
  if (id !== homeAccountId && !privileges.has('manageOrganization')) throw noAccount(named);
  return { ...principal, accountId: id };
}

/**
 * The principal that the operation is done as, in the account that it is about.
 * @throws AppError FORBIDDEN that names the privilege; NOT_FOUND for an account that the caller may not work in
 */
export async function assertAccess(
  accounts: Pick<Accounts, 'getAccount'>,
  principal: Principal,
  { privilege, account }: Access,
  params: Readonly<Record<string, string>>,
): Promise<Principal> {
  const named = account === undefined ? undefined : params[account];
  const acting = named === undefined ? principal : await actIn(accounts, principal, named);
  if (privilege !== undefined) assertPrivilege(acting, privilege);
  return acting;
}

/** One of several is enough. @throws AppError FORBIDDEN that names them */
export function assertPrivilege(
  { privileges }: Pick<Principal, 'privileges'>,
  privilege: Privilege | readonly Privilege[],
): void {
  const enough = [privilege].flat();
  if (enough.some((one) => privileges.has(one))) return;
  const names = enough.map((one) => `${one} (${PRIVILEGES[one][0]})`).join(' or ');
  throw new AppError('FORBIDDEN', `This needs the privilege ${names}, which none of your roles has.`);
}

function noAccount(named: string): AppError {
  return new AppError('NOT_FOUND', `There is no account ${cutText(named)}.`);
}
