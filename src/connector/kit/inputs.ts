import { canonicalDecimal, compareDecimals } from '../../numbers/decimal.ts';
import type { ComparisonOperator } from '../../where/ast.ts';
import type { PushedField, Translator, Value } from '../../where/model.ts';
import { plainText } from './infix.ts';

/** The query of a list whose filter is a set of parameters: a text each, or several for a parameter that is repeated. */
export type Inputs = Readonly<Record<string, string | readonly string[]>>;

/** The operators that a parameter can be for. */
export type InputOperator = ComparisonOperator | 'IN' | 'NOT IN';

/** The parameters of a field. */
export type Input =
  /** One for `=` and, its members joined, IN. */
  | string
  /** The bounds of a range, which `=` sets both. What the bounds include is the declaration's matter: both `>` and `>=` set `from`. */
  | { readonly from?: string; readonly to?: string }
  /** Each operator has its own, e.g. `{ '>': 'created[gt]' }`. */
  | { readonly by: Readonly<Partial<Record<InputOperator, string>>> }
  /** One that is repeated with a text for each predicate. */
  | { readonly repeated: string; readonly text: (native: string, operator: InputOperator, value: string) => string };

export interface InputOptions {
  /** A value as it stands in a parameter. Default: plain decimals, ISO 8601 in UTC, `true`, or the text itself. */
  readonly text?: (value: Value, field: PushedField) => string;
  readonly nulls?: Translator<Inputs>['nulls'];
}

/**
 * A translator for providers whose filter is a set of query parameters: the name of a field → its parameters. Predicates joined by AND
 * set them together, and of two bounds the narrower one counts. Of two wants for any other parameter the planner leaves one to be
 * checked here.
 * @param separator between the members of a list
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

/** The ends of a range that each operator bounds. */
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

/** What becomes of two wants for a parameter: the greater, the less, or both. */
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

/** Numbers by their value, dates and instants as they are written; the Z behind an instant would come after its fraction. */
function compareBounds(a: string, b: string): number {
  const [x, y] = [canonicalDecimal(a), canonicalDecimal(b)];
  if (x !== undefined && y !== undefined) return compareDecimals(x, y);
  const [left, right] = [a.replace(/Z$/, ''), b.replace(/Z$/, '')];
  return left < right ? -1 : Number(left > right);
}
