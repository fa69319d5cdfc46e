import { OPERATIONS, type OperationId } from '../../../generated/operations.ts';
import { type Privilege, ROLES } from '../../../src/accounts/privileges.ts';
import { ACCESS, type Access } from '../../../src/api/access.ts';
import type { RootOperationId } from '../../../src/api/operation.ts';
import type { ApiCall } from '../../support/app.ts';
import { APPLICATION_URL, type Kind, type Place, type Thing, unique } from './places.ts';
import { SHOP } from './simulated.ts';
import { authorizationOf, type Tenant } from './tenants.ts';

/** How an operation is asked for so that it succeeds for those who may. Accounts in paths and tokens of instances need not be said. */
export interface Recipe extends Pick<ApiCall, 'query' | 'headers'> {
  /** What it is about. `id` in its path is its id. */
  readonly of?: Kind;
  /** Whoever does it takes it away, or makes another thing of it. */
  readonly spends?: true;
  readonly path?: Readonly<Record<string, string>> | ((thing: Thing) => Readonly<Record<string, string>>);
  readonly body?: (thing: Thing) => unknown;
  /** Default 200. */
  readonly success?: number;
  /** Whoever has the privilege is shown what all accounts of the organization have. */
  readonly showsAllTo?: Privilege;
  /** Whoever has the privilege sees it in all accounts of the organization, and cannot change it in another one. */
  readonly isShownTo?: Privilege;
  /** Unless the call names an account: then what that one has. */
  readonly isNarrowed?: true;
  /** It differs from one time to the next, or shows what the provider has, which is the same behind all places. */
  readonly isOfTheMoment?: true;
  /** It is another user's, and not there for whoever lacks the privilege. */
  readonly isReservedUnless?: Privilege;
  /** Tells what was asked for, row by row. */
  readonly isLog?: true;
}

/** The page of a connect session has a key of its own, and is nobody; so is whoever has an invitation. */
type PageOperationId = {
  [Id in OperationId]: (typeof OPERATIONS)[Id]['scopes'] extends readonly ['connect'] | readonly ['public']
    ? Id
    : never;
}[OperationId];

export type AskedOperationId = Exclude<OperationId, RootOperationId | PageOperationId>;

const ODATA = { path: { keyOrId: 'odata' } };
/** Nobody here makes instances of it. */
const OTHER_ELEMENT = { path: { keyOrId: 'twilio' } };
const OAUTH = { apiKey: 'x', callbackUrl: 'https://app.example.com/' };
const POLICY = { body: () => ({ 'notification.webhook.failure.policy': 'queue' }) };
const INSTANCE = { of: 'instance' } as const;
const SPARE = { of: 'spareInstance' } as const;
const WATCH = { ...INSTANCE, path: { objectName: 'Orders' } } as const;
const POLL = { ...INSTANCE, path: { resource: 'Orders' } } as const;
const PROXY = { of: 'proxy' } as const;
const SPARE_PROXY = { of: 'spareProxy' } as const;
const OWN_ORGANIZATION = { path: { organizationId: 'me' } };
const ofOdata = { keyOrId: 'odata' };
const PROPERTY = { path: { configId: 'event.notification.enabled' } };
const sameProperty = () => ({ propertyValue: 'false' });
const byId = ({ id }: Thing) => ({ emailOrId: String(id) });
const byIdAndRole = (thing: Thing) => ({ ...byId(thing), key: 'default-user' });
const USER = { of: 'user', path: byId } as const;
const SPARE_USER = { of: 'spareUser', path: byId } as const;
const LOG = { isLog: true, isOfTheMoment: true } as const;
const AUDIT_LOG = { ...LOG, showsAllTo: 'viewOrganizationLogs', isNarrowed: true } as const;
const ALL_USERS = { showsAllTo: 'viewOrganizationUsers', isNarrowed: true } as const;
const ROLE = { path: { key: 'default-user' } };
const NO_DELIVERY = {
  query: { where: "channel = 'webhook' AND status = 'queued' AND config.url = 'http://127.0.0.1:9/nothing'" },
};
/** Nobody knows the id of a request before it was made. */
const NO_REQUEST = {
  path: { requestId: '00000000-0000-4000-8000-000000000000' },
  success: 404,
  isOfTheMoment: true,
} as const;
const OF_THE_MOMENT = { isOfTheMoment: true } as const;
const METRIC = { path: { metric: 'api' }, isOfTheMoment: true } as const;
/** A definition that is not there: whoever may look for it is told so. */
const NO_DEFINITION = { path: { objectName: 'nothing' }, success: 404 } as const;
const NO_MAPPING = { path: { objectName: 'nothing', keyOrId: 'odata' }, success: 404 } as const;
const NO_RESOURCE = { path: { name: 'nothing' }, success: 404 } as const;
const CATALOGUE = { query: { systemOnly: 'true' } } as const;
const noFields = () => ({ fields: [] });
const newDefinition = { path: () => ({ objectName: unique('made') }), body: noFields } as const;
const newDefinitions = { body: () => ({ [unique('made')]: noFields() }) } as const;
const renamed = () => ({ objectName: unique('renamed') });
const ofOrders = () => ({ vendorName: 'Orders', fields: [] });
const fieldOf = ({ id }: Thing) => ({ path: 'id', type: 'string', associatedLevel: 'instance', associatedId: id });
const FORMULA_PARTS = ['formulaId', 'triggerId', 'stepId', 'configurationId', 'instanceId'];
/** Of nothing, no part is there either. */
const partsOf = ({ id, params }: Thing) =>
  params ?? Object.fromEntries(FORMULA_PARTS.map((name) => [name, String(id)]));
