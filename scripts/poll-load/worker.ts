/** A worker of the service, as `ROLE=worker` starts it, with the times that matter to a failure test cut to what it has time for. */
import { startApp } from '../../src/app/index.ts';
import { readConfig } from '../../src/config/index.ts';
import { createLogger } from '../../src/log.ts';
import { freePorts } from '../bench/free-ports.ts';
import { HASTY } from '../chaos/scenario.ts';
import { readSetup, serve, tell } from '../event-load/child.ts';
import { POLLED_CONNECTORS } from './instances.ts';
import type { WorkerSetup } from './messages.ts';

const { databaseUrl, encryptionKeys, dataDir, leaseMs } = readSetup<WorkerSetup>();
const { PORT } = await freePorts();
const log = createLogger({ level: process.env.LOAD_LOG_LEVEL === 'warn' ? 'warn' : 'fatal' });
const app = await startApp({
  config: readConfig({
    NODE_ENV: 'production',
    ROLE: 'worker',
    HOST: '127.0.0.1',
    PORT,
    SIMULATORS_PORT: 'off',
    EGRESS_ALLOW: '127.0.0.0/8',
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ENCRYPTION_KEYS: encryptionKeys,
    CONNECTORS_PATH: POLLED_CONNECTORS,
  }),
  database: { url: databaseUrl },
  log,
  engineOptions: HASTY,
  pollerOptions: { leaseMs, longestBackoffMs: 2_000 },
});

serve<'stop'>(async () => app.stop());
tell({ kind: 'ready', url: app.url });
