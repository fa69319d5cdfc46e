import type {
  Config,
  ListInput,
  ListOperation,
  ListPage,
  ProviderRequest,
  ProviderResponse,
  SortTerm,
} from '#connector';
import { findText, getArray, getObject } from './answer.ts';
import { findPart } from './classify.ts';
import { servicePath } from './version.ts';

/** What a query may ask for. Source: REST API Developer Guide, "Query Options Header". */
const MAX_PAGE_SIZE = 2000;
const MIN_PAGE_SIZE = 200;

/** Makes the query see records in the recycle bin as well. */
export const INCLUDE_DELETED = 'includeDeleted';

/** The list of an object, by SOQL. */
export function listOperation(objectName: string): ListOperation<string> {
  return {
    maxPageSize: MAX_PAGE_SIZE,
    request: (input, config) =>
      input.cursor === undefined ? requestFirst(objectName, input, config) : requestNext(input.cursor, input.limit),
    read: readPage,
  };
}

function requestFirst(objectName: string, input: ListInput<string>, config: Config): ProviderRequest {
  const resource = includesDeleted(input) ? 'queryAll' : 'query';
  const statement = printStatement(objectName, input);
  const headers = batchSize(input.limit);
  const url = `${servicePath(config)}/${resource}?q=${encodeURIComponent(statement)}`;
  if (url.length <= MAX_URL_LENGTH) return { path: `/${resource}`, query: { q: statement }, headers };
  return requestComposite(url, headers);
}

function includesDeleted({ parameters }: ListInput<string>): boolean {
  const value = parameters[INCLUDE_DELETED];
  return value?.kind === 'boolean' && value.value;
}

/** A wish: Salesforce may answer more or fewer. */
function batchSize(limit: number): { readonly [header: string]: string } {
  return { 'sforce-query-options': `batchSize=${Math.max(MIN_PAGE_SIZE, limit)}` };
}

/** URI and headers have 16,384 bytes together; tokens and what lies between take their part. */
const MAX_URL_LENGTH = 12_000;

/** A statement that is too long for a URL goes into a body. Source: Salesforce Help, article 000386264. */
function requestComposite(url: string, httpHeaders: Readonly<Record<string, string>>): ProviderRequest {
  return {
    method: 'POST',
    path: '/composite',
    json: { compositeRequest: [{ method: 'GET', url, httpHeaders, referenceId: 'query' }] },
    idempotent: true,
  };
}

function requestNext(nextRecordsUrl: string, limit: number): ProviderRequest {
  return { url: nextRecordsUrl, headers: batchSize(limit) };
}

/** SOQL knows no `*`, and a query without an order answers in any. */
function printStatement(objectName: string, { fields, filter, orderBy }: ListInput<string>): string {
  const natives = new Set(fields.map(({ native }) => native));
  const selected = natives.size === 0 ? [ID] : [...natives];
  const where = filter === undefined ? '' : ` WHERE ${filter}`;
  return `SELECT ${selected.join(', ')} FROM ${objectName}${where} ORDER BY ${printOrder(orderBy)}`;
}

export const ID = 'Id';

/** Nulls as in our own order, which is PostgreSQL's. The id ends every order: pages must neither overlap nor leave gaps. */
function printOrder(orderBy: readonly SortTerm[]): string {
  const terms = orderBy.map(({ field, direction }) =>
    field.native === ID && direction === 'asc' ? ID : `${field.native} ${NULLS_AT[direction]}`,
  );
  const hasId = orderBy.some(({ field }) => field.native === ID);
  return (hasId ? terms : [...terms, ID]).join(', ');
}

const NULLS_AT = { asc: 'ASC NULLS LAST', desc: 'DESC NULLS FIRST' } as const;

function readPage(response: ProviderResponse): ListPage {
  const page = getObject(findPart(response.body)?.body ?? response.body, 'the result of the query');
  const next = page.done === true ? undefined : findText(page.nextRecordsUrl);
  return {
    records: getArray(page.records, 'the records of the query'),
    ...(typeof page.totalSize === 'number' && { total: page.totalSize }),
    ...(next !== undefined && { next }),
  };
}
