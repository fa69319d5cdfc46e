import type { ComparisonOperator, Operator } from './ast.ts';
import { type Folding, foldingOfEverything, foldingTowards, foldText } from './collation.ts';
import type { Condition } from './condition.ts';
import { printLikePattern } from './like.ts';
import type { Exactness, LikePattern, PushedField, Translator, Value } from './model.ts';
import { translate } from './translate.ts';

/** A condition for `knex.raw` and `whereRaw`: it has a `?` for each binding and no value in its text. */
export interface Sql {
  readonly sql: string;
  readonly bindings: readonly (string | string[])[];
}

/**
 * SQL expressions by field, such as `d.config->>'url'`. They are trusted texts without a `?`. Each yields the field's type: text, numeric
 * or any integer (never a double, which would round), boolean, date, or timestamptz.
 */
export type SqlColumns = Readonly<Record<string, string>>;

/** All operators as `exact`, for fields of the platform's tables: PostgreSQL evaluates every operator exactly. */
export const EXACT_IN_SQL = {
  '=': 'exact',
  '!=': 'exact',
  '<': 'exact',
  '<=': 'exact',
  '>': 'exact',
  '>=': 'exact',
  IN: 'exact',
  'NOT IN': 'exact',
  LIKE: 'exact',
  'NOT LIKE': 'exact',
  'IS NULL': 'exact',
  'IS NOT NULL': 'exact',
} as const satisfies Record<Operator, Exactness>;

/**
 * Returns the condition in the SQL of PostgreSQL 15 or later. It is true for exactly the rows that `compileCondition` matches, in any
 * locale of the database. The encoding of the database must be UTF-8.
 */
export function toSql(condition: Condition, columns: SqlColumns): Sql {
  return translate(condition, createSqlTranslator(columns));
}

function createSqlTranslator(columns: SqlColumns): Translator<Sql> {
  const columnOf = ({ name }: PushedField): Sql => {
    const column = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (column === undefined) throw new Error(`The field '${name}' has no column.`);
    return { sql: `(${column})`, bindings: [] };
  };
  return {
    and: (operands) => joinSql('and', operands),
    or: (operands) => joinSql('or', operands),
    compare: (field, operator, value) => compare(columnOf(field), field, operator, value),
    in: (field, values, negated) => among(columnOf(field), field, values, negated),
    like: (field, pattern, negated) => like(columnOf(field), field, pattern, negated),
    isNull: (field, negated) => isNull(columnOf(field), negated),
  };
}

/** Replaces each `{}` of a template by a part, in their order. */
function fill(template: string, ...parts: readonly Sql[]): Sql {
  const pieces = template.split('{}');
  return {
    sql: pieces.map((piece, index) => piece + (parts[index]?.sql ?? '')).join(''),
    bindings: parts.flatMap((part) => part.bindings),
  };
}

function bind(value: string | string[], cast: string): Sql {
  return { sql: `?::${cast}`, bindings: [value] };
}

function joinSql(word: 'and' | 'or', operands: readonly Sql[]): Sql {
  return {
    sql: `(${operands.map(({ sql }) => sql).join(` ${word} `)})`,
    bindings: operands.flatMap(({ bindings }) => bindings),
  };
}

function isNull(column: Sql, negated: boolean): Sql {
  return fill(`{} is ${negated ? 'not ' : ''}null`, column);
}

const NEVER: Sql = { sql: 'false', bindings: [] };

/** The part of a value that a column can hold: the value itself, or the greatest one below it. */
interface Held {
  readonly text: string;
  readonly isExact: boolean;
}

function held(value: Value, field: PushedField): Held {
  switch (value.kind) {
    case 'string':
      return heldText(foldText(value.value, field.collation));
    case 'datetime':
      return heldInstant(value);
    case 'date':
      return { text: dated(value.text), isExact: true };
    case 'number':
      return { text: value.text, isExact: true };
    case 'boolean':
      return { text: String(value.value), isExact: true };
  }
}

