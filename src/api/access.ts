import type { Accounts, Principal } from '../accounts/accounts.ts';
import { PRIVILEGES, type Privilege } from '../accounts/privileges.ts';
import { AppError, cutText } from '../errors.ts';
import type { ApiOperationId } from './operation.ts';

/** What a caller needs for an operation, and what the audit log says of it. */
export interface Access {
  /** Without one, whoever is known may. */
  readonly privilege?: Privilege;
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

const VIEW_ELEMENTS: Access = { privilege: 'viewElements' };
/** What others of the account did is told to those who look after it. */
const VIEW_LOGS: Access = { privilege: 'viewAccountLogs' };

/** Everybody of the account. What goes to a provider is its to allow; what happened there is in the activity, not in the audit log. */
const EVERYBODY: Access = {};

/** Every operation of the API: one that is missing does not compile. */
export const ACCESS: Readonly<Record<ApiOperationId, Access>> = {
  listOwnAccountInstances: EVERYBODY,
  listAccountInstances: { account: 'id' },
  getOwnAccountSettings: EVERYBODY,
  setOwnAccountSettings: settings(),
  updateOwnAccountSettings: settings(),
  getAccountSettings: { account: 'accountId' },
  setAccountSettings: settings('accountId'),
  updateAccountSettings: settings('accountId'),

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
  startTraceLogging: instance('update'),
  endTraceLogging: instance('update'),
  listInstanceEvents: EVERYBODY,
  listInstancePolls: EVERYBODY,
  runInstancePoll: poll('run'),
  replayInstancePoll: poll('update'),

  listActivity: VIEW_LOGS,
  listInstanceActivity: VIEW_LOGS,
  getActivity: VIEW_LOGS,
  listUsage: VIEW_LOGS,
  getUsage: VIEW_LOGS,
  countUsage: VIEW_LOGS,
  countElementUsage: VIEW_LOGS,
  countUsageStatuses: VIEW_LOGS,
  measureUsageTimes: VIEW_LOGS,
  getMetric: VIEW_LOGS,
  getOrganizationMetric: { privilege: 'viewOrganizationLogs' },

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
  if (privilege === undefined || acting.privileges.has(privilege)) return acting;
  const [name] = PRIVILEGES[privilege];
  throw new AppError('FORBIDDEN', `This needs the privilege ${privilege} (${name}), which none of your roles has.`);
}

function noAccount(named: string): AppError {
  return new AppError('NOT_FOUND', `There is no account ${cutText(named)}.`);
}
