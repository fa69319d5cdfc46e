import { canonicalDecimal } from '../numbers/decimal.ts';
import type { Literal } from './ast.ts';
import { isDate, readDateTime } from './instant.ts';
import type { FieldType, Value } from './model.ts';

/** The types that a literal can have. Objects and arrays have no literals. */
export type ScalarType = Exclude<FieldType, 'object' | 'array'>;

/** An example of a value of each type, for error messages. */
export const TYPE_EXAMPLES: Readonly<Record<ScalarType, string>> = {
  string: "text in single quotes, such as 'abc'",
  number: 'a number, such as 12.5',
  integer: 'a whole number, such as 12',
  boolean: 'TRUE or FALSE',
  date: 'a date, such as 2026-01-31',
  datetime: 'a date-time, such as 2026-01-31T08:30:00Z',
};

const READERS: Readonly<Record<ScalarType, (literal: Literal) => Value | undefined>> = {
  string: (literal) => (literal.kind === 'string' ? { kind: 'string', value: literal.text } : undefined),
  number: readNumber,
  integer: (literal) => {
    const value = readNumber(literal);
    return value?.kind === 'number' && !value.text.includes('.') ? value : undefined;
  },
  boolean: (literal) => {
    if (literal.kind === 'boolean') return { kind: 'boolean', value: literal.value };
    const word = literal.kind === 'string' ? literal.text.toLowerCase() : '';
    return word === 'true' || word === 'false' ? { kind: 'boolean', value: word === 'true' } : undefined;
  },
  date: (literal) => {
    const text = literal.kind === 'date' || literal.kind === 'string' ? literal.text : '';
    return isDate(text) ? { kind: 'date', text } : undefined;
  },
  datetime: (literal) => {
    const written = literal.kind === 'date' || literal.kind === 'datetime' || literal.kind === 'string';
    return written ? readDateTime(literal.text) : undefined;
  },
};

/** Returns a literal as a value of the type, or undefined when it is none. Text can stand for any type: `'1'` is the number 1. */
export function readLiteral(literal: Literal, type: ScalarType): Value | undefined {
  return READERS[type](literal);
}

function readNumber(literal: Literal): Value | undefined {
  if (literal.kind !== 'number' && literal.kind !== 'string') return undefined;
  const text = canonicalDecimal(literal.text);
  return text === undefined ? undefined : { kind: 'number', text };
}
