import { createHash } from 'node:crypto';
import {
  type Column as Cell,
  type Collection,
  type CollectionSpec,
  createCollections,
  cycle,
  type Member,
  type MovableClock,
  pick,
  sparse,
  type TableChange,
  type TableRow,
  times,
} from '#connector/simulator';
import { noRecord, refusal } from './fault.ts';
import { USERNAME } from './login.ts';
import { type Columns, classesOf, columnsOf, membersFrom, printMoment, READERS, TABLES } from './schema.ts';

export interface TableSpec extends CollectionSpec {
  readonly columns: Columns;
  readonly display?: string;
  readonly isClosed?: boolean;
  /** Prefix of the numbers of tasks. */
  readonly prefix?: string;
}

/** All tables of the instance. Each one includes the rows of the tables that extend it. */
export type InstanceTables = Readonly<Record<string, Collection<TableSpec>>>;

/** Name of the member that is true for a row that the user may not see. Such a row counts, and is then removed from its page. */
const HIDDEN = '(hidden)';

export function isVisible(row: TableRow): boolean {
  return row[HIDDEN] !== true;
}

function idOf(table: string, index: number): string {
  return createHash('md5').update(`${table}:${index}`).digest('hex');
}

/** Tables in which the user may not see every ninth row. */
const GUARDED = ['incident', 'problem', 'change_request', 'sys_user', 'cmdb_ci', 'core_company'];

const FIRST_MS = Date.parse('2025-02-26T21:30:07Z');
/** Returns the time of a row. Three consecutive rows have the same time. */
const momentAt = (index: number) => printMoment(FIRST_MS + Math.floor(index / 3) * 7 * 3_600_000);
const NAMES = ['Abel', 'beth', 'Beth', 'Çelik', 'don'];

const taskOf = (prefix: string, rows: number): Partial<TableSpec> => ({
  rows,
  prefix,
  label: 'short_description',
  vary: {
    // Every seventh number was never used.
    number: (index) => prefix + String(index + Math.floor(index / 6) + 1).padStart(7, '0'),
    urgency: cycle(['3', '2', '1', '2']),
    made_sla: sparse(10, (index) => String(index % 3 !== 0)),
    parent: () => null,
    ...{ comments: () => null, work_notes: () => null },
  },
});

/** Columns whose values matter to tests, filters or people. The dictionary determines all other columns. */
const OWN: Readonly<Record<string, Partial<TableSpec>>> = {
  task: taskOf('TASK', 0),
  incident: taskOf('INC', 130),
  problem: taskOf('PRB', 70),
  change_request: taskOf('CHG', 70),
  sys_user: { rows: 70, vary: { name: (index) => `${pick(NAMES, index)} ${index % 50}` } },
  sys_user_group: { rows: 60 },
  core_company: { rows: 70 },
  cmdb_ci: { rows: 70 },
  cmdb_ci_server: { rows: 30 },
  time_card: { rows: 70 },
  sys_journal_field: {
    rows: 80,
    vary: {
      name: () => 'incident',
      element: cycle(['comments', 'work_notes']),
      element_id: (index) => idOf('incident', index >> 2),
    },
  },
  sys_attachment: {
    rows: 60,
    vary: {
      file_name: (index) => (index % 3 === 0 ? `scan ${index} ä 日本.pdf` : `screenshot${index}.png`),
      content_type: (index) => (index % 3 === 0 ? 'application/pdf' : 'image/png'),
      size_bytes: (index) => String(contentOf(idOf('sys_attachment', index)).length),
      table_name: cycle(['incident', 'incident', 'problem']),
      table_sys_id: (index) => idOf(index % 3 === 2 ? 'problem' : 'incident', index >> 1),
    },
  },
  sys_db_object: rowsOf(Object.keys(TABLES).map(describeTable)),
  sys_dictionary: rowsOf(Object.keys(TABLES).flatMap(describeColumns)),
};

/** Returns the content of a file that exists from the start. */
export function contentOf(id: string): Buffer {
  return Buffer.from(`%PDF-1.4\n${id}\n\u0000ÿ\n`, 'latin1');
}

function rowsOf(rows: readonly TableRow[]): Partial<TableSpec> {
  const names = rows.flatMap((row) => Object.keys(row));
  const cells = names.map((name): [string, Cell] => [name, (index) => rows[index]?.[name] ?? null]);
  return { rows: rows.length, vary: Object.fromEntries(cells) };
}

function describeTable(name: string): TableRow {
  const { label, base } = TABLES[name] ?? {};
  const above = base === undefined ? null : idOf('sys_db_object', Object.keys(TABLES).indexOf(base));
  return { name, label, super_class: above, is_extendable: String(name === 'task' || name === 'cmdb_ci') };
}

