import {
  type Call,
  fault,
  json,
  type SimulatedResponse,
  sortRows,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { compileQuery, fieldOf } from './conditions.ts';
import type { Desk, Resource } from './desk.ts';

type Collection = Desk[keyof Desk];
type Test = (row: TableRow) => boolean;

/** A query stands in a form. Without one nothing is found. */
export function readQuery({ queues }: Desk, { members }: Resource, { body }: Call): Test {
  const text = body.form().get('query') ?? '';
  return text === '' ? () => false : compileQuery(text, members, queues.table.rows());
}

/** A JSON list of conditions on ids, in `query`. Without one nothing is found. @throws Fault 400 */
export function readConditions({ query }: Call): Test {
  const conditions: unknown = JSON.parse(query.get('query') ?? '[]');
  if (!Array.isArray(conditions) || conditions.length === 0) return () => false;
  return ({ id }) =>
    conditions.every(({ field, operator = '=', value }) => {
      if (field !== 'id' || !['=', '>'].includes(operator)) throw fault(400, 'Only ids are compared here.');
      return operator === '=' ? Number(id) === Number(value) : Number(id) > Number(value);
    });
}

const PAGE = { kind: 'number', page: 'page', size: 'per_page', usual: 20, most: 100 } as const;

/** The items of a page, with the members that `fields` names. A page behind the last one is empty. */
export function list(collection: Collection, call: Call, test: Test): SimulatedResponse {
  const { noun, members, table } = collection;
  const { query } = call;
  // No list shows deleted tickets, unless a query says otherwise, which no query that is sent here does.
  const found = table.rows().filter((row) => row.Status !== 'deleted' && test(row));
  const directions = query.getAll('order');
  const order = query.getAll('orderby').flatMap((name, index) => {
    const field = fieldOf(members, name);
    return field === undefined ? [] : [{ ...field, descending: directions[index]?.toUpperCase() === 'DESC' }];
  });
  const { rows, total, size, start } = takePage(sortRows(found, order), PAGE, call);
  const fields = (query.get('fields') ?? '').split(',').filter((name) => name !== '');
  const page = start / size + 1;
  return json({
    // Users are named by their name.
    items: rows.map((row) => ({
      id: String(noun === 'user' ? row.Name : row.id),
      type: noun,
      ...Object.fromEntries(fields.map((name) => [name, present(collection, row, name)])),
    })),
    count: rows.length,
    total,
    per_page: size,
    page: call.isStuck ? page - 1 : page,
    pages: Math.ceil(total / size),
  });
}

const UNSET = '1970-01-01T00:00:00Z';

/** A member of an item in a list: numbers are text, what is not there is empty text, or the beginning of time. */
function present({ members, hidden }: Resource, row: TableRow, name: string): unknown {
  const { type, refersTo } = members[name] ?? {};
  const value = row[name];
  if (name === 'id') return value;
  if (hidden.includes(name)) return '';
  if (refersTo === 'queues') return { type: 'queue', id: String(value) };
  if (refersTo === 'users') return Array.isArray(value) ? value.map(presentUser) : presentUser(value);
  if (type === 'datetime') return value ?? UNSET;
  if (type !== 'object') return presentText(String(value ?? ''));
  return Object.entries(Object(value)).map(([field, values]) => ({ type: 'customfield', name: field, values }));
}

function presentUser(name: unknown): TableRow {
  return { type: 'user', id: name };
}

/** It keeps a sign that Unicode never gives out, and finds it, but shows another in its place. */
function presentText(text: string): string {
  return text.replaceAll('\u{10ffff}', '\ufffd');
}

/** Answers one record. It leaves out members without a value, where lists have an empty text. */
export function show(row: TableRow): SimulatedResponse {
  const values = Object.entries(row).filter(([, value]) => value !== null);
  return json(
    Object.fromEntries(values.map(([name, value]) => [name, typeof value === 'string' ? presentText(value) : value])),
  );
}
