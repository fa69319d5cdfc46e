import { type Input, type InputOptions, type Inputs, inputs, json, type ListQuery, list, plainText } from '#connector';

/**
 * The form of a condition: `filter=total>=1000`. Each condition is a parameter of its own, and all of them must hold. Lists of ids have
 * quotes. Sources: "Apply filters to API requests", "Use filters to retrieve multiple results from an endpoint".
 */
const CONDITION = {
  repeated: 'filter',
  text: (native, operator, value) => (operator === 'IN' ? `${native} in ('${value}')` : `${native}${operator}${value}`),
} as const satisfies Input;

/** The key under which the translator collects conditions that only windows of the last 90 days support. */
export const RECENT = 'filter of recent rows';

const SEPARATOR = "','";

/** Prints a value. Instants are milliseconds since 1970. */
const text: InputOptions['text'] = (value) => (value.kind === 'datetime' ? String(value.epochMs) : plainText(value));

interface Windowed {
  /** Fields whose bounds become windows. Each operator has a parameter of its own, which keeps the narrowest bound. */
  readonly times?: readonly string[];
  /** Fields whose conditions restrict a list to its last 90 days, whatever its bounds are. */
  readonly recent?: readonly string[];
}

export function createTranslator(fields: readonly string[], { times = [], recent = [] }: Windowed = {}) {
  const table = [
    ...fields.map((name) => [name, recent.includes(name) ? { ...CONDITION, repeated: RECENT } : CONDITION] as const),
    ...times.map((name) => [name, { by: boundsOf(name) }] as const),
  ];
  return inputs(Object.fromEntries(table), SEPARATOR, { text });
}

/** Returns the prefixes of conditions on a field, by operator. */
export function boundsOf(name: string) {
  return { '=': `${name}=`, '<': `${name}<`, '<=': `${name}<=`, '>': `${name}>`, '>=': `${name}>=` } as const;
}

/** Returns the list operation of a collection with at most 1,000 rows per page. Sources: "Add pagination requests", "Sort collections". */
export function listOf(collection: string, expandable: readonly string[] = []) {
  return list<Inputs>({
    request: ({ filter, natives, order, page }) => ({
      path: `/${collection}`,
      query: { filter: conditionsOf(filter), expand: expandOf(natives, expandable), orderBy: order, ...page },
    }),
    rows: (body) => json.objects(json.at(body, 'elements'), 'the elements of the list'),
    // Clover processes five concurrent requests per token. The remaining three are left to callers.
    paging: { kind: 'offset', offset: 'offset', size: 'limit', max: 1000, atOnce: 2 },
    order: { term: (native, direction) => `${native} ${direction.toUpperCase()}`, id: 'id' },
  });
}

function conditionsOf(filter: ListQuery<Inputs>['filter'] = {}): readonly string[] {
  return Object.entries(filter).flatMap(([name, value]) =>
    [value].flat().map((each) => (name === CONDITION.repeated || name === RECENT ? each : `${name}${each}`)),
  );
}

/** Returns the value of Clover's parameter `expand`: the members that Clover includes only on request. Source: "Use expandable fields". */
export function expandOf(natives: readonly string[], expandable: readonly string[]): string | undefined {
  const wanted = expandable.filter((name) => natives.some((native) => native.startsWith(`${name}.`)));
  return wanted.length === 0 ? undefined : wanted.join(',');
}
