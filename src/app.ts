import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccounts } from './accounts/accounts.ts';
import { writeCredentials } from './accounts/credentials-file.ts';
import { createIdempotency } from './accounts/idempotency/index.ts';
import { createAuthorization } from './api/authorization.ts';
import { createElementHandlers } from './api/elements.ts';
import { createInstanceHandlers } from './api/instances.ts';
import { createQueryHandlers } from './api/query.ts';
import { createRecordHandlers } from './api/records.ts';
import { BASE_PATH, createServer } from './api/server.ts';
import { createServiceRouter } from './api/service.ts';
import { type Config, publicUrlOf } from './config.ts';
import { createProviderClient } from './connector/client/index.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS } from './connector/registry.ts';
import { startSimulators } from './connector/simulators/index.ts';
import { openDatabase } from './db/database.ts';
import { startEmbeddedPostgres } from './db/embedded.ts';
import { createDevelopmentKeys, createKeyring } from './db/keyring.ts';
import { migrateDatabase } from './db/migrate.ts';
import { createNotifier } from './db/notifier.ts';
import { openPlatformKeys } from './db/platform-keys.ts';
import { createEgress } from './egress/index.ts';
import { createInstances } from './instances/instances.ts';
import { createJobs } from './jobs/jobs.ts';
import { createQueues } from './jobs/queues.ts';
import type { Logger, Redactor } from './log.ts';
import { createResources } from './resources/resources.ts';

/** A running service. */
export interface App {
  /** Without a slash at the end. */
  readonly url: string;
  readonly baseUrl: string;
  readonly simulatorsUrl: string | undefined;
  /** Where the first secrets are; undefined when they were made elsewhere. */
  readonly credentialsFile: string | undefined;
  /** Takes no more requests, lets those under way end, then closes everything in the order opposite to the start. */
  readonly stop: () => Promise<void>;
}

export interface AppPorts {
  readonly config: Config;
  readonly log: Logger;
  readonly redactor: Redactor;
}

/**
 * Builds the service and starts it. What was started is stopped again when a later step fails.
 * @throws ConfigError, ConnectorError and whatever the database or the port says
 */
export async function startApp(ports: AppPorts): Promise<App> {
  const cleanup = createCleanup(ports.log);
  try {
    return await build(ports, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function build({ config, log, redactor }: AppPorts, cleanup: Cleanup): Promise<App> {
  const { dataDir, role } = config;
  const databaseUrl = config.databaseUrl ?? (await embeddedDatabase());
  const folders = [OWN_CONNECTORS, ...config.connectorsPath];
  const simulatorsPort = role === 'worker' ? undefined : config.simulatorsPort;

  const [connectors, simulators] = await Promise.all([
    loadConnectors(folders),
    simulatorsPort === undefined ? undefined : startSimulators({ port: simulatorsPort, host: '127.0.0.1', folders }),
    migrateDatabase({ url: databaseUrl, log }),
  ]);
  if (simulators !== undefined) cleanup.add('simulators', simulators.stop);
  const registry = createRegistry(connectors);
  const simulatorsUrl = simulators?.url;

  const database = openDatabase({ url: databaseUrl, poolSize: config.databasePoolSize, log });
  cleanup.add('database', database.close);
  const { knex } = database;
  const keyring = createKeyring(config.encryptionKeys ?? (await createDevelopmentKeys(dataDir)));
  const platformKeys = await openPlatformKeys({ knex, keyring });
  const notifier = createNotifier({ url: databaseUrl, knex, log });
  cleanup.add('notifier', notifier.close);
  await notifier.start();

  const egress = createEgress({ allow: config.egressAllow });
  cleanup.add('egress', egress.close);
  const client = createProviderClient({
    egress,
    redactor,
    now: Date.now,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    random: Math.random,
    ...(simulatorsUrl !== undefined && { simulatorsUrl }),
  });

  const accounts = createAccounts({ knex, platformKeys, random: randomBytes });
  const instances = createInstances({
    knex,
    keyring,
    platformKeys,
    notifier,
    registry,
    client,
    redactor,
    random: randomBytes,
  });
  const { seal, open } = platformKeys;
  const resources = createResources({ client, seal, open, now: Date.now, onCredentials: instances.noteCredentials });
  const idempotency = createIdempotency({ knex, keyring });

  const queues = createQueues({ purgeIdempotencyRecords: idempotency.purge, now: () => new Date() });
  const jobs = createJobs({ url: databaseUrl, log, queues, role });
  cleanup.add('jobs', () => jobs.stop(config.shutdownTimeoutMs));
  await jobs.start();

  let listeningPort = config.port;
  const publicUrl = () => publicUrlOf(config, listeningPort);
  const baseUrl = () => publicUrl() + BASE_PATH;
  await accounts.bootstrap({
    organizationSecret: config.bootstrapOrganizationSecret,
    userSecret: config.bootstrapUserSecret,
    beforeCommit: async (created) => void (await writeCredentials(dataDir, { created, baseUrl: baseUrl() })),
  });

  const server = createServer({
    log,
    redactor,
    root: createServiceRouter({ checks: { database: database.isReachable, queue: jobs.isReachable }, publicUrl }),
    ...(role !== 'worker' && {
      api: {
        handlers: {
          ...createElementHandlers({ registry }),
          ...createInstanceHandlers({ accounts, instances, seal, open }),
          ...createRecordHandlers(resources),
          ...createQueryHandlers(resources),
        },
        publicUrl,
        authorization: createAuthorization({ accounts, instances, redactor }),
        idempotency,
        validateResponses: config.validateResponses,
      },
    }),
  });
  const listener = await listen(server, config);
  cleanup.add('http', () => close(listener, config.shutdownTimeoutMs));
  listeningPort = (listener.address() as AddressInfo).port;
  const credentialsFile = await writeCredentials(dataDir, { baseUrl: baseUrl() });
  return { url: publicUrl(), baseUrl: baseUrl(), simulatorsUrl, credentialsFile, stop: cleanup.run };

  async function embeddedDatabase(): Promise<string> {
    const embedded = await startEmbeddedPostgres({ dataDir, log });
    cleanup.add('embedded database', embedded.stop);
    return embedded.url;
  }
}

/** Room for a `where` of 16 KB with every character percent-encoded. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Longer than load balancers keep theirs, so that they never send into a closing connection. */
const KEEP_ALIVE_MS = 75_000;
const IDLE_SWEEP_MS = 100;

function listen(server: ReturnType<typeof createServer>, { port, host }: Config): Promise<Server> {
  const listener = createHttpServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS }, server);
  return new Promise((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, host, () => resolve(listener));
  });
}

/** Requests under way end on their own; after the time-out they are cut. */
async function close(listener: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
  listener.closeIdleConnections();
  // The connection of a request that ends later becomes idle then, and would stay for its keep-alive time.
  const sweep = setInterval(() => listener.closeIdleConnections(), IDLE_SWEEP_MS);
  const timer = setTimeout(() => listener.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

interface Cleanup {
  readonly add: (what: string, stop: () => Promise<void>) => void;
  /** Last added, first stopped; one that fails does not keep the others. */
  readonly run: () => Promise<void>;
}

function createCleanup(log: Logger): Cleanup {
  const steps: { readonly what: string; readonly stop: () => Promise<void> }[] = [];
  return {
    add: (what, stop) => void steps.push({ what, stop }),
    run: async () => {
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step.stop();
        } catch (error) {
          log.error({ err: error }, `stopping failed: ${step.what}`);
        }
      }
    },
  };
}
