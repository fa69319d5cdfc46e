/**
 * How an answer differs from an example of it: in members, in types. Null stands for any type, and of lists the first
 * entries are compared.
 */
export function findDifferences(example: unknown, response: unknown, place = ''): readonly string[] {
  if (example === null || response === null) return [];
  const [one, other] = [typeOf(example), typeOf(response)];
  if (one !== other) return [`${place || '/'} is ${other}, not ${one}`];
  if (Array.isArray(example) && Array.isArray(response)) return differencesOfLists(example, response, place);
  if (typeof example === 'object' && typeof response === 'object')
    return differencesOfMembers(example, response, place);
  return [];
}

function differencesOfLists(example: readonly unknown[], response: readonly unknown[], place: string) {
  return example.length === 0 || response.length === 0 ? [] : findDifferences(example[0], response[0], `${place}/0`);
}

/** Members that follow a call by about a second, so that an answer may not have them yet. */
const LATER: ReadonlySet<string> = new Set(['lastCallDate', 'lastError']);

/** An instance without these members, to compare it with how it is shown at another time. */
export function withoutLastCall(instance: object): object {
  return Object.fromEntries(Object.entries(instance).filter(([name]) => !LATER.has(name)));
}

function differencesOfMembers(example: object, response: object, place: string): readonly string[] {
  const expected = new Map(Object.entries(example));
  const found = new Map(Object.entries(response));
  const missing = [...expected.keys()].filter((name) => !found.has(name) && !LATER.has(name));
  const unknown = [...found.keys()].filter((name) => !expected.has(name) && !LATER.has(name));
  return [
    ...missing.map((name) => `${place}/${name} is not there`),
    ...unknown.map((name) => `${place}/${name} is not in the example`),
    ...[...expected].flatMap(([name, value]) =>
      found.has(name) ? findDifferences(value, found.get(name), `${place}/${name}`) : [],
    ),
  ];
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : typeof value;
}
