import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { createAccounts } from '../accounts/accounts.ts';
import { writeCredentials } from '../accounts/credentials-file.ts';
import { createIdempotency } from '../accounts/idempotency/index.ts';
import { OPERATIONAL_URL } from '../accounts/settings.ts';
import { createAuthorization } from '../api/authorization.ts';
import { createRedactCall } from '../api/call-redactor.ts';
import { createCallerLimits } from '../api/caller-limits.ts';
import { createElementHandlers } from '../api/elements.ts';
import { createEventHandlers } from '../api/events.ts';
import { createFailedAuthorizations } from '../api/failed-authorizations.ts';
import { createInstanceHandlers } from '../api/instances.ts';
import { createMeasurements, createMeasurementsRouter, servesMeasurements } from '../api/measurements.ts';
import { createNotificationHandlers } from '../api/notifications.ts';
import { createProxyHandlers } from '../api/oauth-proxies.ts';
import { createPassthrough } from '../api/passthrough.ts';
import { createQueryHandlers } from '../api/query.ts';
import { createRecordHandlers } from '../api/records.ts';
import { createProxyTrust } from '../api/remote-address.ts';
import { BASE_PATH, createServer } from '../api/server.ts';
import { createServiceRouter } from '../api/service.ts';
import { createSettingsHandlers } from '../api/settings.ts';
import { createTokenBuckets } from '../api/token-buckets.ts';
import { type Cleanup, createCleanup } from '../cleanup.ts';
import { type Config, publicUrlOf } from '../config/index.ts';
import { createByteBudget, createProviderClient } from '../connector/client/index.ts';
import { logProviderCalls, measureBudget, measureProviderCalls } from '../connector/client/measure.ts';
import type { Connector } from '../connector/contract.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS } from '../connector/registry.ts';
import { startSimulators } from '../connector/simulators/index.ts';
import type { EngineOptions } from '../events/options.ts';
import { createPartitions } from '../events/upkeep/partitions.ts';
import { createUpkeep } from '../events/upkeep/upkeep.ts';
import { secretKeysOf } from '../instances/configuration.ts';
import { composeInstances } from '../instances/index.ts';
import { createJobs } from '../jobs/jobs.ts';
import { createQueues } from '../jobs/queues.ts';
import type { Logger } from '../log.ts';
import { composePlatform, prepareDatabase } from '../platform.ts';
import { createResources } from '../resources/resources.ts';
import { createDeliveryParts } from './deliveries.ts';
import { createEngine, createSources } from './engine.ts';
import { refusedPort, SIMULATORS_HOST } from './free-ports.ts';
import { openListener } from './listener.ts';

/** A running service. */
export interface App {
  /** Without a slash at the end. */
  readonly url: string;
  readonly baseUrl: string;
  readonly simulatorsUrl: string | undefined;
  /** Where the measurements are when they have a port of their own. */
  readonly metricsUrl: string | undefined;
  /** Where the first secrets are; undefined when they were made elsewhere. */
  readonly credentialsFile: string | undefined;
  /** Takes no more requests, lets those under way end, then closes everything in the order opposite to the start. */
  readonly stop: () => Promise<void>;
}

/** Browsers of one address that come back from providers. */
const REDIRECTS_PER_MINUTE = 600;
const KEPT_NETWORKS = 20_000;

/** Bytes. As one account may have half of it, the largest body that is taken always fits. */
const LEAST_BODY_MEMORY = 16 * 1024 * 1024;

const NEVER = new AbortController().signal;

/** The server of the database, which runs. */
export interface DatabaseServer {
  readonly url: string;
  /** Of one that belongs to this process: it is called after everything that needs the server, also when the start fails. */
  readonly stop?: () => Promise<void>;
}

