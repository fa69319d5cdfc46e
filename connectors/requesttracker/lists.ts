import {
  type ConnectorContext,
  codec,
  json,
  type ListQuery,
  list,
  notFound,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
} from '#connector';
import { quote } from './query.ts';

type Query = NonNullable<ProviderRequest['query']>;

/** A collection that is searched with TicketSQL or TransactionSQL. */
export interface Searched {
  readonly path: string;
  /** Condition of every query. Without one, Request Tracker lists nothing. */
  readonly always: string;
}

/** Queries can be longer than an address may be, so they are posted. */
export function search({ path, always }: Searched, query: string | undefined, more: Query): ProviderRequest {
  const whole = query === undefined ? always : `${always} AND (${query})`;
  return { method: 'POST', idempotent: true, path, query: more, form: { query: whole } };
}

/** Returns a condition on the id. Some collections are searched by a list of conditions, and return nothing without one. */
export function conditionOnId(operator: '=' | '>', id: string): string {
  return JSON.stringify([{ field: 'id', operator, value: id }]);
}

const ROWS = {
  rows: (body: unknown) => json.objects(json.at(body, 'items'), 'the items'),
  // A page is a number of pages of one size: the cursor holds both.
  paging: {
    kind: 'cursor',
    cursor: 'page',
    size: 'per_page',
    max: 100,
    next: nextPage,
    total: ({ body }: ProviderResponse) => json.at(body, 'total') ?? Number.NaN,
  },
} as const;

/** @param searched below the record of an id, where there is one */
export const searchOf = (searched: (parentId: string) => Searched) =>
  list<string>({
    request: (input) => search(searched(input.parentId ?? ''), input.filter, parametersOf(input)),
    ...ROWS,
  });

export const listAt = (place: (parentId: string) => string, more: Query = {}) =>
  list<string>({
    request: (input) => ({ path: place(input.parentId ?? ''), query: { ...more, ...parametersOf(input) } }),
    ...ROWS,
  });

/** Request Tracker hides the total from users who may not see every row. */
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
 * The record of an id as lists show it. One that they leave out is not found, and one that is not there is not a failure
 * of the server, which it is for the record itself.
 */
export async function findRow(
  { send }: ConnectorContext,
  request: (id: string, more: Query) => ProviderRequest,
  { id, fields }: { readonly id: string; readonly fields: readonly Pick<PushedField, 'native'>[] },
): Promise<Readonly<Record<string, unknown>>> {
  const natives = [...new Set(fields.map(({ native }) => native))].join(',');
  // In any other text, the leading digits would count as the id.
  const isId = /^[1-9]\d{0,9}$/.test(id);
  const [row] = isId ? ROWS.rows((await send(request(id, { fields: natives, per_page: 1 }))).body) : [];
  if (row === undefined) throw notFound(`There is no record with the id '${id}'.`);
  return row;
}

export const searchById = (searched: Searched) => (id: string, more: Query) =>
  search(searched, `id = ${quote(id)}`, more);