const SEEN = { showsAllTo: 'manageOrganization', isNarrowed: true } as const;
const OF_FORMULA = { of: 'formula', path: partsOf, ...SEEN } as const;
const SPARE_FORMULA = { of: 'spareFormula', path: partsOf, isShownTo: 'manageOrganization' } as const;
const SPENT_FORMULA = { ...SPARE_FORMULA, spends: true } as const;
const FORMULA_INSTANCE = { of: 'formulaInstance', path: partsOf } as const;
const SPARE_FORMULA_INSTANCE = { of: 'spareFormulaInstance', path: partsOf } as const;
const newStep = () => ({ name: unique('step'), type: 'script' });
const newVariable = () => ({ key: unique('key') });
const otherTrigger = () => ({ type: 'event', name: unique('trigger') });
const HUB = { hub: 'general' };
const ORDERS = { objectName: 'Orders' };
const ORDER = { ...ORDERS, objectId: 'A-1' };
const CHILD = { ...ORDERS, childObjectName: 'Lines' };
const LINES = { ...ORDER, childObjectName: 'Lines' };
const CONNECT_SESSION = { of: 'connectSession' } as const;
const BULK_JOB = { of: 'bulkJob' } as const;
const BULK_UPLOAD = { of: 'bulkUpload' } as const;
const EXECUTION_PARTS = ['instanceId', 'executionId', 'stepExecutionId'];
/** Of nothing, no part is there either. */
const executionParts = ({ id, params }: Thing) =>
  params ?? Object.fromEntries(EXECUTION_PARTS.map((name) => [name, String(id)]));
const EXECUTION = { of: 'execution', path: executionParts } as const;
const SPARE_EXECUTION = { of: 'spareExecution', path: executionParts } as const;
const SPENT_BULK_JOB = { of: 'spareBulkJob', spends: true } as const;
const KEY = { of: 'accessKey' } as const;
const IF_MATCH = { headers: { 'if-match': '*' } };

const rename = () => ({ name: unique('renamed') });
const newInstance = () => ({ name: unique('made'), configuration: SHOP });
const newOrder = () => ({ Code: unique('R'), ...order() });
const order = () => ({
  CustomerId: '3f2504e0-4f89-41d3-9a0c-000000000001',
  PlacedAt: '2026-01-03T08:30:00Z',
  Paid: true,
});
const redescribe = () => ({ description: unique('described') });
const renamePerson = () => ({ firstName: unique('Renamed') });
const newUser = () => ({ email: `${unique('made')}@example.com`, firstName: 'Made', lastName: 'Made' });
const sameRole = () => ({ privileges: ROLES['default-user'].privileges });
const paid = () => ({ Paid: true });
const sameOrder = () => ({ Code: 'A-1', ...order() });

