import { composeAccounts, createAccountRemoval, writeCredentials } from '../accounts/index.ts';
import { type ActivityOptions, composeActivity } from '../activity/index.ts';
import { BASE_PATH, composeApi, RESERVED_SEGMENTS } from '../api/index.ts';
import { type BulkRole, composeBulk } from '../bulk/index.ts';
import { type Cleanup, createCleanup } from '../cleanup.ts';
import { ownUrlsOf, publicUrlOf, type ServiceConfig } from '../config/index.ts';
import { composeConnect } from '../connect/index.ts';
import { composeProviderClient } from '../connector/client/index.ts';
import { type GivenConnectors, openConnectors } from '../connector/open.ts';
import { createConsole } from '../console.ts';
import {
  composeDeliveries,
  composeEndpoints,
  composeEvents,
  composeWebhooks,
  createNoteRegistration,
  createSubscriptions,
} from '../events/index.ts';
import type { EngineOptions } from '../events/options.ts';
import { composeFormulas, composeTemplates, createNoteElementRemoval, type FormulaRole } from '../formulas/index.ts';
import { composeInstances } from '../instances/index.ts';
import { composeJobs } from '../jobs/index.ts';
import type { Logger } from '../log.ts';
import { composeMappings } from '../mappings/index.ts';
import { composePlatform, prepareDatabase } from '../platform.ts';
import { composePolls, type PollRole } from '../polls/index.ts';
import { composeRateBudgets, composeResources, type RateBudgetRole } from '../resources/index.ts';
import { composeSchemas, createComplaints, type SchemaRole } from '../schemas/index.ts';
import { createSandbox } from '../scripts/index.ts';
import { openListener } from './listener.ts';

/** A running service. */
export interface App {
  /** Address of the service, without a slash at the end. */
  readonly url: string;
  readonly baseUrl: string;
  readonly simulatorsUrl: string | undefined;
  /** Address of the metrics when they have a port of their own. */
  readonly metricsUrl: string | undefined;
  /** File with the first secrets; undefined when this process did not create them. */
  readonly credentialsFile: string | undefined;
  /** Accepts no more requests, lets those in progress end, and then closes everything in the opposite order of the start. */
  readonly stop: () => Promise<void>;
}

/** The running server of the database. */
export interface DatabaseServer {
  readonly url: string;
  /** Stops a part that belongs to this process. It is called after everything that needs the server, also when the start fails. */
  readonly stop?: () => Promise<void>;
}

export interface AppPorts extends GivenConnectors {
  readonly config: ServiceConfig;
  readonly database: DatabaseServer;
  readonly log: Logger;
  /** Aborts a start that is not complete. */
  readonly signal?: AbortSignal;
  /** Limits of the engine of events, for tests and measurements. */
  readonly engineOptions?: Partial<EngineOptions>;
  /** Limits of the poller, for tests and measurements. */
  readonly pollerOptions?: PollRole['options'];
  /** Limits of the checks of watched objects, for tests and measurements. */
  readonly checkerOptions?: SchemaRole['options'];
  /** Limits of the workers of bulk jobs, for tests and measurements. */
  readonly bulkOptions?: BulkRole['options'];
  /** Limits of the workers of formulas, for tests and measurements. */
  readonly formulaOptions?: FormulaRole['options'];
  /** Limits of the rate limits that processes share, for tests and measurements. */
  readonly rateBudgetOptions?: RateBudgetRole;
  /** Limits of the recorder of activity, for tests and measurements. */
  readonly recorderOptions?: ActivityOptions['recorder'];
}

/**
 * Builds the service and starts it. What was started is stopped again when a later step fails.
 * @throws ConfigError, ConnectorError, StartError; the reason of `signal`; and whatever else the database says
 */
