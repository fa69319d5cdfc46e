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

/** Version of the responses. From August 2025 on it is the only one. Source: "Minor versions". */
export const VERSION = { minorversion: 75 } as const;

export function queryFor(statement: string): ProviderRequest {
  return { path: '/query', query: { query: statement, ...VERSION } };
}

/**
 * Characters that queries cannot contain. QuickBooks rejects or misreads a query with a character beyond ASCII, and `\'` is the only
 * documented escape. An equality with such a text is not pushed, and in patterns `%` replaces the character. A single blank stands for
 * null.
 */
const ODD = /[^\x20-\x5b\x5d-\x7e]/;

export const isAskable = (text: string) => !ODD.test(text) && text.trim() !== '';

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

/** Prints a value. Everything except true and false has quotes, and times have an offset, as in the documented examples. */
function literal(value: Value): string {
  if (value.kind === 'boolean') return plainText(value);
  return quote(value.kind === 'datetime' ? value.text.replace(/Z$/, '+00:00') : plainText(value));
}

/**
 * Returns the name of a field in filters. A filter compares the value of a reference, and the text of an e-mail address, both under the
 * name of the whole.
 */
function nameInFilter({ native }: PushedField): string {
  return native.replace(/\.(?:value|Address)$/, '');
}

/** Prints a pattern. `%` is the only wildcard and cannot be escaped, so it replaces `_` and `%`, too. All patterns are checked again. */
const like: LikeWriter = (field, _, { parts }) => {
  const pieces = parts.map((part) => (part.kind === 'text' ? part.text.split(ODD).join('%') : '%'));
  return `${field} LIKE ${quote(pieces.join(''))}`;
};

/**
 * Prints a filter as the WHERE clause. Source: "Query operations and syntax". The language has no OR, no NOT, and no conditions about null.
 */
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
 * Returns the list operation of an entity. Source: "Query operations and syntax", "Pagination".
 * @param hasInactive whether the entity has inactive records, which QuickBooks returns only on request
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

/** Returns whether a filter names the field `Active` outside of quotes. */
function namesActive(filter = ''): boolean {
  return /\bActive /.test(filter.replace(/'(?:\\.|[^'\\])*'/g, ''));
}
