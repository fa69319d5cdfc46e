import { type Column as Cell, cycle, HOSTILE_TEXTS, makeRows, sparse, type TableRow } from '#connector/simulator';
import { columnsOf, schemaOf, TABLES } from './schema.ts';
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

const HOUR_MS = 3_600_000;
const FIRST_MS = Date.parse('2025-02-26T21:30:07Z');
/** Three rows in a row have the same time. */
const momentAt = (index: number) => printMoment(FIRST_MS + Math.floor(index / 3) * 7 * HOUR_MS);
const moment =
  (hours: number): Cell =>
  (index) =>
    printMoment(FIRST_MS + index * 11 * HOUR_MS + hours * HOUR_MS);
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

const TASK: Readonly<Record<string, Cell>> = {
  short_description: (index) => (index % 2 === 0 ? texts(0)(index / 2) : `Unable to connect to email ${index % 5}`),
  description: sparse(4, texts(5)),
  priority: cycle(['1', '2', '3', '4', '5', '3']),
  impact: cycle(['1', '2', '3']),
  urgency: cycle(['3', '2', '1', '2']),
  assigned_to: sparse(3, link('sys_user', 3)),
  assignment_group: sparse(5, link('sys_user_group', 7)),
  opened_by: link('sys_user', 0),
  cmdb_ci: sparse(4, link('cmdb_ci', 5), 1),
  company: sparse(6, link('core_company', 11)),
  opened_at: moment(-2),
  closed_at: sparse(2, moment(90)),
  due_date: sparse(5, moment(200), 2),
  active: (index) => String(index % 4 !== 3),
  made_sla: (index) => (index % 10 === 9 ? null : String(index % 3 !== 0)),
  contact_type: sparse(4, cycle(['email', 'phone', 'self-service'])),
  reassignment_count: cycle(['0', '1', '2', '12', '100']),
  correlation_id: sparse(3, texts(11), 0),
};

