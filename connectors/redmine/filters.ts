import { type PushedField, plainText, type Translator, type Value } from '#connector';
import { hasSign } from './fields.ts';

interface Condition {
  readonly field: string;
  readonly operator: string;
  /** The values in the order that the operator requires. Empty for the operators `*` and `!*`. */
  readonly values: readonly string[];
}

export type Conditions = readonly Condition[];

/** Maximum length of the parameters in characters. Web servers in front of Redmine accept URLs of about ten thousand characters. */
const LONGEST = 6000;

/**
 * Translates a `where` into conditions on fields. Each has one operator, and all of them must hold. There is no OR, and a field has at most
 * one condition. Responses show references as `{ id, name }`, but conditions compare the id.
 */
export const conditions: Translator<Conditions> = {
  nulls: 'different',
  and: (operands) => operands.flat().reduce<Conditions>(join, []),
  compare: (field, operator, value) => [compare(field, operator, value)],
  in: (field, values, negated) => [listed(field, values, negated)],
  isNull: (field, negated) => [{ field: nameOf(field), operator: negated ? '*' : '!*', values: [] }],
  like: (field, { form, text }) => [{ field: nameOf(field), operator: LIKES[form], values: [text] }],
  fault: (native) => {
    const fields = native.map(({ field }) => field);
    const clash = fields.find((field, index) => fields.indexOf(field) !== index);
    if (clash !== undefined) return `the provider accepts one condition on '${clash}'`;
    // `askable` checks whole texts, but the text of a pattern may consist of blanks only.
    const isBlank = native.some(({ values: [text] }) => text !== undefined && !hasSign(text));
    if (isBlank) return 'the provider rejects conditions on blanks only';
    return lengthOf(native) > LONGEST ? 'the URL of the request would be too long' : undefined;
  },
};

/**
 * Returns the parameters in the long form, in which any text is possible. In the short form (`subject=~x`) `|` and operators at the
 * beginning have a meaning.
 */
export function parametersOf(native: Conditions, idName = 'id'): Readonly<Record<string, string | readonly string[]>> {
  const named = native.map((each) => (each.field === 'id' ? { ...each, field: idName } : each));
  return {
    // Without any condition a list has Redmine's default filter, such as open issues.
    'f[]': ['', ...named.map(({ field }) => field)],
    ...Object.fromEntries(
      named.flatMap(({ field, operator, values }) => [
        [`op[${field}]`, operator] as const,
        ...(values.length > 0 ? [[`v[${field}][]`, values] as const] : []),
      ]),
    ),
  };
}

function lengthOf(native: Conditions): number {
  const parameters = Object.entries(parametersOf(native));
  return parameters
    .flatMap(([name, values]) => [values].flat().map((value) => encodeURIComponent(`${name}=${value}&`)))
    .join('').length;
}

/** Adds a condition. Two bounds of the same field become a range. */
function join(all: Conditions, next: Condition): Conditions {
  const index = all.findIndex(({ field, operator }) => field === next.field && OPPOSITE[operator] === next.operator);
  const found = all[index];
  if (found === undefined) return [...all, next];
  const [low, high] = found.operator === '>=' ? [found, next] : [next, found];
  return all.with(index, { field: next.field, operator: '><', values: [...low.values, ...high.values] });
}

const OPPOSITE: Readonly<Record<string, string>> = { '>=': '<=', '<=': '>=' };

/** Operators by the form of a pattern. Redmine cannot compare with a whole text, so `^` (begins with) finds a literal. */
const LIKES = { literal: '^', prefix: '^', suffix: '$', contains: '~', pattern: '~' } as const;

function nameOf({ native }: PushedField): string {
  return native.replace('.', '_');
}

/**
 * Returns the condition for a comparison. Redmine has neither `<` nor `>`, so the condition includes the bound, and the service checks the
 * rows again.
 */
function compare(field: PushedField, operator: string, value: Value): Condition {
  if (value.kind === 'string') return { field: nameOf(field), operator: '^', values: [value.value] };
  if (value.kind === 'boolean') return listed(field, [value], operator === '!=');
  if (value.kind === 'date' || value.kind === 'datetime' || field.type === 'number')
    return between(field, operator, rangeOf(value));
  if (operator === '=' || operator === '!=') return listed(field, [value], operator === '!=');
  const whole = BigInt(plainText(value));
  const step = operator === '<' ? -1n : operator === '>' ? 1n : 0n;
  return { field: nameOf(field), operator: operator.startsWith('<') ? '<=' : '>=', values: [`${whole + step}`] };
}

function listed(field: PushedField, values: readonly Value[], negated: boolean): Condition {
  const texts = values.map((value) => (value.kind === 'boolean' ? String(Number(value.value)) : plainText(value)));
  // Several numbers form a single text.
  const isNumber = field.nativeType === 'integer';
  return { field: nameOf(field), operator: negated ? '!' : '=', values: isNumber ? [texts.join(',')] : texts };
}

interface Range {
  readonly low?: string | undefined;
  readonly high?: string | undefined;
}

/** Returns the range in which the database may store a value. A bound is missing if Redmine cannot express it. */
function rangeOf(value: Value): Range {
  switch (value.kind) {
    case 'date':
      return { low: shiftDay(value.text, -1), high: shiftDay(value.text, 1) };
    case 'datetime':
      return { low: printInstant(value.epochMs - HOUR_MS), high: printInstant(value.epochMs + HOUR_MS) };
    default: {
      const number = Number(plainText(value));
      // Redmine shows two decimals, and some databases store only seven digits.
      const slack = Math.max(0.01, Math.abs(number) * 1e-5);
      return { low: (number - slack).toFixed(3), high: (number + slack).toFixed(3) };
    }
  }
}

function between(field: PushedField, operator: string, { low, high }: Range): Condition {
  const name = nameOf(field);
  const wantsLow = operator === '=' || operator.startsWith('>');
  const wantsHigh = operator === '=' || operator.startsWith('<');
  const [from, to] = [wantsLow ? low : undefined, wantsHigh ? high : undefined];
  if (from !== undefined && to !== undefined) return { field: name, operator: '><', values: [from, to] };
  if (from !== undefined) return { field: name, operator: '>=', values: [from] };
  return to === undefined ? { field: name, operator: '*', values: [] } : { field: name, operator: '<=', values: [to] };
}

/**
 * Tolerance for a time in milliseconds. Databases store local time, which has one hour twice when clocks are set back, and fractions of
 * seconds, which responses do not show.
 */
const HOUR_MS = 3_600_000 + 1000;
const DAY_MS = 86_400_000;

function printInstant(ms: number): string | undefined {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  return year > 1 && year < 9999 ? `${date.toISOString().slice(0, 19)}Z` : undefined;
}

/**
 * Moves a day. Days begin and end in the user's time zone, but Redmine compares them in the server's. One more day on either side covers
 * every zone. Undefined if the year is outside of 2 to 9998.
 */
function shiftDay(day: string, days: number): string | undefined {
  return printInstant(Date.parse(day) + days * DAY_MS)?.slice(0, 10);
}
