import type { ComparisonOperator } from '../../where/ast.ts';
import type { LikeForm, LikePattern, Nulls, PushedField, Translator, Value } from '../../where/model.ts';

/** How a language whose filters are expressions writes them: what is absent it does not have. */
export interface InfixTable {
  /** The words between operands, without blanks. */
  readonly and: string;
  readonly or?: string;
  /** `groups` (the default) puts every AND and OR in parentheses; `none` is for languages that nest nothing. */
  readonly parentheses?: 'groups' | 'none';
  /** The words of comparisons. Those that fields declare must be here. */
  readonly words: Readonly<Partial<Record<ComparisonOperator, string>>>;
  /** A value as it stands in a filter. It owns quoting and escaping: no value may become syntax. */
  readonly literal: (value: Value, field: PushedField) => string;
  /** The field's name in filters. Default: its native name. */
  readonly field?: (field: PushedField) => string;
  /** One of several literals. Without it lists become equalities. */
  readonly in?: (field: string, literals: readonly string[]) => string;
  /** None of several literals. A language without it declares no NOT IN. */
  readonly notIn?: (field: string, literals: readonly string[]) => string;
  /** Patterns: each form that fields declare. */
  readonly like?: Readonly<Partial<Record<LikeForm, LikeWriter>>>;
  /** The opposite of a pattern that is written. */
  readonly notLike?: (condition: string) => string;
  readonly isNull?: (field: string) => string;
  readonly isNotNull?: (field: string) => string;
  /** See Translator. */
  readonly nulls?: Nulls;
  readonly terms?: (filter: string) => number;
}

/** Gets the field's name, the literal of the pattern's text, and for the forms that are more than a text the pattern. */
export type LikeWriter = (field: string, literal: string, pattern: LikePattern) => string;

/** A translator with the constructs that its table has. */
export type InfixTranslator<Table extends InfixTable> = Translator<string> &
  Required<Pick<Translator<string>, 'and' | 'compare' | Extract<keyof Table, 'or' | 'in' | 'like' | 'isNull'>>>;

/** A translator for a language of comparisons joined by words: SOQL, OData, JQL and their like. It prints, and decides nothing. */
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
    ...(nulls !== undefined && { nulls }),
    ...(terms !== undefined && { terms }),
  };
}

function join(operands: readonly string[], separator: string, parentheses: InfixTable['parentheses']): string {
  const joined = operands.join(separator);
  return operands.length === 1 || parentheses === 'none' ? joined : `(${joined})`;
}

/** A mistake in a declaration, which the suite of a connector finds: every operator that a field declares is tried there. */
function present<Entry>(entry: Entry, name: string): NonNullable<Entry> {
  if (entry == null) throw new Error(`A field declares ${name}, but the words of its language do not include it.`);
  return entry;
}

/** Texts in single quotes, a quote inside them doubled, as in SQL and OData. */
export function quoteDoubled(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A value without quotes: a number in plain decimals, a date, an instant in UTC, `true`, or the text itself. */
export function plainText(value: Value): string {
  return value.kind === 'string' || value.kind === 'boolean' ? String(value.value) : value.text;
}
