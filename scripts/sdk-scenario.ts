/**
 * Runs the checks of the clients on a running service: `node scripts/sdk-scenario.ts [language…]` runs `sdk/<language>/check` for each, and
 * `node scripts/sdk-scenario.ts -- command…` runs any command. The service has an embedded PostgreSQL and the simulators, both on loopback
 * and in a temporary folder. Its URL and its secrets are in the variables that `sdk/scenario.md` lists.
 * Exit code 1 when a check fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { connectDemo, type RunningService, UNLIMITED, withService } from './bench/running-service.ts';
import { choosePackages, HAND_WRITTEN } from './sdk/languages.ts';

const ROOT = resolve(import.meta.dirname, '..');
type Command = readonly [program: string, ...args: readonly string[]];

function commandsOf(args: readonly string[]): readonly Command[] {
  const [separator, program, ...rest] = args;
  if (separator === '--' && program !== undefined) return [[program, ...rest]];
  return choosePackages(args).map((language) => [join(HAND_WRITTEN, language, 'check')]);
}

async function environmentOf(service: RunningService) {
  // The account of the first query in the README of each client.
  const { token } = await connectDemo(service);
  return {
    CAUSEWAY_URL: service.baseUrl,
    CAUSEWAY_USER_SECRET: service.secrets.userSecret,
    CAUSEWAY_ORGANIZATION_SECRET: service.secrets.organizationSecret,
    CAUSEWAY_ELEMENT_TOKEN: token,
    CAUSEWAY_SIMULATORS_URL: service.simulatorsUrl,
  };
}

/** Runs a command. @returns whether it exited with 0 */
async function succeeds([program, ...args]: Command, environment: Readonly<Record<string, string>>): Promise<boolean> {
  const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...environment } });
  const [code]: readonly unknown[] = await once(child, 'exit');
  return code === 0;
}

const commands = commandsOf(process.argv.slice(2));
await withService({ environment: UNLIMITED }, async (service) => {
  const environment = await environmentOf(service);
  for (const command of commands) {
    if (await succeeds(command, environment)) continue;
    console.error(`failed: ${command.join(' ')}`);
    process.exitCode = 1;
  }
});