/** PostgreSQL's text has no NUL. The text before it is the greatest one below a text with a NUL. */
function heldText(text: string): Held {
  const end = text.indexOf('\0');
  return end === -1 ? { text, isExact: true } : { text: text.slice(0, end), isExact: false };
}

/** A timestamptz has microseconds. */
function heldInstant({ text, nanos }: Extract<Value, { kind: 'datetime' }>): Held {
  const cut = text
    .replace(/(\.\d{6})\d+/, '$1')
    .replace('T', ' ')
    .replace('Z', '+00');
  return { text: dated(cut), isExact: nanos % 1000 === 0 };
}

/** ISO 8601 has a year 0000, which is 1 BC in PostgreSQL. */
function dated(text: string): string {
  return text.startsWith('0000') ? `0001${text.slice(4)} BC` : text;
}

function castOf(field: PushedField, values: readonly Held[]): string {
  if (field.type === 'integer') return values.every(({ text }) => fitsBigint(text)) ? 'bigint' : 'numeric';
  return CASTS[field.type];
}

const CASTS = {
  string: 'text',
  number: 'numeric',
  boolean: 'boolean',
  date: 'date',
  datetime: 'timestamptz',
  object: 'jsonb',
  array: 'jsonb',
} as const;

function fitsBigint(text: string): boolean {
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** The operators for values between two that the column can hold, where the literal is the lower one. */
const AROUND: Readonly<Partial<Record<ComparisonOperator, ComparisonOperator>>> = {
  '<': '<=',
  '<=': '<=',
  '>': '>',
  '>=': '>',
};

function compare(column: Sql, field: PushedField, operator: ComparisonOperator, value: Value): Sql {
  const limit = held(value, field);
  const sqlOperator = limit.isExact ? operator : AROUND[operator];
  if (sqlOperator === undefined) return operator === '=' ? NEVER : isNull(column, true);
  const isOrdered = operator !== '=' && operator !== '!=';
  const folding = isOrdered ? foldingOfEverything : () => foldingTowards(limit.text);
  return fill(`{} ${sqlOperator} {}`, operand(column, field, folding), bind(limit.text, castOf(field, [limit])));
}

function among(column: Sql, field: PushedField, values: readonly Value[], negated: boolean): Sql {
  const possible = values.map((value) => held(value, field)).filter(({ isExact }) => isExact);
  if (possible.length === 0) return negated ? isNull(column, true) : NEVER;
  const texts = possible.map(({ text }) => text);
  const left = operand(column, field, () => foldingTowards(texts.join('')));
  return fill(negated ? '{} <> all({})' : '{} = any({})', left, bind(texts, `${castOf(field, possible)}[]`));
}

function like(column: Sql, field: PushedField, pattern: LikePattern, negated: boolean): Sql {
  const text = foldText(printLikePattern(pattern), field.collation);
  if (text.includes('\0')) return negated ? isNull(column, true) : NEVER;
  const left = operand(column, field, () => foldingTowards(text));
  return fill(`{} ${negated ? 'not ' : ''}like {} escape '\\'`, left, bind(text, 'text'));
}

/**
 * Returns the column as it is compared. `collate "C"` is the order of code points everywhere. Cases are folded with our own table, because
 * `lower` depends on the database's locale and version, except for ASCII.
 */
function operand(column: Sql, field: PushedField, foldingOf: () => Folding): Sql {
  if (field.type !== 'string') return column;
  if (field.collation !== 'ci') return fill('{} collate "C"', column);
  const folding = foldingOf();
  if (folding.from.length === 0) return fill('{} collate "C"', column);
  const folded = fill('translate({}, {}, {})', column, bindList(folding.from), bindList(folding.to));
  if (folding.from.length < LONG_TABLE) return fill('{} collate "C"', folded);
  const isAscii = fill('octet_length({}) = length({})', column, column);
  return fill('case when {} then lower({} collate "C") else {} end collate "C"', isAscii, column, folded);
}

/** `translate` reads its whole table for every character. Beyond this length it is skipped where the text is ASCII. */
const LONG_TABLE = 256;

function bindList(characters: readonly string[]): Sql {
  return bind(characters.join(''), 'text');
}