type LevelOperationId = Extract<
  AskedOperationId,
  `${string}${'Organization' | 'Account' | 'Instance'}${'Definition' | 'Transformation'}${'' | 's'}`
>;

/** Of definitions and transformations, whose operations are the same at every level. */
const OF_A_LEVEL: Readonly<Record<string, Recipe>> = {
  listDefinitions: CATALOGUE,
  createDefinitions: newDefinitions,
  deleteDefinitions: {},
  getDefinition: NO_DEFINITION,
  createDefinition: newDefinition,
  replaceDefinition: { ...NO_DEFINITION, body: noFields },
  deleteDefinition: NO_DEFINITION,
  renameDefinition: { ...NO_DEFINITION, body: renamed },
  listTransformations: ODATA,
  deleteTransformations: ODATA,
  getTransformation: NO_MAPPING,
  createTransformation: { ...NO_MAPPING, body: ofOrders },
  replaceTransformation: { ...NO_MAPPING, body: ofOrders },
  deleteTransformation: NO_MAPPING,
};
const LEVELS = { Organization: {}, OwnAccount: {}, Account: {}, Instance: INSTANCE, ThisInstance: INSTANCE };

function ofAllLevels() {
  const recipes = Object.entries(LEVELS).flatMap(([level, of]) =>
    Object.entries(OF_A_LEVEL).map(([name, recipe]): [string, Recipe] => [
      name.replace(/(?=[A-Z])/, level),
      { ...recipe, ...of },
    ]),
  );
  return Object.fromEntries(recipes) as Record<LevelOperationId, Recipe>;
}

