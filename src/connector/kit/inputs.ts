import { canonicalDecimal, compareDecimals } from '../../numbers/decimal.ts';
import type { ComparisonOperator } from '../../where/ast.ts';
import type { PushedField, Translator, Value } from '../../where/model.ts';
import { plainText } from './infix.ts';

/** Query parameters that filter a list: one text each, or several for a parameter that is repeated. */
export type Inputs = Readonly<Record<string, string | readonly string[]>>;

/** An operator that can have a query parameter. */
export type InputOperator = ComparisonOperator | 'IN' | 'NOT IN';

/** The query parameters by which a field is filtered. */
export type Input =
  /** One parameter for `=` and IN. The items of IN are joined by the separator. */
  | string
  /** The bounds of a range. `=` sets both, and `>` and `>=` both set `from`. Declare the operators that the bounds really have. */
  | { readonly from?: string; readonly to?: string }
  /** One parameter for each operator, e.g. `{ '>': 'created[gt]' }`. */
  | { readonly by: Readonly<Partial<Record<InputOperator, string>>> }
  /** One parameter that is repeated, with a text for each predicate. */
  | { readonly repeated: string; readonly text: (native: string, operator: InputOperator, value: string) => string };

/** Options of a translator to query parameters. */
export interface InputOptions {
  /** Returns a value as it is written in a parameter. Default: a plain decimal, ISO 8601 in UTC, `true` or `false`, or the text itself. */
  readonly text?: (value: Value, field: PushedField) => string;
  /** Whether `!=` and NOT IN of the provider match missing values, see `Nulls`. Default `different`. */
  readonly nulls?: Translator<Inputs>['nulls'];
}

/**
 * Returns a translator for providers that filter by query parameters. The table maps field names to parameters. Predicates joined by AND
 * set their parameters together. Of two bounds the narrower one is sent. For any other parameter only one value can be sent, and the core
 * checks the other predicate itself.
 * @param separator the text between the items of a list
 * @throws Error, when it translates, for an operator that a field declares and the table lacks
 */
export function inputs(
  table: Readonly<Record<string, Input>>,
  separator = ',',
  { text = plainText, nulls }: InputOptions = {},
): Translator<Inputs> {
  const kinds = new Map(Object.values(table).flatMap(kindsOf));
  const inputOf = ({ name }: PushedField) => (Object.hasOwn(table, name) ? table[name] : undefined);
  const set = (field: PushedField, operator: InputOperator, value: string): Inputs => {
    const found = setInput(inputOf(field), { native: field.native, operator, value });
    if (Object.keys(found).length > 0) return found;
    throw new Error(`The field '${field.name}' declares ${operator}, but has no query parameter for it.`);
  };
  return {
    and: (operands) => operands.reduce((left, right) => merge(left, right, kinds), {}),
    compare: (field, operator, value) => set(field, operator, text(value, field)),
    in: (field, values, negated) =>
      set(field, negated ? 'NOT IN' : 'IN', values.map((value) => text(value, field)).join(separator)),
    fault: (native) => {
      const clash = Object.keys(native).find((name) => kinds.get(name) !== 'repeated' && Array.isArray(native[name]));
      return clash && `the provider accepts one value of its parameter '${clash}'`;
    },
    ...(nulls !== undefined && { nulls }),
  };
}

interface Want {
  readonly native: string;
  readonly operator: InputOperator;
  readonly value: string;
}

function setInput(input: Input | undefined, { native, operator, value }: Want): Inputs {
  if (input === undefined) return {};
  if (typeof input === 'string') return operator === '=' || operator === 'IN' ? { [input]: value } : {};
  if ('repeated' in input) return { [input.repeated]: [input.text(native, operator, value)] };
  const names = 'by' in input ? [input.by[operator]] : ENDS[operator].map((end) => input[end]);
  return Object.fromEntries(names.flatMap((name) => (name === undefined ? [] : [[name, value]])));
}

type End = 'from' | 'to';

/** The ends of a range that each operator sets. */
const ENDS: Readonly<Record<InputOperator, readonly End[]>> = {
  '=': ['from', 'to'],
  '<': ['to'],
  '<=': ['to'],
  '>': ['from'],
  '>=': ['from'],
  '!=': [],
  IN: [],
  'NOT IN': [],
};

/** The merge of two values for a parameter: the greater one, the smaller one, or both. */
type Kind = End | 'repeated';

function kindsOf(input: Input): readonly (readonly [parameter: string, Kind])[] {
  if (typeof input === 'string') return [];
  if ('repeated' in input) return [[input.repeated, 'repeated']];
  const ends =
    'by' in input
      ? Object.entries(input.by).map(([operator, name]) => [name, endOf(operator)] as const)
      : [[input.from, 'from'] as const, [input.to, 'to'] as const];
  return ends.flatMap(([name, end]) => (name === undefined || end === undefined ? [] : [[name, end]]));
}

function endOf(operator: string): End | undefined {
  if (operator.startsWith('>')) return 'from';
  return operator.startsWith('<') ? 'to' : undefined;
}

function merge(left: Inputs, right: Inputs, kinds: ReadonlyMap<string, Kind>): Inputs {
  const both = Object.keys(right).filter((name) => Object.hasOwn(left, name));
  const merged = both.map(
    (name) => [name, mergeOne(textsOf(left[name]), textsOf(right[name]), kinds.get(name))] as const,
  );
  return { ...left, ...right, ...Object.fromEntries(merged) };
}

function textsOf(given: Inputs[string] | undefined): readonly string[] {
  return typeof given === 'string' ? [given] : (given ?? []);
}

function mergeOne(
  left: readonly string[],
  right: readonly string[],
  kind: Kind | undefined,
): string | readonly string[] {
  const texts = [...new Set([...left, ...right])];
  if (kind === 'repeated') return texts;
  const sorted = texts.sort(compareBounds);
  const bound = kind === 'from' ? sorted.at(-1) : sorted[0];
  return kind === undefined && texts.length > 1 ? texts : (bound ?? texts);
}

/** Compares numbers by value, and dates and instants as text. The `Z` is left out, because it would sort behind a fraction. */
function compareBounds(a: string, b: string): number {
  const [x, y] = [canonicalDecimal(a), canonicalDecimal(b)];
  if (x !== undefined && y !== undefined) return compareDecimals(x, y);
  const [left, right] = [a.replace(/Z$/, ''), b.replace(/Z$/, '')];
  return left < right ? -1 : Number(left > right);
}
