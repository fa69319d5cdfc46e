import {
  type ChangesInput,
  type ChangesPage,
  type ConnectorContext,
  conditions,
  defined,
  type Json,
  json,
  type ListInput,
  type ListOperation,
  type ListQuery,
  list,
  nativesOf,
  type ObjectSpec,
  type Operation,
  type Paging,
  type ProviderRequest,
  path,
  records,
} from '#connector';
import { ID } from './fields.ts';

/** One condition of a search: the schema `Filter` of the official description. */
interface SearchFilter {
  readonly propertyName: string;
  readonly operator: string;
  readonly value?: unknown;
  readonly values?: readonly unknown[];
}

/** The groups of a search, joined by OR. The filters of a group are joined by AND. */
export type Groups = readonly { readonly filters: readonly SearchFilter[] }[];

/** The filters of a search. Source: "Search the CRM", "Filter search results". */
const translator = conditions<Groups>({
  operators: {
    '=': 'EQ',
    '!=': 'NEQ',
    '<': 'LT',
    '<=': 'LTE',
    '>': 'GT',
    '>=': 'GTE',
    IN: 'IN',
    'NOT IN': 'NOT_IN',
    'IS NULL': 'NOT_HAS_PROPERTY',
    'IS NOT NULL': 'HAS_PROPERTY',
  },
  like: { prefix: 'CONTAINS_TOKEN', suffix: 'CONTAINS_TOKEN', contains: 'CONTAINS_TOKEN' },
  pattern: ({ form, text }) => `${form === 'prefix' ? '' : '*'}${text}${form === 'suffix' ? '' : '*'}`,
  value: (value, { nativeType }, operator) => {
    if (value.kind === 'datetime') return String(value.epochMs);
    if (value.kind === 'date') return String(Date.parse(value.text));
    const text = value.kind === 'number' ? value.text : String(value.value);
    // Lists of texts must be in lower case, and lists of options must not.
    return nativeType === 'string' && /IN$/.test(operator) ? text.toLowerCase() : text;
  },
  condition: ({ field, operator, value, values }) => [
    { filters: [defined({ propertyName: field.native, operator, value, values })] },
  ],
  and: (operands) => [{ filters: operands.flat().flatMap(({ filters }) => filters) }],
  or: (operands) => operands.flat(),
  fault: (groups) => {
    const isClear = groups.every(({ filters }) => filters.every((filter) => isOneToken(filter)));
    return isClear ? undefined : 'HubSpot finds patterns only inside single words';
  },
});

function isOneToken({ operator, value }: SearchFilter): boolean {
  return operator !== 'CONTAINS_TOKEN' || /^\*?(?:[A-Za-z]+|\d+)\*?$/.test(String(value));
}

/** The limits of a search. Source: "Search the CRM", "Limits". */
export const FILTERING = {
  translator,
  shape: { kind: 'dnf', groups: 5, perGroup: 6, total: 18 },
  // The body of a search has at most 3,000 characters. The rest is for the properties.
  limits: { maxInSize: 50, maxLength: 2000, resultWindow: 10_000, maxSortFields: 1 },
} as const;

/** Maximum number of characters of the properties in a search, and in a URL. */
const LONGEST_PROPERTIES = 800;
const MOST_RECORDS = 100;

/** The pages of all lists. Only searches have a total. */
export const PAGING: Paging = {
  kind: 'cursor',
  cursor: 'after',
  size: 'limit',
  max: MOST_RECORDS,
  next: ({ body }) => json.at(body, 'paging', 'next', 'after'),
  total: ({ body }) => json.at(body, 'total'),
};

/** Returns a record as a flat object of its properties. */
function toRecord(record: unknown): Json {
  const { id, properties } = json.object(record, 'a record');
  return { ...json.object(properties, 'the properties of the record'), [ID]: json.text(id, 'the id of the record') };
}

const toRecords = (body: unknown) => json.array(json.at(body, 'results'), 'the records').map(toRecord);

/** Returns the list of an object: pages of all records, or a search where there is a filter or another order than that of the ids. */
export function listOf(type: string): ListOperation<Groups> {
  const pages = list<Groups>({
    request: (query) => (isSearch(query) ? searchFor(type, query) : pageOf(type, query)),
    rows: toRecords,
    paging: PAGING,
    order: {
      // The description has orders as texts, and HubSpot's own client sends JSON in them.
      term: (propertyName, direction) =>
        JSON.stringify({ propertyName, direction: direction === 'asc' ? 'ASCENDING' : 'DESCENDING' }),
    },
  });
  return {
    ...pages,
    run: async (context, input) => {
      const page = pages.read(await context.send(pages.request(input, context.config)), input);
      return hasRoom(nativesOf(input)) ? page : { ...page, records: await readAll(context, type, page.records, input) };
    },
  };
}

