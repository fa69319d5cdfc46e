import type { ComparisonOperator } from '../../where/ast.ts';
import type { LikeForm, LikePattern, Nulls, PushedField, Translator, Value } from '../../where/model.ts';
import { defined } from './kinds.ts';

/** The notation of a language of filter expressions. A language has only the constructs that its table has. */
export interface InfixTable {
  /** The word between two operands, without blanks around it. */
  readonly and: string;
  readonly or?: string;
  /** Parentheses: `groups` (the default) encloses every AND and OR; `none` is for languages without nesting. */
  readonly parentheses?: 'groups' | 'none';
  /** The word of each comparison operator. Every operator that a field declares must be here. */
  readonly words: Readonly<Partial<Record<ComparisonOperator, string>>>;
  /** Returns a value as it is written in a filter. It owns quoting and escaping: no value may become syntax. */
  readonly literal: (value: Value, field: PushedField) => string;
  /** Returns the field's name in filters. Default: its native name. */
  readonly field?: (field: PushedField) => string;
  /** Returns a test for one of several literals. Without it, lists become equalities. */
  readonly in?: (field: string, literals: readonly string[]) => string;
  /** Returns a test for none of several literals. A language without it declares no NOT IN. */
  readonly notIn?: (field: string, literals: readonly string[]) => string;
  /** The notation of patterns, by form. Every form that a field declares must be here. */
  readonly like?: Readonly<Partial<Record<LikeForm, LikeWriter>>>;
  /** Returns the negation of a written pattern. */
  readonly notLike?: (condition: string) => string;
  readonly isNull?: (field: string) => string;
  readonly isNotNull?: (field: string) => string;
  /** Whether `!=`, NOT IN and NOT LIKE of the provider match missing values, see `Nulls`. Default `different`. */
  readonly nulls?: Nulls;
  /** Returns how many of the provider's terms a filter has, see `Translator.terms`. */
  readonly terms?: (filter: string) => number;
}

/**
 * Writes a pattern. It receives the field's name, the literal of the pattern's text, and the whole pattern for forms that are more than a
 * text.
 */
export type LikeWriter = (field: string, literal: string, pattern: LikePattern) => string;

/** A translator with the constructs that its table has. */
export type InfixTranslator<Table extends InfixTable> = Translator<string> &
  Required<Pick<Translator<string>, 'and' | 'compare' | Extract<keyof Table, 'or' | 'in' | 'like' | 'isNull'>>>;

/**
 * Returns a translator for a language of comparisons that are joined by words, such as SOQL, OData or JQL.
 * @throws Error, when it translates, for an operator that a field declares and the table lacks
 */
export function infix<const Table extends InfixTable>(table: Table): InfixTranslator<Table>;
export function infix(table: InfixTable): Translator<string> {
  const { words, literal, like, isNull, isNotNull, nulls, terms } = table;
  const nameOf = table.field ?? (({ native }: PushedField) => native);
  const group = (word: string) => (operands: readonly string[]) => join(operands, ` ${word} `, table.parentheses);
  return {
    and: group(table.and),
    ...(table.or !== undefined && { or: group(table.or) }),
    compare: (field, operator, value) =>
      `${nameOf(field)} ${present(words[operator], operator)} ${literal(value, field)}`,
    ...(table.in !== undefined && {
      in: (field, values, negated) => {
        const write = present(negated ? table.notIn : table.in, negated ? 'NOT IN' : 'IN');
        return write(
          nameOf(field),
          values.map((value) => literal(value, field)),
        );
      },
    }),
    ...(like !== undefined && {
      like: (field, pattern, negated) => {
        const write = present(like[pattern.form], `LIKE of the form ${pattern.form}`);
        const condition = write(nameOf(field), literal({ kind: 'string', value: pattern.text }, field), pattern);
        return negated ? present(table.notLike, 'NOT LIKE')(condition) : condition;
      },
    }),
    ...(isNull !== undefined && {
      isNull: (field, negated) => (negated ? present(isNotNull, 'IS NOT NULL')(nameOf(field)) : isNull(nameOf(field))),
    }),
    ...defined({ nulls, terms }),
  };
}

function join(operands: readonly string[], separator: string, parentheses: InfixTable['parentheses']): string {
  const joined = operands.join(separator);
  return operands.length === 1 || parentheses === 'none' ? joined : `(${joined})`;
}

/** Throws for a mistake in a declaration. The suite of a connector finds it, because it tries every operator that a field declares. */
function present<Entry>(entry: Entry, name: string): NonNullable<Entry> {
  if (entry == null) throw new Error(`A field declares ${name}, but the words of its language do not include it.`);
  return entry;
}

/** Returns a text in single quotes and doubles the quotes inside it, as SQL and OData do. */
export function quoteDoubled(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns a value without quotes: a number as a plain decimal, a date, an instant in UTC, `true` or `false`, or the text itself. */
export function plainText(value: Value): string {
  return value.kind === 'string' || value.kind === 'boolean' ? String(value.value) : value.text;
}
