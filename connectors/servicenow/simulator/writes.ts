import type { Call, MovableClock, TableRow } from '#connector/simulator';
import { noRecord, refusal } from './fault.ts';
import { type Column, columnsOf, DAYS, kindOf, schemaOf } from './schema.ts';
import { idOf, type Store, type Values } from './store.ts';
import { printMoment, readMoment } from './time.ts';

interface Place {
  readonly store: Store;
  readonly clock: MovableClock;
}

const JOURNALS = ['comments', 'work_notes'];
const PREFIXES: Readonly<Record<string, string>> = {
  incident: 'INC',
  problem: 'PRB',
  change_request: 'CHG',
  task: 'TASK',
};

/** Fills in what its business rules do. */
export function insertRecord(table: string, call: Call, place: Place): TableRow {
  const body = readBody(table, call);
  const values = { ...defaultsOf(table, body, place), ...body };
  const row = place.store.table(table)?.insert({ ...values, ...rulesOf(table, {}, body, place) });
  if (row === undefined) throw noRecord();
  keepJournal(row, call, place);
  return row;
}

/** PUT does the same as PATCH: what is not said stays. */
export function updateRecord(table: string, row: TableRow, call: Call, place: Place): TableRow {
  const body = readBody(table, call);
  const rules = rulesOf(String(row.sys_class_name ?? table), row, body, place);
  const changed = place.store.table(table)?.update(String(row.sys_id), { ...body, ...rules });
  if (changed === undefined) throw noRecord();
  keepJournal(changed, call, place);
  return changed;
}

/** Names that are no columns, and those that the instance writes itself, are passed over. */
function readBody(table: string, call: Call): Values {
  const columns = columnsOf(table);
  const members = Object.entries(readObject(call)).flatMap(([name, value]): [string, string | null][] => {
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (column === undefined || column.readOnly === true || JOURNALS.includes(name)) return [];
    return [[name, store(column, name, value)]];
  });
  return Object.fromEntries(members);
}

function readObject({ body }: Call): Readonly<Record<string, unknown>> {
  try {
    return body.object();
  } catch {
    throw refusal(400, 'Exception while reading request', 'The payload is not valid JSON.');
  }
}

function store(column: Column, name: string, value: unknown): string | null {
  if (typeof value === 'object' && value !== null) {
    throw refusal(400, 'Exception while reading request', `${name} is no text.`);
  }
  const text = value === null ? '' : String(value);
  return text === '' ? null : WRITERS[kindOf(column)](text).slice(0, column.longest) || null;
}

/** What is none of the column's kind becomes nothing. */
const WRITERS: Readonly<Record<ReturnType<typeof kindOf>, (text: string) => string>> = {
  string: (text) => text,
  reference: (text) => text,
  number: (text) => (/^-?\d+(?:\.\d+)?$/.test(text) ? text : ''),
  boolean: (text) => String(/^(?:true|1)$/i.test(text)),
  date: (text) => readMoment(text)?.slice(0, 10) ?? '',
  datetime: (text) => readMoment(text)?.slice(0, 19).replace('T', ' ') ?? '',
};

/** Of a task: its number, when and by whom it was opened, how urgent it is. */
export function defaultsOf(table: string, body: Values, { store, clock }: Place): Values {
  const prefix = PREFIXES[table];
  if (prefix === undefined) return {};
  const numbers =
    store
      .table(table)
      ?.rows()
      .map(({ number }) => Number(String(number).replace(/\D/g, ''))) ?? [];
  return {
    number: prefix + String(Math.max(10_000, ...numbers) + 1).padStart(7, '0'),
    opened_at: printMoment(clock.now()),
    opened_by: idOf('sys_user', 0),
    priority: priorityOf({ impact: '3', urgency: '3', ...body }),
  };
}

function priorityOf({ impact, urgency }: TableRow): string {
  return String(Number(impact ?? 3) + Number(urgency ?? 3) - 1);
}

/** What follows from what was written. */
function rulesOf(table: string, before: TableRow, body: Values, { clock }: Place): Values {
  const after: TableRow = { ...before, ...body };
  if (table === 'time_card') return { total: String(DAYS.reduce((sum, day) => sum + Number(after[day] ?? 0), 0)) };
  if (PREFIXES[table] === undefined) return {};
  const isRated = ('impact' in body || 'urgency' in body) && !('priority' in body);
  return {
    ...(isRated && { priority: priorityOf(after) }),
    ...(table === 'incident' && body.state !== undefined && stateOf(body.state, clock)),
  };
}

/** The two states of an incident are one, and whoever closes it is remembered. */
function stateOf(state: string | null, clock: MovableClock): Values {
  if (state !== '7' && state !== '8') return { incident_state: state, active: 'true' };
  const [closed_at, closed_by] = [printMoment(clock.now()), idOf('sys_user', 0)];
  return { incident_state: state, active: 'false', closed_at, closed_by };
}

/** Comments and work notes are records of their own; the fields stay empty. */
function keepJournal(row: TableRow, call: Call, { store }: Place): void {
  const body = readObject(call);
  for (const element of JOURNALS.filter((each) => each in row)) {
    const value = body[element];
    if (typeof value !== 'string' || value === '') continue;
    const entry = { name: row.sys_class_name, element, element_id: row.sys_id, value };
    store.table('sys_journal_field')?.insert(entry);
  }
}

/** @throws Fault 403 where only the instance itself writes */
export function assertOpen(table: string, done: 'Insert' | 'Update' | 'Delete'): void {
  if (schemaOf(table).isClosed !== true) return;
  throw refusal(403, 'Operation Failed', `ACL Exception ${done} Failed due to security constraints`);
}
