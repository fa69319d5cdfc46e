import type { LikeForm, LikePattern, Nulls, PushedField, Translator, Value } from '../../where/model.ts';
import { plainText } from './infix.ts';
import type { InputOperator } from './inputs.ts';
import { defined } from './kinds.ts';

/** A condition on one field, in the words of the provider. */
export interface ConditionParts {
  readonly field: PushedField;
  /** The provider's word for the operator. */
  readonly operator: string;
  /** The value of a comparison or a pattern. It is absent for lists and tests for a missing value. */
  readonly value?: unknown;
  /** The values of IN and NOT IN. */
  readonly values?: readonly unknown[];
}

/** A provider's notation of filters that are JSON. A provider has only the constructs that its table has. */
export interface ConditionTable<Native> {
  /** The provider's word for each operator. Every operator that a field declares must be here. */
  readonly operators: Readonly<Partial<Record<InputOperator | 'IS NULL' | 'IS NOT NULL', string>>>;
  /** The provider's word for patterns by form. Every form that a field declares must be here. */
  readonly like?: Readonly<Partial<Record<LikeForm, string>>>;
  /** The provider's word for negated patterns by form. */
  readonly notLike?: Readonly<Partial<Record<LikeForm, string>>>;
  /** Returns the value of a pattern. Default: its text, as `value` writes it. */
  readonly pattern?: (pattern: LikePattern, field: PushedField) => unknown;
  /** Returns a value as a condition holds it. Default: a plain decimal, ISO 8601 in UTC, `true` or `false`, or the text itself. */
  readonly value?: (value: Value, field: PushedField, operator: string) => unknown;
  /** Returns the condition as the provider writes it. */
  readonly condition: (parts: ConditionParts) => Native;
  /** Joins conditions by AND. */
  readonly and: (operands: readonly Native[]) => Native;
  /** Joins conditions by OR. */
  readonly or?: (operands: readonly Native[]) => Native;
  /** Whether `!=`, NOT IN and NOT LIKE of the provider match missing values, see `Nulls`. Default `different`. */
  readonly nulls?: Nulls;
  /** Returns how many of the provider's terms a filter has, see `Translator.terms`. */
  readonly terms?: Translator<Native>['terms'];
  /** Returns why the provider does not accept a filter, see `Translator.fault`. */
  readonly fault?: Translator<Native>['fault'];
}

/**
 * Returns a translator for providers whose filters are JSON, such as HubSpot, Notion or Intercom. Texts become values of the JSON, so they
 * need no quoting.
 * @throws Error, when it translates, for an operator that a field declares and the table lacks
 */
export function conditions<Native>(table: ConditionTable<Native>): Translator<Native> {
  const { operators, condition, and, or, like, nulls, terms, fault } = table;
  const writeValue = table.value ?? ((value: Value) => plainText(value));
  const wordFor = (name: keyof typeof operators) => present(operators[name], name);
  const hasLists = operators.IN !== undefined || operators['NOT IN'] !== undefined;
  const hasNulls = operators['IS NULL'] !== undefined || operators['IS NOT NULL'] !== undefined;
  return {
    and: joinBy(and),
    ...(or !== undefined && { or: joinBy(or) }),
    compare: (field, name, value) => {
      const operator = wordFor(name);
      return condition({ field, operator, value: writeValue(value, field, operator) });
    },
    ...(hasLists && {
      in: (field, values, negated) => {
        const operator = wordFor(negated ? 'NOT IN' : 'IN');
        return condition({ field, operator, values: values.map((value) => writeValue(value, field, operator)) });
      },
    }),
    ...(like !== undefined && {
      like: (field, pattern, negated) => {
        const operator = present((negated ? table.notLike : like)?.[pattern.form], `LIKE of the form ${pattern.form}`);
        const write = table.pattern ?? (({ text }) => writeValue({ kind: 'string', value: text }, field, operator));
        return condition({ field, operator, value: write(pattern, field) });
      },
    }),
    ...(hasNulls && {
      isNull: (field, negated) => condition({ field, operator: wordFor(negated ? 'IS NOT NULL' : 'IS NULL') }),
    }),
    ...defined({ nulls, terms, fault }),
  };
}

/** One condition needs no join. */
function joinBy<Native>(join: (operands: readonly Native[]) => Native): (operands: readonly Native[]) => Native {
  return (operands) => {
    const [first] = operands;
    return operands.length === 1 && first !== undefined ? first : join(operands);
  };
}

/** Throws for a mistake in a declaration. The suite of a connector finds it, because it tries every operator that a field declares. */
function present(word: string | undefined, name: string): string {
  if (word === undefined)
    throw new Error(`A field declares ${name}, but the conditions of its provider have no word for it.`);
  return word;
}
