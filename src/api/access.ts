import { type Accounts, goesBy, type Principal } from '../accounts/accounts.ts';
import { lacking, type Privilege } from '../accounts/privileges.ts';
import { type UserRow, type Users, userNotFound } from '../accounts/users.ts';
import type { AppError } from '../errors.ts';
import { missing } from '../shared-errors.ts';
import type { ApiOperationId, UserOf } from './operation.ts';

/** Rights that an operation requires, and its entry in the audit log. */
export interface Access {
  /** The privilege that the operation needs. Any one of several is enough. Without it, every known caller may use the operation. */
  readonly privilege?: Privilege | readonly Privilege[];
  /** Another privilege that the operation needs in addition. */
  readonly also?: Privilege;
  /**
   * Name of the path parameter that names an account of the organization. Without it, the operation is about the account in the header or
   * the caller's own.
   */
  readonly account?: string;
  /** Rights for a path that names a user (`emailOrId`). */
  readonly user?: UserAccess;
  /** Whether the response contains a new secret. A retry with the same `Idempotency-Key` returns it again. */
  readonly returnsSecret?: true;
  /** Audit entry of an operation that changes something or shows a secret. */
  readonly audit?: Audited;
}

/** Privileges that are required to access a user. Users out of reach are reported as missing. */
interface UserAccess {
  /** Privilege for users of the account that the request is about. */
  readonly ofAccount?: Privilege;
  /** Privilege for users of all accounts of the organization. */
  readonly ofOrganization: Privilege;
  /** Whether users may access themselves without a privilege. */
  readonly isForOneself?: true;
}

interface Audited {
  readonly action: AuditAction;
  readonly target: AuditTarget;
  /** The path parameter with the id of the target. */
  readonly id?: string;
}

type AuditAction = 'create' | 'update' | 'delete' | 'rotate' | 'show' | 'login' | 'logout' | 'run';

export type AuditTarget =
  | 'organization'
  | 'account'
  | 'user'
  | 'role'
  | 'secret'
  | 'access-key'
  | 'session'
  | 'settings'
  | 'element'
  | 'instance'
  | 'connect-session'
  | 'invitation'
  | 'oauth-proxy'
  | 'common-resource'
  | 'formula'
  | 'formula-instance'
  | 'subscription'
  | 'delivery'
  | 'poll'
  | 'schema-watch';

const INSTANCE = 'createElementInstances';

/** Executions are started and steered by users who create formula instances. They stand in the activity, as bulk jobs do. */
const EXECUTE: Access = { privilege: 'createFormulaInstances' };

/** Privileges for changes by users who create instances. */
const changes =
  (target: AuditTarget, id = 'id') =>
  (action: AuditAction): Access => ({ privilege: INSTANCE, audit: { action, target, id } });

const instance = changes('instance');
const proxy = changes('oauth-proxy');
const subscription = changes('subscription');
const delivery = changes('delivery');
const poll = changes('poll', 'resource');
const schemaWatch = changes('schema-watch', 'objectName');
const connectSession = changes('connect-session');
/** For requests with the key of a connect page, which act as the user who created the session. */
const ofPage = (action: AuditAction): Access => ({ audit: { action, target: 'connect-session' } });
const element: Access = { privilege: 'editElements', audit: { action: 'update', target: 'element', id: 'keyOrId' } };
const settings = (account?: string): Access => ({
  privilege: 'editAccount',
  ...(account !== undefined && { account }),
  audit: { action: 'update', target: 'settings' },
});

const organization = (action: AuditAction): Access => ({
  privilege: 'manageOrganization',
  audit: { action, target: 'organization' },
});

const account = (action: AuditAction, privilege: Privilege): Access => ({
  privilege,
  account: 'id',
  audit: { action, target: 'account', id: 'id' },
});
const CREATE_ACCOUNT: Access = {
  privilege: 'manageOrganization',
  audit: { action: 'create', target: 'account' },
};
const USER_AUDIT = { target: 'user', id: 'emailOrId' } as const;

