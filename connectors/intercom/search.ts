import {
  conditions,
  defined,
  json,
  type ListOperation,
  type ListQuery,
  list,
  type Paging,
  type ProviderRequest,
  path,
  records,
} from '#connector';

/** One condition of a search: the schema `single_filter_search_request` of the official description. */
interface Leaf {
  readonly field: string;
  readonly operator: string;
  readonly value: unknown;
}

/** Conditions or groups that are joined. A group holds either conditions or groups: the schema `multiple_filter_search_request`. */
interface Group {
  readonly operator: 'AND' | 'OR';
  readonly value: readonly Search[];
}

export type Search = Leaf | Group;

/** The names of fields in a search, where they differ from those in records. Source: "Accepted fields" of the searches. */
const SEARCHED: Readonly<Record<string, string>> = {
  'ticket_attributes._default_title_': 'title',
  'ticket_attributes._default_description_': 'description',
  'ticket_type.id': 'ticket_type_id',
};

/** The terms of a search for the categories of tickets. Source: "Searching by Category". */
const CATEGORIES: Readonly<Record<string, string>> = { Customer: 'request', 'Back-office': 'task', Tracker: 'tracker' };

/**
 * Times are compared by whole days in the zone of the workspace: `>` begins with the next day, and `<` ends before the day. The longest day
 * has 25 hours, so bounds that far away include every wanted row in any zone. Source: "Searching for Timestamp Fields".
 */
const LONGEST_DAY = 25 * 3600;

/** Integers by `>` and `<`: whether these include the value is documented in two ways, so the bound is the one that surely does. */
function boundOf(operator: string, value: unknown, step: number): Pick<Leaf, 'operator' | 'value'> {
  const isLower = operator.startsWith('>');
  return { operator: isLower ? '>' : '<', value: Number(value) + (isLower ? -step : step) };
}

/** The filters of a search. Source: "Accepted operators" of the searches. */
const translator = conditions<Search>({
  operators: { '=': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=', IN: 'IN', 'NOT IN': 'NIN' },
  like: { prefix: '^', suffix: '$', contains: '~' },
  value: (value, { native, nativeType }) => {
    if (value.kind === 'datetime') return Math.floor(value.epochMs / 1000);
    if (value.kind === 'number') return nativeType === 'string' ? value.text : Number(value.text);
    if (value.kind === 'boolean') return value.value;
    const text = value.kind === 'date' ? value.text : value.value;
    return native === 'category' ? (CATEGORIES[text] ?? text) : text;
  },
  condition: ({ field: { native, type }, operator, value, values }) => {
    const field = SEARCHED[native] ?? native;
    if (!/^[<>]/.test(operator)) return { field, operator, value: values ?? value };
    const step = type === 'datetime' ? LONGEST_DAY : operator.endsWith('=') ? 1 : 0;
    return { field, ...boundOf(operator, value, step) };
  },
  and: (operands) => join('AND', operands),
  or: (operands) => join('OR', operands),
  fault: (search) => faultOf(search, 1),
});

const isGroup = (search: Search): search is Group => 'value' in search && !('field' in search);

/** Joins conditions. The description has no list of both conditions and groups, so conditions beside groups get a group of their own. */
function join(operator: Group['operator'], operands: readonly Search[]): Search {
  const flat = operands.flatMap((each) =>
    isGroup(each) && (each.operator === operator || each.value.length === 1) ? each.value : [each],
  );
  const groups = flat.filter(isGroup);
  const leaves = flat.filter((each) => !isGroup(each));
  return { operator, value: groups.length > 0 && leaves.length > 0 ? [{ operator, value: leaves }, ...groups] : flat };
}

/** Source: "Nesting & Limitations". */
function faultOf(search: Search, depth: number): string | undefined {
  if (!isGroup(search)) return undefined;
  if (depth > 2) return 'Intercom nests groups of filters two levels deep';
  if (search.value.length > 15) return 'a group has at most 15 filters in Intercom';
  return search.value.map((each) => faultOf(each, depth + 1)).find((fault) => fault !== undefined);
}

/** The abilities of searches. The number of values of an IN is not documented. */
export const SEARCHING = {
  translator,
  shape: { kind: 'any' },
  limits: { maxTerms: 100, maxInSize: 50, maxSortFields: 1 },
} as const;

/** Pages that begin after the last record of the page before. Source: "Pagination". */
export const AFTER: Paging = {
  kind: 'cursor',
  cursor: 'starting_after',
  size: 'per_page',
  max: 150,
  next: ({ body }) => json.at(body, 'pages', 'next', 'starting_after'),
  total: ({ body }) => json.at(body, 'total_count'),
};

/** Every record was created after 1970. Tickets have no list of their own, and a search must have a filter. */
const EVERYTHING: Search = { field: 'created_at', operator: '>', value: 0 };

/** Returns the list of an object: its own pages where it has them and there is neither a filter nor an order, or a search. */
export function listOf(name: string, { rows, pages }: { readonly rows: string; readonly pages: boolean }) {
  const search = ({ filter = EVERYTHING, order, page }: ListQuery<Search>): ProviderRequest => ({
    method: 'POST',
    path: `/${name}/search`,
    // A search by POST changes nothing, so it may be sent again.
    idempotent: true,
    json: defined({ query: filter, sort: order === undefined ? undefined : JSON.parse(order), pagination: page }),
  });
  return list<Search>({
    request: (query) =>
      pages && query.filter === undefined && query.order === undefined
        ? { path: `/${name}`, query: query.page }
        : search(query),
    rows: (body) => json.array(json.at(body, rows), 'the records'),
    paging: AFTER,
    order: { term: (field, direction) => JSON.stringify({ field, order: `${direction}ending` }) },
  }) satisfies ListOperation<Search>;
}

/** A search finds a new contact some minutes later. Source: "Contact Creation Delay". */
export const CHANGES = { updated: 'updated_at', created: 'created_at', overlapSeconds: 600 } as const;

export type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the operations on single records. All objects have them under the same paths.
 * @param toBody returns the body of a request from native values
 */
export function operationsOn(name: string, toBody: (values: Values) => Values = (values) => values) {
  const one = (id: string) => path`/${name}/${id}`;
  return records({
    get: (id) => ({ path: one(id) }),
    create: { request: (values) => ({ method: 'POST', path: `/${name}`, json: toBody(values) }) },
    update: {
      request: (id, values) => ({ method: 'PUT', path: one(id), json: toBody(values) }),
      record: ({ body }) => json.object(body, 'a record'),
    },
    remove: (id) => ({ method: 'DELETE', path: one(id) }),
  });
}
