import { type Answer, type Call, json, type Table, type TableRow } from '#connector/simulator';
import { COLUMN_BY_REFERENCE, COLUMNS, type Column, OPTIONS, OTHER_FIELDS } from './columns.ts';
import { refusal } from './fault.ts';
import { isDay } from './filter.ts';
import { FIRST_ID } from './rows.ts';

const MAX_FIELDS = 400;

export function getEmployee(employees: Table, { params, query }: Call): Answer {
  // 0 is the employee the key belongs to.
  const row = findEmployee(employees, params.id === '0' ? String(FIRST_ID) : params.id);
  const references = (query.get('fields') ?? '').split(',').filter((reference) => reference !== '');
  if (references.length > MAX_FIELDS) throw refusal(400, 'Too many fields');
  return json({ ...presentAll(references, row), id: String(row.eeid) });
}

export function findEmployee(employees: Table, id = ''): TableRow {
  const row = /^\d+$/.test(id) ? employees.find(String(Number(id))) : undefined;
  if (row === undefined || row.isDeleted === true) throw refusal(404, 'Employee not found');
  return row;
}

/** "Unknown or unauthorized fields are silently dropped from the response." */
function presentAll(references: readonly string[], row: TableRow): TableRow {
  return Object.fromEntries(
    references.flatMap((reference) => {
      const column = COLUMN_BY_REFERENCE.get(reference);
      return column === undefined ? [] : [[reference, present(column, row)]];
    }),
  );
}

/** The employee endpoints' spelling: text throughout, amounts with their currency. */
function present(column: Column, row: TableRow): unknown {
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

export function createEmployee(employees: Table, { body }: Call): Answer {
  const values = readValues(body.object());
  if (!values.firstName || !values.lastName) throw refusal(400, 'First and last name are required');
  const row = employees.insert(values);
  const location = `https://api.bamboohr.com/api/gateway.php/acme/v1/employees/${row.eeid}`;
  return json(summarize(row), 201, { location });
}

export function updateEmployee(employees: Table, { params, body }: Call): Answer {
  const given = body.object();
  const { eeid } = findEmployee(employees, params.id);
  const changed = employees.update(String(eeid), readValues(given)) ?? {};
  return json({ ...summarize(changed), ...presentAll(Object.keys(given), changed) });
}

function summarize({ eeid, firstName, lastName, status }: TableRow) {
  return { id: String(eeid), firstName, lastName, status };
}

/** What is unknown, calculated or not the caller's to change is passed over without a word. */
function readValues(body: TableRow): TableRow {
  return Object.fromEntries(
    Object.entries(body).flatMap(([reference, value]) => {
      const column = COLUMN_BY_REFERENCE.get(reference);
      return column === undefined || !isWritable(column) ? [] : [[column.dataset, READERS[column.type](value, column)]];
    }),
  );
}

function isWritable({ section, locked }: Column): boolean {
  return section !== 'calculated' && section !== 'defaultStatus' && locked !== true;
}

const READERS: Readonly<Record<Column['type'], (value: unknown, column: Column) => unknown>> = {
  text: (value) => String(value ?? ''),
  govIdText: (value) => String(value ?? ''),
  int: (value) => (value === '' || value === null ? null : Number(value)),
  bool: (value) => value === 'yes' || value === 'checkbox',
  date: (value, column) => assertValid(String(value), column, isDay),
  options: (value, column) => check(value, column, (text) => OPTIONS[column.dataset]?.includes(text) ?? false),
  currency: (value, column) => check(amountOf(value), column, (text) => /^-?\d+(\.\d+)?$/.test(text)),
};

function amountOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, 'value') : value;
}

/** Empty text clears; anything that is not valid is a conflict. */
function check(
  value: unknown,
  { dataset }: Pick<Column, 'dataset'>,
  isValid: (text: string) => boolean,
): string | null {
  if (value === '' || value === null) return null;
  return assertValid(String(value), { dataset }, isValid);
}

function assertValid(text: string, { dataset }: Pick<Column, 'dataset'>, isValid: (text: string) => boolean): string {
  if (!isValid(text)) throw refusal(409, `Invalid value for ${dataset}`);
  return text;
}