const VIEW_USER: UserAccess = { ofAccount: 'viewAccountUsers', ofOrganization: 'viewOrganizationUsers' };
const EDIT_USER: UserAccess = { ofAccount: 'editAccountUsers', ofOrganization: 'editOrganizationUsers' };
const DELETE_USER: UserAccess = { ofAccount: 'deleteAccountUsers', ofOrganization: 'deleteOrganizationUsers' };

const viewUser = { user: { ...VIEW_USER, isForOneself: true } } as const;
const editUser = { user: { ...EDIT_USER, isForOneself: true }, audit: { action: 'update', ...USER_AUDIT } } as const;
const deleteUser = { user: DELETE_USER, audit: { action: 'delete', ...USER_AUDIT } } as const;
/** You cannot change your own roles. Ask another administrator. */
const editRoles = { user: EDIT_USER, audit: { action: 'update', ...USER_AUDIT } } as const;

/** Roles of an account. They apply to its users, so changing them needs the privilege to edit users. */
const accountRole: Access = {
  account: 'id',
  privilege: 'editAccountUsers',
  audit: { action: 'update', target: 'account', id: 'id' },
};

/** Privileges to invite users. The accounts into which a caller may invite depend on which of them the caller has. */
const INVITE = ['addOrganizationUsers', 'addAccountUsers'] as const;

/** An operation's action on definitions and transformations, as the privileges and the audit log name it. */
const CREATE = ['create', 'create'] as const;
const EDIT = ['edit', 'update'] as const;
const DELETE = ['delete', 'delete'] as const;
type MappingAction = typeof CREATE | typeof EDIT | typeof DELETE;

const VIEW_MAPPINGS = 'viewCommonObjects';

const mappingAudit = (action: AuditAction, id: string | undefined): { readonly audit: Audited } => ({
  audit: { action, target: 'common-resource', ...(id !== undefined && { id }) },
});

/** Changes of definitions and transformations that hold for the organization. */
const organizationMapping = ([verb, action]: MappingAction, id?: string): Access => ({
  privilege: `${verb}CommonObjects`,
  also: 'manageOrganization',
  ...mappingAudit(action, id),
});

/** Changes of those of an account. */
const accountMapping = ([verb, action]: MappingAction, id?: string): Access => ({
  privilege: `${verb}CommonObjects`,
  ...mappingAudit(action, id),
});

/** Changes of those of an instance. */
const instanceMapping = ([, action]: MappingAction, id?: string): Access => ({
  privilege: INSTANCE,
  ...mappingAudit(action, id),
});

/** Changes whose level stands in the body or follows from the caller, who is checked for it then. */
const leveledMapping = ([verb, action]: MappingAction, id?: string): Access => ({
  privilege: [`${verb}CommonObjects`, INSTANCE],
  ...mappingAudit(action, id),
});

const ofAccount = (access: Access): Access => ({ ...access, account: 'id' });

const VIEW_FORMULAS: Access = { privilege: 'viewFormulas' };

/** Changes of formulas. */
const formula = (action: AuditAction, privilege: Privilege = 'editFormulas'): Access => ({
  privilege,
  audit: { action, target: 'formula', ...(action !== 'create' && { id: 'id' }) },
});

/** Changes of formula instances, by users who create them. */
const formulaInstance = (action: AuditAction): Access => ({
  privilege: 'createFormulaInstances',
  audit: { action, target: 'formula-instance', ...(action !== 'create' && { id: 'instanceId' }) },
});

const NEW_SECRET = { returnsSecret: true } as const satisfies Access;

const CONFIGURE_ROLES: Access = { privilege: 'configureRoles' };

/** Privileges to read the audit log. How much of it a caller may read depends on which of them the caller has. */
const VIEW_AUDIT_LOG: Access = { privilege: ['viewOrganizationLogs', 'viewAccountLogs'] };
const VIEW_ELEMENTS: Access = { privilege: 'viewElements' };
/** Actions of other users of the account are visible to users who administer it. */
const VIEW_LOGS: Access = { privilege: 'viewAccountLogs' };

