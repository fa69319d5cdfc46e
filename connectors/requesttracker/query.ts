import { infix, type LikePattern, type PushedField, plainText, type Translator, type Value } from '#connector';

/** Quotes a text for TicketSQL. A backslash escapes a quote and a backslash, and there are no other escapes. */
export function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

const language = infix({
  and: 'AND',
  or: 'OR',
  words: { '=': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' },
  literal: (value) => quote(plainText(value)),
  isNull: (field) => `${field} IS NULL`,
  isNotNull: (field) => `${field} IS NOT NULL`,
});

/**
 * Prints TicketSQL and TransactionSQL. They have no NOT and no IN, LIKE finds texts that contain the value, and days and some texts have a
 * special meaning.
 */
export const ticketSql: Translator<string> = {
  ...language,
  compare: (field, operator, value) => {
    if (value.kind === 'datetime') return bound(field, operator, value);
    if (field.type === 'string' && isColumn(value)) return contains(field, plainText(value));
    return language.compare(field, operator, value);
  },
  like: writeLike,
};

/** Returns whether Request Tracker reads a value as the name of a custom field, even in quotes: `CF.{Severity}`. */
function isColumn(value: Value): boolean {
  return value.kind === 'string' && /^CF\./i.test(value.value);
}

/** Prints a search for a part of a text. Wildcards in the text remain active in the database, so Request Tracker may return more rows. */
function contains({ native }: PushedField, text: string): string {
  // Request Tracker adds this wildcard in any case. It prevents the text from being read as a column.
  return `${native} LIKE ${quote(`%${text}`)}`;
}

function writeLike(field: PushedField, { form, text, parts }: LikePattern): string {
  const { native } = field;
  switch (form) {
    case 'literal':
      return isColumn({ kind: 'string', value: text }) ? contains(field, text) : `${native} = ${quote(text)}`;
    case 'prefix':
      return isColumn({ kind: 'string', value: text }) ? contains(field, text) : `${native} STARTSWITH ${quote(text)}`;
    case 'suffix':
      return `${native} ENDSWITH ${quote(`%${text}`)}`;
    case 'contains':
      return contains(field, text);
    case 'pattern':
      // The pattern would not match texts that are null in the database.
      if (parts.every(({ kind }) => kind === 'any')) return 'id > 0';
      return contains(field, parts.map((part) => (part.kind === 'text' ? part.text : SIGNS[part.kind])).join(''));
  }
}

const SIGNS = { any: '%', one: '_' } as const;

const DAY_MS = 86_400_000;
/** The day after which years have five digits in some time zone. */
const LAST_MS = Date.UTC(9999, 11, 30);

/**
 * Prints a bound of a time. Request Tracker reads times in the zone of the user who logged in, whatever zone they contain, and `=` would
 * match the whole day. Every zone differs from UTC by less than a day, so the bound moves by a day.
 */
function bound({ native }: PushedField, operator: string, { epochMs }: Extract<Value, { kind: 'datetime' }>): string {
  const after = `${native} >= ${quote(print(epochMs - DAY_MS))}`;
  const until = epochMs + DAY_MS > LAST_MS ? `${native} IS NOT NULL` : `${native} <= ${quote(print(epochMs + DAY_MS))}`;
  if (operator === '=') return `(${after} AND ${until})`;
  return operator.startsWith('>') ? after : until;
}

function print(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