function hasRoom(natives: readonly string[]): boolean {
  return natives.join().length <= LONGEST_PROPERTIES;
}

/** Returns the properties of a request: only the id where all of them would be too long. */
function propertiesOf({ natives }: Pick<ListQuery<Groups>, 'natives'>): readonly string[] {
  return hasRoom(natives) ? natives : [ID];
}

function isSearch({ filter, orderBy }: ListQuery<Groups>): boolean {
  return filter !== undefined || orderBy.some(({ field, direction }) => field.native !== ID || direction === 'desc');
}

function searchFor(type: string, query: ListQuery<Groups>): ProviderRequest {
  return {
    method: 'POST',
    path: path`/crm/v3/objects/${type}/search`,
    // A search by POST changes nothing, so it may be sent again.
    idempotent: true,
    json: {
      filterGroups: query.filter ?? [],
      sorts: query.order === undefined ? [] : [query.order],
      properties: propertiesOf(query),
      // The description requires a position also for the first page.
      after: '0',
      ...query.page,
    },
  };
}

function pageOf(type: string, query: ListQuery<Groups>): ProviderRequest {
  return {
    path: path`/crm/v3/objects/${type}`,
    query: { ...query.page, properties: propertiesOf(query).join(',') },
  };
}

/** Reads all wanted properties of found records. A record that was archived in between is left out. */
async function readAll(
  { send }: ConnectorContext,
  type: string,
  found: readonly unknown[],
  input: ListInput<Groups>,
): Promise<readonly Json[]> {
  const ids = found.map((record) => json.text(json.at(record, ID), 'the id of the record'));
  if (ids.length === 0) return [];
  const { body } = await send({
    method: 'POST',
    path: path`/crm/v3/objects/${type}/batch/read`,
    idempotent: true,
    json: { inputs: ids.map((id) => ({ id })), properties: nativesOf(input), propertiesWithHistory: [] },
  });
  const byId = new Map(toRecords(body).map((record) => [record[ID], record]));
  return ids.flatMap((id) => {
    const record = byId.get(id);
    return record === undefined ? [] : [record];
  });
}

/** Returns the operations on single records. Source: the operations of `/crm/v3/objects/{objectType}` of the official description. */
export function recordsOf(type: string) {
  const all = path`/crm/v3/objects/${type}`;
  const one = (id: string) => path`/crm/v3/objects/${type}/${id}`;
  return {
    ...records({
      get: (id, natives) => ({ path: one(id), query: { properties: natives.join(',') } }),
      record: ({ body }) => toRecord(body),
      create: {
        request: (properties) => ({ method: 'POST', path: all, json: { properties, associations: [] } }),
        // The response has only some of the properties.
        id: ({ body }) => json.text(json.at(body, 'id'), 'the id of the new record'),
      },
      update: (id, properties) => ({ method: 'PATCH', path: one(id), json: { properties } }),
    }),
    remove: {
      run: async ({ send }, { id }) => {
        // HubSpot reports success for a record that does not exist. Reading it fails.
        await send({ path: one(id), query: { properties: ID } });
        await send({ method: 'DELETE', path: one(id) });
      },
    } satisfies ObjectSpec['remove'],
  };
}

/**
 * Lists the records that were archived since a time. HubSpot cannot filter archived records, so each poll reads those that it still has.
 */
export function deletionsOf(type: string): Operation<ChangesInput, ChangesPage> {
  return {
    request: ({ cursor }) => ({
      path: path`/crm/v3/objects/${type}`,
      query: { archived: true, limit: MOST_RECORDS, properties: ID, after: cursor },
    }),
    read: ({ body, headers }, { since }) => {
      const changes = json.objects(json.at(body, 'results'), 'the archived records').flatMap(({ id, archivedAt }) => {
        const at = json.text(archivedAt, 'the time of a deletion');
        return Date.parse(at) < Date.parse(since)
          ? []
          : [{ id: json.text(id, 'the id'), action: 'deleted' as const, at }];
      });
      const next = json.findText(json.at(body, 'paging', 'next', 'after'));
      const reported = Date.parse(headers.date ?? '');
      if (next !== undefined) return { changes, next };
      return { changes, ...(!Number.isNaN(reported) && { until: new Date(reported).toISOString() }) };
    },
  };
}
