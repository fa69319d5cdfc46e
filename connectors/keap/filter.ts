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
 * A filter has the form `filter=given_name==Mar*;start_update_time==2026-01-31T08:30:00.000Z`. All of its conditions must hold, and each
 * list has names of its own. The connector represents a condition as a parameter whose name ends with the operator. Source: the v2 OpenAPI
 * document, `filter` of each list.
 */

/** Returns the condition for one value, or for several if the name accepts a list. */
export const equal = (name: string): Input => `${name}==`;

/** Returns the conditions of a name with comparisons. `list` is the name that accepts a list of values. */
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

/** Returns the conditions for a time that has a name for each bound. */
export const between = (from: string, to: string): Input => ({ from: `${from}==`, to: `${to}==` });

type Table = Readonly<Record<string, Input>>;

/** The conditions for a missing value and for a present value, by field. */
type Absences = Readonly<Record<string, readonly [absent: Inputs, present?: Inputs]>>;

export function filterBy(table: Table, absences: Absences = {}): Translator<Inputs> {
  const base = inputs(table, ',', { text: printValue });
  const join = base.and ?? (([first = {}]) => first);
  const compare: NonNullable<typeof base.compare> = (...condition) => base.compare?.(...condition) ?? {};
  return {
    ...base,
    // Keap does not document whether a range includes its ends, so each end is moved outwards by a second.
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

/** Prints a value. Times have milliseconds, which some lists require. */
function printValue(value: Value): string {
  return value.kind === 'datetime' ? new Date(value.epochMs).toISOString() : plainText(value);
}

/** Prints a filter, or returns undefined if there are no conditions. */
export function printFilter(filter: Inputs = {}): string | undefined {
  const conditions = Object.entries(filter).map(([name, value]) => name + String(value));
  return conditions.length === 0 ? undefined : conditions.join(';');
}

/** Returns the parameters for inputs that no row contains, by their names in a filter. */
export function parameterSpecs(
  descriptions: Readonly<Record<string, string>>,
): Readonly<Record<string, ParameterSpec>> {
  const specs = Object.entries(descriptions).map(
    ([name, description]) => [name, { type: 'string', description }] as const,
  );
  return Object.fromEntries(specs);
}

/**
 * Returns the conditions for parameters.
 * @throws AppError PROVIDER_REJECTED for a value with a semicolon, which would begin another condition
 */
export function parameterConditions(parameters: Readonly<Record<string, Value>>): Inputs {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      const text = printValue(value);
      if (text.includes(';')) throw rejected(`Keap accepts no semicolon in '${name}'.`);
      return [`${name}==`, text];
    }),
  );
}

/** Returns the token of the next page. The last page has no token or an empty one. For tags, the token is the URL of the next page. */
export function tokenOf(body: unknown): string | undefined {
  const token = json.findText(json.at(body, 'next_page_token'));
  return token && (URL.parse(token)?.searchParams.get('page_token') ?? token);
}