export async function startApp(ports: AppPorts): Promise<App> {
  const cleanup = createCleanup(ports.log);
  if (ports.database.stop !== undefined) cleanup.add('database server', ports.database.stop);
  try {
    return await build(ports, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** Maximum time for statements after responses, at the end. */
const MOST_DRAIN_MS = 5 * SECOND_MS;

const NEVER = new AbortController().signal;

/** Builds the parts from the bottom up: an earlier part never depends on a later one. */
async function build(ports: AppPorts, cleanup: Cleanup): Promise<App> {
  const { config, log, engineOptions, pollerOptions, bulkOptions, signal = NEVER } = ports;
  const { dataDir, role, shutdownTimeoutMs } = config;
  const databaseUrl = ports.database.url;
  await prepareDatabase(config, { url: databaseUrl, log, signal });
  const {
    registry,
    folders,
    mappings: connectorMappings,
    simulatorsUrl,
    findDemoAccount,
    sendWebhooks,
  } = await openConnectors(config, cleanup, ports);
  signal.throwIfAborted();
  const platform = await composePlatform({ config, databaseUrl, simulatorsUrl, log, cleanup });
  sendWebhooks(platform);

  let listeningPort = config.port;
  const publicUrl = () => publicUrlOf(config, listeningPort);
  const baseUrl = () => publicUrl() + BASE_PATH;

  const activity = composeActivity(platform, {
    retentionDays: config.activityRetentionDays,
    recorder: ports.recorderOptions,
    basePath: BASE_PATH,
  });
  const { recorder, openRun } = activity;
  cleanup.add('activity', () => recorder.stop(Math.min(shutdownTimeoutMs, MOST_DRAIN_MS)));
  await activity.start();
  const subscriptions = createSubscriptions(platform);
  const ensureSubscription = subscriptions.ensure;
  const people = composeAccounts(platform, {
    ensureSubscription,
    auditRetentionDays: config.auditRetentionDays,
    publicUrl,
  });
  const { accounts, activeElements, logIn, invitations, accessKeys, settings, auditLog, idempotency } = people;
  await auditLog.ensure();
  const { notifications, deliveries, eventHistory } = composeDeliveries(platform, { subscriptions, settings });
  const mappings = composeMappings(platform, {
    accounts,
    registry,
    connectorMappings,
    reservedNames: RESERVED_SEGMENTS,
  });
  const { client, budget } = composeProviderClient(platform, {
    simulatorsUrl,
    memoryBytes: config.providerMemoryBytes,
    logsCalls: config.logLevel === 'debug',
  });
  const room = composeInstances(platform, {
    client,
    registry,
    publicUrl,
    simulatorsUrl,
    accounts,
    assertActive: activeElements.assertActive,
    notifications,
    ensureSubscription,
    ownUrls: () => ownUrlsOf(config, listeningPort),
    shortestPollMs: config.isLocal ? SECOND_MS : MINUTE_MS,
    noteRegistration: createNoteRegistration(platform),
    noteRemoved: createNoteElementRemoval(platform),
    noteCreated: (accountId, elementKey) => recorder.count('instance', accountId, elementKey),
    mappings,
  });
  const { instances, proxies, authorizations, tokens, findSource, findWebhookInstance, maintenance } = room;
  cleanup.add('tokens', () => tokens.close(shutdownTimeoutMs));
  const { noteCredentials, noteEventWarning } = instances;
  const sandbox = createSandbox(platform);
  cleanup.add('scripts', sandbox.close);
  const complaints = createComplaints(platform);
  cleanup.add('complaints', complaints.stop);
  const rateBudgets = composeRateBudgets(platform, ports.rateBudgetOptions);
  cleanup.add('rate budgets', rateBudgets.stop);
  const resources = composeResources(
    platform,
    { client, budget, tokensOf: tokens.of, noteCredentials, noteRejection: complaints.note, rateBudgets },
    { inForce: mappings.inForce, sandbox },
  );
  const { smtpUrl, smtpFrom } = config;
  const formulas = composeFormulas(
    platform,
    {
      notifications,
      mayWorkIn: async (user) => (await accounts.findActing(user)) !== undefined,
      noteEnded: (accountId) => recorder.count('formula_execution', accountId, ''),
    },
    {
      runs: role !== 'api',
      retentionDays: config.formulaRetentionDays,
      options: ports.formulaOptions,
      mail: smtpUrl === undefined ? undefined : { url: smtpUrl, from: smtpFrom },
    },
  );
  await formulas.prepare();
  const endpoints = composeEndpoints(
    platform,
    {
      ...{ subscriptions, registry, mappings, findSource, findInstance: findWebhookInstance },
      ...{ getRecord: resources.getRecord, getFields: resources.getFields },
    },
    { maxPerAccount: config.maxEndpointsPerAccount },
  );
  const events = composeEvents(
    platform,
    {
      findSource,
      findEndpoints: endpoints.find,
      findTriggered: formulas.findTriggered,
      subscriptions,
      settings: settings.ofDelivery,
      notifications,
      noteEvent: (accountId, elementKey) => recorder.count('event', accountId, elementKey),
    },
    { retentionDays: config.eventRetentionDays, delivers: role !== 'api', options: engineOptions },
  );
  cleanup.add('events', () => events.stop(shutdownTimeoutMs));
  await events.start();
  const webhooks = composeWebhooks(platform, {
    client,
    accounts,
    tokensOf: tokens.of,
    findInstance: findWebhookInstance,
    noteEventWarning,
    notifications,
    getRecord: resources.getRecord,
    mapChange: resources.mapChange,
    accept: events.accept,
    publicUrl,
  });
  const { registrations } = webhooks;
  const connect = composeConnect(platform, {
    accounts,
    registry,
    activeElements,
    instances,
    authorizations,
    proxies,
    notifications,
    publicUrl,
  });
  cleanup.add('webhooks', registrations.stop);

  const polls = composePolls(
    platform,
    { instances, mappings, resources, prepare: events.prepare, prepareNotice: notifications.prepare, openRun },
    { polls: role !== 'api', options: pollerOptions },
  );
  cleanup.add('polls', polls.stop);
  polls.start();

  const schemas = composeSchemas(
    platform,
    {
      ...{ instances, mappings, resources, openRun },
      formulasOf: formulas.usesOf,
      prepare: events.prepare,
      prepareNotice: notifications.prepare,
    },
    { checks: role !== 'api', watchHours: config.schemaWatchHours, options: ports.checkerOptions },
  );
  cleanup.add('schemas', schemas.stop);
  schemas.start();

  const bulk = composeBulk(
    platform,
    {
      accounts,
      instances,
      resources,
      prepare: events.prepare,
      openRun,
      noteEnded: (accountId, elementKey) => recorder.count('bulk_job', accountId, elementKey),
    },
    {
      works: role !== 'api',
      retentionDays: config.bulkRetentionDays,
      maxUploadBytes: config.bulkUploadMaxBytes,
      options: bulkOptions,
    },
  );
  cleanup.add('bulk', () => bulk.stop(shutdownTimeoutMs));
  await bulk.start();

  const templates = composeTemplates(platform, {
    registry,
    instances,
    reservedNames: RESERVED_SEGMENTS,
    isLocal: config.isLocal,
    noteCreated: (accountId) => recorder.count('formula', accountId, ''),
  });

  const removal = createAccountRemoval(platform, [
    templates.formulaInstances.removeSome,
    (accountId, signal) => instances.removeSome(accountId, registrations.end, signal),
    bulk.removeSome,
    connect.sessions.removeSome,
    invitations.removeSome,
    accessKeys.removeSome,
    mappings.removeSome,
    authorizations.removeSome,
    idempotency.removeSome,
    subscriptions.removeSome,
    settings.remove,
    activeElements.remove,
  ]);
  cleanup.add('accounts', removal.stop);
  if (role !== 'api') removal.start();

  const work = {
    purgeIdempotencyRecords: idempotency.purge,
    purgeLogIns: async (at: Date) =>
      (await logIn.purge(at)) + (await invitations.purge(at)) + (await accessKeys.purge(at)),
    purgeConnectSessions: connect.sessions.purge,
    purgeConnectDepartures: connect.page.purgeDepartures,
    ...maintenance,
    purgeRateBudgets: rateBudgets.purge,
    keepEvents: events.keep,
    keepAuditLog: auditLog.keep,
    keepActivity: activity.keep,
    keepPolls: polls.keep,
    keepSchemas: schemas.keep,
    purgeSchemaChanges: schemas.purge,
    keepBulk: bulk.keep,
    keepFormulas: async () => {
      await formulas.keep();
      await templates.formulaInstances.removeExpired();
    },
    keepWebhooks: registrations.keep,
    removeAccounts: removal.keep,
  };
  const jobs = composeJobs(platform, work, { url: databaseUrl, role, countWorkers: events.countSenders });
  cleanup.add('jobs', () => jobs.stop(shutdownTimeoutMs));
  await jobs.start();

  await accounts.bootstrap({
    organizationSecret: config.bootstrapOrganizationSecret,
    userSecret: config.bootstrapUserSecret,
    beforeCommit: async (created) => void (await writeCredentials(dataDir, { created, baseUrl: baseUrl() })),
  });

  const api = composeApi(
    platform,
    {
      ...people,
      activity,
      connect,
      registry,
      findDemoAccount,
      connectorFolders: folders,
      instances,
      mappings,
      formulas: templates,
      authorizations,
      proxies,
      resources,
      polls,
      schemas,
      bulk,
      subscriptions,
      endpoints,
      notifications,
      deliveries,
      eventHistory,
      findSource,
      accept: events.accept,
      webhooks,
      formulaRuns: formulas,
      checks: { database: platform.isReachable, queue: jobs.isReachable },
      isStuck: platform.isStuck,
      publicUrl,
      console: createConsole(),
    },
    config,
  );
  cleanup.add('calls inside', async () => api.closeCalls());
  await formulas.start({ callApi: api.call, sandbox });
  cleanup.add('formulas', formulas.stop);
  const { host, maxConnections, metricsPort } = config;
  const listening = { host, maxConnections, trust: api.trust, log, clock: platform.clock };
  const listener = await openListener(api.server, { ...listening, variable: 'PORT', port: config.port });
  cleanup.add('http', () => listener.close(shutdownTimeoutMs));
  listeningPort = listener.port;
  await registrations.start(publicUrl());

  let metricsUrl: string | undefined;
  if (api.metricsServer !== undefined && metricsPort !== undefined) {
    const own = await openListener(api.metricsServer, { ...listening, variable: 'METRICS_PORT', port: metricsPort });
    cleanup.add('metrics', () => own.close(shutdownTimeoutMs));
    metricsUrl = `${publicUrlOf({ host, publicUrl: undefined }, own.port)}/metrics`;
  }
  const credentialsFile = await writeCredentials(dataDir, { baseUrl: baseUrl() });
  return { url: publicUrl(), baseUrl: baseUrl(), simulatorsUrl, metricsUrl, credentialsFile, stop: cleanup.run };
}
