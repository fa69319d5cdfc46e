import { LRUCache } from 'lru-cache';
import {
  json,
  pick,
  type Routes,
  type RowOrder,
  sortRows,
  type Table,
  type TableRow,
  takePage,
  times,
  typed,
} from '#connector/simulator';
import { COLUMNS, type Column, DAYS, FIRST_NAMES, textOf } from './employees.ts';
import { Problem } from './fault.ts';
import { COLUMN_BY_NAME, compileRowFilter } from './filter.ts';

/** Returns the routes of the `employee` dataset: its columns, which have no number and no type, and its queries. */
export function datasetRoutes(employees: Table): Routes {
  // A benchmark repeats the same queries, and must not measure the time of the simulator.
  const selections = new LRUCache<string, readonly TableRow[]>({ max: 1000 });
  const printed = new WeakMap<TableRow, Readonly<Record<string, string>>>();
  let calls = 0;

  function select({ orderBy, filter }: Query): readonly TableRow[] {
    const rows = employees.rows();
    const start = (++calls * 7) % rows.length;
    // "With no orderBy the row order is unspecified": every call begins at another row.
    if (orderBy === '') return matching([...rows.slice(start), ...rows.slice(0, start)], filter);
    const key = JSON.stringify([employees.version(), orderBy, filter]);
    const known = selections.get(key);
    if (known !== undefined) return known;
    const selected = matching(sortRows(rows, parseOrder(orderBy)), filter);
    selections.set(key, selected);
    return selected;
  }

  function print(row: TableRow): Readonly<Record<string, string>> {
    const printColumn = (column: Column): [name: string, member: string] => [
      column.dataset,
      `${JSON.stringify(column.dataset)}:${JSON.stringify(textOf(column, row))}`,
    ];
    const texts = printed.get(row) ?? Object.fromEntries(COLUMNS.map(printColumn));
    printed.set(row, texts);
    return texts;
  }

  const fields = COLUMNS.map(({ dataset, label, section }) => ({ name: dataset, label, entityName: section }));
  return {
    'GET /api/v1_2/datasets/employee/fields': () => json({ pagination: { total_pages: 1 }, fields }),
    'POST /api/v2/datasets/employee/data': ({ body, isStuck }) => {
      const query = readQuery(body.object());
      const page = takePage(joinDependents(select(query), query.fields), PAGING, { query: query.page, isStuck });
      const data = page.rows.map(print).map((texts) => {
        return `{"fields":{${query.fields.map((field) => texts[field]).join(',')}}}`;
      });
      return typed('application/json', `{"data":[${data.join(',')}],"meta":{"totalItems":${page.total}}}`);
    },
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

/**
 * Joins the rows with their dependents if a column of dependents is among the fields. Each dependent becomes a row. Employees have two, one
 * or no dependents; without dependents the columns are empty.
 */
function joinDependents(rows: readonly TableRow[], fields: readonly string[]): readonly TableRow[] {
  if (!fields.some((field) => COLUMN_BY_NAME.get(field)?.section === 'hrisDependents')) return rows;
  return rows.flatMap((row) => {
    const id = Number(row.eeid);
    const dependents = times(id % 3, (index) => ({
      dependentFirstName: pick(FIRST_NAMES, id + index),
      dependentBirthDate: pick(DAYS, id + index),
    }));
    return dependents.length === 0 ? [row] : dependents.map((dependent) => ({ ...row, ...dependent }));
  });
}

interface Query {
  readonly fields: readonly string[];
  readonly filter: string;
  readonly orderBy: string;
  readonly page: URLSearchParams;
}

function readQuery(body: Readonly<Record<string, unknown>>): Query {
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
