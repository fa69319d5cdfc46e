import tab from '@bomb.sh/tab/commander';
import { Command, Option } from 'commander';
import { type AddCommands, runWith } from './command.js';
import { CAUSEWAY } from './command-name.js';
import { addActivity } from './commands/activity.js';
import { addBulk } from './commands/bulk.js';
import { addConnect } from './commands/connect.js';
import { addEndpoints } from './commands/endpoints.js';
import { addEvents } from './commands/events.js';
import { addFormulas } from './commands/formulas.js';
import { addInstances } from './commands/instances.js';
import { addKeys } from './commands/keys.js';
import { addLogin } from './commands/login.js';
import { addMcp } from './commands/mcp.js';
import { addObjects } from './commands/objects.js';
import { addQuery } from './commands/query.js';
import { addSchema } from './commands/schema.js';
import { addTypes } from './commands/types.js';
import { FORMATS } from './output.js';
import { Session, type Surroundings } from './session.js';

const VERSION = '0.0.0-dev';
/** The commands in the order of the help, which is the order in which a new user needs them. */
const COMMANDS: readonly AddCommands[] = [
  addLogin,
  addInstances,
  addConnect,
  addObjects,
  addTypes,
  addQuery,
  addEvents,
  addEndpoints,
  addBulk,
  addFormulas,
  addSchema,
  addActivity,
  addMcp,
  addKeys,
];
const AFTER_HELP = `
Start with: ${CAUSEWAY} login, ${CAUSEWAY} connect <element>, ${CAUSEWAY} objects.
CAUSEWAY_URL and CAUSEWAY_KEY replace a log-in for what the key allows, with CAUSEWAY_INSTANCE_ID for one of several instances.
CAUSEWAY_URL, CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and CAUSEWAY_ELEMENT_TOKEN replace a log-in.
Exit codes: 0 success, 1 failure, 2 wrong usage or filter, 3 not found, 4 not allowed, 5 failure of the provider, 6 no connection, 7 try again later.`;

/** Creates the command line. It calls `onCommand` with each command before the command runs. */
export function makeProgram(surroundings: Surroundings, onCommand: (command: Command) => void): Command {
  const { out, err } = surroundings.screens;
  const program = new Command('causeway')
    .description('One HTTP API over many third-party providers, from the command line.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this')
    .option('--profile <name>', 'the log-in to use (or CAUSEWAY_PROFILE)')
    .option('--instance <id>', 'the instance to use, in place of the chosen one')
    .addOption(new Option('--format <format>', 'how results are printed (default: table)').choices(FORMATS))
    .option('--json', 'short for --format json; errors are JSON, too')
    .addHelpText('after', AFTER_HELP)
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: (text) => err.write(text) })
    .exitOverride()
    .hook('preAction', (_, command) => onCommand(command));
  const run = runWith((options) => new Session(options, surroundings));
  for (const add of COMMANDS) add(program, run);
  tab(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('print the completion script for a shell');
  return program;
}