export interface AppPorts {
  readonly config: Config;
  readonly database: DatabaseServer;
  readonly log: Logger;
  /** Breaks a start off that has not come to its end. */
  readonly signal?: AbortSignal;
  /** Limits of the engine of events, for tests and measurements. */
  readonly engineOptions?: Partial<EngineOptions>;
  /** In place of all others, for tests of a connector. */
  readonly connectors?: readonly Connector[];
  /** Where their simulators run, if not here. */
  readonly simulatorsUrl?: string;
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

async function build(ports: AppPorts, cleanup: Cleanup): Promise<App> {
  const {
    config,
    database: { url: databaseUrl },
    log,
    engineOptions,
    signal = NEVER,
  } = ports;
  const { dataDir, role } = config;
  const folders = [OWN_CONNECTORS, ...config.connectorsPath];
  const sources = { folders, packages: config.connectors };
  const simulatorsPort = role === 'worker' ? undefined : config.simulatorsPort;
  await prepareDatabase(config, { url: databaseUrl, log, signal });

  const [connectors, simulators] = await Promise.all([
    ports.connectors ?? loadConnectors(sources),
    simulatorsPort === undefined
      ? undefined
      : startSimulators({
          port: simulatorsPort,
          host: SIMULATORS_HOST,
          sources,
          memoryFolder: join(dataDir, 'simulators'),
        }),
  ]);
  if (simulators !== undefined) cleanup.add('simulators', simulators.stop);
  signal.throwIfAborted();
  const registry = createRegistry(connectors);
  const simulatorsUrl = ports.simulatorsUrl ?? simulators?.url;
  const platform = await composePlatform({ config, databaseUrl, simulatorsUrl, log, cleanup });
  const { knex, shares, keyring, keys: platformKeys, notifier, egress, metrics, clock } = platform;

  const budget = createByteBudget(config.providerMemoryBytes ?? getHeapStatistics().heap_size_limit / 3);
  measureBudget(budget, metrics);
  const measure = measureProviderCalls(metrics);
  const logCall = logProviderCalls(log);
  const client = createProviderClient({
    egress,
    budget,
    now: Date.now,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    onRequest: (request) => {
      measure(request);
      if (config.logLevel === 'debug') logCall(request);
    },
    ...(simulatorsUrl !== undefined && { simulatorsUrl }),
  });

  let listeningPort = config.port;
  const publicUrl = () => publicUrlOf(config, listeningPort);
  const baseUrl = () => publicUrl() + BASE_PATH;

  const accounts = createAccounts(platform);
  const { callbacks, ...delivery } = createDeliveryParts({ knex, shares, keyring, notifier, egress, log });
  const { notifications } = delivery;
  const { instances, proxies, authorizations, tokens, maintenance } = composeInstances(platform, {
    client,
    registry,
    publicUrl,
    simulatorsUrl,
    notifications,
    callbacks,
  });
  cleanup.add('tokens', () => tokens.close(config.shutdownTimeoutMs));
  const { seal, open } = platformKeys;
  const resources = createResources({
    client,
    budget,
    seal,
    open,
    now: Date.now,
    tokensOf: tokens.of,
    onCredentials: instances.noteCredentials,
  });
  const idempotency = createIdempotency(platform);

  const partitions = createPartitions({
    knex,
    log,
    now: () => new Date(),
    retentionDays: config.eventRetentionDays,
  });
  await partitions.ensure();

  const findSource = createSources({ notifier, instances, accounts });
  const events = createEngine({
    ...delivery,
    knex,
    egress,
    notifier,
    log,
    metrics,
    findSource,
    delivers: role !== 'api',
    options: engineOptions,
  });
  cleanup.add('events', () => events.stop(config.shutdownTimeoutMs));
  await events.start();

  const queues = createQueues({
    purgeIdempotencyRecords: idempotency.purge,
    ...maintenance,
    keepEvents: createUpkeep({ knex, partitions, now: () => new Date() }),
    now: () => new Date(),
  });
  const jobs = createJobs({ url: databaseUrl, log, queues, role, clock });
  cleanup.add('jobs', () => jobs.stop(config.shutdownTimeoutMs));
  await jobs.start();

  await accounts.bootstrap({
    organizationSecret: config.bootstrapOrganizationSecret,
    userSecret: config.bootstrapUserSecret,
    beforeCommit: async (created) => void (await writeCredentials(dataDir, { created, baseUrl: baseUrl() })),
  });

  const redactCall = createRedactCall(secretKeysOf(registry.connectors));
  const trust = createProxyTrust(config.trustProxy);
  const nowMs = performance.now.bind(performance);
  const measurements = { metrics, token: config.metricsToken };
  const server = createServer({
    log,
    redactCall,
    metrics,
    trust,
    root: createServiceRouter({
      role,
      checks: { database: platform.isReachable, queue: jobs.isReachable },
      isStuck: platform.isStuck,
      publicUrl,
      connectorFolders: folders,
      metrics: servesMeasurements(config) ? createMeasurements(measurements) : undefined,
      proxies,
      redirects: createTokenBuckets({ perMinute: REDIRECTS_PER_MINUTE, kept: KEPT_NETWORKS, nowMs }),
    }),
    ...(role !== 'worker' && {
      api: {
        handlers: {
          ...createElementHandlers({ registry, authorizations }),
          ...createInstanceHandlers({ accounts, instances, registry, seal, open }),
          ...createProxyHandlers(proxies),
          ...createRecordHandlers(resources),
          ...createSettingsHandlers(delivery.settings),
          ...createNotificationHandlers({ ...delivery, findUser: findCallbackUser, seal, open }),
          ...createEventHandlers({
            findSource,
            accept: events.accept,
            ensureSubscription: callbacks.ensureSubscription,
          }),
          ...createQueryHandlers(resources),
        },
        passthrough: createPassthrough(resources),
        publicUrl,
        listObjects: resources.listObjects,
        corsOrigins: config.corsOrigins,
        authorization: createAuthorization({ accounts, instances, shares }),
        failedAuthorizations: createFailedAuthorizations({ nowMs }),
        bodyBudget: createByteBudget(Math.max(getHeapStatistics().heap_size_limit / 8, LEAST_BODY_MEMORY)),
        callerLimits: createCallerLimits({
          perUser: config.rateLimitUser,
          perAccount: config.rateLimitAccount,
          nowMs,
        }),
        idempotency,
        validateResponses: config.validateResponses,
      },
    }),
  });
  const { host, port, maxConnections, metricsPort } = config;
  const listener = await openListener(server, { host, port, maxConnections, trust, log, clock }).catch(
    refusedPort({ variable: 'PORT', host, port }),
  );
  cleanup.add('http', () => listener.close(config.shutdownTimeoutMs));
  listeningPort = listener.port;
  const metricsUrl = metricsPort === undefined ? undefined : await serveMetrics(metricsPort);
  const credentialsFile = await writeCredentials(dataDir, { baseUrl: baseUrl() });
  return { url: publicUrl(), baseUrl: baseUrl(), simulatorsUrl, metricsUrl, credentialsFile, stop: cleanup.run };

  async function findCallbackUser(accountId: number, url: string): Promise<string | undefined> {
    const id = await instances.findByCallback(accountId, url);
    if (id !== undefined) return `instance ${id}`;
    const settings = await delivery.settings.get(accountId);
    return settings[OPERATIONAL_URL] === url ? `the setting ${OPERATIONAL_URL}` : undefined;
  }

  /** The measurements alone, on a port that need not be reached from outside. */
  async function serveMetrics(ownPort: number): Promise<string> {
    const root = createMeasurementsRouter(measurements);
    const measured = createServer({ log, redactCall, trust, root });
    const own = await openListener(measured, { host, port: ownPort, maxConnections, trust, log, clock }).catch(
      refusedPort({ variable: 'METRICS_PORT', host, port: ownPort }),
    );
    cleanup.add('metrics', () => own.close(config.shutdownTimeoutMs));
    return `${publicUrlOf({ host, publicUrl: undefined }, own.port)}/metrics`;
  }
}
