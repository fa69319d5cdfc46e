import {
  type Changes,
  type ConnectorContext,
  defined,
  defineObject,
  type FieldSpec,
  isDenied,
  notFound,
  type ObjectSpec,
  type Objects,
  type Outline,
  path,
  records,
  unusable,
} from '#connector';
import { ATTACHMENTS, attachedFields, attachmentOperations } from './attachments.ts';
import { DELETED_RECORDS, deletionsOf } from './deletions.ts';
import { textOf, toFieldSpec } from './fields.ts';
import { FILTERING, ID, listOf, PLAIN, recordIn } from './query.ts';
import { CHANGED, isName, readRows, readTables, type Table } from './tables.ts';

const CREATED = 'sys_created_on';

/** Names of these tables that all help desks share. */
const ALIASES: Readonly<Record<string, string>> = {
  incident: 'incidents',
  problem: 'problems',
  change_request: 'changes',
  cmdb_ci: 'configurations',
  core_company: 'organizations',
  [ATTACHMENTS]: 'attachments',
};

/** Tables for the time spent on tasks: recorded hours, or the time during which somebody had a task open. Each needs a plugin. */
const TIME_ENTRIES = ['time_card', 'task_time_worked'];

const RIGHTS = 'The user of this instance must be allowed to read sys_db_object and sys_dictionary.';

/**
 * Returns every table of the instance as an outline without its fields.
 * @throws AppError PROVIDER_PROTOCOL when ServiceNow returns no tables
 */
export async function discoverObjects(context: ConnectorContext): Promise<Objects> {
  const [tables, reportsDeletions] = await Promise.all([readTables(context), canReadDeletions(context)]);
  if (tables.length === 0) throw unusable(`ServiceNow shows no tables. ${RIGHTS}`);
  const byName = new Map(tables.map((table) => [table.name, table]));
  const instance: ServiceNowInstance = {
    byName,
    reportsDeletions,
    timeEntries: TIME_ENTRIES.find((name) => byName.has(name)),
  };
  return Object.fromEntries(tables.map((table) => [table.name, outlineOf(table, instance)]));
}

interface ServiceNowInstance {
  readonly byName: ReadonlyMap<string, Table>;
  readonly reportsDeletions: boolean;
  readonly timeEntries: string | undefined;
}

/**
 * Returns whether the user can read deletions. Few users have this right. On an instance that hides rows instead, deletions are not
 * reported.
 */
async function canReadDeletions({ send, signal }: ConnectorContext): Promise<boolean> {
  try {
    await send({ path: `/table/${DELETED_RECORDS}`, query: { ...PLAIN, sysparm_limit: 1, sysparm_fields: ID } });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isDenied(error)) return false;
    throw error;
  }
}

/** Returns a table as an outline. Thousands of tables refer to thousands of others, and few of them are used. */
function outlineOf(table: Table, instance: ServiceNowInstance): ObjectSpec {
  const { name, isDated } = table;
  return defined({
    ...namesOf(table, instance),
    fields: {},
    outline: { operations: abilitiesOf(name), children: childrenOf(table, instance).map(([child]) => child) },
    changes: isDated ? { reports: instance.reportsDeletions ? ALL : ALL.slice(0, 2) } : undefined,
    describe: (context) => describeTable(context, table, instance),
  });
}

function namesOf({ name, label }: Table, { timeEntries }: ServiceNowInstance): Omit<ObjectSpec, 'fields'> {
  const alias = name === timeEntries ? 'time-entries' : ALIASES[name];
  const aliases = alias === undefined ? undefined : [alias];
  return defined({ label, aliases, custom: /^[ux]_/.test(name), idField: ID });
}

function abilitiesOf(table: string): Outline['operations'] {
  if (table === ATTACHMENTS) return ['list', 'get', 'remove', 'upload'];
  return isWritten(table) ? ['list', 'get', 'create', 'update', 'remove'] : ['list', 'get'];
}

async function describeTable(
  context: ConnectorContext,
  table: Table,
  instance: ServiceNowInstance,
): Promise<ObjectSpec> {
  const { name } = table;
  const fields = await readFields(context, table);
  const children = childrenOf(table, instance).map(([child, of, columns]) => [child, childOf(of, columns)] as const);
  return defineObject({
    ...namesOf(table, instance),
    fields,
    ...FILTERING,
    list: listOf(name),
    ...(name === ATTACHMENTS ? attachmentOperations : operationsOf(name)),
    children: Object.fromEntries(children),
    ...changesOf(table, instance, fields),
  });
}

const ALL = ['created', 'updated', 'deleted'] as const;

