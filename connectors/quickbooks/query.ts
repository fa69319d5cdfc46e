import {
  infix,
  json,
  type LikeWriter,
  type ListQuery,
  list,
  type ProviderRequest,
  type PushedField,
  plainText,
  type Value,
} from '#connector';

/** The version of the answers. From August 2025 on this is the only one. Source: "Minor versions". */
export const VERSION = { minorversion: 75 } as const;

export function queryFor(statement: string): ProviderRequest {
  return { path: '/query', query: { query: statement, ...VERSION } };
}

/**
 * A query with a character beyond ASCII is refused or misread, and `\'` is the only escape that is documented. An equality with a text that has
 * another character is not pushed; in patterns `%` stands for it. A blank by itself stands for null.
 */
const ODD = /[^\x20-\x5b\x5d-\x7e]/;

export const isAskable = (text: string) => !ODD.test(text) && text.trim() !== '';

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

/** Everything but true and false stands in quotes, and instants have an offset, as in the documented examples. */
function literal(value: Value): string {
  if (value.kind === 'boolean') return plainText(value);
  return quote(value.kind === 'datetime' ? value.text.replace(/Z$/, '+00:00') : plainText(value));
}

/** A reference is compared by its value, an e-mail address by its text; both under the name of the whole. */
function nameInFilter({ native }: PushedField): string {
  return native.replace(/\.(?:value|Address)$/, '');
}

/** `%` is the only wildcard, and has no escape: it stands for `_` and for itself, too. All patterns are checked again. */
const like: LikeWriter = (field, _, { parts }) => {
  const pieces = parts.map((part) => (part.kind === 'text' ? part.text.split(ODD).join('%') : '%'));
  return `${field} LIKE ${quote(pieces.join(''))}`;
};

/** Filters → the WHERE clause. Source: "Query operations and syntax". There is no OR, no NOT, and nothing about nulls. */
export const translator = infix({
  and: 'AND',
  parentheses: 'none',
  words: { '=': '=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' },
  literal,
  field: nameInFilter,
  in: (field, literals) => `${field} IN (${literals.join(', ')})`,
  like: { literal: like, prefix: like, suffix: like, contains: like, pattern: like },
});

/**
 * The rows of an entity. Source: "Query operations and syntax", "Pagination".
 * @param hasInactive without being asked for them, QuickBooks leaves out the inactive ones
 */
export function listOf(entity: string, hasInactive: boolean) {
  return list<string>({
    request: (query) => queryFor(printStatement(entity, hasInactive, query)),
    // Without rows, QuickBooks leaves the member out.
    rows: (body) => {
      const response = json.object(json.at(body, 'QueryResponse'), 'the rows of the query');
      return json.array(response[entity] ?? [], `the rows of ${entity}`);
    },
    paging: { kind: 'offset', offset: 'start', size: 'size', max: 1000 },
    order: { term: (native, direction) => `${native} ${direction.toUpperCase()}`, join: ', ', id: 'Id' },
  });
}

function printStatement(entity: string, hasInactive: boolean, { filter, order, page }: ListQuery<string>): string {
  const everyone = hasInactive && !namesActive(filter) ? ['Active IN (true, false)'] : [];
  const conditions = [...(filter === undefined ? [] : [filter]), ...everyone];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `SELECT * FROM ${entity}${where} ORDERBY ${order} STARTPOSITION ${Number(page.start) + 1} MAXRESULTS ${page.size}`;
}

/** Outside of quotes. */
function namesActive(filter = ''): boolean {
  return /\bActive /.test(filter.replace(/'(?:\\.|[^'\\])*'/g, ''));
}
