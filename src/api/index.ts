import { getHeapStatistics } from 'node:v8';
import type { AccessKeys } from '../accounts/access-keys/index.ts';
import type { AccountRecords } from '../accounts/account-records.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { ActiveElements } from '../accounts/active-elements.ts';
import type { Idempotency } from '../accounts/idempotency/index.ts';
import type { Invitations } from '../accounts/invitations.ts';
import type { LogIn } from '../accounts/log-in/index.ts';
import type { PrincipalChanges } from '../accounts/principal-changes.ts';
import type { Roles } from '../accounts/roles.ts';
import type { Secrets } from '../accounts/secrets.ts';
import type { Settings } from '../accounts/settings.ts';
import type { Users } from '../accounts/users.ts';
import type { Activity } from '../activity/index.ts';
import type { Bulk } from '../bulk/index.ts';
import type { ServiceConfig } from '../config/index.ts';
import { type ByteBudget, createByteBudget } from '../connector/client/index.ts';
import type { Registry } from '../connector/registry.ts';
import type { FindDemoAccount } from '../connector/simulators/index.ts';
import type { WebhookRoom } from '../events/webhooks/index.ts';
import type { Formulas } from '../formulas/index.ts';
import type { TemplateRoom } from '../formulas/templates-room.ts';
import type { HttpHandler } from '../http/connection.ts';
import { createFailedAuthorizations } from '../http/failed-authorizations.ts';
import { createInnerClient, type InnerRequest, type InnerResponse, type SendInner } from '../http/inner-client.ts';
import { createCallerLimits, createTokenBuckets } from '../http/rate-limits.ts';
import { createProxyTrust, type ProxyTrust } from '../http/remote-address.ts';
import { secretKeysOf } from '../instances/configuration.ts';
import type { Instances } from '../instances/instances.ts';
import type { Authorizations } from '../instances/oauth/authorizations.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import type { Mappings } from '../mappings/index.ts';
import { composeMcp } from '../mcp/index.ts';
import type { Platform } from '../platform.ts';
import type { Polls } from '../polls/index.ts';
import type { Resources } from '../resources/index.ts';
import type { Schemas } from '../schemas/index.ts';
import { createAccessKeyHandlers } from './access-keys.ts';
import { createAccountHandlers } from './accounts.ts';
import { createActivityHandlers } from './activity.ts';
import { type Audit, createAudit } from './audit.ts';
import { type AuditLogServices, createAuditLogHandlers } from './audit-logs.ts';
import { type ApiAuthorization, createAuthorization } from './authorization.ts';
import { createBulkHandlers } from './bulk.ts';
import { type ConnectServices, createConnectHandlers } from './connect.ts';
import { createConnectPages } from './connect-pages.ts';
import { createConsoleHandlers } from './console.ts';
import { createElementHandlers } from './elements.ts';
import { createEventHandlers, type EventServices } from './events.ts';
import { createFederatedHandlers } from './federated.ts';
import { createFormulaAnalyticsHandlers } from './formula-analytics.ts';
import { createFormulaExecutionHandlers } from './formula-executions.ts';
import { createFormulaJobHandlers } from './formula-jobs.ts';
import { createFormulaResourceHandler } from './formula-resources.ts';
import { createFormulaHandlers } from './formulas.ts';
import { createInnerCallers, type InnerCaller, type InnerCallers } from './inner-callers.ts';
import { createInstanceHandlers } from './instances.ts';
import { createInvitationHandlers } from './invitations.ts';
import { createMappingHandlers } from './mappings.ts';
import { createAgentCors, createAgentHandler } from './mcp.ts';
import { createMeasurements, createMeasurementsRouter, servesMeasurements } from './measurements.ts';
import { createNotificationHandlers, type NotificationServices } from './notifications.ts';
import { createProxyHandlers } from './oauth-proxies.ts';
import { createOrganizationHandlers, type OrganizationServices } from './organizations.ts';
import { createPassthrough } from './passthrough.ts';
import { createPollHandlers } from './polls.ts';
import { createQueryHandlers } from './query.ts';
import { createRecordHandlers } from './records.ts';
import { createNoteCaller, createRedactCall } from './redact-call.ts';
import { createRoleHandlers } from './roles.ts';
import { createSchemaWatchHandlers } from './schema-watches.ts';
import { type ApiParts, BASE_PATH, createServer } from './server.ts';
import { createServiceRouter, type ProcessState } from './service.ts';
import { createSessionCookie } from './session-cookie.ts';
import { createSettingsHandlers } from './settings.ts';
import { createTryOutHandlers } from './try-out.ts';
import { createUserHandlers } from './users.ts';
import { createWebhookHandler } from './webhooks.ts';

