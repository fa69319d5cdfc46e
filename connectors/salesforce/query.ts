import {
  type ChangesInput,
  type ChangesPage,
  type Config,
  json,
  type ListInput,
  type ListOperation,
  type ListQuery,
  list,
  nativesOf,
  notFound,
  type Operation,
  type ProviderRequest,
  path,
} from '#connector';
import { servicePath } from './config.ts';
import { isAnyId, quote } from './literals.ts';

/** Maximum page size of a query. Source: REST API Developer Guide, "Query Options Header". */
const MAX_PAGE_SIZE = 2000;
const MIN_PAGE_SIZE = 200;

/** Name of the parameter that includes records in the recycle bin. */
export const INCLUDE_DELETED = 'includeDeleted';

export const ID = 'Id';
export const CHANGED = 'SystemModstamp';
export const CREATED = 'CreatedDate';
export const DELETED = 'IsDeleted';

/** Directions of an order. Nulls have their place as in our own order, which is PostgreSQL's. The id is never null. */
const DIRECTIONS = { asc: 'ASC NULLS LAST', desc: 'DESC NULLS FIRST' } as const;

/**
 * Returns the list operation of an object, with SOQL.
 * @param parentField the field that refers to the parent record, for a child list
 */
export function listOperation(objectName: string, parentField?: string) {
  return list<string>({
    request: (query, config) => requestQuery(objectName, belowParent(query, parentField), config),
    rows: (body) => json.array(json.at(resultOf(body), 'records'), 'the records of the query'),
    paging: {
      kind: 'link',
      max: MAX_PAGE_SIZE,
      next: ({ body }) => json.at(resultOf(body), 'done') !== true && json.at(resultOf(body), 'nextRecordsUrl'),
      total: ({ body }) => json.at(resultOf(body), 'totalSize'),
      follow: ({ limit }) => ({ headers: batchSize(limit) }),
    },
    order: {
      term: (native, direction) => (native === ID && direction === 'asc' ? ID : `${native} ${DIRECTIONS[direction]}`),
      join: ', ',
      id: ID,
    },
  });
}

/** The position of a child list: the parent object, and the field that refers to it. */
interface Below {
  readonly parent: string;
  /** Whether a single record of the parent object can be read. */
  readonly hasParents: boolean;
  readonly field: string;
}

/** Lists the records that refer to one parent. An empty list does not say whether the parent exists, so a second call checks this. */
export function listBelow(objectName: string, { parent, hasParents, field }: Below): ListOperation<string> {
  const rows = listOperation(objectName, field);
  return {
    ...rows,
    run: async ({ send, config }, input) => {
      const { parentId = '', cursor } = input;
      if (!isAnyId(parentId)) throw notFound(`'${parentId}' is not an id of Salesforce.`);
      const page = rows.read(await send(rows.request(input, config)), input);
      const isNews = page.records.length === 0 && cursor === undefined;
      if (isNews && hasParents) await send({ path: path`/sobjects/${parent}/${parentId}`, query: { fields: ID } });
      return page;
    },
  };
}

/**
 * Lists the records that moved to the recycle bin since a time, which no other query finds. Sources: REST API Developer Guide, "QueryAll";
 * Object Reference, "System Fields": a record that is deleted gets a new SystemModstamp.
 */
export function deletionsOf(objectName: string): Operation<ChangesInput, ChangesPage> {
  const rows = listOperation(objectName);
  const toList = ({ since, ...position }: ChangesInput) => ({
    ...position,
    filter: `${DELETED} = true AND ${CHANGED} >= ${since}`,
    parameters: { [INCLUDE_DELETED]: { kind: 'boolean', value: true } as const },
    fields: [ID, CHANGED].map((native) => ({ name: native, native, type: 'string' as const })),
    orderBy: [],
    limit: MAX_PAGE_SIZE,
  });
  return {
    request: (input, config) => rows.request(toList(input), config),
    read: (response, input) => {
      const reported = Date.parse(response.headers.date ?? '');
      const { records, next } = rows.read(response, toList(input));
      const changes = records.map((record) => ({
        id: json.text(json.at(record, ID), 'the id of a deleted record'),
        action: 'deleted' as const,
        at: json.text(json.at(record, CHANGED), 'the time of a deletion').replace(/\+0000$/, 'Z'),
      }));
      if (next !== undefined) return { changes, next };
      return { changes, ...(!Number.isNaN(reported) && { until: new Date(reported).toISOString() }) };
    },
  };
}

