import {
  type Answer,
  type Call,
  fault,
  json,
  sortRows,
  type Table,
  type TableRow,
  takePage,
} from '#connector/simulator';
import { compileQuery, orderOf, present, type Schema } from './schema.ts';

export interface Collection {
  readonly type: string;
  readonly schema: Schema;
  readonly table: Table;
  /** What no list shows, whatever it is asked. Default: nothing. */
  readonly isListed?: (row: TableRow) => boolean;
}

export type Desk = Readonly<Record<'tickets' | 'transactions' | 'attachments' | 'users' | 'queues', Collection>>;

type Test = (row: TableRow) => boolean;

/** A query stands in the address or in a form. Without one nothing is found. */
export function readQuery({ queues }: Desk, { schema }: Collection, { query, body }: Call): Test {
  const text = query.get('query') ?? body.form().get('query') ?? '';
  return text === '' ? () => false : compileQuery(text, schema, queues.table.rows());
}

/** A JSON list of conditions on ids, in `query`. Without one nothing is found. @throws Fault 400 */
export function readConditions({ query }: Call): Test {
  const text = query.get('query') ?? '[]';
  const conditions: unknown = JSON.parse(text);
  if (!Array.isArray(conditions) || conditions.length === 0) return () => false;
  return ({ id }) =>
    conditions.every(({ field, operator = '=', value }) => {
      if (field !== 'id' || !['=', '>'].includes(operator)) throw fault(400, 'Only ids are compared here.');
      return operator === '=' ? Number(id) === Number(value) : Number(id) > Number(value);
    });
}

/** The items of a page, with the members that `fields` names. A page behind the last one is empty. */
export function list({ type, schema, table, isListed = () => true }: Collection, call: Call, test: Test): Answer {
  const { query, origin } = call;
  const rows = sortRows(
    table.rows().filter((row) => isListed(row) && test(row)),
    orderOf(query, schema),
  );
  const page = takePage(rows, { kind: 'number', page: 'page', size: 'per_page', usual: 20, most: 100 }, call);
  const fields = (query.get('fields') ?? '').split(',').filter((name) => name !== '');
  const number = page.start / page.size + 1;
  const linkTo = (to: number) => {
    const address = new URLSearchParams(query);
    address.set('page', String(to));
    return `${origin}${call.path}?${address}`;
  };
  return json({
    items: page.rows.map((row) => ({
      // Users are named by their name.
      id: String(type === 'user' ? row.Name : row.id),
      type,
      _url: `${origin}/REST/2.0/${type}/${type === 'user' ? row.Name : row.id}`,
      ...Object.fromEntries(fields.map((name) => [name, present(origin, schema, row, name)])),
    })),
    count: page.rows.length,
    total: page.total,
    per_page: page.size,
    page: call.isStuck ? number - 1 : number,
    pages: Math.ceil(page.total / page.size),
    ...(page.next !== undefined && { next_page: linkTo(number + 1) }),
    ...(number > 1 && { prev_page: linkTo(number - 1) }),
  });
}

/** @throws Fault 404 */
export function find({ table }: Pick<Collection, 'table'>, { params }: Call): TableRow {
  const row = table.find(params.id ?? '');
  if (row === undefined) throw fault(404, 'Not Found');
  return row;
}
