import type { ComparisonOperator, LikePattern, PushedField, Translator, Value } from '#connector';
import {
  type Bracket,
  bracketDay,
  bracketInstant,
  bracketInteger,
  bracketNumber,
  escapeCharacter,
  isId,
  isPlain,
  MAX_STRING_LENGTH,
  neighboursOf,
  quote,
} from './literals.ts';

/**
 * Filters → the WHERE clause of SOQL. Source: SOQL and SOSL Reference, "Condition Expression Syntax".
 *
 * Null: nothing official says whether `!=`, NOT IN and NOT LIKE find records without a value (they do), and ours never match
 * them. So they always come with `… != null`, which is right either way. Boolean fields are never null, but `= null` finds the
 * false ones, so null is never written beside them.
 *
 * What a field declares decides what is written. `superset` operators on text are written so that no record is lost when Salesforce
 * sees two texts as one that we do not: "is not" becomes "has a value" unless the text is plain ASCII.
 *
 * Every group is in parentheses: AND and OR must not be mixed without them, and NOT must stand inside a pair of its own.
 */
export const translator: Translator<string> = {
  and: (operands) => group('AND', operands),
  or: (operands) => group('OR', operands),
  compare,
  in: among,
  like,
  isNull: (field, negated) => (negated ? anyValue(field) : `${field.native} = null`),
};

function group(word: 'AND' | 'OR', operands: readonly string[]): string {
  return operands.length === 1 ? operands.join('') : `(${operands.join(` ${word} `)})`;
}

/** True for every record that has a value. */
function anyValue(field: PushedField): string {
  return `${field.native} != null`;
}

function noValue(field: PushedField): string {
  return `(${field.native} = null AND ${field.native} != null)`;
}

function withValue(field: PushedField, condition: string): string {
  return field.nullable === false ? condition : group('AND', [condition, anyValue(field)]);
}

function compare(field: PushedField, operator: ComparisonOperator, value: Value): string {
  switch (value.kind) {
    case 'boolean':
      return `${field.native} = ${(operator === '!=') !== value.value}`;
    case 'string':
      return among(field, [value], operator === '!=');
    case 'number':
    case 'date':
    case 'datetime':
      return compareBracket(field, operator, bracketOf(field, value));
  }
}

function bracketOf(field: PushedField, value: Extract<Value, { readonly text: string }>): Bracket {
  if (value.kind === 'date') return bracketDay(value.text);
  if (value.kind === 'datetime') return bracketInstant(value.text);
  return field.type === 'integer' ? bracketInteger(field.nativeType, value.text) : bracketNumber(value.text);
}

function compareBracket(field: PushedField, operator: ComparisonOperator, bracket: Bracket): string {
  if (bracket.kind === 'possible') {
    if (field.filter?.[operator] !== 'exact') return compareWidely(field, operator, bracket.text);
    return operator === '!=' ? differsFrom(field, bracket.text) : `${field.native} ${operator} ${bracket.text}`;
  }
  if (operator === '=') return noValue(field);
  if (operator === '!=') return anyValue(field);
  const isBelow = operator === '<' || operator === '<=';
  if (bracket.kind === 'between') return `${field.native} ${isBelow ? '<=' : '>'} ${bracket.below}`;
  return isBelow === (bracket.kind === 'above all') ? anyValue(field) : noValue(field);
}

/** A formula may have more digits than a double shows. */
function compareWidely(field: PushedField, operator: ComparisonOperator, text: string): string {
  const { low, high } = neighboursOf(text);
  const atLeast = compareBound(field, '>=', low);
  const atMost = compareBound(field, '<=', high);
  switch (operator) {
    case '=':
      return group('AND', [atLeast, atMost]);
    case '!=':
      return anyValue(field);
    case '<':
    case '<=':
      return atMost;
    case '>':
    case '>=':
      return atLeast;
  }
}

function compareBound(field: PushedField, operator: '<=' | '>=', text: string): string {
  const bracket = bracketNumber(text);
  if (bracket.kind === 'possible') return `${field.native} ${operator} ${bracket.text}`;
  return bracket.kind === 'between' && operator === '>=' ? `${field.native} >= ${bracket.below}` : anyValue(field);
}

function differsFrom(field: PushedField, literal: string): string {
  return withValue(field, `${field.native} != ${literal}`);
}

/** One of several; an equality is a list of one. */
function among(field: PushedField, values: readonly Value[], negated: boolean): string {
  const isExact = field.filter?.[negated ? 'NOT IN' : 'IN'] === 'exact';
  const literals = values.flatMap((value) => literalOf(field, value, { isExact, negated }));
  if (literals.length === 0) return negated ? anyValue(field) : noValue(field);
  const list = literals.length === 1 ? literals.join('') : `(${literals.join(', ')})`;
  const word = literals.length === 1 ? { true: '!=', false: '=' } : { true: 'NOT IN', false: 'IN' };
  const condition = `${field.native} ${word[negated ? 'true' : 'false']} ${list}`;
  return negated ? withValue(field, condition) : condition;
}

interface Claim {
  readonly isExact: boolean;
  readonly negated: boolean;
}

/** None for a value that the field cannot have, or one that is better not told from others. */
function literalOf(field: PushedField, value: Value, { isExact, negated }: Claim): readonly string[] {
  if (value.kind === 'boolean') return [String(value.value)];
  if (value.kind === 'string') {
    const isWritten = isPossible(field, value.value) && (isExact || !negated || isPlain(value.value));
    return isWritten ? [quote(value.value)] : [];
  }
  const bracket = bracketOf(field, value);
  return bracket.kind === 'possible' && (isExact || !negated) ? [bracket.text] : [];
}

const ID_TYPES: ReadonlySet<string | undefined> = new Set(['id', 'reference']);

/** No record has an empty text: Salesforce stores null. Texts that can be filtered have at most 255 characters. */
function isPossible({ nativeType }: PushedField, text: string): boolean {
  if (ID_TYPES.has(nativeType)) return isId(text);
  return text !== '' && text.length <= MAX_STRING_LENGTH;
}

function like(field: PushedField, pattern: LikePattern, negated: boolean): string {
  const isExact = field.filter?.[negated ? 'NOT LIKE' : 'LIKE'] === 'exact';
  if (pattern.parts.length === 0) return negated ? anyValue(field) : noValue(field);
  if (pattern.parts.length === 1 && pattern.parts[0]?.kind === 'any') return negated ? noValue(field) : anyValue(field);
  const isSure = isExact || (isPlain(pattern.text) && !pattern.text.includes('\\'));
  if (negated && !isSure) return anyValue(field);
  const literal = `'${pattern.parts.map((part) => printPart(part, isExact)).join('')}'`;
  if (literal.length > MAX_STRING_LENGTH) return anyValue(field);
  const condition = `${field.native} LIKE ${literal}`;
  return negated ? group('AND', [`(NOT ${condition})`, anyValue(field)]) : condition;
}

function printPart(part: LikePattern['parts'][number], isExact: boolean): string {
  if (part.kind === 'any') return '%';
  if (part.kind === 'one') return '_';
  return part.text.replace(/['\\%_\p{Cc}]/gu, (character) => escapeInPattern(character, isExact));
}

/** Searching for a backslash is advised against: where the result is checked again, any character may stand for it. */
function escapeInPattern(character: string, isExact: boolean): string {
  if (character === '%' || character === '_') return `\\${character}`;
  return character === '\\' && !isExact ? '_' : escapeCharacter(character);
}