function resultOf(body: unknown): unknown {
  return findPart(body)?.body ?? body;
}

/** Returns the part of a composite response. Its status is 200 regardless of the statuses of its parts. Our requests have a single part. */
export function findPart(body: unknown): { readonly status: number; readonly body: unknown } | undefined {
  const parts = json.at(body, 'compositeResponse');
  const [only] = Array.isArray(parts) ? parts : [];
  return json.isObject(only) ? { status: Number(only.httpStatusCode), body: only.body } : undefined;
}

/** Adds the condition for the parent to a query. A filter with several parts has parentheses already. */
function belowParent(query: ListQuery<string>, field: string | undefined): ListQuery<string> {
  if (field === undefined) return query;
  const refers = `${field} = ${quote(query.parentId ?? '')}`;
  return { ...query, filter: query.filter === undefined ? refers : `${refers} AND ${query.filter}` };
}

/** Maximum length of a URL. URI and headers have 16,384 bytes together. The remainder is for tokens and headers of proxies. */
const MAX_URL_LENGTH = 12_000;

function requestQuery(objectName: string, query: ListQuery<string>, config: Config): ProviderRequest {
  return requestStatement(`${statementOf(objectName, query)} ORDER BY ${query.order}`, query, config);
}

/** Returns the resource for a query. `queryAll` includes records in the recycle bin. */
export function verbOf({ parameters }: Pick<ListInput<string>, 'parameters'>): 'query' | 'queryAll' {
  const { [INCLUDE_DELETED]: deleted } = parameters;
  return deleted?.kind === 'boolean' && deleted.value ? 'queryAll' : 'query';
}

/**
 * Returns the request for a statement. A statement that is too long for a URL is sent in a body. Source: Salesforce Help, article
 * 000386264.
 */
function requestStatement(
  statement: string,
  query: Pick<ListInput<string>, 'parameters' | 'limit'>,
  config: Config,
): ProviderRequest {
  const verb = verbOf(query);
  const headers = batchSize(query.limit);
  const url = `${servicePath(config)}/${verb}?q=${encodeURIComponent(statement)}`;
  if (url.length <= MAX_URL_LENGTH) return { path: `/${verb}`, query: { q: statement }, headers };
  const part = { method: 'GET', url, httpHeaders: headers, referenceId: 'query' };
  return { method: 'POST', path: '/composite', json: { compositeRequest: [part] }, idempotent: true };
}

/** Returns the operation that counts the rows of a query. Source: SOQL and SOSL Reference, "COUNT()". */
export function countOperation(objectName: string): Operation<ListInput<string>, number> {
  return {
    request: (input, config) => requestStatement(`SELECT COUNT() FROM ${objectName}${whereOf(input)}`, input, config),
    read: ({ body }) => json.count(json.at(resultOf(body), 'totalSize'), 'the number of rows'),
  };
}

/** Returns the header for the page size. Salesforce may return more or fewer rows. */
function batchSize(limit: number): { readonly [header: string]: string } {
  return { 'sforce-query-options': `batchSize=${Math.max(MIN_PAGE_SIZE, limit)}` };
}

/** Returns a SOQL statement without an order. It names each field, because SOQL has no `*`. */
export function statementOf(objectName: string, input: Pick<ListInput<string>, 'fields' | 'filter'>): string {
  const natives = nativesOf(input);
  const selected = natives.length === 0 ? [ID] : natives;
  return `SELECT ${selected.join(', ')} FROM ${objectName}${whereOf(input)}`;
}

function whereOf({ filter }: Pick<ListInput<string>, 'filter'>): string {
  return filter === undefined ? '' : ` WHERE ${filter}`;
}
