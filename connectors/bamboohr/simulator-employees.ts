import { COLUMN_BY_REFERENCE, COLUMNS, type Column, OTHER_FIELDS } from './simulator-columns.ts';
import { FIRST_ID, type Row, type Stored } from './simulator-data.ts';
import { isDate } from './simulator-filter.ts';
import { type Answer, json, Refusal } from './simulator-http.ts';

type Rows = Map<number, Row>;

const MAX_FIELDS = 400;

export function getEmployee(rows: Rows, id: string, query: URLSearchParams): Answer {
  // 0 is the employee the key belongs to.
  const row = findRow(rows, id === '0' ? String(FIRST_ID) : id);
  const references = (query.get('fields') ?? '').split(',').filter((reference) => reference !== '');
  if (references.length > MAX_FIELDS) throw new Refusal(400, 'Too many fields');
  // "Unknown or unauthorized fields are silently dropped from the response."
  const known = references.flatMap((reference): [string, unknown][] => {
    const column = COLUMN_BY_REFERENCE.get(reference);
    return column === undefined ? [] : [[reference, present(column, row)]];
  });
  return json({ ...Object.fromEntries(known), id: String(row.eeid) });
}

function findRow(rows: Rows, id: string): Row {
  const row = /^\d+$/.test(id) ? rows.get(Number(id)) : undefined;
  if (row === undefined) throw new Refusal(404, 'Employee not found');
  return row;
}

/** The employee endpoints' spelling: text throughout, amounts with their currency. */
function present(column: Column, row: Row): unknown {
  const value = row[column.dataset] ?? null;
  if (column.dataset === 'terminationDate') return value ?? '0000-00-00';
  if (value === null) return column.type === 'date' ? '' : null;
  if (column.type === 'currency') return `${value} USD`;
  return column.type === 'bool' ? (value ? 'yes' : 'no') : String(value);
}

/** Numbers of whole fields are numbers, those of parts texts. */
export function listEmployeeFields(): Answer {
  const fields = COLUMNS.flatMap(({ field, label }) => (field === undefined ? [] : [{ name: label, ...field }]));
  return json([...fields, ...OTHER_FIELDS]);
}

type Body = Readonly<Record<string, unknown>>;

export function createEmployee(rows: Rows, body: Body): Answer {
  const values = readValues(body);
  if (!values.firstName || !values.lastName) throw new Refusal(400, 'First and last name are required');
  const id = Math.max(...rows.keys()) + 1;
  const blank = Object.fromEntries(COLUMNS.map(({ dataset }) => [dataset, null]));
  const row = { ...blank, status: 'Active', ...values, eeid: id };
  rows.set(id, row);
  const location = `https://api.bamboohr.com/api/gateway.php/acme/v1/employees/${id}`;
  return { status: 201, headers: { location }, ...json(summarize(row)) };
}

export function updateEmployee(rows: Rows, id: string, body: Body): Answer {
  const row = findRow(rows, id);
  // A new row, because what was printed of the old one is remembered by it.
  const changed = { ...row, ...readValues(body) };
  rows.set(Number(id), changed);
  const echoed = Object.keys(body).flatMap((name): [string, unknown][] => {
    const column = COLUMN_BY_REFERENCE.get(name);
    return column === undefined ? [] : [[name, present(column, changed)]];
  });
  return json({ ...summarize(changed), ...Object.fromEntries(echoed) });
}

function summarize({ eeid, firstName, lastName, status }: Row) {
  return { id: String(eeid), firstName, lastName, status };
}

/** What is unknown, calculated or not the caller's to change is passed over without a word. */
function readValues(body: Body): Row {
  return Object.fromEntries(
    Object.entries(body).flatMap(([reference, value]): [string, Stored][] => {
      const column = COLUMN_BY_REFERENCE.get(reference);
      return column === undefined || !isWritable(column) ? [] : [[column.dataset, readValue(column, value)]];
    }),
  );
}

function isWritable({ section, locked }: Column): boolean {
  return section !== 'calculated' && section !== 'defaultStatus' && locked !== true;
}

const READERS: Readonly<Record<Column['type'], (value: unknown, column: Column) => Stored>> = {
  text: (value) => String(value ?? ''),
  govIdText: (value) => String(value ?? ''),
  int: (value) => (value === '' || value === null ? null : Number(value)),
  bool: (value) => value === 'yes' || value === 'checkbox',
  date: (value, column) => check(value, column, (text) => isDate(text)),
  options: (value, column) => check(value, column, (text) => column.options?.includes(text) ?? false),
  currency: readAmount,
};

function readValue(column: Column, value: unknown): Stored {
  return READERS[column.type](value, column);
}

function readAmount(value: unknown, column: Column): Stored {
  const amount = typeof value === 'object' && value !== null ? Reflect.get(value, 'value') : value;
  return check(amount, column, (text) => /^-?\d+(\.\d+)?$/.test(text));
}

/** Empty text clears; anything that is not valid is a conflict. */
function check(value: unknown, { dataset }: Column, isValid: (text: string) => boolean): Stored {
  if (value === '' || value === null) return null;
  const text = String(value);
  if (!isValid(text)) throw new Refusal(409, `Invalid value for ${dataset}`);
  return text;
}
