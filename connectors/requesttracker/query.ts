import { infix, type LikePattern, type PushedField, plainText, type Translator, type Value } from '#connector';

/** A text in TicketSQL. Both signs are escaped by a backslash; there is no other escape. */
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

/** TicketSQL and TransactionSQL: no NOT, no IN, LIKE finds what contains the text, days and texts are traps. */
export const ticketSql: Translator<string> = {
  ...language,
  compare: (field, operator, value) => {
    if (value.kind === 'datetime') return bound(field, operator, value);
    if (field.type === 'string' && isColumn(value)) return contains(field, plainText(value));
    return language.compare(field, operator, value);
  },
  like: writeLike,
};

/** Even in quotes this is taken for the name of a custom field: `CF.{Severity}`. */
function isColumn(value: Value): boolean {
  return value.kind === 'string' && /^CF\./i.test(value.value);
}

/** More rows than are meant may come: signs of patterns keep their meaning in the database. */
function contains({ native }: PushedField, text: string): string {
  // The sign in front is there anyway, and keeps the text from being taken for a column.
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
/** The day after which years have five digits, in some zone. */
const LAST_MS = Date.UTC(9999, 11, 30);

/**
 * Instants are read on the clocks of whoever logs in, whatever zone stands behind them, and `=` would mean the whole day. No zone is
 * as much as a day away from UTC.
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