export { RESERVED_SEGMENTS } from './authorization.ts';
export { BASE_PATH } from './server.ts';

/** The services behind the API, and the state of the process. */
export interface ApiServices
  extends ProcessState,
    NotificationServices,
    EventServices,
    OrganizationServices,
    AuditLogServices,
    ConnectServices {
  readonly activity: Pick<Activity, 'recorder' | 'history' | 'usage' | 'lastCalls'>;
  readonly settings: Settings;
  readonly accounts: Accounts;
  readonly accountRecords: AccountRecords;
  readonly principals: PrincipalChanges;
  readonly users: Users;
  readonly invitations: Invitations;
  readonly roles: Roles;
  readonly secrets: Secrets;
  readonly accessKeys: AccessKeys;
  readonly logIn: LogIn;
  readonly activeElements: ActiveElements;
  readonly instances: Instances;
  readonly mappings: Mappings;
  readonly formulas: TemplateRoom;
  readonly registry: Registry;
  readonly findDemoAccount: FindDemoAccount;
  readonly authorizations: Pick<Authorizations, 'begin'>;
  readonly proxies: Proxies;
  readonly resources: Resources;
  readonly polls: Pick<Polls, 'list' | 'runNow' | 'replay'>;
  readonly schemas: Pick<Schemas, 'list' | 'get' | 'watch' | 'unwatch' | 'listChanges'>;
  readonly bulk: Omit<Bulk, 'start' | 'stop' | 'keep'>;
  readonly idempotency: Pick<Idempotency, 'once'>;
  readonly webhooks: WebhookRoom;
  readonly formulaRuns: Pick<Formulas, 'executions' | 'noteRequest' | 'resources' | 'analytics'>;
}

export interface Api {
  /** Calls an operation as a user and an instance, without a port and without secrets. */
  readonly call: CallInside;
  /** Ends the connections of these calls. */
  readonly closeCalls: () => void;
  readonly server: HttpHandler;
  /** Handler for METRICS_PORT, which serves only the metrics; undefined without such a port. */
  readonly metricsServer: HttpHandler | undefined;
  /** Proxies whose forwarding headers are trusted for the address of a caller. */
  readonly trust: ProxyTrust;
}

/** A request of this process to its own API. */
export interface InsideRequest extends Omit<InnerRequest, 'path'> {
  readonly caller: InnerCaller;
  /** Path below the base path, with its query. */
  readonly path: string;
}

export type CallInside = (request: InsideRequest) => Promise<InnerResponse>;

/** Bytes. As one account may have half of it, the largest body that is taken always fits. */
const LEAST_BODY_MEMORY = 16 * 1024 * 1024;
/** Browsers of one network that come back from providers. */
const REDIRECTS = { whose: 'this address', perMinute: 600, kept: 20_000 };
/** The limit of the page of one connect session, which repeatedly requests its state. */
const PAGE_REQUESTS = { whose: 'this connect session', perMinute: 300, kept: 20_000 };

/** The limit of people with an invitation, because hashing a password takes a while. */
const INVITED_REQUESTS = { whose: 'this address', perMinute: 60, kept: 20_000 };

/** Builds the API; it does not listen yet. A worker serves only its health and its metrics. */
export function composeApi(platform: Platform, services: ApiServices, config: ServiceConfig): Api {
  const { clock } = platform;
  const trust = createProxyTrust(config.trustProxy);
  const redactCall = createRedactCall(secretKeysOf(services.registry.connectors));
  const measurements = createMeasurements(platform, config.metricsToken);
  const { checks, isStuck, publicUrl, connectorFolders, console, proxies, webhooks, connect } = services;
  const audit = createAudit(platform, { redactCall, isStrict: config.validateResponses });
  const redirects = createTokenBuckets(clock, REDIRECTS);
  const bodyBudget = createByteBudget(Math.max(getHeapStatistics().heap_size_limit / 8, LEAST_BODY_MEMORY));
  const innerCallers = createInnerCallers(platform);
  const operations = composeOperations(platform, services, config, { bodyBudget, audit, innerCallers });
  // Tools call the server that is made from this router.
  const sendInside: SendInner = (request) => inner.send(request);
  const serveAgents = createAgentHandler({
    room: composeMcp({ send: sendInside, basePath: BASE_PATH, clock, log: platform.log }),
    identifyKey: operations.identifyKey,
    bodyBudget,
    publicUrl,
    corsOrigins: config.corsOrigins,
  });
  const root = createServiceRouter(clock, {
    checks,
    isStuck,
    publicUrl,
    connectorFolders,
    console,
    proxies,
    role: config.role,
    metrics: servesMeasurements(config) ? measurements : undefined,
    redirects,
    connectPages: createConnectPages({
      page: connect.page,
      console,
      audit,
      redactCall,
      requests: redirects,
      publicUrl,
    }),
    receiveEvents: createWebhookHandler(webhooks, { bodyBudget, publicUrl }),
    serveAgents,
    allowAgentPages: createAgentCors(config.corsOrigins),
  });
  const recorded = { trust, redactCall, record: services.activity.recorder.record };
  const api = config.role === 'worker' ? undefined : operations;
  const server = createServer(platform, { ...recorded, isMeasured: true, root, api });
  // A worker serves no operations to others, and calls them itself.
  const inside =
    api === undefined ? createServer(platform, { ...recorded, isMeasured: false, root, api: operations }) : server;
  const inner = createInnerClient(inside);
  return {
    server,
    metricsServer:
      config.metricsPort === undefined
        ? undefined
        : createServer(platform, { ...recorded, isMeasured: false, root: createMeasurementsRouter(measurements) }),
    trust,
    call: ({ caller, path, headers, ...request }) =>
      inner.send({
        ...request,
        path: BASE_PATH + path,
        headers: { ...headers, authorization: innerCallers.authorizationOf(caller) },
      }),
    closeCalls: inner.close,
  };
}

