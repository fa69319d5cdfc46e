import {
  infix,
  json,
  type LikeWriter,
  type ListOperation,
  type ListQuery,
  list,
  type ProviderResponse,
  type PushedField,
  plainText,
  type Translator,
  type Value,
} from '#connector';

/**
 * Characters with an undocumented meaning in a condition: how they are escaped, and what `[` and `\` mean in a pattern. A quote needs no
 * escape, because the text has quotes of the other kind.
 */
const ODD = /[[\\\p{Cc}\p{Cs}]/u;
const ODD_IN_PATTERN = /["[\\\p{Cc}\p{Cs}]/u;

export const isAskable = (text: string) =>
  text !== '' && !ODD.test(text) && !(text.includes('"') && text.includes("'"));

function quote(text: string): string {
  return text.includes('"') ? `'${text}'` : `"${text}"`;
}

function literal(value: Value): string {
  if (value.kind === 'string') return quote(value.value);
  return value.kind === 'datetime' ? `[${value.text}]` : plainText(value);
}

/** Returns the name of a field in conditions. References are separated by `/`, and the time of the last change has its documented name. */
function nameInConditions(native: string): string {
  return native.replace(/^_info\.(?=lastUpdated$)/, '').replaceAll('.', '/');
}

/** Prints a pattern. `%` replaces every character of uncertain meaning, and all patterns are checked again. */
const like: LikeWriter = (field, _, { parts }) => {
  const pieces = parts.map((part) => (part.kind === 'text' ? part.text.split(ODD_IN_PATTERN).join('%') : '%'));
  return `${field} like ${quote(pieces.join(''))}`;
};

/** Maximum length of encoded conditions. ConnectWise rejects a URL of more than 10,000 characters, and conditions are part of it. */
const LONGEST = 9000;

/** Prints a filter as `conditions`. Source: "PSA API Requests". */
export const translator: Translator<string> = {
  ...infix({
    and: 'and',
    or: 'or',
    words: { '=': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' },
    literal,
    field: ({ native }: PushedField) => nameInConditions(native),
    in: (field, literals) => `${field} in (${literals.join(', ')})`,
    // `not` is a documented operator, but no document shows it with a list.
    notIn: (field, literals) => `(${literals.map((each) => `${field} != ${each}`).join(' and ')})`,
    like: { literal: like, prefix: like, suffix: like, contains: like, pattern: like },
    isNull: (field) => `${field} = null`,
    isNotNull: (field) => `${field} != null`,
  }),
  fault: (conditions) =>
    encodeURIComponent(conditions).length > LONGEST ? 'the URL of the request would be too long' : undefined,
};

/** The path of a list, and a condition that applies to each of its requests. */
interface ListSource {
  readonly path: string;
  readonly condition?: string;
}

export const FORWARD = { 'pagination-type': 'forward-only' } as const;
export const MOST_ROWS = 1000;

export const rowsOf = (body: unknown) => json.objects(body, 'the rows');
export const joined = (...conditions: readonly (string | undefined)[]) =>
  conditions.filter((condition) => condition !== undefined).join(' and ') || undefined;

type Query = Pick<ListQuery<string>, 'filter' | 'parentId' | 'limit' | 'cursor' | 'orderBy'>;

/**
 * Returns the operation for a list. By id, a page begins after an id, so that no row is skipped when rows are added or removed. In another
 * order, pages have numbers. Source: "PSA Pagination".
 */
export function listOf(positionOf: (parentId: string) => ListSource): ListOperation<string> {
  const ask = ({ filter, parentId = '' }: Query) => {
    const { path, condition } = positionOf(parentId);
    return { path, conditions: joined(condition, filter) };
  };
  const ordered = list<string>({
    request: (query) => {
      const { path, conditions } = ask(query);
      return { path, query: { conditions, orderBy: query.order, ...query.page } };
    },
    rows: rowsOf,
    paging: { kind: 'number', page: 'page', size: 'pageSize', max: MOST_ROWS },
    order: { term: (native, direction) => `${nameInConditions(native)} ${direction}` },
  });
  return {
    maxPageSize: ordered.maxPageSize,
    request: (input, config) => {
      if (!isById(input)) return ordered.request(input, config);
      const { path, conditions } = ask(input);
      // One row more than the page shows whether more rows follow: the last page has a link to a next one, too.
      return { path, query: { conditions, pageSize: input.limit + 1, pageId: input.cursor }, headers: FORWARD };
    },
    read: (response, input) => (isById(input) ? readForward(response, input) : ordered.read(response, input)),
  };
}

/** Returns whether a query can use forward-only pages, which are always sorted by id. */
function isById({ orderBy }: Query): boolean {
  return orderBy.every(({ field, direction }) => field.native === 'id' && direction === 'asc');
}

function readForward({ body }: ProviderResponse, { limit }: Query) {
  const rows = rowsOf(body);
  const records = rows.slice(0, limit);
  return { records, ...(rows.length > limit && { next: json.key(records.at(-1)?.id, 'the id of a row') }) };
}
