import { isJsonObject } from '../numbers/exact-json.ts';

/** What the checks of a declaration share: each returns a list of texts for its author. */

/** @returns the problem where the condition holds */
export function when(condition: boolean, problem: string): readonly string[] {
  return condition ? [problem] : [];
}

export type Form = keyof typeof IS;

const IS = {
  text: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number',
  list: Array.isArray,
  object: isJsonObject,
  function: (value: unknown) => typeof value === 'function',
} as const;

/**
 * Members that are missing or have another form. No compiler has seen a connector in JavaScript, and the other checks rely on these
 * members.
 */
export function memberProblems(value: object, members: Readonly<Record<string, readonly Form[]>>): readonly string[] {
  return Object.entries(members)
    .filter(([member, forms]) => !forms.some((form) => IS[form](Reflect.get(value, member))))
    .map(([member, forms]) => `'${member}' is missing, or is not of the type ${forms.join(' or ')}`);
}
