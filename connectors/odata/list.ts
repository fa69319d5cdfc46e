import {
  type Config,
  json,
  type ListInput,
  type ListOperation,
  type ListPage,
  type ProviderRequest,
  path,
  unusable,
} from '#connector';
import { rootOf } from './config.ts';
import { keyOf, keyPredicate } from './key.ts';
import type { EntitySet } from './metadata.ts';
import { recordReader, selectClause } from './records.ts';

/**
 * Position in a list. A request asks for a window of rows from row `$skip` on, and for one row more. That row is never returned: it shows
 * whether another window follows. A service that returns fewer rows adds a next link. The link leads through the rest of the window and,
 * with some services, beyond it, as if `$top` were a page size. A window without that row and without a link is the last one. For a set
 * that does not support windows, the connector requests pages of a size instead. It never combines both, because some services fail at that
 * (Apache Olingo). Source: OData Protocol 4.01, sections 11.2.6.3 to 11.2.6.7.
 */
interface Position {
  /** Number of rows of the query before the page. */
  readonly skip: number;
  /** Number of remaining rows of the window. Negative when links lead beyond the window. */
  readonly left: number;
  /** The next link as the service wrote it. */
  readonly link?: string;
  /** The `@odata.context` of the page, against which a relative link is resolved. */
  readonly context?: string;
}

/**
 * Maximum number of rows per page. Together with the additional row it makes 1,000, which is the maximum of SAP CAP. Other services do not
 * document their maximum.
 */
const MAX_PAGE_SIZE = 999;

/** Maximum number of simultaneous requests of one query. The specification sets no limit, so it is low. */
const PAGES_AT_ONCE = 3;

/** The source of a list: an entity set, or the records of a navigation property `name` of a record of `parent`. */
export interface ListSource {
  readonly name: string;
  readonly parent?: EntitySet;
}

export function listOperation(set: EntitySet, source: ListSource): ListOperation<string> {
  const { pagesByOffset } = set.capabilities;
  return {
    maxPageSize: MAX_PAGE_SIZE,
    request: (input, config) => requestPage(set, source, input, config),
    read: (response, input) => {
      const values = json.array(json.at(response.body, 'value'), "the list 'value'");
      const { shown, next } = endPage({ position: startOf(input), values, body: response.body, pagesByOffset });
      return {
        records: values.slice(0, shown),
        ...(next !== undefined && { next: JSON.stringify(next) }),
        ...totalOf(response.body),
      } satisfies ListPage;
    },
    readRecord: recordReader(set),
    // Pages can be fetched by offset, because every order ends with the key: row n is the same row in every call.
    ...(pagesByOffset &&
      isOrdered(set) && {
        cursorAt: (offset: number) => JSON.stringify({ skip: offset }),
        pagesAtOnce: PAGES_AT_ONCE,
      }),
  };
}

function requestPage(set: EntitySet, source: ListSource, input: ListInput<string>, config: Config): ProviderRequest {
  const position = startOf(input);
  const wanted = input.limit + 1;
  const { pagesByOffset } = set.capabilities;
  const headers: Record<string, string> = pagesByOffset ? {} : { prefer: `odata.maxpagesize=${wanted}` };
  const collection = collectionPath(source, input);
  if (position.link !== undefined) return { url: resolveLink(position, config, collection), headers };
  return {
    path: collection,
    query: {
      $filter: input.filter,
      $orderby: orderClause(set, input),
      $select: selectClause(set, input.fields),
      $top: pagesByOffset ? wanted : undefined,
      $skip: pagesByOffset && position.skip > 0 ? position.skip : undefined,
    },
    headers,
  };
}

function collectionPath({ parent, name }: ListSource, { parentId }: ListInput<string>): string {
  if (parent === undefined || parentId === undefined) return path`/${name}`;
  return `${path`/${parent.name}`}${keyPredicate(keyOf(parent.type), parentId)}${path`/${name}`}`;
}

/**
 * Returns the URL of a next link. A link is opaque and is sent unchanged, except that a relative one is resolved. Source: OData JSON Format
 * 4.01, section 4.3.
 */
function resolveLink({ link = '', context }: Position, config: Config, collection: string): string {
  const base = new URL(context ?? '', `${rootOf(config)}${collection}`);
  return /^https?:/i.test(link) ? link : new URL(link, base).href;
}

/** Returns the requested order followed by the key, so that the order is total and no row moves between pages. */
function orderClause(set: EntitySet, input: ListInput<string>): string | undefined {
  const asked = input.orderBy.map(({ field, direction }) => ({
    property: field.native.replaceAll('.', '/'),
    direction,
  }));
  const rest = sortableKey(set).filter((name) => !asked.some(({ property }) => property === name));
  const terms = [
    ...asked.map(({ property, direction }) => `${property} ${direction}`),
    ...rest.map((name) => `${name} asc`),
  ];
  return terms.length === 0 ? undefined : terms.join(',');
}

function sortableKey(set: EntitySet): readonly string[] {
  return set.type.key.filter(set.capabilities.sortable);
}

function isOrdered(set: EntitySet): boolean {
  return set.type.key.length > 0 && sortableKey(set).length === set.type.key.length;
}

function startOf(input: ListInput<string>): Position {
  const start = { skip: 0, left: input.limit };
  return input.cursor === undefined ? start : { ...start, ...readPosition(JSON.parse(input.cursor)) };
}

/** Reads a position from a cursor. A cursor comes back unchanged, so it contains what `endPage` wrote. */
function readPosition(cursor: unknown): Partial<Position> {
  const { skip, left, link, context } = json.object(cursor, 'the cursor of a page');
  return {
    ...(typeof skip === 'number' && { skip }),
    ...(typeof left === 'number' && { left }),
    ...(typeof link === 'string' && { link }),
    ...(typeof context === 'string' && { context }),
  };
}

interface PageInput {
  readonly position: Position;
  readonly values: readonly unknown[];
  readonly body: unknown;
  readonly pagesByOffset: boolean;
}

/** Returns how many of the values belong to the page, and the position of the next one. */
function endPage({ position, values, body, pagesByOffset }: PageInput): {
  readonly shown: number;
  readonly next?: Partial<Position>;
} {
  const shown = values.length;
  const skip = position.skip + shown;
  const left = position.left - shown;
  const link = controlOf(body, 'nextLink');
  const context = controlOf(body, 'context');
  if (link !== undefined && link === position.link) {
    throw unusable('The service returned the current page as the next one, so the list would never end.');
  }
  // The link of a complete window leads to the additional row, which is not returned.
  if (link !== undefined && pagesByOffset && left === 0) return { shown, next: { skip } };
  if (link !== undefined) return { shown, next: { skip, left, link, ...(context !== undefined && { context }) } };
  const isOneMore = pagesByOffset && shown > 0 && left === -1;
  return isOneMore ? { shown: shown - 1, next: { skip: skip - 1 } } : { shown };
}

function totalOf(body: unknown): { readonly total?: number } {
  const count = Number(json.at(body, '@odata.count'));
  return Number.isInteger(count) ? { total: count } : {};
}

/** Returns control information of a body. OData 4.01 omits the prefix `odata.`. */
function controlOf(body: unknown, name: string): string | undefined {
  return json.findText(json.at(body, `@odata.${name}`) ?? json.at(body, `@${name}`));
}
