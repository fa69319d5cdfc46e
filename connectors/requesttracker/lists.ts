import {
  type ConnectorContext,
  codec,
  json,
  type ListQuery,
  list,
  nativesOf,
  notFound,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
} from '#connector';
import { quote } from './query.ts';

type Query = NonNullable<ProviderRequest['query']>;

/** A collection that TicketSQL or TransactionSQL searches. */
export interface Searched {
  readonly path: string;
  /** A condition of every query. Without a condition, Request Tracker lists nothing. */
  readonly always: string;
}

/** Returns the request for a search. A query can be longer than a URL, so it is sent with POST. */
function search({ path, always }: Searched, query: string | undefined, more: Query): ProviderRequest {
  const whole = query === undefined ? always : `${always} AND (${query})`;
  return { method: 'POST', idempotent: true, path, query: more, form: { query: whole } };
}

/** Returns a condition on the id. Some collections are searched by a list of conditions, and return nothing without one. */
export function conditionOnId(operator: '=' | '>', id: string): string {
  return JSON.stringify([{ field: 'id', operator, value: id }]);
}

const ROWS = {
  rows: (body: unknown) => json.objects(json.at(body, 'items'), 'the items'),
  // A page has a number and depends on the page size, so the cursor contains both.
  paging: {
    kind: 'cursor',
    cursor: 'page',
    size: 'per_page',
    max: 100,
    next: nextPage,
    total: ({ body }: ProviderResponse) => json.at(body, 'total') ?? Number.NaN,
  },
} as const;

/**
 * Returns the list operation of a search.
 * @param searched returns the collection below the record with this id, or the whole collection for an empty id
 */
export const searchOf = (searched: (parentId: string) => Searched) =>
  list<string>({
    request: (input) => search(searched(input.parentId ?? ''), input.filter, parametersOf(input)),
    ...ROWS,
  });

export const listAt = (pathOf: (parentId: string) => string, more: Query = {}) =>
  list<string>({
    request: (input) => ({ path: pathOf(input.parentId ?? ''), query: { ...more, ...parametersOf(input) } }),
    ...ROWS,
  });

/** Returns the position of the next page. Request Tracker hides the total from users who may not see every row. */
function nextPage({ body }: ProviderResponse): string | undefined {
  const countOf = (name: string) => json.count(json.at(body, name), `the number '${name}'`);
  const [page, size] = [countOf('page'), countOf('per_page')];
  const total = codec.integer.read(json.at(body, 'total'));
  const goesOn = typeof total === 'number' ? page * size < total : countOf('count') > 0;
  return goesOn ? `${page + 1}x${size}` : undefined;
}

function parametersOf({ page, natives, orderBy }: ListQuery<unknown>): Query {
  const [number = '', size = ''] = String(page.page ?? `1x${page.per_page}`).split('x');
  const terms = orderBy.map(({ field, direction }) => [field.native, direction.toUpperCase()] as const);
  const isComplete = terms.some(([native]) => native === 'id');
  const order = isComplete ? terms : [...terms, ['id', 'ASC'] as const];
  return {
    page: number,
    per_page: size,
    fields: natives.join(','),
    orderby: order.map(([native]) => native),
    order: order.map(([, direction]) => direction),
  };
}

/**
 * Finds the row of a record in its list. A record that lists leave out counts as missing. A request for a missing record itself would fail
 * with a server error, but the list is just empty.
 * @throws AppError NOT_FOUND
 */
export async function findRow(
  { send }: ConnectorContext,
  request: (id: string, more: Query) => ProviderRequest,
  { id, fields }: { readonly id: string; readonly fields: readonly Pick<PushedField, 'native'>[] },
): Promise<Readonly<Record<string, unknown>>> {
  const natives = nativesOf({ fields }).join(',');
  // Of another text, Request Tracker would use the leading digits as the id.
  const isId = /^[1-9]\d{0,9}$/.test(id);
  const [row] = isId ? ROWS.rows((await send(request(id, { fields: natives, per_page: 1 }))).body) : [];
  if (row === undefined) throw notFound(`There is no record with the id '${id}'.`);
  return row;
}

export const searchById = (searched: Searched) => (id: string, more: Query) =>
  search(searched, `id = ${quote(id)}`, more);
