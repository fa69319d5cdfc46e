/**
 * Runs the checks of the clients on a running service: `node scripts/sdk-scenario.ts [language…]` runs `sdk/<language>/check` for each, and
 * `node scripts/sdk-scenario.ts -- command…` runs any command. The service has an embedded PostgreSQL and the simulators, both on loopback
 * and in a temporary folder. Its URL and its secrets are in the variables that `sdk/scenario.md` lists.
 * Exit code 1 when a check fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RunningService, startService, UNLIMITED } from './bench/running-service.ts';
import { choosePackages, HAND_WRITTEN } from './sdk/languages.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** The first query in the README of each client. */
const FIRST_ACCOUNT = {
  element: { key: 'bamboohr' },
  name: 'The first account',
  configuration: { username: 'demo-key', 'company.name': 'acme', simulator: true },
};

type Command = readonly [program: string, ...args: readonly string[]];

function commandsOf(args: readonly string[]): readonly Command[] {
  const [separator, program, ...rest] = args;
  if (separator === '--' && program !== undefined) return [[program, ...rest]];
  return choosePackages(args).map((language) => [join(HAND_WRITTEN, language, 'check')]);
}

async function environmentOf({ baseUrl, simulatorsUrl, secrets, authorization }: RunningService) {
  return {
    CAUSEWAY_URL: baseUrl,
    CAUSEWAY_USER_SECRET: secrets.userSecret,
    CAUSEWAY_ORGANIZATION_SECRET: secrets.organizationSecret,
    CAUSEWAY_ELEMENT_TOKEN: await connectFirstAccount(baseUrl, authorization),
    CAUSEWAY_SIMULATORS_URL: simulatorsUrl,
  };
}

async function connectFirstAccount(baseUrl: string, authorization: string): Promise<string> {
  const response = await fetch(`${baseUrl}/instances`, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(FIRST_ACCOUNT),
  });
  const { token }: { readonly token?: string } = JSON.parse(await response.text());
  if (token === undefined) throw new Error(`POST /instances returned ${response.status} without a token.`);
  return token;
}

/** Runs a command. @returns whether it exited with 0 */
async function succeeds([program, ...args]: Command, environment: Readonly<Record<string, string>>): Promise<boolean> {
  const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...environment } });
  const [code]: readonly unknown[] = await once(child, 'exit');
  return code === 0;
}

const commands = commandsOf(process.argv.slice(2));
const folder = await mkdtemp(join(tmpdir(), 'causeway-sdk-'));
try {
  const service = await startService({ dataDir: join(folder, 'data'), environment: UNLIMITED });
  try {
    const environment = await environmentOf(service);
    for (const command of commands) {
      if (await succeeds(command, environment)) continue;
      console.error(`failed: ${command.join(' ')}`);
      process.exitCode = 1;
    }
  } finally {
    await service.stop();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