interface OperationParts {
  readonly bodyBudget: ByteBudget;
  readonly audit: Audit;
  readonly innerCallers: InnerCallers;
}

function composeOperations(
  platform: Platform,
  services: ApiServices,
  config: ServiceConfig,
  { bodyBudget, audit, innerCallers }: OperationParts,
): ApiParts & ApiAuthorization {
  const { clock, keys, shares } = platform;
  const { accounts, activity, principals, logIn, instances, resources, idempotency, publicUrl } = services;
  const sessionCookie = createSessionCookie(publicUrl);
  const isInner = (authorization: string) => innerCallers.find(authorization) !== undefined;
  return {
    ...createAuthorization({
      clock,
      accounts,
      accessKeys: services.accessKeys,
      innerCallers,
      sessions: logIn.sessions,
      sessionCookie,
      principals,
      instances,
      shares,
      listObjects: resources.listObjects,
      isFormulaResource: services.formulaRuns.resources.has,
      findPageSession: services.connect.page.find,
      pageRequests: createTokenBuckets(clock, PAGE_REQUESTS),
      failedAuthorizations: createFailedAuthorizations(clock),
      callerLimits: createCallerLimits(clock, config),
    }),
    directory: services,
    audit,
    handlers: {
      ...createOrganizationHandlers(services),
      ...createAccountHandlers(services, keys),
      ...createElementHandlers(services, keys),
      ...createActivityHandlers(services, { seal: keys, clock }),
      ...createInstanceHandlers(services, { seal: keys, clock }),
      ...createMappingHandlers(services, keys),
      ...createFormulaHandlers({ formulas: services.formulas, baseUrl: () => publicUrl() + BASE_PATH }, keys),
      ...createProxyHandlers(services.proxies, keys),
      ...createRecordHandlers(resources, clock),
      ...createSettingsHandlers(services.settings),
      ...createConnectHandlers(services, { seal: keys, clock }),
      ...createConsoleHandlers(logIn, { sessionCookie, log: platform.log }),
      ...createNotificationHandlers(services, keys),
      ...createEventHandlers(services, keys),
      ...createQueryHandlers(resources),
      ...createFederatedHandlers(services, keys),
      ...createTryOutHandlers(services),
      ...createPollHandlers(services.polls, { clock, seal: keys }),
      ...createSchemaWatchHandlers(services.schemas, keys),
      ...createUserHandlers(services, keys),
      ...createInvitationHandlers(services, {
        seal: keys,
        clock,
        requests: createTokenBuckets(clock, INVITED_REQUESTS),
      }),
      ...createRoleHandlers(services),
      ...createAccessKeyHandlers(services, keys),
      ...createAuditLogHandlers(services, keys),
      ...createBulkHandlers(services.bulk, keys),
      ...createFormulaExecutionHandlers(services, keys),
      ...createFormulaAnalyticsHandlers(services, clock),
      ...createFormulaJobHandlers(services, keys),
    },
    noteRequest: services.formulaRuns.noteRequest,
    isInner,
    noteCaller: createNoteCaller(clock, activity.recorder.openWireLog),
    passthrough: createPassthrough(resources),
    handleFormulaResource: createFormulaResourceHandler({
      resources: services.formulaRuns.resources,
      directory: services,
      audit,
      idempotency,
      bodyBudget,
      isInner,
    }),
    idempotency,
    bodyBudget,
    corsOrigins: config.corsOrigins,
    publicUrl,
    validateResponses: config.validateResponses,
  };
}
