import {
  type Column as Cell,
  columnsFor,
  cycle,
  HOSTILE_TEXTS,
  type Member,
  type Members,
  makeRows,
  pick,
  sparse,
  type TableRow,
  times,
} from '#connector/simulator';
import { type Columns, columnsOf, kindOf, schemaOf, TABLES } from './schema.ts';
import { HIDDEN, idOf, initialsOf } from './store.ts';
import { printMoment } from './time.ts';

const COUNTS: Readonly<Record<string, number>> = {
  incident: 130,
  problem: 70,
  change_request: 70,
  sys_user: 70,
  sys_user_group: 60,
  core_company: 70,
  cmdb_ci: 70,
  cmdb_ci_server: 30,
  time_card: 70,
  sys_journal_field: 80,
  sys_attachment: 60,
};

/** The user may not see every ninth row of these. */
const GUARDED = ['incident', 'problem', 'change_request', 'sys_user', 'cmdb_ci', 'core_company'];

const FIRST_MS = Date.parse('2025-02-26T21:30:07Z');
const HOUR_MS = 3_600_000;
/** Three rows in a row have the same time. */
const momentAt = (index: number) => printMoment(FIRST_MS + Math.floor(index / 3) * 7 * HOUR_MS);
const link =
  (table: string, step: number): Cell =>
  (index) =>
    idOf(table, (index * step + 1) % (COUNTS[table] ?? 1));
const texts = (start: number): Cell => cycle(HOSTILE_TEXTS, 1, start);
const numbered =
  (prefix: string): Cell =>
  (index) =>
    // Every seventh number was never given.
    `${prefix}${String(index + Math.floor(index / 6) + 1).padStart(7, '0')}`;
const named =
  (name: string): Cell =>
  (index) =>
    index % 2 === 0 ? `${name} ${index}` : texts(index)(0);

const TASK: Readonly<Record<string, Cell>> = {
  short_description: (index) => (index % 2 === 0 ? texts(0)(index / 2) : `Unable to connect to email ${index % 5}`),
  impact: cycle(['1', '2', '3']),
  urgency: cycle(['3', '2', '1', '2']),
  opened_at: (index) => printMoment(FIRST_MS + (index * 11 - 2) * HOUR_MS),
  closed_at: sparse(2, (index) => printMoment(FIRST_MS + (index * 11 + 90) * HOUR_MS)),
  active: (index) => String(index % 4 !== 3),
  ...{
    made_sla: sparse(10, (index) => String(index % 3 !== 0)),
    reassignment_count: cycle(['0', '1', '2', '12', '100']),
  },
  ...{ parent: () => null, sys_domain: () => 'global', comments: () => null, work_notes: () => null },
};

/** Columns whose values tests, filters or people look for; all others are made from the dictionary. */
const CELLS: Readonly<Record<string, Readonly<Record<string, Cell>>>> = {
  incident: {
    ...TASK,
    ...{ number: numbered('INC'), caller_id: link('sys_user', 1) },
    category: cycle(['inquiry', 'software', 'network', 'Software']),
    subcategory: sparse(3, cycle(['email', 'vpn'])),
  },
  problem: { ...TASK, number: numbered('PRB') },
  change_request: { ...TASK, number: numbered('CHG') },
  sys_user: {
    user_name: (index) => (index === 0 ? 'admin' : `user.${index}`),
    name: (index) => (index === 0 ? 'System Administrator' : `${pick(LAST_NAMES, index)} ${index % 50}`),
    active: (index) => String(index % 8 !== 5),
    email: sparse(6, (index) => `user.${index}+x@example.com`),
  },
  sys_user_group: { name: named('Group') },
  core_company: { name: named('Company') },
  cmdb_ci: { name: named('dbaix'), asset_tag: (index) => `P${1_000_000 + index}` },
  cmdb_ci_server: { name: named('dbserver'), asset_tag: (index) => `P${1_000_900 + index}` },
  time_card: {
    task: sparse(4, link('incident', 3)),
    monday: sparse(5, cycle(['8', '7.5', '0', '0.25'])),
    state: cycle(['Pending', 'Submitted', 'Approved']),
  },
  sys_journal_field: {
    name: () => 'incident',
    element: cycle(['comments', 'work_notes']),
    element_id: (index) => idOf('incident', index >> 2),
    value: named('Note'),
  },
  sys_attachment: {
    file_name: (index) => (index % 3 === 0 ? `scan ${index} ä 日本.pdf` : `screenshot${index}.png`),
    content_type: (index) => (index % 3 === 0 ? 'application/pdf' : 'image/png'),
    size_bytes: (index) => String(contentOf(idOf('sys_attachment', index)).length),
    table_name: cycle(['incident', 'incident', 'problem']),
    table_sys_id: (index) => idOf(index % 3 === 2 ? 'problem' : 'incident', index >> 1),
  },
};
const LAST_NAMES = ['Abel', 'beth', 'Beth', 'Çelik', 'don'];

