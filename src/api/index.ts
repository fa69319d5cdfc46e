import { getHeapStatistics } from 'node:v8';
import type { ServiceConfig } from '../config/index.ts';
import { type ByteBudget, createByteBudget } from '../connector/client/index.ts';
import type { HttpHandler } from '../http/connection.ts';
import { createInnerClient, type InnerRequest, type InnerResponse, type SendInner } from '../http/inner-client.ts';
import { createCallerLimits, createTokenBuckets } from '../http/rate-limits.ts';
import { createProxyTrust, type ProxyTrust } from '../http/remote-address.ts';
import { secretKeysOf } from '../instances/configuration.ts';
import { composeMcp } from '../mcp/index.ts';
import type { Platform } from '../platform.ts';
import { createAccessKeyHandlers } from './access-keys.ts';
import { createAccountHandlers } from './accounts.ts';
import { createActivityHandlers } from './activity.ts';
import type { ApiServices } from './api-services.ts';
import { type Audit, createAudit } from './audit.ts';
import { createAuditLogHandlers } from './audit-logs.ts';
import { type ApiAuthorization, createAuthorization } from './authorization.ts';
import { createBulkHandlers } from './bulk.ts';
import { createConnectHandlers } from './connect.ts';
import { createConnectPages } from './connect-pages.ts';
import { createConsoleHandlers } from './console.ts';
import { createElementHandlers } from './elements.ts';
import { createEventHandlers } from './events.ts';
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
import { createNotificationHandlers } from './notifications.ts';
import { createProxyHandlers } from './oauth-proxies.ts';
import { createOrganizationHandlers } from './organizations.ts';
import { createPassthrough } from './passthrough.ts';
import { createPollHandlers } from './polls.ts';
import { createQueryHandlers } from './query.ts';
import { createRecordHandlers } from './records.ts';
import { createNoteCaller, createRedactCall } from './redact-call.ts';
import { createRoleHandlers } from './roles.ts';
import { createSchemaWatchHandlers } from './schema-watches.ts';
import { type ApiParts, BASE_PATH, createServer } from './server.ts';
import { createServiceRouter } from './service.ts';
import { createSessionCookie } from './session-cookie.ts';
import { createSettingsHandlers } from './settings.ts';
import { createTryOutHandlers } from './try-out.ts';
import { createUserHandlers } from './users.ts';
import { createWebhookHandler } from './webhooks.ts';

export { RESERVED_SEGMENTS } from './authorization.ts';
export { BASE_PATH } from './server.ts';

interface Api {
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
interface InsideRequest extends Omit<InnerRequest, 'path'> {
  readonly caller: InnerCaller;
  /** Path below the base path, with its query. */
  readonly path: string;
}

type CallInside = (request: InsideRequest) => Promise<InnerResponse>;

/** Bytes. As one account may have half of it, the largest body that is taken always fits. */
const LEAST_BODY_MEMORY = 16 * 1024 * 1024;
/** Browsers of one network that come back from providers. */
const REDIRECTS = { whose: 'this address', perMinute: 600, kept: 20_000 };
/** The limit of people with an invitation, because hashing a password takes a while. */
const INVITED_REQUESTS = { whose: 'this address', perMinute: 60, kept: 20_000 };

/** Builds the API; it does not listen yet. A worker serves only its health and its metrics. */
export function composeApi(platform: Platform, services: ApiServices, config: ServiceConfig): Api {
  const { clock } = platform;
  const trust = createProxyTrust(config.trustProxy);
  const redactCall = createRedactCall(secretKeysOf(services.registry.connectors));
  const measurements = createMeasurements(platform, config.metricsToken);
  const { publicUrl, console, webhooks, connect } = services;
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
  const root = createServiceRouter(clock, services, {
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
  const { clock, keys } = platform;
  const { activity, resources, idempotency, publicUrl } = services;
  const sessionCookie = createSessionCookie(publicUrl);
  const isInner = (authorization: string) => innerCallers.find(authorization) !== undefined;
  return {
    ...createAuthorization(platform, services, {
      innerCallers,
      sessionCookie,
      callerLimits: createCallerLimits(clock, config),
    }),
    directory: services,
    audit,
    handlers: {
      ...createOrganizationHandlers(services),
      ...createAccountHandlers(services, keys),
      ...createElementHandlers(services, keys),
      ...createActivityHandlers(services, platform),
      ...createInstanceHandlers(services, platform),
      ...createMappingHandlers(services, keys),
      ...createFormulaHandlers(services, keys),
      ...createProxyHandlers(services, keys),
      ...createRecordHandlers(services, platform),
      ...createSettingsHandlers(services),
      ...createConnectHandlers(services, platform),
      ...createConsoleHandlers(services, { sessionCookie, log: platform.log }),
      ...createNotificationHandlers(services, keys),
      ...createEventHandlers(services, keys),
      ...createQueryHandlers(services),
      ...createFederatedHandlers(services, keys),
      ...createTryOutHandlers(services),
      ...createPollHandlers(services, platform),
      ...createSchemaWatchHandlers(services, keys),
      ...createUserHandlers(services, keys),
      ...createInvitationHandlers(services, platform, createTokenBuckets(clock, INVITED_REQUESTS)),
      ...createRoleHandlers(services),
      ...createAccessKeyHandlers(services, keys),
      ...createAuditLogHandlers(services, keys),
      ...createBulkHandlers(services, keys),
      ...createFormulaExecutionHandlers(services, keys),
      ...createFormulaAnalyticsHandlers(services, platform),
      ...createFormulaJobHandlers(services, keys),
    },
    noteRequest: services.formulaRuns.noteRequest,
    isInner,
    noteCaller: createNoteCaller(clock, activity.recorder.openWireLog),
    passthrough: createPassthrough(resources),
    handleFormulaResource: createFormulaResourceHandler(services, { audit, bodyBudget, isInner }),
    idempotency,
    bodyBudget,
    corsOrigins: config.corsOrigins,
    publicUrl,
    validateResponses: config.validateResponses,
  };
}
