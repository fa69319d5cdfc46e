import { once } from 'node:events';
import { startEmbeddedPostgres } from '../embedded/index.ts';
import { assertPortsFree, wantedPorts } from './app/free-ports.ts';
import type { DatabaseServer } from './app/index.ts';
import { listenForStop } from './app/stop-signals.ts';
import { welcome } from './app/welcome.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { ConfigError, readConfig, type ServiceConfig, secretsOf } from './config/index.ts';
import { ConnectorError } from './connector/validate.ts';
import { StartError } from './errors.ts';
import { createLogger, type Logger } from './log.ts';
import { createRedactor, NO_SECRETS } from './redaction.ts';

// Until the configuration is read. Its problems are reported without values.
let redactor = NO_SECRETS;

try {
  const config = readConfig(process.env);
  redactor = createRedactor(secretsOf(config));
  const log = createLogger({ level: config.logLevel, redactor });
  // From the first moment: a start that is broken off stops what it has begun, the embedded database among it.
  await run(config, log, listenForStop({ process, clock: SYSTEM_CLOCK }));
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof ConnectorError || error instanceof StartError;
  console.error(redactor.redact(expected ? error.message : String(error instanceof Error ? error.stack : error)));
  process.exit(1);
}

/** Ends the process when the signal aborts, with exit code 0. */
async function run(config: ServiceConfig, log: Logger, signal: AbortSignal): Promise<void> {
  try {
    await assertPortsFree(wantedPorts(config));
    // The service is read while the database starts.
    const [database, { startApp }] = await Promise.all([openServer(config, log, signal), import('./app/index.ts')]);
    const app = await startApp({ config, database, log, signal });
    console.log(welcome(app, config.role));
    if (!signal.aborted) await once(signal, 'abort');
    log.info({ signal: signal.reason }, 'stopping');
    await app.stop();
  } catch (error) {
    if (!signal.aborted) throw error;
    log.info({ signal: signal.reason, err: error }, 'stopped before it was ready');
  }
  process.exit(0);
}

/** That of DATABASE_URL, or one of this process's own. */
async function openServer(config: ServiceConfig, log: Logger, signal: AbortSignal): Promise<DatabaseServer> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl !== undefined) return { url: databaseUrl };
  return startEmbeddedPostgres({ dataDir, log, onLost: endWith(log), signal });
}

/** The supervisor of the process must restart it, because the lost part does not come back. */
function endWith(log: Logger) {
  return (error: unknown): void => {
    log.fatal({ err: error }, 'the service failed and stops');
    process.exit(1);
  };
}
