import {
  type Input,
  type Inputs,
  inputs,
  json,
  type ParameterSpec,
  plainText,
  rejected,
  type Translator,
  type Value,
} from '#connector';

/**
 * `filter=given_name==Mar*;start_update_time==2026-01-31T08:30:00.000Z`: conditions on names of which each list has its own, and all of them
 * hold. A condition is a parameter here whose name ends with its operator. Source: the v2 OpenAPI document, `filter` of each list.
 */

/** One value, or several where the name takes a list. */
export const equal = (name: string): Input => `${name}==`;

/** A name that is compared; `list` is that of a list of values. */
export function compared(name: string, list?: string): Input {
  return {
    by: {
      '=': `${name}==`,
      '!=': `${name}!=`,
      '<': `${name}<`,
      '<=': `${name}<=`,
      '>': `${name}>`,
      '>=': `${name}>=`,
      ...(list !== undefined && { IN: `${list}==` }),
    },
  };
}

/** Two names that are the bounds of a time. */
export const between = (from: string, to: string): Input => ({ from: `${from}==`, to: `${to}==` });

type Table = Readonly<Record<string, Input>>;

/** The condition that a field has no value, and that it has one. */
export type Absences = Readonly<Record<string, readonly [absent: Inputs, present?: Inputs]>>;

export function filterBy(table: Table, absences: Absences = {}): Translator<Inputs> {
  const base = inputs(table, ',', { text: printValue });
  const join = base.and ?? (([first = {}]) => first);
  const compare: NonNullable<typeof base.compare> = (...condition) => base.compare?.(...condition) ?? {};
  return {
    ...base,
    // Whether the ends of a range belong to it is not documented, so it is asked for with a second more on both sides.
    compare: (field, operator, value) => {
      const input = table[field.name];
      if (typeof input !== 'object' || !('from' in input)) return compare(field, operator, value);
      const ends = operator !== '=' ? [operator] : input.to === undefined ? (['>='] as const) : (['>=', '<='] as const);
      return join(ends.map((end) => compare(field, end, widen(value, end.startsWith('>') ? -1 : 1))));
    },
    like: ({ name }, { text }) => ({ [String(table[name])]: `${text}*` }),
    isNull: ({ name }, negated) => absences[name]?.[negated ? 1 : 0] ?? {},
  };
}

const SECOND_MS = 1000;

function widen(value: Value, seconds: number): Value {
  if (value.kind !== 'datetime') return value;
  const epochMs = value.epochMs + seconds * SECOND_MS;
  return { kind: 'datetime', text: new Date(epochMs).toISOString(), epochMs, nanos: 0 };
}

/** Times with milliseconds, which some lists insist on. */
function printValue(value: Value): string {
  return value.kind === 'datetime' ? new Date(value.epochMs).toISOString() : plainText(value);
}

/** Undefined where there are no conditions. */
export function printFilter(filter: Inputs = {}): string | undefined {
  const conditions = Object.entries(filter).map(([name, value]) => name + String(value));
  return conditions.length === 0 ? undefined : conditions.join(';');
}

/** Inputs that no row shows, by the names that they have in a filter. */
export function parameterSpecs(
  descriptions: Readonly<Record<string, string>>,
): Readonly<Record<string, ParameterSpec>> {
  const specs = Object.entries(descriptions).map(
    ([name, description]) => [name, { type: 'string', description }] as const,
  );
  return Object.fromEntries(specs);
}

/** @throws AppError for a value that would be another condition */
export function parameterConditions(parameters: Readonly<Record<string, Value>>): Inputs {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      const text = printValue(value);
      if (text.includes(';')) throw rejected(`Keap accepts no semicolon in '${name}'.`);
      return [`${name}==`, text];
    }),
  );
}

/** The last part of a list's answer has no token, or an empty one; that of tags is the address of the next part. */
export function tokenOf(body: unknown): string | undefined {
  const token = json.findText(json.at(body, 'next_page_token'));
  return token && (URL.parse(token)?.searchParams.get('page_token') ?? token);
}
