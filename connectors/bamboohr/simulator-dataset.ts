import { COLUMN_BY_NAME, COLUMNS, type Column, TABLES } from './simulator-columns.ts';
import { listEntries, type Row, type Stored } from './simulator-data.ts';
import { compileFilter } from './simulator-filter.ts';
import { type Answer, json, Problem } from './simulator-http.ts';

/** Query and catalogue of the `employee` dataset over the given rows. */
export interface Dataset {
  readonly query: (body: Readonly<Record<string, unknown>>) => Answer;
  readonly listFields: (query: URLSearchParams) => Answer;
  /** To be called when rows changed. */
  readonly refresh: () => void;
}

export function createDataset(rows: ReadonlyMap<number, Row>): Dataset {
  const filters = createCache(compileFilter);
  const orders = createCache((orderBy: string) => sortRows([...rows.values()], orderBy));
  // A benchmark asks the same again and again; it is not meant to measure this.
  const selections = createCache((key: string) => {
    const [orderBy, filter]: readonly string[] = JSON.parse(key);
    return selectFrom(orders.get(orderBy ?? ''), filter ?? '');
  });
  const printed = new Map<Row, Readonly<Record<string, string>>>();
  let calls = 0;

  function select(body: Readonly<Record<string, unknown>>): readonly Row[] {
    const filter = typeof body.filter === 'string' ? body.filter : '';
    if (hasOrder(body)) return selections.get(JSON.stringify([body.orderBy, filter]));
    // "With no orderBy the row order is unspecified": every call begins somewhere else.
    return selectFrom(rotate([...rows.values()], ++calls * 7), filter);
  }

  function selectFrom(ordered: readonly Row[], filter: string): readonly Row[] {
    return filter === '' ? ordered : ordered.filter(filters.get(filter));
  }

  function print(row: Row): Readonly<Record<string, string>> {
    const known = printed.get(row);
    if (known !== undefined) return known;
    const fresh = Object.fromEntries(
      COLUMNS.map((column) => [column.dataset, `${JSON.stringify(column.dataset)}:${printValue(column, row)}`]),
    );
    printed.set(row, fresh);
    return fresh;
  }

  return {
    query: (body) => {
      const { fields, page, pageSize } = readQuery(body);
      const selected = joinTables(select(body), fields);
      const data = selected.slice((page - 1) * pageSize, page * pageSize).map((row) => {
        const texts = print(row);
        return `{"fields":{${fields.map((field) => texts[field]).join(',')}}}`;
      });
      const totalPages = Math.ceil(selected.length / pageSize);
      const meta = { page, pageSize, totalPages, totalItems: selected.length };
      const links = {
        ...(page > 1 && { prev: `/api/v2/datasets/employee/data?page=${page - 1}` }),
        ...(page < totalPages && { next: `/api/v2/datasets/employee/data?page=${page + 1}` }),
      };
      return { json: `{"data":[${data.join(',')}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}` };
    },
    listFields,
    refresh: () => {
      orders.clear();
      selections.clear();
      printed.clear();
    },
  };
}

/** A column of a table makes a row of each entry; without one the employee is there once, with nothing. */
function joinTables(rows: readonly Row[], fields: readonly string[]): readonly Row[] {
  const sections = new Set(fields.map((field) => COLUMN_BY_NAME.get(field)?.section ?? ''));
  const tables = [...sections].filter((section) => TABLES.has(section));
  return tables.reduce((joined, table) => joined.flatMap((row) => joinTable(row, table)), rows);
}

function joinTable(row: Row, table: string): readonly Row[] {
  const entries = listEntries(table, Number(row.eeid));
  return entries.length === 0 ? [row] : entries.map((entry) => ({ ...row, ...entry }));
}

function hasOrder(body: Readonly<Record<string, unknown>>): body is Readonly<Record<string, unknown>> & {
  orderBy: string;
} {
  return typeof body.orderBy === 'string' && body.orderBy !== '';
}

function rotate(rows: readonly Row[], by: number): readonly Row[] {
  const start = by % rows.length;
  return [...rows.slice(start), ...rows.slice(0, start)];
}

const BODY_KEYS: ReadonlySet<string> = new Set(['fields', 'filter', 'orderBy', 'page', 'pageSize']);

function readQuery(body: Readonly<Record<string, unknown>>) {
  const unknown = Object.keys(body).find((key) => !BODY_KEYS.has(key));
  if (unknown !== undefined) throw new Problem(400, 'INVALID_ARGUMENT', `Unknown parameter: ${unknown}`);
  const fields = readFields(body.fields);
  for (const key of ['filter', 'orderBy']) {
    if (body[key] !== undefined && typeof body[key] !== 'string') {
      throw new Problem(422, 'VALIDATION', `${key} is a text.`);
    }
  }
  if (hasOrder(body)) assertOrdered(body.orderBy, fields);
  return { fields, page: readCount(body.page, 1, 1e9), pageSize: readCount(body.pageSize, 100, 1000) };
}