/** Everybody of the account. What goes to a provider is its to allow; what happened there is in the activity, not in the audit log. */
const EVERYBODY: Access = {};

/** An operation whose path names a user must declare how the user may be reached. */
type AccessOf<Id extends ApiOperationId> = UserOf<Id> extends UserRow ? Access & { readonly user: UserAccess } : Access;

/** Rights and audit entry of every operation of the API. A missing operation does not compile. */
export const ACCESS: { readonly [Id in ApiOperationId]: AccessOf<Id> } = {
  getOrganization: EVERYBODY,
  updateOrganization: organization('update'),
  replaceOrganization: organization('update'),
  listOrganizationSecrets: { privilege: 'modifySecurity', audit: { action: 'show', target: 'secret' } },
  rotateOrganizationSecret: {
    ...NEW_SECRET,
    privilege: 'modifySecurity',
    audit: { action: 'rotate', target: 'secret' },
  },

  getConnectBranding: EVERYBODY,
  setConnectBranding: { privilege: 'manageOrganization', audit: { action: 'update', target: 'organization' } },
  getConnectOrigins: EVERYBODY,
  setConnectOrigins: { privilege: 'manageOrganization', audit: { action: 'update', target: 'organization' } },

  listAccounts: EVERYBODY,
  createAccount: CREATE_ACCOUNT,
  getAccount: { account: 'id' },
  listOrganizationAccounts: EVERYBODY,
  createOrganizationAccount: CREATE_ACCOUNT,
  getOrganizationAccount: { account: 'id' },
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

  listOrganizationUsers: { privilege: 'viewOrganizationUsers' },
  createOrganizationUser: {
    ...NEW_SECRET,
    privilege: 'addOrganizationUsers',
    audit: { action: 'create', target: 'user' },
  },
  getOrganizationUser: { user: { ofOrganization: 'viewOrganizationUsers' } },
  updateOrganizationUser: { ...editUser, user: { ofOrganization: 'editOrganizationUsers' } },
  deleteOrganizationUser: { ...deleteUser, user: { ofOrganization: 'deleteOrganizationUsers' } },
  listAccountUsers: { account: 'id', privilege: 'viewAccountUsers' },
  createAccountUser: {
    ...NEW_SECRET,
    account: 'id',
    privilege: 'addAccountUsers',
    audit: { action: 'create', target: 'user' },
  },
  getAccountUser: { account: 'id', ...viewUser },
  updateAccountUser: { account: 'id', ...editUser },
  replaceAccountUser: { account: 'id', ...editUser },
  deleteAccountUser: { account: 'id', ...deleteUser },
  listInvitations: { privilege: INVITE },
  createInvitation: { ...NEW_SECRET, privilege: INVITE, audit: { action: 'create', target: 'invitation' } },
  revokeInvitation: { privilege: INVITE, audit: { action: 'delete', target: 'invitation', id: 'id' } },
  // For requests with the link, which act as the user who invited.
  showInvitation: EVERYBODY,
  acceptInvitation: { audit: { action: 'create', target: 'user' } },
  listUsers: EVERYBODY,
  getUser: viewUser,
  updateUser: editUser,
  deleteUser,
  getOwnUser: EVERYBODY,
  updateOwnUser: { audit: { action: 'update', target: 'user' } },
  listOwnUserSecrets: { audit: { action: 'show', target: 'secret' } },
  rotateOwnUserSecret: { ...NEW_SECRET, audit: { action: 'rotate', target: 'secret' } },
  // One's own; the service decides about those of others.
  listAccessKeys: EVERYBODY,
  createAccessKey: { ...NEW_SECRET, audit: { action: 'create', target: 'access-key' } },
  getOwnAccessKey: EVERYBODY,
  getAccessKey: EVERYBODY,
  updateAccessKey: { audit: { action: 'update', target: 'access-key', id: 'id' } },
  deleteAccessKey: { audit: { action: 'delete', target: 'access-key', id: 'id' } },
  rotateAccessKey: { ...NEW_SECRET, audit: { action: 'rotate', target: 'access-key', id: 'id' } },
  listRoles: CONFIGURE_ROLES,
  getRole: CONFIGURE_ROLES,
  replaceRole: { ...CONFIGURE_ROLES, audit: { action: 'update', target: 'role', id: 'key' } },
  listUserRoles: viewUser,
  getUserRole: viewUser,
  grantUserRole: editRoles,
  revokeUserRole: editRoles,
  listAccountRoles: { account: 'id', privilege: 'viewAccountUsers' },
  grantAccountRole: accountRole,
  revokeAccountRole: accountRole,
  listAuditLogs: VIEW_AUDIT_LOG,
  listFormulasAuditLogs: VIEW_AUDIT_LOG,
  listFormulaAuditLogs: VIEW_AUDIT_LOG,
  listFormulaInstancesAuditLogs: VIEW_AUDIT_LOG,
  listAuthenticationAuditLogs: VIEW_AUDIT_LOG,
  listInstancesAuditLogs: VIEW_AUDIT_LOG,
  listInstanceAuditLogs: VIEW_AUDIT_LOG,
  listElementsAuditLogs: VIEW_AUDIT_LOG,
  listElementAuditLogs: VIEW_AUDIT_LOG,
  listUsersAuditLogs: VIEW_AUDIT_LOG,
  listSettingsAuditLogs: VIEW_AUDIT_LOG,
  listCommonResourcesAuditLogs: VIEW_AUDIT_LOG,
  listCommonResourceAuditLogs: VIEW_AUDIT_LOG,

  // To oneself.
  createConsoleSession: { ...NEW_SECRET, audit: { action: 'login', target: 'session' } },
  getConsoleLogIn: EVERYBODY,
  getConsoleSession: EVERYBODY,
  deleteConsoleSession: { audit: { action: 'logout', target: 'session' } },
  setOwnPassword: { audit: { action: 'update', target: 'secret' } },

  listElements: VIEW_ELEMENTS,
  listElementKeys: VIEW_ELEMENTS,
  getElement: VIEW_ELEMENTS,
  getElementMetadata: VIEW_ELEMENTS,
  getElementConfiguration: VIEW_ELEMENTS,
  activateElement: element,
  deactivateElement: element,
  getOAuthUrl: { privilege: INSTANCE },
  beginOAuth: { privilege: INSTANCE },
  listElementInstances: EVERYBODY,
  createElementInstance: instance('create'),
  getElementInstance: EVERYBODY,
  updateElementInstance: instance('update'),
  replaceElementInstance: instance('update'),
  deleteElementInstance: instance('delete'),
  listHubs: VIEW_ELEMENTS,
  listHubKeys: VIEW_ELEMENTS,
  getHub: VIEW_ELEMENTS,
  listElementsOfHub: VIEW_ELEMENTS,

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
  listConfigurationProperties: EVERYBODY,
  getConfigurationProperty: EVERYBODY,
  updateConfigurationProperty: instance('update'),
  startTraceLogging: instance('update'),
  endTraceLogging: instance('update'),
  listInstanceEvents: EVERYBODY,
  enableThisInstance: instance('update'),
  disableThisInstance: instance('update'),
  getThisInstanceConfiguration: EVERYBODY,
  updateThisInstanceConfiguration: instance('update'),
  getThisConfigurationProperty: EVERYBODY,
  updateThisConfigurationProperty: instance('update'),
  startThisTraceLogging: instance('update'),
  endThisTraceLogging: instance('update'),
  listThisInstanceEvents: EVERYBODY,
  listInstancePolls: EVERYBODY,
  runInstancePoll: poll('run'),
  replayInstancePoll: poll('update'),
  listSchemaWatches: EVERYBODY,
  getSchemaWatch: EVERYBODY,
  watchSchema: schemaWatch('create'),
  unwatchSchema: schemaWatch('delete'),
  listSchemaChanges: EVERYBODY,

  listOrganizationDefinitions: { privilege: VIEW_MAPPINGS },
  createOrganizationDefinitions: organizationMapping(CREATE),
  deleteOrganizationDefinitions: organizationMapping(DELETE),
  getOrganizationDefinition: { privilege: VIEW_MAPPINGS },
  createOrganizationDefinition: organizationMapping(CREATE, 'objectName'),
  replaceOrganizationDefinition: organizationMapping(EDIT, 'objectName'),
  deleteOrganizationDefinition: organizationMapping(DELETE, 'objectName'),
  renameOrganizationDefinition: organizationMapping(EDIT, 'objectName'),
  listOrganizationTransformations: { privilege: VIEW_MAPPINGS },
  deleteOrganizationTransformations: organizationMapping(DELETE),
  getOrganizationTransformation: { privilege: VIEW_MAPPINGS },
  createOrganizationTransformation: organizationMapping(CREATE, 'objectName'),
  replaceOrganizationTransformation: organizationMapping(EDIT, 'objectName'),
  deleteOrganizationTransformation: organizationMapping(DELETE, 'objectName'),
  listOwnAccountDefinitions: { privilege: VIEW_MAPPINGS },
  createOwnAccountDefinitions: accountMapping(CREATE),
  deleteOwnAccountDefinitions: accountMapping(DELETE),
  getOwnAccountDefinition: { privilege: VIEW_MAPPINGS },
  createOwnAccountDefinition: accountMapping(CREATE, 'objectName'),
  replaceOwnAccountDefinition: accountMapping(EDIT, 'objectName'),
  deleteOwnAccountDefinition: accountMapping(DELETE, 'objectName'),
  renameOwnAccountDefinition: accountMapping(EDIT, 'objectName'),
  listOwnAccountTransformations: { privilege: VIEW_MAPPINGS },
  deleteOwnAccountTransformations: accountMapping(DELETE),
  getOwnAccountTransformation: { privilege: VIEW_MAPPINGS },
  createOwnAccountTransformation: accountMapping(CREATE, 'objectName'),
  replaceOwnAccountTransformation: accountMapping(EDIT, 'objectName'),
  deleteOwnAccountTransformation: accountMapping(DELETE, 'objectName'),
  listAccountDefinitions: ofAccount({ privilege: VIEW_MAPPINGS }),
  createAccountDefinitions: ofAccount(accountMapping(CREATE)),
  deleteAccountDefinitions: ofAccount(accountMapping(DELETE)),
  getAccountDefinition: ofAccount({ privilege: VIEW_MAPPINGS }),
  createAccountDefinition: ofAccount(accountMapping(CREATE, 'objectName')),
  replaceAccountDefinition: ofAccount(accountMapping(EDIT, 'objectName')),
  deleteAccountDefinition: ofAccount(accountMapping(DELETE, 'objectName')),
  renameAccountDefinition: ofAccount(accountMapping(EDIT, 'objectName')),
  listAccountTransformations: ofAccount({ privilege: VIEW_MAPPINGS }),
  deleteAccountTransformations: ofAccount(accountMapping(DELETE)),
  getAccountTransformation: ofAccount({ privilege: VIEW_MAPPINGS }),
  createAccountTransformation: ofAccount(accountMapping(CREATE, 'objectName')),
  replaceAccountTransformation: ofAccount(accountMapping(EDIT, 'objectName')),
  deleteAccountTransformation: ofAccount(accountMapping(DELETE, 'objectName')),
  listInstanceDefinitions: { privilege: VIEW_MAPPINGS },
  createInstanceDefinitions: instanceMapping(CREATE),
  deleteInstanceDefinitions: instanceMapping(DELETE),
  getInstanceDefinition: { privilege: VIEW_MAPPINGS },
  createInstanceDefinition: instanceMapping(CREATE, 'objectName'),
  replaceInstanceDefinition: instanceMapping(EDIT, 'objectName'),
  deleteInstanceDefinition: instanceMapping(DELETE, 'objectName'),
  renameInstanceDefinition: instanceMapping(EDIT, 'objectName'),
  listInstanceTransformations: { privilege: VIEW_MAPPINGS },
  deleteInstanceTransformations: instanceMapping(DELETE),
  getInstanceTransformation: { privilege: VIEW_MAPPINGS },
  createInstanceTransformation: instanceMapping(CREATE, 'objectName'),
  replaceInstanceTransformation: instanceMapping(EDIT, 'objectName'),
  deleteInstanceTransformation: instanceMapping(DELETE, 'objectName'),
  listThisInstanceDefinitions: { privilege: VIEW_MAPPINGS },
  createThisInstanceDefinitions: instanceMapping(CREATE),
  deleteThisInstanceDefinitions: instanceMapping(DELETE),
  getThisInstanceDefinition: { privilege: VIEW_MAPPINGS },
  createThisInstanceDefinition: instanceMapping(CREATE, 'objectName'),
  replaceThisInstanceDefinition: instanceMapping(EDIT, 'objectName'),
  deleteThisInstanceDefinition: instanceMapping(DELETE, 'objectName'),
  renameThisInstanceDefinition: instanceMapping(EDIT, 'objectName'),
  listThisInstanceTransformations: { privilege: VIEW_MAPPINGS },
  deleteThisInstanceTransformations: instanceMapping(DELETE),
  getThisInstanceTransformation: { privilege: VIEW_MAPPINGS },
  createThisInstanceTransformation: instanceMapping(CREATE, 'objectName'),
  replaceThisInstanceTransformation: instanceMapping(EDIT, 'objectName'),
  deleteThisInstanceTransformation: instanceMapping(DELETE, 'objectName'),
  putTransformation: leveledMapping(EDIT),
  listElementTransformations: VIEW_ELEMENTS,
  listCommonResources: { privilege: VIEW_MAPPINGS },
  putCommonResource: leveledMapping(EDIT),
  getCommonResource: { privilege: VIEW_MAPPINGS },
  renameCommonResource: leveledMapping(EDIT, 'name'),
  deleteCommonResource: leveledMapping(DELETE, 'name'),
  listCommonResourceUsages: { privilege: VIEW_MAPPINGS },
  listVdrs: { privilege: VIEW_MAPPINGS },
  importVdr: accountMapping(EDIT),
  getVdr: { privilege: VIEW_MAPPINGS },
  deleteVdr: leveledMapping(DELETE, 'idOrName'),
  exportVdr: { privilege: VIEW_MAPPINGS },
  cloneVdr: accountMapping(CREATE, 'id'),

  listFormulas: VIEW_FORMULAS,
  createFormula: formula('create', 'createFormulas'),
  getFormula: VIEW_FORMULAS,
  replaceFormula: formula('update'),
  updateFormula: formula('update'),
  deleteFormula: formula('delete', 'deleteFormulas'),
  exportFormula: VIEW_FORMULAS,
  getFormulaDocument: VIEW_FORMULAS,
  validateFormula: VIEW_FORMULAS,
  listFormulaVersions: VIEW_FORMULAS,
  getFormulaVersion: VIEW_FORMULAS,
  createFormulaTrigger: formula('update'),
  getFormulaTrigger: VIEW_FORMULAS,
  replaceFormulaTrigger: formula('update'),
  deleteFormulaTrigger: formula('update'),
  listFormulaSteps: VIEW_FORMULAS,
  createFormulaStep: formula('update'),
  getFormulaStep: VIEW_FORMULAS,
  replaceFormulaStep: formula('update'),
  deleteFormulaStep: formula('update'),
  createFormulaVariable: formula('update'),
  getFormulaVariable: VIEW_FORMULAS,
  replaceFormulaVariable: formula('update'),
  deleteFormulaVariable: formula('update'),
  listInstancesOfFormula: VIEW_FORMULAS,
  createFormulaInstance: formulaInstance('create'),
  getInstanceOfFormula: VIEW_FORMULAS,
  replaceInstanceOfFormula: formulaInstance('update'),
  updateInstanceOfFormula: formulaInstance('update'),
  deleteInstanceOfFormula: formulaInstance('delete'),
  activateFormulaInstance: formulaInstance('update'),
  deactivateFormulaInstance: formulaInstance('update'),
  listFormulaInstances: VIEW_FORMULAS,
  getFormulaInstance: VIEW_FORMULAS,
  deleteFormulaInstance: formulaInstance('delete'),
  listAccountFormulaInstances: ofAccount(VIEW_FORMULAS),

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

  listConnectSessions: { privilege: INSTANCE },
  createConnectSession: {
    ...NEW_SECRET,
    privilege: INSTANCE,
    audit: { action: 'create', target: 'connect-session' },
  },
  // As the instances themselves, whose tokens everybody of the account is shown.
  getConnectSession: { privilege: INSTANCE },
  deleteConnectSession: connectSession('delete'),
  getConnectPage: EVERYBODY,
  completeConnectPage: ofPage('run'),
  authorizeConnectPage: EVERYBODY,
  cancelConnectPage: ofPage('update'),

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
  createSubscription: { ...NEW_SECRET, privilege: INSTANCE, audit: { action: 'create', target: 'subscription' } },
  getSubscription: subscription('show'),
  updateSubscription: subscription('update'),
  deleteSubscription: subscription('delete'),
  testSubscription: EVERYBODY,
  listDeliveries: EVERYBODY,
  releaseDeliveries: delivery('update'),
  acknowledgeDeliveries: delivery('delete'),
  countDeliveries: EVERYBODY,
  getDelivery: EVERYBODY,
  acknowledgeDelivery: delivery('delete'),
  redeliver: delivery('run'),
  redeliverPeriod: delivery('run'),
  sendTestEvent: EVERYBODY,

  listFormulaExecutions: VIEW_FORMULAS,
  listExecutionsOfFormulaInstance: VIEW_FORMULAS,
  listFailedFormulaExecutions: VIEW_FORMULAS,
  listFailedExecutionsOfFormula: VIEW_FORMULAS,
  getFormulaExecution: VIEW_FORMULAS,
  listFormulaStepExecutions: VIEW_FORMULAS,
  listFormulaExecutionErrors: VIEW_FORMULAS,
  getFormulaStepExecution: VIEW_FORMULAS,
  listFormulaStepValues: VIEW_FORMULAS,
  startFormulaExecutions: EXECUTE,
  startExecutionsOfFormulaInstance: EXECUTE,
  cancelFormulaExecution: EXECUTE,
  retryFormulaExecution: EXECUTE,
  forgetFormulaRetry: EXECUTE,

  countFormulaExecutions: VIEW_FORMULAS,
  countFormulaStatuses: VIEW_FORMULAS,
  countAccountFormulaExecutions: VIEW_FORMULAS,
  countInstanceFormulaExecutions: VIEW_FORMULAS,
  measureFormulaSteps: VIEW_FORMULAS,
  getOpenFormulaExecutions: VIEW_FORMULAS,
  listJobs: VIEW_FORMULAS,
  getJob: VIEW_FORMULAS,
  deleteJob: { ...formulaInstance('update'), audit: { action: 'update', target: 'formula-instance', id: 'id' } },

  createBulkQuery: EVERYBODY,
  createHubBulkQuery: EVERYBODY,
  createBulkUpload: EVERYBODY,
  createHubBulkUpload: EVERYBODY,
  listAccountBulkJobs: EVERYBODY,
  listBulkJobs: EVERYBODY,
  listHubBulkJobs: EVERYBODY,
  getBulkStatus: EVERYBODY,
  getHubBulkStatus: EVERYBODY,
  cancelBulkJob: EVERYBODY,
  cancelHubBulkJob: EVERYBODY,
  deleteBulkJob: EVERYBODY,
  deleteHubBulkJob: EVERYBODY,
  listBulkErrors: EVERYBODY,
  listHubBulkErrors: EVERYBODY,
  getBulkFile: EVERYBODY,
  getHubBulkFile: EVERYBODY,

  listObjects: EVERYBODY,
  listHubObjects: EVERYBODY,
  getObjectMetadata: EVERYBODY,
  getHubObjectMetadata: EVERYBODY,
  getChildObjectMetadata: EVERYBODY,
  getHubChildObjectMetadata: EVERYBODY,
  ping: EVERYBODY,
  pingHub: EVERYBODY,
  explainQuery: EVERYBODY,

  listFederatedRecords: EVERYBODY,
  executeTransformation: { privilege: 'viewCommonObjects' },
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
 * Returns the principal of a request that is about another account of the organization than the caller's own.
 * @throws AppError NOT_FOUND, both for a caller who may not do so and for an unknown account
 */
export async function actIn(
  accounts: Pick<Accounts, 'getAccount'>,
  principal: Principal,
  named: string,
): Promise<Principal> {
  const { organizationId, homeAccountId, privileges } = principal;
  const isManager = privileges.has('manageOrganization');
  // A caller who may work in no other account must not learn which accounts exist, not even by the response time.
  const account = await accounts.getAccount(organizationId, isManager ? named : String(homeAccountId));
  if (!goesBy(account, named)) throw noAccount(named);
  return { ...principal, accountId: account.id, isAccountNamed: true };
}

/** Lookup of the accounts and users that a request names. */
export interface Directory {
  readonly accounts: Pick<Accounts, 'getAccount'>;
  readonly users: Pick<Users, 'find'>;
}

export interface Admitted {
  /** The principal of the operation, in the account that the request is about. */
  readonly principal: Principal;
  /** The user that the path names. */
  readonly user: UserRow | undefined;
}

/**
 * Asserts before an operation that the caller may use it.
 * @throws AppError FORBIDDEN that names the privilege; NOT_FOUND for an account in which the caller may not work, and for a user out of the
 * caller's reach
 */
export async function assertAccess(
  { accounts, users }: Directory,
  principal: Principal,
  { privilege, also, account, user }: Access,
  params: Readonly<Record<string, string>>,
): Promise<Admitted> {
  const named = account === undefined ? undefined : params[account];
  const acting = named === undefined ? principal : await actIn(accounts, principal, named);
  if (privilege !== undefined) assertPrivilege(acting, privilege);
  if (also !== undefined) assertPrivilege(acting, also);
  return { principal: acting, user: user && (await reach(users, acting, user, params.emailOrId ?? '')) };
}

/**
 * Asserts that the caller has one of the privileges.
 * @throws AppError FORBIDDEN that names them
 */
export function assertPrivilege(
  { privileges }: Pick<Principal, 'privileges'>,
  privilege: Privilege | readonly Privilege[],
): void {
  const enough = [privilege].flat();
  if (!enough.some((one) => privileges.has(one))) throw lacking('This needs', ...enough);
}

/** A caller who lacks the privilege is rejected, whether the user exists or not. */
async function reach(
  users: Directory['users'],
  { organizationId, accountId, isAccountNamed, userId, privileges }: Principal,
  { ofAccount, ofOrganization, isForOneself }: UserAccess,
  named: string,
): Promise<UserRow> {
  const found = await users.find(organizationId, named);
  const reachesAll = privileges.has(ofOrganization) || (isForOneself === true && found?.id === userId);
  const reachesAccount = ofAccount !== undefined && privileges.has(ofAccount);
  if (!reachesAll && !reachesAccount) throw lacking('This needs', ofAccount ?? ofOrganization);
  const isWide = reachesAll && isAccountNamed !== true;
  if (found === undefined || !(isWide || found.accountId === accountId)) throw userNotFound(named);
  return found;
}

function noAccount(named: string): AppError {
  return missing('account', named);
}
