// Shared by the scripts for administrators: the database of the service, and messages for its faults.
import type { Knex } from 'knex';
import { startEmbeddedPostgres } from '../embedded/index.ts';
import { ConfigError, readConfig, type ServiceConfig, secretsOf } from '../src/config/index.ts';
import { openDatabase } from '../src/db/database.ts';
import { createDevelopmentKeys, createKeyring, type Keyring } from '../src/db/keyring.ts';
import { DatabaseUnavailableError } from '../src/db/unavailable.ts';
import { StartError } from '../src/errors.ts';
import { createLogger, type Logger } from '../src/log.ts';
import { createRedactor, NO_SECRETS } from '../src/redaction.ts';

export interface Administered {
  readonly config: ServiceConfig;
  readonly knex: Knex;
  readonly keyring: Keyring;
  readonly log: Logger;
}

/** PostgreSQL's error code for a missing table. */
const NO_SUCH_TABLE = '42P01';

let redactor = NO_SECRETS;

/**
 * Runs administrative work on the database. Without DATABASE_URL, it starts the embedded database. The service must not run on it
 * meanwhile, because only the owner of the embedded database knows its port.
 */
export async function administer<Result>(work: (database: Administered) => Promise<Result>): Promise<Result> {
  const config = readConfig(process.env);
  redactor = createRedactor(secretsOf(config));
  const log = createLogger({ level: 'warn', redactor });
  const { databaseUrl, dataDir } = config;
  const keyring = createKeyring(config.encryptionKeys ?? (await createDevelopmentKeys(dataDir)));
  const embedded = databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir, log }) : undefined;
  const database = openDatabase({ url: embedded?.url ?? databaseUrl ?? '', poolSize: 2, log });
  try {
    return await work({ config, knex: database.knex, keyring, log });
  } finally {
    await database.close();
    await embedded?.stop();
  }
}

/** Returns the text to print for an error, without secrets. It has a stack only where the administrator cannot fix the cause. */
export function explain(error: unknown): string {
  return redactor.redact(messageOf(error));
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === NO_SUCH_TABLE)
    return 'This database has no tables of this version. Start the service once, then run this command again.';
  if (error instanceof DatabaseUnavailableError) return `${error.message} ${messageOf(error.cause)}`;
  return error instanceof ConfigError || error instanceof StartError ? error.message : (error.stack ?? error.message);
}
