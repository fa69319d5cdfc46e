import { checksumOf } from '../literals.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PLACES = 7;

/** The 18 characters of the id with this number. */
export function makeId(keyPrefix: string, number: number): string {
  const digits = Array.from({ length: PLACES }, (_, place) => {
    const value = Math.floor(number / DIGITS.length ** (PLACES - 1 - place)) % DIGITS.length;
    return DIGITS.charAt(value);
  });
  const id = `${keyPrefix}5g000${digits.join('')}`;
  return id + checksumOf(id);
}

/** The 18 characters of an id of 15 or 18; undefined when it is none. Case counts in the first fifteen. */
export function completeId(text: string): string | undefined {
  if (!/^[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?$/.test(text)) return undefined;
  const id = text.slice(0, 15);
  return id + checksumOf(id);
}

export const DEMO_USER_ID = makeId('005', 1);
export const ORGANIZATION_ID = makeId('00D', 1);
