// Encrypts what the database holds with the first key of ENCRYPTION_KEYS; with --check it only looks. See docs/keys.md.
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../embedded/index.ts';
import { ConfigError, readConfig, type ServiceConfig, secretsOf } from '../src/config/index.ts';
import { openDatabase } from '../src/db/database.ts';
import { ENCRYPTED_COLUMNS } from '../src/db/encrypted-columns.ts';
import { createDevelopmentKeys, createKeyring } from '../src/db/keyring.ts';
import {
  checkKeys,
  type RotationProgress,
  type RotationReport,
  rotateKeys,
  type Unreadable,
} from '../src/db/rotation.ts';
import { DatabaseUnavailableError } from '../src/db/unavailable.ts';
import { createLogger, type Logger } from '../src/log.ts';
import { createRedactor, NO_SECRETS } from '../src/redaction.ts';

const PROGRESS_EVERY_MS = 1000;
const MOST_SHOWN = 50;
/** Of PostgreSQL. */
const NO_SUCH_TABLE = '42P01';

const FAULTS: Readonly<Record<Unreadable['fault'], (keyId: string) => string>> = {
  UNKNOWN_KEY: (keyId) => `needs the key '${keyId}', which is not in ENCRYPTION_KEYS`,
  REFUSED: (keyId) =>
    `does not open with the key '${keyId}': damaged, from another row, beside settings that were changed, or from another key of that name`,
  MALFORMED: () => 'is not of the form of a ciphertext',
};

let redactor = NO_SECRETS;
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

try {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const report = await run(values.check ? checkKeys : rotateKeys);
  console.log(describe(report).join('\n'));
  process.exitCode = report.complete ? 0 : 1;
} catch (error) {
  console.error(
    stop.signal.aborted ? 'Stopped; what was done stays, and the next run goes on.' : redactor.redact(explain(error)),
  );
  process.exitCode = 1;
}

async function run(work: typeof rotateKeys): Promise<RotationReport> {
  const config = readConfig(process.env);
  redactor = createRedactor(secretsOf(config));
  const log = createLogger({ level: 'warn', redactor });
  const keyring = createKeyring(config.encryptionKeys ?? (await createDevelopmentKeys(config.dataDir)));
  const server = await openServer(config, log);
  const database = openDatabase({ url: server.url, poolSize: 2, log });
  try {
    return await work({ knex: database.knex, keyring, onProgress: createPrinter(), signal: stop.signal });
  } finally {
    await database.close();
    await server.stop();
  }
}

/** Without DATABASE_URL the embedded database, which must have no service running on it: only its owner knows its port. */
async function openServer({ databaseUrl, dataDir }: ServiceConfig, log: Logger) {
  if (databaseUrl === undefined) return startEmbeddedPostgres({ dataDir, log });
  return { url: databaseUrl, stop: async () => undefined };
}

/** A line a second, and one for the end of each column. */
function createPrinter(): (progress: RotationProgress) => void {
  let printedAtMs = 0;
  return ({ column, done, left }) => {
    if (left > 0 && performance.now() < printedAtMs + PROGRESS_EVERY_MS) return;
    printedAtMs = performance.now();
    console.log(`${column}: ${done} done, ${left} left`);
  };
}

function describe({ usage, unreadable, complete }: RotationReport): string[] {
  const inUse = [...usage].map(
    ([keyId, columns]) => `  ${keyId === '' ? '(no ciphertext)' : keyId}: ${columns.join(', ')}`,
  );
  const rows = unreadable.slice(0, MOST_SHOWN).map(describeRow);
  const more = unreadable.length - rows.length;
  return [
    'Keys in use:',
    ...inUse,
    ...(rows.length === 0 ? [] : ['Values that could not be opened:', ...rows]),
    ...(more > 0 ? [`  and ${more} more`] : []),
    complete ? 'Every value opens with the first key alone.' : 'Not every value opens with the first key alone.',
  ];
}

/** Where, and never what. */
function describeRow({ column, key, fault, keyId = '' }: Unreadable): string {
  const parts = Object.keys(ENCRYPTED_COLUMNS[column].key).map((name, at) => `${name} ${showKey(key[at])}`);
  return `  ${column} of ${parts.join(', ')} ${FAULTS[fault](keyId)}`;
}

function showKey(value: Unreadable['key'][number] | undefined): string {
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === NO_SUCH_TABLE) {
    return 'This database has no tables of this version: start the service once, then run this again.';
  }
  if (error instanceof DatabaseUnavailableError) return `${error.message} ${explain(error.cause)}`;
  return error instanceof ConfigError ? error.message : (error.stack ?? error.message);
}
