import { readFile } from 'node:fs/promises';
import { Causeway } from '@causeway/client';
import { askSecret, askText, type Question } from '../ask.js';
import type { AddCommands } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { NotReadyError, UsageError } from '../failures.js';
import { type Profile, profilesFile, readProfiles, withoutProfile, withProfile, writeProfiles } from '../profiles.js';
import type { Session } from '../session.js';
import { printable } from '../texts.js';

interface LoginOptions {
  readonly url?: string;
  readonly userSecret?: string;
  readonly organizationSecret?: string;
  readonly credentials?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

export const addLogin: AddCommands = (program, run) => {
  program
    .command('login')
    .description('store the URL and the secrets of a service as the profile of --profile')
    .option('--url <url>', 'URL of the service')
    .option(
      '--user-secret <secret>',
      'prefer CAUSEWAY_USER_SECRET or the prompt: other users of the machine can see command lines',
    )
    .option('--organization-secret <secret>', 'prefer CAUSEWAY_ORGANIZATION_SECRET or the prompt')
    .option('--credentials <file>', 'read all three from the file that a service writes at its first start')
    .action(run(login));
  program.command('logout').description('delete the secrets of a profile').action(run(logout));

  const profiles = program.command('profiles').description('list the profiles').action(run(list));
  profiles.command('use <name>').description('choose the profile that commands use').action(run(use));
};

async function login(session: Session, options: LoginOptions): Promise<void> {
  const given = { ...fromEnvironment(session.environment), ...(await fromFile(options.credentials)), ...options };
  const url = given.url ?? (await askText(session.asker, questionOf('URL of the service', '--url', DEFAULT_URL)));
  const userSecret = session.keep(
    given.userSecret ?? (await askSecret(session.asker, secretQuestion('User secret', 'CAUSEWAY_USER_SECRET'))),
  );
  const organizationSecret = session.keep(
    given.organizationSecret ??
      (await askSecret(session.asker, secretQuestion('Organization secret', 'CAUSEWAY_ORGANIZATION_SECRET'))),
  );
  const profile: Profile = { url: urlOf(url), userSecret, organizationSecret };
  const client = new Causeway(profile);
  const user = await client.users.getOwnUser({ signal: session.signal });
  const stored = await readProfiles();
  const name = session.profileName(stored);
  await writeProfiles(withProfile(stored, name, { ...profile, url: client.url }));
  const { email, accountId } = user;
  await session.output.one(
    { profile: name, url: client.url, email, accountId, file: profilesFile() },
    () =>
      `Logged in to ${client.url} as ${printable(email)}. The secrets are in ${profilesFile()}, which only you can read.`,
  );
}

async function logout(session: Session): Promise<void> {
  const stored = await readProfiles();
  const name = session.profileName(stored);
  if (!Object.hasOwn(stored.profiles, name)) throw new NotReadyError(`Nobody is logged in as ${name}.`);
  await writeProfiles(withoutProfile(stored, name));
  await session.output.one(
    { profile: name },
    () => `Deleted the secrets of ${name} here. They are still valid at the service.`,
  );
}

async function list(session: Session): Promise<void> {
  const { current, profiles } = await readProfiles();
  const rows = Object.entries(profiles).map(([name, { url, instance }]) => {
    const { token: _, ...shown } = instance ?? { token: '' };
    return { name, current: name === current, url, instance: instance && shown };
  });
  await session.output.list(
    rows,
    {
      '': (row) => (row.current ? '*' : ''),
      name: (row) => row.name,
      url: (row) => row.url,
      instance: ({ instance }) => instance && Object(instance).name,
    },
    `Nobody is logged in. Log in: ${CAUSEWAY} login`,
  );
}

async function use(session: Session, name: string): Promise<void> {
  const stored = await readProfiles();
  if (!Object.hasOwn(stored.profiles, name))
    throw new UsageError(`There is no profile ${name}. See: ${CAUSEWAY} profiles`);
  await writeProfiles({ ...stored, current: name });
  await session.output.one({ profile: name }, () => `Commands now use the profile ${name}.`);
}

function fromEnvironment(environment: Session['environment']): LoginOptions {
  const {
    CAUSEWAY_URL: url,
    CAUSEWAY_USER_SECRET: userSecret,
    CAUSEWAY_ORGANIZATION_SECRET: organizationSecret,
  } = environment;
  return { ...(url && { url }), ...(userSecret && { userSecret }), ...(organizationSecret && { organizationSecret }) };
}

async function fromFile(file: string | undefined): Promise<LoginOptions> {
  if (file === undefined) return {};
  try {
    const { baseUrl: url, userSecret, organizationSecret } = JSON.parse(await readFile(file, 'utf8'));
    if ([url, userSecret, organizationSecret].every((text) => typeof text === 'string'))
      return { url, userSecret, organizationSecret };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(
    `${file} is not the credentials.json of a service: it needs baseUrl, userSecret and organizationSecret.`,
  );
}

function urlOf(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`'${text}' is not the URL of a service, such as ${DEFAULT_URL}.`);
}

function secretQuestion(message: string, variable: string): Question {
  return { ...questionOf(message, variable), validate: (answer) => answer.trim() !== '' || 'Enter a value.' };
}

function questionOf(message: string, instead: string, preset?: string): Question {
  return { message, instead, ...(preset !== undefined && { default: preset }) };
}
