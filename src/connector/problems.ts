import { isJsonObject } from '../numbers/exact-json.ts';

/** The helpers of the checks of a declaration. Each check returns a list of texts for the author. */

/** Returns the problem if the condition holds, otherwise an empty list. */
export function when(condition: boolean, problem: string): readonly string[] {
  return condition ? [problem] : [];
}

/** The form that a member must have. */
export type Form = keyof typeof IS;

const IS = {
  text: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number',
  list: Array.isArray,
  object: isJsonObject,
  function: (value: unknown) => typeof value === 'function',
} as const;

/**
 * Returns a text for each member that is missing or has another form. No compiler checks a connector in JavaScript, and the other checks
 * rely on these members.
 */
export function memberProblems(value: object, members: Readonly<Record<string, readonly Form[]>>): readonly string[] {
  return Object.entries(members)
    .filter(([member, forms]) => !forms.some((form) => IS[form](Reflect.get(value, member))))
    .map(([member, forms]) => `'${member}' is missing, or is not of the type ${forms.join(' or ')}`);
}
