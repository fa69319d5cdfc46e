import type { SchemaChange, SchemaWatch } from '@causeway/client';
import { type AddCommands, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { first } from '../limit.js';
import type { Session } from '../session.js';
import type { Columns } from '../table.js';
import { printable } from '../texts.js';

interface ChangesOptions {
  readonly where?: string;
  readonly limit: number;
}

export const addSchema: AddCommands = (program, run) => {
  const schema = program
    .command('schema')
    .description('list the watched objects of the instance, whose fields are read regularly')
    .action(run(watches));
  schema
    .command('changes')
    .description('list the changes of watched objects, the newest first')
    .option('-w, --where <filter>', "such as: objectName = 'contacts'")
    .option('-n, --limit <count>', 'maximum number of changes', wholeNumber, 20)
    .action(run(changes));
  schema
    .command('watch')
    .argument('<object>', 'name of the object')
    .description('watch an object, even if no poll, mapping or formula uses it')
    .action(run(watch));
  schema
    .command('unwatch')
    .argument('<object>', 'name of the object')
    .description('end a watch that was requested')
    .action(run(unwatch));
};

async function watches(session: Session): Promise<void> {
  const platform = await session.platform();
  const id = await session.instanceId();
  const { signal } = session;
  const list = platform.all((page) => platform.instances.listSchemaWatchesRaw({ id, ...page }, { signal }));
  await session.output.list(list, WATCHES, `Nothing is watched. Watch an object: ${CAUSEWAY} schema watch <object>`);
}

async function changes(session: Session, { where, limit }: ChangesOptions): Promise<void> {
  const platform = await session.platform();
  const id = await session.instanceId();
  const { signal } = session;
  const query = { id, ...(where !== undefined && { where }) };
  const list = platform.all((page) => platform.instances.listSchemaChangesRaw({ ...query, ...page }, { signal }));
  await session.output.list(first(limit, list), CHANGES, 'No watched object has changed.');
}

async function watch(session: Session, objectName: string): Promise<void> {
  const platform = await session.platform();
  const id = await session.instanceId();
  const watched = await platform.instances.watchSchema({ id, objectName }, { signal: session.signal });
  await session.output.one(watched, () => `Watching ${printable(watched.objectName)}.`);
}

async function unwatch(session: Session, objectName: string): Promise<void> {
  const platform = await session.platform();
  const id = await session.instanceId();
  const ended = await platform.instances.unwatchSchema({ id, objectName }, { signal: session.signal });
  await session.output.one(ended, () => `The watch of ${printable(ended.objectName)} has ended.`);
}

const WATCHES: Columns<SchemaWatch> = {
  object: ({ objectName }) => objectName,
  state: ({ state }) => state,
  'used by': usersOf,
  fields: ({ fieldCount }) => fieldCount,
  checked: ({ checkedDate }) => checkedDate,
  changed: ({ changedDate }) => changedDate,
  error: ({ lastError }) => lastError,
};

const CHANGES: Columns<SchemaChange> = {
  id: ({ id }) => id,
  found: ({ createdDate }) => createdDate,
  object: ({ objectName }) => objectName,
  removed: ({ removed }) => removed.join(', '),
  changed: ({ changed }) => changed.map(({ field }) => field).join(', '),
  added: ({ added }) => added.join(', '),
  breaks: brokenBy,
};

function usersOf({ requested, polls, mappings, formulas }: SchemaWatch): string {
  return [
    ...(requested ? ['a request'] : []),
    ...polls.map((name) => `poll ${name}`),
    ...mappings.map((name) => `mapping ${name}`),
    ...formulas.map(({ formulaName }) => `formula ${formulaName}`),
  ].join(', ');
}

function brokenBy({ breaks: { mappings, polls, formulas } }: SchemaChange): string {
  return [
    ...mappings.map(({ objectName }) => `mapping ${objectName}`),
    ...polls.map(({ resource }) => `poll ${resource}`),
    ...formulas.map(({ formulaName }) => `formula ${formulaName}`),
  ].join(', ');
}