function readFields(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) throw new Problem(400, 'INVALID_ARGUMENT', 'fields is required.');
  const names = value.map(String);
  const bad = names.find((name) => !COLUMN_BY_NAME.has(name));
  if (bad !== undefined) throw new Problem(400, 'INVALID_ARGUMENT', `Invalid field name: employee_${bad}`);
  return names;
}

function readCount(value: unknown, usual: number, most: number): number {
  if (value === undefined) return usual;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Problem(422, 'VALIDATION', `page begins at 1, pageSize is at most 1000.`);
}

function assertOrdered(orderBy: string, fields: readonly string[]): void {
  const missing = parseOrder(orderBy).find(({ column }) => !fields.includes(column.dataset));
  if (missing !== undefined) {
    throw new Problem(400, 'UE-1001', `orderBy uses ${missing.column.dataset}, which is not among the fields.`);
  }
}

interface OrderTerm {
  readonly column: Column;
  readonly sign: 1 | -1;
}

function parseOrder(orderBy: string): readonly OrderTerm[] {
  return orderBy.split(',').map((term) => {
    const [, name = '', direction = 'asc'] = /^\s*(\w+)(?:\s+(asc|desc))?\s*$/.exec(term) ?? [];
    const column = COLUMN_BY_NAME.get(name);
    if (column === undefined) throw new Problem(400, 'UE-1001', `orderBy cannot use '${term}'.`);
    return { column, sign: direction === 'desc' ? -1 : 1 };
  });
}

function sortRows(rows: Row[], orderBy: string): readonly Row[] {
  const terms = parseOrder(orderBy);
  return rows.sort((left, right) => {
    for (const { column, sign } of terms) {
      const order = compare(left[column.dataset] ?? null, right[column.dataset] ?? null, column.type);
      if (order !== 0) return order * sign;
    }
    return 0;
  });
}

/** Nothing comes first. */
function compare(left: Stored, right: Stored, type: Column['type']): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (type === 'int' || type === 'currency') return Number(left) - Number(right);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Values are text or nothing, as the schema has it; a date that was never set is 0000-00-00 where people leave. */
function printValue(column: Column, row: Row): string {
  const value = row[column.dataset] ?? null;
  if (value === null) return column.dataset === 'terminationDate' ? '"0000-00-00"' : 'null';
  if (column.type === 'bool') return value ? '"yes"' : '"no"';
  return JSON.stringify(String(value));
}

function listFields(query: URLSearchParams): Answer {
  const pageSize = Math.min(readPositive(query.get('page_size'), 500), 1000);
  const totalPages = Math.ceil(COLUMNS.length / pageSize);
  // "Out-of-range page numbers are clamped to the nearest valid page."
  const page = Math.min(readPositive(query.get('page'), 1), totalPages);
  const link = (to: number) =>
    to < 1 || to > totalPages ? null : `https://acme.bamboohr.com/api/v1_2/datasets/employee/fields?page=${to}`;
  return json({
    pagination: {
      total_records: COLUMNS.length,
      current_page: page,
      total_pages: totalPages,
      next_page: link(page + 1),
      prev_page: link(page - 1),
    },
    name: 'employee',
    label: 'Employee',
    fields: COLUMNS.slice((page - 1) * pageSize, page * pageSize).map(describeColumn),
  });
}

function readPositive(text: string | null, usual: number): number {
  const number = Math.trunc(Number(text ?? usual));
  return number >= 1 ? number : usual;
}

/** No number and no type. */
function describeColumn({ dataset, label, section }: Column) {
  const words = section.replaceAll(/([A-Z])/g, ' $1');
  const parentName = words.charAt(0).toUpperCase() + words.slice(1);
  return { name: dataset, label, parentType: 'page', parentName, entityName: section };
}

const MAX_CACHED = 1000;

/** Remembers the newest results; the oldest goes first. */
function createCache<Result>(create: (key: string) => Result) {
  const results = new Map<string, Result>();
  return {
    clear: () => results.clear(),
    get: (key: string): Result => {
      const known = results.get(key);
      if (known !== undefined) return known;
      const oldest = results.keys().next();
      if (results.size >= MAX_CACHED && oldest.done !== true) results.delete(oldest.value);
      const created = create(key);
      results.set(key, created);
      return created;
    },
  };
}
