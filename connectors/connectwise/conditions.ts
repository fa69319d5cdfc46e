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
 * Characters that documents do not define for a text in a condition: how they are escaped, and what `[` and `\` mean in a pattern. A quote
 * needs no escape, because the text stands between quotes of the other kind.
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

/**
 * Returns the name of a field in conditions: references are separated by `/`, and the time of the last change has the name in the
 * documents.
 */
function nameInConditions(native: string): string {
  return native.replace(/^_info\.(?=lastUpdated$)/, '').replaceAll('.', '/');
}

/** `%` stands for every character of which it is not sure what it means. All patterns are checked again. */
const like: LikeWriter = (field, _, { parts }) => {
  const pieces = parts.map((part) => (part.kind === 'text' ? part.text.split(ODD_IN_PATTERN).join('%') : '%'));
  return `${field} like ${quote(pieces.join(''))}`;
};

/** ConnectWise refuses an address of more than 10,000 characters, and conditions stand in it. */
const LONGEST = 9000;

/** Filters → `conditions`. Source: "PSA API Requests". */
export const translator: Translator<string> = {
  ...infix({
    and: 'and',
    or: 'or',
    words: { '=': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' },
    literal,
    field: ({ native }: PushedField) => nameInConditions(native),
    in: (field, literals) => `${field} in (${literals.join(', ')})`,
    // `not` is among the operators, but not shown with a list.
    notIn: (field, literals) => `(${literals.map((each) => `${field} != ${each}`).join(' and ')})`,
    like: { literal: like, prefix: like, suffix: like, contains: like, pattern: like },
    isNull: (field) => `${field} = null`,
    isNotNull: (field) => `${field} != null`,
  }),
  fault: (conditions) =>
    encodeURIComponent(conditions).length > LONGEST ? 'the URL of the request would be too long' : undefined,
};

/** The rows of a list, and what of them is always asked for. */
export interface ListSource {
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
 * A list: by id in pages that begin behind an id, so that nothing is passed over when rows come and go; in another order by numbered pages.
 * Source: "PSA Pagination".
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
      // One row more than is shown tells by being there that the list goes on: a link onward comes with the last page, too.
      return { path, query: { conditions, pageSize: input.limit + 1, pageId: input.cursor }, headers: FORWARD };
    },
    read: (response, input) => (isById(input) ? readForward(response, input) : ordered.read(response, input)),
  };
}

/** Forward-only pages come by their id, and in no other order. */
function isById({ orderBy }: Query): boolean {
  return orderBy.every(({ field, direction }) => field.native === 'id' && direction === 'asc');
}

function readForward({ body }: ProviderResponse, { limit }: Query) {
  const rows = rowsOf(body);
  const records = rows.slice(0, limit);
  return { records, ...(rows.length > limit && { next: json.key(records.at(-1)?.id, 'the id of a row') }) };
}
