/** Runs the command line from this clone: `npm run causeway -- login`. It works in the folder that it is called from. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const PROGRAM = resolve(import.meta.dirname, '../generated/sdk/cli/dist/src/main.js');

if (existsSync(PROGRAM)) {
  // npm starts scripts in the folder of package.json. INIT_CWD is the folder in which npm was called.
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
  // The command as messages show it.
  process.env.CAUSEWAY_COMMAND ??= 'npm run causeway --';
  await import(pathToFileURL(PROGRAM).href);
} else {
  console.error('The command line is not built yet. Build it with Java 11 or newer: npm run sdk cli');
  process.exitCode = 1;
}
