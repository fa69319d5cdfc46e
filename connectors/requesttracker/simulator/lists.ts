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

/** Reads the query of a form. Without a query nothing is found. */
export function readQuery({ queues }: Desk, { members }: Resource, { body }: Call): Test {
  const text = body.form().get('query') ?? '';
  return text === '' ? () => false : compileQuery(text, members, queues.table.rows());
}

/**
 * Reads the JSON list of conditions on ids in `query`. Without a condition nothing is found.
 * @throws Fault 400
 */
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

/** Responds with a page of items, with the members that `fields` names. A page after the last one is empty. */
export function list(collection: Collection, call: Call, test: Test): SimulatedResponse {
  const { noun, members, table } = collection;
  const { query } = call;
  // No list contains deleted tickets unless a query requests them. The connector sends no such query.
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
    // The id of a user is the name.
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

/** Returns a member of an item in a list. Numbers are text, and a missing value is an empty text or the year 1970. */
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

/** Prints a text. Request Tracker stores U+10FFFF, which Unicode never assigns, and finds it, but shows U+FFFD in its place. */
function presentText(text: string): string {
  return text.replaceAll('\u{10ffff}', '\ufffd');
}

/** Responds with a single record. Members without a value are missing, unlike in lists, where they are empty texts. */
export function show(row: TableRow): SimulatedResponse {
  const values = Object.entries(row).filter(([, value]) => value !== null);
  return json(
    Object.fromEntries(values.map(([name, value]) => [name, typeof value === 'string' ? presentText(value) : value])),
  );
}
