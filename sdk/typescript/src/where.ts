/** A value in a filter. A list becomes `('a', 'b')`, and another filter is put in parentheses. */
export type WhereValue =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Where
  | readonly (string | number | bigint | boolean | Date)[];

/** A filter in the query language, created by the tag `where`. Its values are quoted and never spliced in. */
export class Where {
  readonly text: string;

  /** Creates a filter from a text, unchanged. For values use the tag `where`. */
  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/**
 * Returns a filter with values: where`status = ${status} AND department IN (${departments})`, or `IN ${departments}`.
 *
 * @throws TypeError for a value that has no literal, and for a placeholder inside quotes
 */
export function where(parts: TemplateStringsArray, ...values: readonly WhereValue[]): Where {
  let text = '';
  parts.forEach((part, index) => {
    text += part;
    if (index === values.length) return;
    if (isInsideQuotes(parts.slice(0, index + 1).join('0'))) {
      throw new TypeError(
        `The value ${index + 1} of a where is inside quotes. Leave out the quotes: the client adds them.`,
      );
    }
    text += literalOf(values[index], { inParentheses: /\(\s*$/.test(part) && /^\s*\)/.test(parts[index + 1] ?? '') });
  });
  return new Where(text);
}

/** Escapes a text so that `LIKE` finds it literally: where`name LIKE ${`%${escapeLike(word)}%`}`. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Returns whether the text ends inside quotes. `''` inside a text closes it and opens it again, which has the same effect. */
function isInsideQuotes(text: string): boolean {
  let open = '';
  for (const character of text) {
    if (open === character) open = '';
    else if (open === '' && (character === "'" || character === '`')) open = character;
  }
  return open !== '';
}

function literalOf(value: unknown, { inParentheses = false } = {}): string {
  if (value instanceof Where) return inParentheses ? value.text : `(${value.text})`;
  if (Array.isArray(value)) return listOf(value, inParentheses);
  if (value instanceof Date) return instantOf(value);
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (value === null || value === undefined) {
    throw new TypeError(
      `A where accepts no ${value}, because a comparison with it is never true. Write IS NULL or IS NOT NULL.`,
    );
  }
  throw new TypeError(
    `A where accepts texts, numbers, booleans, dates, lists of these and other wheres, not ${String(value)}.`,
  );
}

function listOf(values: readonly unknown[], inParentheses: boolean): string {
  if (values.length === 0) throw new TypeError('A where accepts no empty list: IN needs at least one value.');
  if (values.some((value) => Array.isArray(value) || value instanceof Where)) {
    throw new TypeError('A list in a where can contain only texts, numbers, booleans and dates.');
  }
  const literals = values.map((value) => literalOf(value)).join(', ');
  return inParentheses ? literals : `(${literals})`;
}

/** Rejects half of a surrogate pair, because it would reach the service as another character. */
function textOf(text: string): string {
  if (/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)) {
    throw new TypeError('A text in a where contains half of a surrogate pair, which is not a character.');
  }
  return `'${text.replaceAll("'", "''")}'`;
}

function instantOf(date: Date): string {
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new TypeError('A date in a where must be valid and in the years 0 to 9999.');
  return date.toISOString();
}