function changesOf(table: Table, { reportsDeletions }: ServiceNowInstance, fields: ObjectSpec['fields']) {
  if (!Object.hasOwn(fields, CHANGED)) return {};
  const changes: Changes = {
    updated: CHANGED,
    ...(Object.hasOwn(fields, CREATED) && { created: CREATED }),
    ...(reportsDeletions && { feed: deletionsOf(table.classes) }),
  };
  return { changes };
}

const COLUMN = [
  'name',
  'element',
  'column_label',
  'internal_type',
  'mandatory',
  'read_only',
  'default_value',
  'choice',
];

/**
 * Reads the fields of a table: the id, its own columns, and the columns of the tables that it extends. A table declares a column again to
 * change it.
 * @throws AppError PROVIDER_PROTOCOL when ServiceNow returns no columns
 */
async function readFields(context: ConnectorContext, { name, chain }: Table): Promise<ObjectSpec['fields']> {
  const query = `nameIN${chain.join(',')}^elementISNOTEMPTY^active=true`;
  const rows = await readRows(context, { table: 'sys_dictionary', query, fields: COLUMN });
  const fields = new Map<string, FieldSpec>();
  const columns = chain.flatMap((table) => rows.filter((row) => textOf(row.name) === table));
  for (const row of [...columns.filter(({ element }) => element === ID), ...columns]) {
    const element = textOf(row.element);
    if (element === undefined || !isName(element) || fields.has(element)) continue;
    fields.set(element, toFieldSpec(row, isWritten(name)));
  }
  if (!fields.has(ID)) throw unusable(`ServiceNow shows no columns of '${name}'. ${RIGHTS}`);
  return { ...Object.fromEntries(fields), ...(name === ATTACHMENTS && attachedFields(fields)) };
}

/**
 * Returns whether records of the table can be written. Users and groups are ordinary records. The other system tables define the instance
 * itself.
 */
function isWritten(name: string): boolean {
  return !name.startsWith('sys_') || name.startsWith('sys_user');
}

/**
 * Returns the operations on single records. An update keeps the fields that the request omits, even with PUT. Source: Table API reference.
 */
function operationsOf(table: string): Pick<ObjectSpec, 'get' | 'create' | 'update' | 'remove'> {
  const one = (id: string) => path`/table/${table}/${id}`;
  const { get, create, update, remove } = records({
    get: (id) => ({ path: one(id), query: PLAIN }),
    record: recordIn,
    create: { request: (values) => ({ method: 'POST', path: path`/table/${table}`, query: PLAIN, json: values }) },
    update: {
      request: (id, values) => ({ method: 'PATCH', path: one(id), query: PLAIN, json: values }),
      record: recordIn,
    },
    remove: (id) => ({ method: 'DELETE', path: one(id) }),
  });
  return isWritten(table) ? { get, create, update, remove } : { get };
}

/** A child list: its name, its table, and the columns that refer to the record. */
type Child = readonly [name: string, table: Table, columns: readonly string[]];

/** Returns the child lists of a table: those of every table, those of tasks, and the tables that refer to it. */
function childrenOf({ name, chain, references }: Table, { byName, timeEntries }: ServiceNowInstance): readonly Child[] {
  const isTask = chain.includes('task');
  const named = [
    ...(isWritten(name) ? [['attachments', ATTACHMENTS, ['table_sys_id']] as const] : []),
    ...(isTask ? [['comments', 'sys_journal_field', ['element_id']] as const] : []),
    ...(isTask && timeEntries !== undefined ? [['time-entries', timeEntries, ['task']] as const] : []),
    ...[...references].map(([from, columns]) => [from, from, columns] as const),
  ];
  return named.flatMap(([child, from, columns]) => {
    const table = byName.get(from);
    return table === undefined ? [] : [[child, table, columns] as const];
  });
}

/** Returns the list of a table's records that refer to the parent in any of the columns. */
function childOf(table: Table, columns: readonly string[]): ObjectSpec {
  const list = listOf(table.name, ({ parentId = '' }) =>
    columns.map((column) => `${column}=${idOf(parentId)}`).join('^OR'),
  );
  const base = { native: table.name, ...defined({ label: table.label }), idField: ID, list };
  return defineObject({
    ...base,
    fields: {},
    describe: async (context) => defineObject({ ...base, ...FILTERING, fields: await readFields(context, table) }),
  });
}

/**
 * Returns the id if it is safe in a query.
 * @throws AppError NOT_FOUND for other texts
 */
function idOf(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  throw notFound(`There is no record with the id '${id}'.`);
}