/** One for every operation that asks who calls. */
export const RECIPES: Readonly<Record<AskedOperationId, Recipe>> = {
  getOrganization: {},
  updateOrganization: { body: rename },
  replaceOrganization: { body: rename },
  listOrganizationSecrets: {},
  rotateOrganizationSecret: { body: () => ({}) },

  getConnectBranding: {},
  setConnectBranding: { body: () => ({ name: 'Acme Books' }) },
  getConnectOrigins: {},
  setConnectOrigins: { body: () => ({ origins: ['https://app.example.com'] }) },

  listAccounts: { showsAllTo: 'manageOrganization' },
  createAccount: { body: () => ({ externalId: unique('made') }) },
  getAccount: {},
  listOrganizationAccounts: { ...OWN_ORGANIZATION, showsAllTo: 'manageOrganization' },
  createOrganizationAccount: { ...OWN_ORGANIZATION, body: () => ({ externalId: unique('made') }) },
  getOrganizationAccount: OWN_ORGANIZATION,
  updateAccount: { body: redescribe },
  replaceAccount: { body: () => ({ ...rename(), ...redescribe() }) },
  deleteAccount: { of: 'spareAccount', spends: true, path: ({ id }) => ({ id: String(id) }) },
  listOwnAccountInstances: {},
  listAccountInstances: {},
  getOwnAccountSettings: {},
  setOwnAccountSettings: POLICY,
  updateOwnAccountSettings: POLICY,
  getAccountSettings: {},
  setAccountSettings: POLICY,
  updateAccountSettings: POLICY,

  listOrganizationUsers: ALL_USERS,
  createOrganizationUser: { body: newUser },
  getOrganizationUser: USER,
  updateOrganizationUser: { ...SPARE_USER, body: renamePerson },
  deleteOrganizationUser: { ...SPARE_USER, spends: true },
  listAccountUsers: {},
  createAccountUser: { body: newUser },
  getAccountUser: USER,
  updateAccountUser: { ...SPARE_USER, body: renamePerson },
  replaceAccountUser: { ...SPARE_USER, body: newUser },
  deleteAccountUser: { ...SPARE_USER, spends: true },
  listInvitations: {},
  createInvitation: { body: () => ({ email: `${unique('invited')}@example.com` }) },
  revokeInvitation: { of: 'spareInvitation', spends: true },
  listAccessKeys: {},
  createAccessKey: { body: () => ({ name: unique('made'), access: 'read' }) },
  // A call with secrets has no key.
  getOwnAccessKey: { success: 403 },
  getAccessKey: { ...KEY, isReservedUnless: 'editAccountUsers' },
  updateAccessKey: { ...KEY, isReservedUnless: 'editAccountUsers', body: rename },
  deleteAccessKey: { of: 'spareAccessKey', spends: true, isReservedUnless: 'editAccountUsers' },
  // Only the user of a key rotates it; whoever else looks for one is told that it is not there.
  rotateAccessKey: { path: { id: '7400000000' }, success: 404, body: () => ({}) },
  listUsers: ALL_USERS,
  getUser: USER,
  updateUser: { ...SPARE_USER, body: renamePerson },
  deleteUser: { ...SPARE_USER, spends: true },
  getOwnUser: {},
  updateOwnUser: { body: renamePerson },
  listOwnUserSecrets: {},
  rotateOwnUserSecret: { body: () => ({}) },
  listRoles: {},
  getRole: ROLE,
  replaceRole: { ...ROLE, body: sameRole },
  listUserRoles: USER,
  getUserRole: { ...USER, path: byIdAndRole },
  grantUserRole: { ...SPARE_USER, path: byIdAndRole },
  revokeUserRole: { ...SPARE_USER, spends: true, path: byIdAndRole },

  listAccountRoles: {},
  // What it grants would change what the callers here may do.
  grantAccountRole: { path: { key: 'org-admin' }, success: 409 },
  // Whoever may is told that the account does not have it.
  revokeAccountRole: { path: { key: 'admin' }, success: 404 },

  createConsoleSession: {},
  getConsoleLogIn: {},
  // A call with secrets has no session.
  getConsoleSession: { success: 404 },
  deleteConsoleSession: { success: 404 },
  setOwnPassword: { body: () => ({ password: 'a horse of another colour' }) },

  listAuditLogs: AUDIT_LOG,
  listAuthenticationAuditLogs: AUDIT_LOG,
  listInstancesAuditLogs: AUDIT_LOG,
  listInstanceAuditLogs: { ...AUDIT_LOG, ...INSTANCE },
  listElementsAuditLogs: AUDIT_LOG,
  listElementAuditLogs: { ...AUDIT_LOG, ...ODATA },
  listUsersAuditLogs: AUDIT_LOG,
  listSettingsAuditLogs: AUDIT_LOG,
  listCommonResourcesAuditLogs: AUDIT_LOG,
  listCommonResourceAuditLogs: { ...AUDIT_LOG, path: { name: 'nothing' } },

  listFormulasAuditLogs: AUDIT_LOG,
  listFormulaAuditLogs: { ...AUDIT_LOG, path: { entityId: '1' } },
  listFormulaInstancesAuditLogs: AUDIT_LOG,

  listElements: {},
  listElementKeys: {},
  getElement: ODATA,
  getElementMetadata: ODATA,
  getElementConfiguration: ODATA,
  activateElement: OTHER_ELEMENT,
  deactivateElement: OTHER_ELEMENT,
  getOAuthUrl: { path: { keyOrId: 'salesforce' }, query: OAUTH },
  beginOAuth: { path: { keyOrId: 'salesforce' }, body: () => OAUTH },
  listElementInstances: ODATA,
  createElementInstance: { ...ODATA, body: newInstance },
  getElementInstance: { ...INSTANCE, path: ofOdata },
  updateElementInstance: { ...SPARE, path: ofOdata, body: rename },
  replaceElementInstance: { ...SPARE, path: ofOdata, body: newInstance },
  deleteElementInstance: { ...SPARE, spends: true, path: ofOdata },
  listHubs: {},
  listHubKeys: {},
  getHub: { path: { key: 'general' } },
  listElementsOfHub: { path: { key: 'crm' } },

  listInstances: {},
  createInstance: { body: () => ({ element: { key: 'odata' }, ...newInstance() }) },
  getInstance: INSTANCE,
  updateInstance: { ...SPARE, body: rename },
  replaceInstance: { ...SPARE, body: newInstance },
  deleteInstance: { ...SPARE, spends: true },
  updateThisInstance: { ...SPARE, body: rename },
  replaceThisInstance: { ...SPARE, body: newInstance },
  deleteThisInstance: { ...SPARE, spends: true },
  enableInstance: SPARE,
  disableInstance: { ...SPARE, spends: true },
  getInstanceConfiguration: INSTANCE,
  updateInstanceConfiguration: { ...SPARE, body: () => SHOP },
  listConfigurationProperties: INSTANCE,
  getConfigurationProperty: { ...INSTANCE, ...PROPERTY },
  updateConfigurationProperty: { ...SPARE, ...PROPERTY, body: sameProperty },
  listInstanceEvents: INSTANCE,
  enableThisInstance: SPARE,
  disableThisInstance: { ...SPARE, spends: true },
  getThisInstanceConfiguration: INSTANCE,
  updateThisInstanceConfiguration: { ...SPARE, body: () => SHOP },
  getThisConfigurationProperty: { ...INSTANCE, ...PROPERTY },
  updateThisConfigurationProperty: { ...SPARE, ...PROPERTY, body: sameProperty },
  startThisTraceLogging: SPARE,
  endThisTraceLogging: SPARE,
  listThisInstanceEvents: INSTANCE,
  listInstancePolls: INSTANCE,
  runInstancePoll: POLL,
  replayInstancePoll: { ...POLL, body: () => ({ from: '2026-03-01T00:00:00Z' }) },
  listSchemaWatches: INSTANCE,
  getSchemaWatch: WATCH,
  watchSchema: WATCH,
  unwatchSchema: { ...WATCH, of: 'spareWatch', spends: true },
  listSchemaChanges: INSTANCE,

  ...ofAllLevels(),
  // Those of the first instance are listed, too.
  deleteInstanceDefinitions: SPARE,
  deleteThisInstanceDefinitions: SPARE,
  putTransformation: {
    ...INSTANCE,
    body: ({ id }) => ({ objectName: 'nothing', elementInstanceId: id, ...ofOrders() }),
    success: 404,
  },
  listElementTransformations: ODATA,
  listFormulas: { ...SEEN },
  createFormula: { body: () => ({ name: unique('made') }) },
  getFormula: OF_FORMULA,
  replaceFormula: { ...SPARE_FORMULA, body: () => ({ name: unique('replaced') }), spends: true },
  updateFormula: { ...SPARE_FORMULA, body: rename },
  deleteFormula: SPENT_FORMULA,
  exportFormula: OF_FORMULA,
  getFormulaDocument: OF_FORMULA,
  validateFormula: OF_FORMULA,
  listFormulaVersions: OF_FORMULA,
  getFormulaVersion: { ...OF_FORMULA, path: { version: '1' } },
  // It has one.
  createFormulaTrigger: { ...SPARE_FORMULA, body: otherTrigger, success: 409 },
  getFormulaTrigger: OF_FORMULA,
  replaceFormulaTrigger: { ...SPARE_FORMULA, body: otherTrigger },
  deleteFormulaTrigger: SPENT_FORMULA,
  listFormulaSteps: OF_FORMULA,
  createFormulaStep: { ...SPARE_FORMULA, body: newStep },
  getFormulaStep: OF_FORMULA,
  replaceFormulaStep: { ...SPARE_FORMULA, body: newStep },
  deleteFormulaStep: SPENT_FORMULA,
  createFormulaVariable: { ...SPARE_FORMULA, body: newVariable },
  getFormulaVariable: OF_FORMULA,
  replaceFormulaVariable: { ...SPARE_FORMULA, body: newVariable },
  deleteFormulaVariable: SPENT_FORMULA,
  listInstancesOfFormula: { ...OF_FORMULA, isOfTheMoment: true },
  createFormulaInstance: {
    of: 'formula',
    isShownTo: 'manageOrganization',
    body: () => ({ name: unique('made') }),
  },
  getInstanceOfFormula: FORMULA_INSTANCE,
  replaceInstanceOfFormula: { ...SPARE_FORMULA_INSTANCE, body: rename },
  updateInstanceOfFormula: { ...SPARE_FORMULA_INSTANCE, body: rename },
  deleteInstanceOfFormula: { ...SPARE_FORMULA_INSTANCE, spends: true },
  activateFormulaInstance: SPARE_FORMULA_INSTANCE,
  deactivateFormulaInstance: SPARE_FORMULA_INSTANCE,
  listFormulaInstances: { isOfTheMoment: true },
  getFormulaInstance: FORMULA_INSTANCE,
  deleteFormulaInstance: { ...SPARE_FORMULA_INSTANCE, spends: true },
  listAccountFormulaInstances: { of: 'formula', path: partsOf },

  listCommonResources: { isOfTheMoment: true },
  putCommonResource: { ...INSTANCE, body: (thing) => ({ name: unique('made'), fields: [fieldOf(thing)] }) },
  getCommonResource: NO_RESOURCE,
  renameCommonResource: { ...NO_RESOURCE, body: () => ({ name: unique('renamed') }) },
  deleteCommonResource: NO_RESOURCE,
  listCommonResourceUsages: NO_RESOURCE,
  listVdrs: { isOfTheMoment: true },
  importVdr: { body: () => ({ definition: { objectName: unique('made'), ...noFields() } }) },
  getVdr: { path: { idOrName: 'contacts' } },
  deleteVdr: { path: { idOrName: 'nothing' }, success: 404 },
  exportVdr: NO_RESOURCE,
  cloneVdr: { path: { id: 'nothing' }, query: { level: 'account' }, success: 404 },

  startTraceLogging: SPARE,
  endTraceLogging: SPARE,
  listActivity: LOG,
  listInstanceActivity: { ...INSTANCE, ...LOG },
  getActivity: NO_REQUEST,
  listUsage: LOG,
  getUsage: NO_REQUEST,
  countUsage: { isOfTheMoment: true },
  countElementUsage: { isOfTheMoment: true },
  countUsageStatuses: { isOfTheMoment: true },
  measureUsageTimes: { isOfTheMoment: true },
  getMetric: METRIC,
  getOrganizationMetric: { ...METRIC, showsAllTo: 'viewOrganizationLogs' },

  listConnectSessions: {},
  createConnectSession: { body: () => ({ name: unique('made'), elements: ['odata'], configuration: SHOP }) },
  getConnectSession: CONNECT_SESSION,
  deleteConnectSession: { of: 'spareConnectSession', spends: true },

  listOAuthProxies: {},
  createOAuthProxy: { body: () => ({ name: unique('made'), apiKey: 'x', apiSecret: 'the-secret-of-a-client' }) },
  getOAuthProxy: PROXY,
  updateOAuthProxy: { ...SPARE_PROXY, body: rename },
  deleteOAuthProxy: { ...SPARE_PROXY, spends: true },
  listOAuthProxyApplicationUrls: PROXY,
  addOAuthProxyApplicationUrl: { ...SPARE_PROXY, body: () => ({ url: 'https://app.example.com/added' }) },
  removeOAuthProxyApplicationUrl: { ...SPARE_PROXY, spends: true, query: { url: APPLICATION_URL } },

  listNotifications: {},
  listSubscriptions: {},
  createSubscription: { body: () => ({ url: 'http://127.0.0.1:9/made', name: unique('made'), active: false }) },
  getSubscription: { of: 'subscription' },
  updateSubscription: { of: 'spareSubscription', body: () => ({ eventTypes: ['Orders.*'] }) },
  testSubscription: { of: 'spareSubscription' },
  deleteSubscription: { of: 'spareSubscription', spends: true },
  listDeliveries: {},
  releaseDeliveries: NO_DELIVERY,
  acknowledgeDeliveries: NO_DELIVERY,
  countDeliveries: {},
  getDelivery: { of: 'delivery' },
  acknowledgeDelivery: { of: 'spareDelivery', spends: true },
  redeliver: { of: 'spareDelivery', spends: true },
  redeliverPeriod: { body: () => ({ from: '2025-01-20T08:00:00Z', to: '2025-01-20T09:00:00Z' }) },
  sendTestEvent: { ...INSTANCE, body: ({ id }) => ({ instanceId: id, data: { note: 'x' } }) },

  listObjects: {},
  listHubObjects: { path: HUB },
  getObjectMetadata: { path: ORDERS },
  getHubObjectMetadata: { path: { ...HUB, ...ORDERS } },
  getChildObjectMetadata: { path: CHILD },
  getHubChildObjectMetadata: { path: { ...HUB, ...CHILD } },
  ping: { isOfTheMoment: true },
  pingHub: { path: HUB, isOfTheMoment: true },
  listFederatedRecords: { path: ORDERS, isOfTheMoment: true },
  // Nothing maps the object.
  executeTransformation: { path: ORDERS, body: () => ({ payload: {}, elementKey: 'twilio' }), success: 404 },
  explainQuery: { body: () => ({ objectName: 'Orders', where: "Code = 'A-1'" }) },
  // The element has nothing that searches.
  search: { query: { text: 'x' }, success: 404 },
  searchHub: { path: HUB, query: { text: 'x' }, success: 404 },
  listRecords: { path: ORDERS, isOfTheMoment: true },
  listHubRecords: { path: { ...HUB, ...ORDERS }, isOfTheMoment: true },
  createRecord: { path: ORDERS, body: newOrder },
  createHubRecord: { path: { ...HUB, ...ORDERS }, body: newOrder },
  getRecord: { path: ORDER },
  getHubRecord: { path: { ...HUB, ...ORDER } },
  updateRecord: { path: ORDER, body: paid },
  updateHubRecord: { path: { ...HUB, ...ORDER }, body: paid },
  replaceRecord: { path: ORDER, body: sameOrder },
  replaceHubRecord: { path: { ...HUB, ...ORDER }, body: sameOrder },
  deleteRecord: { of: 'spareOrder', spends: true, path: ({ id }) => ({ ...ORDERS, objectId: String(id) }) },
  deleteHubRecord: { of: 'spareOrder', spends: true, path: ({ id }) => ({ ...HUB, ...ORDERS, objectId: String(id) }) },
  listChildRecords: { path: LINES },
  listHubChildRecords: { path: { ...HUB, ...LINES } },

  listFormulaExecutions: EXECUTION,
  listExecutionsOfFormulaInstance: EXECUTION,
  startFormulaExecutions: { ...SPARE_EXECUTION, body: () => ({ n: 1 }) },
  startExecutionsOfFormulaInstance: { ...SPARE_EXECUTION, body: () => ({ n: 1 }) },
  listFailedFormulaExecutions: EXECUTION,
  // A formula of another account has no executions here.
  listFailedExecutionsOfFormula: { ...EXECUTION, showsAllTo: 'manageOrganization', isNarrowed: true },
  getFormulaExecution: EXECUTION,
  cancelFormulaExecution: { ...SPARE_EXECUTION, spends: true, body: () => ({ status: 'cancelled' }) },
  listFormulaStepExecutions: EXECUTION,
  listFormulaExecutionErrors: EXECUTION,
  getFormulaStepExecution: EXECUTION,
  listFormulaStepValues: EXECUTION,
  retryFormulaExecution: EXECUTION,
  countFormulaExecutions: OF_THE_MOMENT,
  countFormulaStatuses: OF_THE_MOMENT,
  countAccountFormulaExecutions: { ...OF_THE_MOMENT, ...SEEN },
  countInstanceFormulaExecutions: OF_THE_MOMENT,
  measureFormulaSteps: OF_THE_MOMENT,
  getOpenFormulaExecutions: OF_THE_MOMENT,
  listJobs: { isOfTheMoment: true },
  getJob: { of: 'job', path: byId },
  deleteJob: { of: 'spareJob', path: byId, spends: true },
  forgetFormulaRetry: { of: 'plannedRetry', path: executionParts, spends: true },

  createBulkQuery: { body: () => ({ objectName: 'Orders' }) },
  createHubBulkQuery: { path: HUB, body: () => ({ objectName: 'Orders' }) },
  // Who may send no form, or what is none, is told so before.
  createBulkUpload: { path: { id: 'Orders' }, body: () => ({}), success: 415 },
  createHubBulkUpload: { path: { ...HUB, id: 'Orders' }, body: () => ({}), success: 415 },
  listAccountBulkJobs: { isOfTheMoment: true },
  listBulkJobs: { isOfTheMoment: true },
  listHubBulkJobs: { path: HUB, isOfTheMoment: true },
  getBulkStatus: BULK_JOB,
  getHubBulkStatus: { ...BULK_JOB, path: HUB },
  cancelBulkJob: SPENT_BULK_JOB,
  cancelHubBulkJob: { ...SPENT_BULK_JOB, path: HUB },
  deleteBulkJob: SPENT_BULK_JOB,
  deleteHubBulkJob: { ...SPENT_BULK_JOB, path: HUB },
  listBulkErrors: BULK_UPLOAD,
  listHubBulkErrors: { ...BULK_UPLOAD, path: HUB },
  // Nothing works in the background, so that there is no file.
  getBulkFile: { ...BULK_JOB, path: ORDERS, success: 404 },
  getHubBulkFile: { ...BULK_JOB, path: { ...HUB, ...ORDERS }, success: 404 },

  passGet: { path: { path: "Orders('A-1')" } },
  passPost: { path: { path: 'Orders' }, body: newOrder, success: 201 },
  passPut: { ...IF_MATCH, path: { path: "Orders('A-1')" }, body: order },
  passPatch: { ...IF_MATCH, path: { path: "Orders('A-1')" }, body: paid },
  passDelete: {
    ...IF_MATCH,
    of: 'spareOrder',
    spends: true,
    path: ({ id }) => ({ path: `Orders('${id}')` }),
    success: 204,
  },
};

