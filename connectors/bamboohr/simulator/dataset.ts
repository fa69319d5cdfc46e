import { LRUCache } from 'lru-cache';
import {
  type Answer,
  type Call,
  json,
  type RowOrder,
  sortRows,
  type Table,
  type TableRow,
  takePage,
  typed,
} from '#connector/simulator';
import { COLUMN_BY_NAME, COLUMNS, type Column, TABLES } from './columns.ts';
import { Problem } from './fault.ts';
import { compileRowFilter } from './filter.ts';
import { listEntries } from './rows.ts';

/** Query and catalogue of the `employee` dataset. */
export interface Dataset {
  readonly query: (call: Call) => Answer;
  readonly listFields: (call: Call) => Answer;
}

export function createDataset(employees: Table): Dataset {
  // A benchmark asks the same again and again; it is not meant to measure this.
  const selections = new LRUCache<string, readonly TableRow[]>({ max: 1000 });
  const printed = new WeakMap<TableRow, Readonly<Record<string, string>>>();
  let calls = 0;

  function select({ orderBy, filter }: Query): readonly TableRow[] {
    // "With no orderBy the row order is unspecified": every call begins somewhere else.
    if (orderBy === '') return matching(rotate(employees.rows(), ++calls * 7), filter);
    const key = JSON.stringify([employees.version(), orderBy, filter]);
    const known = selections.get(key);
    if (known !== undefined) return known;
    const selected = matching(sortRows(employees.rows(), parseOrder(orderBy)), filter);
    selections.set(key, selected);
    return selected;
  }

  function print(row: TableRow): Readonly<Record<string, string>> {
    const texts = printed.get(row) ?? Object.fromEntries(COLUMNS.map((column) => printColumn(column, row)));
    printed.set(row, texts);
    return texts;
  }

  return {
    query: ({ body, isStuck }) => {
      const query = readQuery(body.object());
      const page = takePage(joinTables(select(query), query.fields), PAGING, { query: query.page, isStuck });
      const data = page.rows.map((row) => {
        const texts = print(row);
        return `{"fields":{${query.fields.map((field) => texts[field]).join(',')}}}`;
      });
      const number = page.start / page.size + 1;
      const totalPages = Math.ceil(page.total / page.size);
      const meta = { page: number, pageSize: page.size, totalPages, totalItems: page.total };
      const links = {
        ...(number > 1 && { prev: `/api/v2/datasets/employee/data?page=${number - 1}` }),
        ...(page.next && { next: `/api/v2/datasets/employee/data?page=${page.next}` }),
      };
      const text = `{"data":[${data.join(',')}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
      return typed('application/json', text);
    },
    listFields,
  };
}

const PAGING = {
  kind: 'number',
  page: 'page',
  size: 'pageSize',
  usual: 100,
  most: 1000,
  beyond: 'refused',
  refuse: (message: string) => new Problem(422, 'VALIDATION', message),
} as const;

function matching(rows: readonly TableRow[], filter: string): readonly TableRow[] {
  return filter === '' ? rows : rows.filter(compileRowFilter(filter));
}

function rotate(rows: readonly TableRow[], by: number): readonly TableRow[] {
  const start = by % rows.length;
  return [...rows.slice(start), ...rows.slice(0, start)];
}

/** A column of a table makes a row of each entry; without one the employee is there once, with nothing. */
function joinTables(rows: readonly TableRow[], fields: readonly string[]): readonly TableRow[] {
  const sections = new Set(fields.map((field) => COLUMN_BY_NAME.get(field)?.section ?? ''));
  const tables = [...sections].filter((section) => TABLES.has(section));
  return tables.reduce((joined, table) => joined.flatMap((row) => joinTable(row, table)), rows);
}

function joinTable(row: TableRow, table: string): readonly TableRow[] {
  const entries = listEntries(table, Number(row.eeid));
  return entries.length === 0 ? [row] : entries.map((entry) => ({ ...row, ...entry }));
}

interface Query {
  readonly fields: readonly string[];
  readonly filter: string;
  readonly orderBy: string;
  readonly page: URLSearchParams;
}

/** What each input of a query must be. */
const INPUTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  fields: Array.isArray,
  filter: (value) => typeof value === 'string',
  orderBy: (value) => typeof value === 'string',
  page: Number.isInteger,
  pageSize: Number.isInteger,
};

function readQuery(body: Readonly<Record<string, unknown>>): Query {
  for (const [name, value] of Object.entries(body)) {
    const accepts = Object.hasOwn(INPUTS, name) ? INPUTS[name] : undefined;
    if (accepts === undefined) throw new Problem(400, 'INVALID_ARGUMENT', `Unknown parameter: ${name}`);
    if (!accepts(value)) throw new Problem(422, 'VALIDATION', `${name} is not valid.`);
  }
  const { filter = '', orderBy = '', page, pageSize } = body;
  const fields = readFields(body.fields);
  const missing = orderBy === '' ? [] : parseOrder(String(orderBy)).filter(({ name }) => !fields.includes(name));
  if (missing.length > 0) {
    throw new Problem(400, 'UE-1001', `orderBy uses ${missing[0]?.name}, which is not among the fields.`);
  }
  const pairs = Object.entries({ page, pageSize }).filter(([, value]) => value !== undefined);
  const position = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]));
  return { fields, filter: String(filter), orderBy: String(orderBy), page: position };
}

function readFields(value: unknown): readonly string[] {
  const names = Array.isArray(value) ? value.map(String) : [];
  if (names.length === 0) throw new Problem(400, 'INVALID_ARGUMENT', 'fields is required.');
  const bad = names.find((name) => !COLUMN_BY_NAME.has(name));
  if (bad !== undefined) throw new Problem(400, 'INVALID_ARGUMENT', `Invalid field name: employee_${bad}`);
  return names;
}

function parseOrder(orderBy: string): readonly (RowOrder & { readonly name: string })[] {
  return orderBy.split(',').map((term) => {
    const [, name = '', direction] = /^\s*(\w+)(?:\s+(asc|desc))?\s*$/.exec(term) ?? [];
    const column = COLUMN_BY_NAME.get(name);
    if (column === undefined) throw new Problem(400, 'UE-1001', `orderBy cannot use '${term}'.`);
    const type = column.type === 'int' || column.type === 'currency' ? 'number' : 'string';
    return { name, type, descending: direction === 'desc', read: (row) => row[name] };
  });
}

/** Values are text or nothing, as the schema has it; a date that was never set is 0000-00-00 where people leave. */
function printColumn({ dataset, type }: Column, row: TableRow): [name: string, member: string] {
  const none = dataset === 'terminationDate' ? '0000-00-00' : null;
  const value = row[dataset] ?? null;
  const shown = type === 'bool' && value !== null ? (value ? 'yes' : 'no') : value;
  return [dataset, `${JSON.stringify(dataset)}:${JSON.stringify(shown === null ? none : String(shown))}`];
}

function listFields({ query }: Call): Answer {
  const pageSize = Math.min(readPositive(query.get('page_size'), 500), 1000);
  const totalPages = Math.ceil(COLUMNS.length / pageSize);
  // "Out-of-range page numbers are clamped to the nearest valid page."
  const page = Math.min(readPositive(query.get('page'), 1), totalPages);
  const link = (to: number) =>
    to < 1 || to > totalPages ? null : `https://acme.bamboohr.com/api/v1_2/datasets/employee/fields?page=${to}`;
  const place = { total_records: COLUMNS.length, current_page: page, total_pages: totalPages };
  return json({
    pagination: { ...place, next_page: link(page + 1), prev_page: link(page - 1) },
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
