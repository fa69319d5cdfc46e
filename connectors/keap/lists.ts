import { type Inputs, json, type ListInput, list } from '#connector';
import { parameterConditions, printFilter, tokenOf } from './filter.ts';

export interface Source {
  /** Path of the list, below the version. */
  readonly path: string;
  /** Names of the members that may contain the rows. */
  readonly rows: readonly string[];
  /** Members that Keap includes only on request: all members, or the given ones. */
  readonly fields?: 'all' | readonly string[];
  /** Returns the conditions of every request. */
  readonly conditions?: (input: ListInput<Inputs>) => Inputs;
  /** Names of fields in orders, if they differ. */
  readonly orders?: Readonly<Record<string, string>>;
}

/** Limits of lists. A list of ids must fit in a URL; Keap documents 100 ids for opportunities. */
export const LIMITS = { maxSortFields: 1, maxInSize: 100 } as const;

/** Returns the operation for a list of the second version, with at most 1,000 rows per page and a token for the next page. */
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

/** Returns the value of the parameter `fields`: the members that contain the requested fields. */
export function fieldsOf(natives: readonly string[], available: NonNullable<Source['fields']>): string | undefined {
  const members = [...new Set(natives.map((native) => native.replace(/\..*/s, '')))];
  const named = members.filter((name) => available === 'all' || available.includes(name));
  return named.length === 0 ? undefined : named.join(',');
}

/** Prefix of the lower bound of a time by which a list can be sorted, but not filtered. */
export const SINCE = 'not before ';

/**
 * Lists rows with the latest first if the request has a lower bound of the time and no order of its own. No page is read after a row that
 * is older than the bound.
 * @param time the member of a row
 * @param order the name of the member in orders
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

/** Returns the operation for a list of the first version, whose filters are parameters. */
export function firstVersionListOf(path: string, rows: string, query: Readonly<Record<string, string>> = {}) {
  return list<Inputs>({
    request: ({ filter, parameters, page }) => ({
      path: `/rest/v1/${path}`,
      query: { ...query, ...filter, ...plainParameters(parameters), ...page },
    }),
    rows: (body) => json.objects(json.at(body, rows), `the ${rows}`),
    // The response always has a link to a next page, even at the end.
    paging: { kind: 'offset', offset: 'offset', size: 'limit', max: 1000, total: ({ body }) => json.at(body, 'count') },
  });
}

function plainParameters(parameters: ListInput<Inputs>['parameters']): Inputs {
  const named = Object.entries(parameterConditions(parameters));
  return Object.fromEntries(named.map(([name, value]) => [name.replace(/==$/, ''), value]));
}