/** A request for an operation, as `TestApp.call` takes it. */
export interface RecipeRequest {
  /** What it is about; without an id where it is about nothing of the place. */
  readonly thing: Thing | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly path: string;
  readonly call: ApiCall;
}

/** The request of a recipe, about something of the caller's place. */
export async function requestOf(
  id: OperationId,
  recipe: Recipe,
  { place, caller }: { readonly place: Pick<Place, 'accountId' | 'find'>; readonly caller: Tenant },
): Promise<RecipeRequest> {
  const { of, path = {}, query = {}, headers = {}, body } = recipe;
  const { method, path: template, scopes } = OPERATIONS[id];
  const thing = of === undefined ? undefined : await place.find(of);
  const given: Thing = thing ?? { id: 0 };
  const { account }: Access = Object(ACCESS)[id] ?? {};
  const params: Readonly<Record<string, string>> = {
    id: String(given.id),
    ...(account !== undefined && { [account]: String(place.accountId) }),
    ...(typeof path === 'function' ? path(given) : path),
  };
  const isOnInstance = !scopes.some((scope) => scope === 'platform' || scope === 'connect');
  const token = isOnInstance ? (given.token ?? (await place.find('instance')).token) : undefined;
  return {
    thing,
    params,
    path: template.replace(/\{(\w+)\}/g, (_, param) => encodeURIComponent(params[param] ?? '')),
    call: {
      method: method.toUpperCase(),
      query,
      headers: { ...headers, ...authorizationOf(caller, token) },
      ...(body !== undefined && { body: body(given) }),
    },
  };
}