const CELLS: Readonly<Record<string, Readonly<Record<string, Cell>>>> = {
  incident: {
    ...TASK,
    number: numbered('INC'),
    state: cycle(['1', '2', '3', '6', '7', '8', '1']),
    incident_state: cycle(['1', '2', '3', '6', '7', '8', '1']),
    caller_id: link('sys_user', 1),
    category: cycle(['inquiry', 'software', 'network', 'Software']),
    subcategory: sparse(3, cycle(['email', 'vpn'])),
    problem_id: sparse(2, link('problem', 1)),
    resolved_at: sparse(2, moment(80)),
    close_notes: sparse(2, texts(17), 0),
  },
  problem: {
    ...TASK,
    number: numbered('PRB'),
    known_error: (index) => String(index % 3 === 0),
    workaround: sparse(2, texts(2)),
  },
  change_request: {
    ...TASK,
    number: numbered('CHG'),
    type: cycle(['normal', 'standard', 'emergency']),
    risk: sparse(7, cycle(['2', '3', '4'])),
    start_date: sparse(3, moment(24)),
    end_date: sparse(3, moment(48)),
  },
  sys_user: {
    user_name: (index) => (index === 0 ? 'admin' : `user.${index}`),
    first_name: (index) => (index === 0 ? 'System' : texts(index)(0)),
    last_name: sparse(5, cycle(["O'Brien", 'Søgaard', 'tuter', 'Tuter', '李'])),
    name: (index) => (index === 0 ? 'System Administrator' : `${pickLast(index)} ${index % 50}`),
    email: sparse(6, (index) => `user.${index}+x@example.com`),
    title: sparse(3, texts(8)),
    phone: sparse(2, (index) => `+1 (555) 010-${1000 + index}`),
    active: (index) => String(index % 8 !== 5),
    vip: (index) => String(index % 11 === 3),
    manager: sparse(4, link('sys_user', 2)),
    company: sparse(3, link('core_company', 1)),
    last_login_time: sparse(4, moment(5), 0),
  },
  sys_user_group: {
    name: (index) => (index % 2 === 0 ? `Group ${index}` : texts(index)(0)),
    description: sparse(3, texts(4)),
    email: sparse(2, (index) => `group${index}@example.com`),
    manager: sparse(3, link('sys_user', 5)),
    parent: sparse(2, link('sys_user_group', 1)),
  },
  core_company: {
    name: (index) => (index % 3 === 0 ? texts(index)(0) : `Company ${index % 40}`),
    city: sparse(4, cycle(['Zürich', 'ZÜRICH', 'San Diego', '東京'])),
    country: cycle(['Switzerland', 'USA', 'Japan']),
    website: sparse(3, (index) => `https://c${index}.example.com/?a=1&b=2`),
    stock_symbol: sparse(2, cycle(['NYX', 'nyx', 'NOW'])),
    num_employees: sparse(5, cycle(['0', '7', '2147483647', '-1', '100', '20'])),
    customer: (index) => (index % 7 === 6 ? null : String(index % 2 === 0)),
    parent: sparse(3, link('core_company', 1), 1),
  },
  cmdb_ci: ciCells(0),
  cmdb_ci_server: {
    ...ciCells(9),
    os: sparse(3, cycle(['Linux', 'Windows Server 2022'])),
    ram: sparse(4, cycle(['4096', '65536'])),
    virtual: (index) => String(index % 2 === 1),
  },
  time_card: {
    user: link('sys_user', 1),
    task: sparse(4, link('incident', 3)),
    week_starts_on: (index) => printMoment(FIRST_MS + (index >> 1) * 168 * HOUR_MS).slice(0, 10),
    category: cycle(['task_work', 'admin']),
    state: cycle(['Pending', 'Submitted', 'Approved']),
    monday: sparse(5, cycle(['8', '7.5', '0', '0.25'])),
    tuesday: sparse(3, cycle(['8', '12.75'])),
    total: cycle(['16', '20.25', '0', '8.5']),
  },
  sys_journal_field: {
    name: () => 'incident',
    element: cycle(['comments', 'work_notes']),
    element_id: (index) => idOf('incident', index >> 2),
    value: (index) => (index % 2 === 0 ? `Note ${index}` : texts(index)(1)),
  },
  sys_attachment: {
    file_name: (index) => (index % 3 === 0 ? `scan ${index} ä 日本.pdf` : `screenshot${index}.png`),
    content_type: (index) => (index % 3 === 0 ? 'application/pdf' : 'image/png'),
    size_bytes: (index) => String(contentOf(idOf('sys_attachment', index)).length),
    size_compressed: (index) => String(20 + (index % 7)),
    table_name: cycle(['incident', 'incident', 'problem']),
    table_sys_id: (index) => idOf(index % 3 === 2 ? 'problem' : 'incident', index >> 1),
  },
};

function ciCells(start: number): Readonly<Record<string, Cell>> {
  return {
    name: (index) => (index % 2 === 0 ? `dbaix9${start}${index}nyc` : texts(index)(start)),
    short_description: sparse(2, texts(start)),
    asset_tag: (index) => `P${1_000_000 + start + index}`,
    serial_number: sparse(4, texts(start + 3)),
    install_status: cycle(['1', '7']),
    ip_address: sparse(3, (index) => `10.0.${start}.${index}`),
    fault_count: cycle(['0', '0', '3']),
    assigned_to: sparse(3, link('sys_user', 4)),
    support_group: sparse(4, link('sys_user_group', 3)),
    company: sparse(3, link('core_company', 6)),
    last_discovered: sparse(3, moment(9)),
  };
}

function pickLast(index: number): string {
  return ['Abel', 'beth', 'Beth', 'Çelik', 'don'][index % 5] ?? '';
}

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
  return cells === undefined ? [] : makeRows(COUNTS[table] ?? 0, cells).map(withSystem(table));
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