/** Returns the entries of a table's own columns. They follow an entry of the table itself, which has no element. */
function describeColumns(name: string): readonly TableRow[] {
  const { label, columns = {}, display } = TABLES[name] ?? {};
  const own = Object.entries(columns).map(([element, column]) => ({
    name,
    element,
    column_label: element.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()),
    internal_type: column.type,
    reference: column.reference,
    max_length: String(column.longest),
    mandatory: String(column.mandatory ?? false),
    read_only: String(column.readOnly ?? false),
    display: String(element === display),
    choice: column.choices && '1',
    default_value: column.initial,
    active: 'true',
  }));
  return [{ name, column_label: label, internal_type: 'collection', max_length: '40', active: 'true' }, ...own];
}

function specOf(name: string): TableSpec {
  const { display, isClosed, ...schema } = TABLES[name] ?? { label: name, columns: {} };
  const columns = columnsOf(schema);
  const { vary, ...own } = OWN[name] ?? {};
  const initials = Object.entries(columns).map(([column, { initial: value = null }]) => [column, value]);
  return {
    ...{ columns, display, isClosed, members: membersFrom(columns), rows: 0, label: display },
    ...{ key: 'sys_id', makeId: (index) => idOf(name, index) },
    ...own,
    vary: {
      ...{ sys_domain: () => 'global', sys_class_name: () => name },
      ...{ sys_created_on: momentAt, sys_created_by: () => 'glide.maint' },
      ...{ sys_updated_on: (index) => momentAt(index + 4), sys_updated_by: () => 'employee' },
      sys_mod_count: (index) => String(index % 4),
      [HIDDEN]: (index) => GUARDED.includes(name) && index % 9 === 4,
      ...vary,
    },
    initial: {
      ...Object.fromEntries(initials),
      ...{ sys_class_name: name, sys_created_by: USERNAME, sys_updated_by: USERNAME },
    },
    made: { [HIDDEN]: false },
    created: ['sys_created_on'],
    changed: 'sys_updated_on' in columns ? ['sys_updated_on'] : [],
    touch: ({ sys_mod_count: count }) => ({ sys_updated_by: USERNAME, sys_mod_count: String(Number(count ?? 0) + 1) }),
  };
}

const idsOf = (name: string) => times(OWN[name]?.rows ?? 0, (index) => idOf(name, index));

/** Reads a written value. Every value except an object is read as text, and a value of another kind becomes null. */
function readWritten(value: unknown, { type, longest }: Member): unknown {
  const { [type]: read }: Readonly<Partial<Record<Member['type'], (text: string) => string | undefined>>> = READERS;
  const text = typeof value === 'object' ? undefined : (read?.(String(value))?.slice(0, longest) ?? '');
  return type === 'object' && text ? { text } : text === '' ? null : text;
}

const READ = Object.fromEntries(Object.keys(READERS).map((type) => [type, readWritten]));

/**
 * Creates the instance.
 * @param notify called for each change of a record that users see, as business rules are
 */
export function createInstance(
  clock: MovableClock,
  notify: (table: string, change: TableChange) => void,
): InstanceTables {
  const names = Object.keys(TABLES);
  const own: InstanceTables = createCollections<string, TableSpec>({
    clock,
    of: Object.fromEntries(names.map((name) => [name, specOf(name)])),
    entries: { ...Object.fromEntries(names.map((name) => [name, idsOf(name)])), task: idsOf('incident') },
    writeTime: printMoment,
    write: { integer: String, number: String, boolean: String },
    read: READ,
    refuse: (complaints) =>
      complaints.some(({ reason }) => reason === 'type')
        ? refusal(400, 'Exception while reading request', 'A value is no text.')
        : undefined,
    absent: noRecord,
    onChange: (name, change) => {
      if (change.after === undefined) audit(name, change.before);
      keepJournal(name, change);
      if (isVisible(change.after ?? change.before ?? {})) notify(name, change);
    },
  });

  function audit(name: string, { sys_id, ...row }: TableRow = {}): void {
    const display_value = row[own[name]?.display ?? ''];
    own.sys_audit_delete?.table.insert({ tablename: name, documentkey: sys_id, display_value });
  }

  function keepJournal(name: string, { key, before, after }: TableChange): void {
    for (const element of ['comments', 'work_notes']) {
      const entry = after?.[element] ?? null;
      if (entry === null || entry === before?.[element]) continue;
      own.sys_journal_field?.table.insert({ name, element, element_id: key, value: Object(entry).text });
    }
  }

  return Object.fromEntries(Object.entries(own).map(([name, table]) => [name, viewOf(table, own)]));
}

/** Returns a table as calls see it: it finds rows in all classes, and inserts rows into its own. */
function viewOf(own: Collection<TableSpec>, all: InstanceTables): Collection<TableSpec> {
  const classes = classesOf(own.name).flatMap((name) => all[name]?.table ?? []);
  const classWith = (key: string) => classes.find(({ find }) => find(key) !== undefined) ?? own.table;
  const table = {
    ...own.table,
    rows: () => classes.flatMap(({ rows }) => rows()),
    find: (key: string) => classWith(key).find(key),
    update: (key: string, values: TableRow) => classWith(key).update(key, values),
    remove: (key: string) => classWith(key).remove(key),
  };
  const get = (id: string) => {
    const row = table.find(id);
    if (row === undefined || !isVisible(row)) throw noRecord();
    return row;
  };
  return { ...own, table, get };
}
