// Makes an organization with its first account and user: `npm run organization -- create --help`. See docs/administration.md.
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../embedded/index.ts';
import { createOrganization, type FirstCredentials, type NewOrganization } from '../src/accounts/new-organization.ts';
import { BASE_PATH } from '../src/api/server.ts';
import { ConfigError, publicUrlOf, readConfig, type ServiceConfig, secretsOf } from '../src/config/index.ts';
import { ensureDataDir } from '../src/db/data-dir.ts';
import { openDatabase } from '../src/db/database.ts';
import { createFileOnce } from '../src/db/files.ts';
import { createDevelopmentKeys, createKeyring } from '../src/db/keyring.ts';
import { openPlatformKeys } from '../src/db/platform-keys.ts';
import { DatabaseUnavailableError } from '../src/db/unavailable.ts';
import { StartError } from '../src/errors.ts';
import { createLogger, type Logger } from '../src/log.ts';
import { SYSTEM_RANDOM } from '../src/platform.ts';
import { createRedactor, NO_SECRETS } from '../src/redaction.ts';

const USAGE = `Usage: npm run organization -- create --name <name> --email <address> [--first-name <name>] [--last-name <name>] [--file <path>]

Makes an organization with a default account and one user, who has the role org-admin. The secrets of both are written
to a file of mode 600: --file, or organization-<id>.json in DATA_DIR. They are printed nowhere.`;

/** As the spec has them. */
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MOST_CHARACTERS = { name: 255, email: 320, 'first-name': 255, 'last-name': 255 } as const;
/** Of PostgreSQL. */
const NO_SUCH_TABLE = '42P01';

/** What was typed is wrong. */
class UsageError extends Error {}

interface Asked extends NewOrganization {
  /** Where the secrets go. */
  readonly file: string | undefined;
}

let redactor = NO_SECRETS;

try {
  const asked = readArguments(process.argv.slice(2));
  console.log(asked === undefined ? USAGE : await create(asked));
} catch (error) {
  console.error(redactor.redact(explain(error)));
  process.exitCode = 1;
}

/** Undefined: how it is used is asked for. @throws UsageError */
function readArguments(args: readonly string[]): Asked | undefined {
  const text = { type: 'string' } as const;
  const options = { name: text, email: text, 'first-name': text, 'last-name': text, file: text } as const;
  const { values, positionals } = parse({ ...options, help: { type: 'boolean', short: 'h' } }, args);
  if (values.help === true) return undefined;
  if (positionals.length !== 1 || positionals[0] !== 'create') throw new UsageError('The command is create.');
  const given = (option: keyof typeof MOST_CHARACTERS, otherwise?: string): string => {
    const value = values[option]?.trim() ?? otherwise ?? '';
    if (value === '') throw new UsageError(`--${option} is missing.`);
    if (value.length <= MOST_CHARACTERS[option]) return value;
    throw new UsageError(`--${option} has more than ${MOST_CHARACTERS[option]} characters.`);
  };
  const emailAddress = given('email');
  if (!EMAIL.test(emailAddress)) throw new UsageError('--email is not an e-mail address.');
  const names = { firstName: given('first-name', 'First'), lastName: given('last-name', 'User') };
  return { name: given('name'), emailAddress, ...names, file: values.file };
}

/** @throws UsageError for options that are not known */
function parse<Options extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  options: Options,
  args: readonly string[],
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

async function create({ file, ...organization }: Asked): Promise<string> {
  const config = readConfig(process.env);
  redactor = createRedactor(secretsOf(config));
  const log = createLogger({ level: 'warn', redactor });
  const keyring = createKeyring(config.encryptionKeys ?? (await createDevelopmentKeys(config.dataDir)));
  const server = await openServer(config, log);
  const database = openDatabase({ url: server.url, poolSize: 2, log });
  const { knex } = database;
  let written: string | undefined;
  try {
    const keys = await openPlatformKeys({ knex, keyring });
    const platform = { knex, keyring, keys, random: SYSTEM_RANDOM };
    const ids = await createOrganization(platform, organization, async (credentials) => {
      written = await keep(credentials, { file, config });
    });
    return [
      `Made organization ${ids.organizationId} (${organization.name}) with account ${ids.accountId} and user ${ids.userId} (${organization.emailAddress}), its administrator.`,
      `Their secrets are in ${written}, which only you can read. Hand them over, then delete the file.`,
    ].join('\n');
  } catch (error) {
    // What was not made has no secrets.
    if (written !== undefined) await rm(written, { force: true });
    throw error;
  } finally {
    await database.close();
    await server.stop();
  }
}

/** @returns the file with the secrets. @throws UsageError where there is one already */
async function keep(
  credentials: FirstCredentials,
  { file, config }: Pick<Asked, 'file'> & { readonly config: ServiceConfig },
): Promise<string> {
  if (file === undefined) await ensureDataDir(config.dataDir);
  const path = resolve(file ?? join(config.dataDir, `organization-${credentials.organizationId}.json`));
  const baseUrl = publicUrlOf(config, config.port) + BASE_PATH;
  if (await createFileOnce(path, `${JSON.stringify({ ...credentials, baseUrl }, undefined, 2)}\n`)) return path;
  throw new UsageError(`${path} is there already: give another --file. No organization was made.`);
}

/** Without DATABASE_URL the embedded database, which must have no service running on it: only its owner knows its port. */
async function openServer({ databaseUrl, dataDir }: ServiceConfig, log: Logger) {
  if (databaseUrl === undefined) return startEmbeddedPostgres({ dataDir, log });
  return { url: databaseUrl, stop: async () => undefined };
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if ('code' in error && error.code === NO_SUCH_TABLE)
    return 'This database has no tables of this version: start the service once, then run this again.';
  if (error instanceof DatabaseUnavailableError) return `${error.message} ${explain(error.cause)}`;
  return error instanceof ConfigError || error instanceof StartError ? error.message : (error.stack ?? error.message);
}
