import { type Inputs, json, type ListInput, list } from '#connector';
import { parameterConditions, printFilter, tokenOf } from './filter.ts';

export interface Source {
  /** Below the version. */
  readonly path: string;
  /** The members that may hold the rows. */
  readonly rows: readonly string[];
  /** Members that Keap shows only on request: all, or the given ones. */
  readonly fields?: 'all' | readonly string[];
  /** Conditions of every call. */
  readonly conditions?: (input: ListInput<Inputs>) => Inputs;
  /** Names of fields in orders, where they are others. */
  readonly orders?: Readonly<Record<string, string>>;
}

/** A list of ids must fit in an address; that of opportunities is said to hold 100. */
export const LIMITS = { maxSortFields: 1, maxInSize: 100 } as const;

/** Lists of the second version: 1,000 rows at most, and a token of the next ones. */
export function listOf({ path, rows, fields = [], conditions, orders = {} }: Source) {
  return list<Inputs>({
    request: (input) => ({
      path: `/rest/v2/${path}`,
      query: {
        filter: printFilter({ ...input.filter, ...parameterConditions(input.parameters), ...conditions?.(input) }),
        fields: fieldsOf(input.natives, fields),
        order_by: input.order,
        ...input.page,
      },
    }),
    rows: (body) => json.objects(rows.map((name) => json.at(body, name)).find(Array.isArray), `the ${path}`),
    paging: { kind: 'cursor', cursor: 'page_token', size: 'page_size', max: 1000, next: ({ body }) => tokenOf(body) },
    order: { term: (native, direction) => `${orders[native] ?? native} ${direction}` },
  });
}

/** The members that the fields are read from. */
export function fieldsOf(natives: readonly string[], available: NonNullable<Source['fields']>): string | undefined {
  const members = [...new Set(natives.map((native) => native.replace(/\..*/s, '')))];
  const named = members.filter((name) => available === 'all' || available.includes(name));
  return named.length === 0 ? undefined : named.join(',');
}

/** The bound of a time by which a list can be ordered, but not filtered. */
export const SINCE = 'not before ';

/**
 * Lists rows with the latest first if the request has a bound of the time and no order of its own. No page is read after a row
 * that is older than the bound.
 * @param time the member of a row, and what it is called in orders
 */
export function latestFirst(base: ReturnType<typeof listOf>, time: string, order: string): ReturnType<typeof listOf> {
  const boundOf = ({ filter, orderBy }: ListInput<Inputs>) =>
    orderBy.length > 0 || filter?.[SINCE] === undefined ? undefined : Date.parse(String(filter[SINCE]));
  return {
    ...base,
    request: (input, config) => {
      const { [SINCE]: _, ...filter } = input.filter ?? {};
      const { query, ...request } = base.request({ ...input, filter }, config);
      return { ...request, query: { ...query, ...(boundOf(input) !== undefined && { order_by: `${order} desc` }) } };
    },
    read: (response, input) => {
      const { next, ...page } = base.read(response, input);
      const bound = boundOf(input);
      const last = Date.parse(String(json.at(page.records.at(-1), time)));
      return { ...page, ...(next !== undefined && (bound === undefined || last >= bound) && { next }) };
    },
  };
}

/** Lists of the first version, whose filters are parameters. */
export function firstVersionListOf(path: string, rows: string, query: Readonly<Record<string, string>> = {}) {
  return list<Inputs>({
    request: ({ filter, parameters, page }) => ({
      path: `/rest/v1/${path}`,
      query: { ...query, ...filter, ...plainParameters(parameters), ...page },
    }),
    rows: (body) => json.objects(json.at(body, rows), `the ${rows}`),
    // It always names a next page, at the end too.
    paging: { kind: 'offset', offset: 'offset', size: 'limit', max: 1000, total: ({ body }) => json.at(body, 'count') },
  });
}

function plainParameters(parameters: ListInput<Inputs>['parameters']): Inputs {
  const named = Object.entries(parameterConditions(parameters));
  return Object.fromEntries(named.map(([name, value]) => [name.replace(/==$/, ''), value]));
}