/** Members from the dictionary, as the kit makes columns of them. */
function membersFrom(columns: Columns): Members {
  const known = Object.entries(columns).filter(([name, { type }]) => !/^sys_|^journal/.test(`${name} ${type}`));
  return Object.fromEntries(
    known.map(([name, column]): [string, Member] => {
      const { type, longest, reference: refersTo, choices, mandatory: isRequired } = column;
      if (choices !== undefined) return [name, { type: 'string', values: Object.keys(choices), isRequired }];
      return [name, { type: type === 'integer' ? type : kindOf(column), longest, refersTo, isRequired }];
    }),
  );
}

const FORM = {
  writeTime: printMoment,
  write: { integer: String, number: String, boolean: String },
  idsOf: (table: string) => times(COUNTS[table] ?? 1, (index) => idOf(table, index)),
};

/** What is in a file of the start. */
export function contentOf(id: string): Buffer {
  return Buffer.from(`%PDF-1.4\n${id}\n\u0000ÿ\n`, 'latin1');
}

/** The same every time, and so made once. */
export function rowsOf(table: string): readonly TableRow[] {
  const rows = MADE.get(table) ?? makeTable(table);
  MADE.set(table, rows);
  return rows;
}

const MADE = new Map<string, readonly TableRow[]>();

function makeTable(table: string): readonly TableRow[] {
  if (table === 'sys_db_object') return Object.keys(TABLES).map(describeTable);
  if (table === 'sys_dictionary') return Object.keys(TABLES).flatMap(describeColumns).map(withSystem(table));
  const cells = CELLS[table];
  if (cells === undefined) return [];
  const columns = { ...columnsFor(membersFrom(columnsOf(table)), FORM), ...cells };
  return makeRows(COUNTS[table] ?? 0, columns).map(withSystem(table));
}

/** An empty text is null, and none is longer than its column. */
function withSystem(table: string): (row: TableRow, index: number) => TableRow {
  const columns = columnsOf(table);
  const fit = ([name, value]: [string, unknown]): [string, unknown] => {
    const text = value === null ? '' : String(value).slice(0, columns[name]?.longest);
    return [name, text === '' ? null : text];
  };
  return (row, index) => ({
    ...initialsOf(table),
    ...Object.fromEntries(Object.entries(row).map(fit)),
    sys_id: idOf(table, index),
    sys_created_on: momentAt(index),
    sys_created_by: 'glide.maint',
    sys_updated_on: momentAt(index + 4),
    sys_updated_by: 'employee',
    sys_mod_count: String(index % 4),
    ...(GUARDED.includes(table) && index % 9 === 4 && { [HIDDEN]: true }),
  });
}

function describeTable(name: string, index: number): TableRow {
  const names = Object.keys(TABLES);
  const { label, base } = schemaOf(name);
  const row = {
    name,
    label,
    super_class: base === undefined ? null : idOf('sys_db_object', names.indexOf(base)),
    is_extendable: String(name === 'task' || name === 'cmdb_ci'),
  };
  return withSystem('sys_db_object')(row, index);
}

/** Its own columns, after an entry of the table itself, which has no element. */
function describeColumns(name: string): readonly TableRow[] {
  const { columns, display, label } = schemaOf(name);
  const own = Object.entries(columns).map(([element, column]) => ({
    name,
    element,
    column_label: element.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()),
    internal_type: column.type,
    reference: column.reference ?? null,
    max_length: String(column.longest),
    mandatory: String(column.mandatory ?? false),
    read_only: String(column.readOnly ?? false),
    display: String(element === display),
    choice: column.choices === undefined ? null : '1',
    default_value: column.initial ?? null,
  }));
  const table = { name, element: null, column_label: label, internal_type: 'collection', max_length: '40' };
  return [table, ...own];
}
