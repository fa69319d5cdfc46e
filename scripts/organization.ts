// Makes an organization with its first account and user: `npm run organization -- create --help`. See docs/how-to/administration.md.
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createOrganization, type FirstCredentials, type NewOrganization } from '../src/accounts/new-organization.ts';
import { BASE_PATH } from '../src/api/server.ts';
import { publicUrlOf, type ServiceConfig } from '../src/config/index.ts';
import { ensureDataDir } from '../src/db/data-dir.ts';
import { createFileOnce } from '../src/db/files.ts';
import { openPlatformKeys } from '../src/db/platform-keys.ts';
import { SYSTEM_RANDOM } from '../src/platform.ts';
import { administer, explain } from './administer.ts';

const USAGE = `Usage: npm run organization -- create --name <name> --email <address> [--first-name <name>] [--last-name <name>] [--file <path>]

Creates an organization with a default account and one user with the role org-admin. The secrets of both are written
to a file of mode 600: --file, or organization-<id>.json in DATA_DIR. They are not printed.`;

/** Pattern of e-mail addresses, the same as in the spec. */
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MOST_CHARACTERS = { name: 255, email: 320, 'first-name': 255, 'last-name': 255 } as const;

/** The error of invalid arguments. */
class UsageError extends Error {}

interface Asked extends NewOrganization {
  /** File for the secrets. */
  readonly file: string | undefined;
}

try {
  const asked = readArguments(process.argv.slice(2));
  console.log(asked === undefined ? USAGE : await create(asked));
} catch (error) {
  console.error(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : explain(error));
  process.exitCode = 1;
}

/**
 * Reads the command line. Undefined if the help is requested.
 * @throws UsageError
 */
function readArguments(args: readonly string[]): Asked | undefined {
  const text = { type: 'string' } as const;
  const options = { name: text, email: text, 'first-name': text, 'last-name': text, file: text } as const;
  const { values, positionals } = parse({ ...options, help: { type: 'boolean', short: 'h' } }, args);
  if (values.help === true) return undefined;
  if (positionals.length !== 1 || positionals[0] !== 'create') throw new UsageError('Use the command create.');
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

/** Parses the options of a command. @throws UsageError for an unknown option */
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
  let written: string | undefined;
  try {
    const ids = await administer(async ({ config, knex, keyring }) => {
      const keys = await openPlatformKeys({ knex, keyring });
      const platform = { knex, keyring, keys, random: SYSTEM_RANDOM };
      return createOrganization(platform, organization, async (credentials) => {
        written = await keep(credentials, { file, config });
      });
    });
    return [
      `Created organization ${ids.organizationId} (${organization.name}) with account ${ids.accountId} and user ${ids.userId} (${organization.emailAddress}), its administrator.`,
      `Their secrets are in ${written}, which only you can read. Pass them on, then delete the file.`,
    ].join('\n');
  } catch (error) {
    // A tenant that was not created has no secrets.
    if (written !== undefined) await rm(written, { force: true });
    throw error;
  }
}

/** Writes the secrets to a file. @returns the path of the file. @throws UsageError if the file exists */
async function keep(
  credentials: FirstCredentials,
  { file, config }: Pick<Asked, 'file'> & { readonly config: ServiceConfig },
): Promise<string> {
  if (file === undefined) await ensureDataDir(config.dataDir);
  const path = resolve(file ?? join(config.dataDir, `organization-${credentials.organizationId}.json`));
  const baseUrl = publicUrlOf(config, config.port) + BASE_PATH;
  if (await createFileOnce(path, `${JSON.stringify({ ...credentials, baseUrl }, undefined, 2)}\n`)) return path;
  throw new UsageError(`${path} already exists. Choose another --file. No organization was created.`);
}
