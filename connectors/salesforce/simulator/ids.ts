const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGIT_COUNT = 7;

/** Returns the id of 18 characters for a number. */
export function makeId(keyPrefix: string, number: number): string {
  let digits = '';
  for (let left = number, digit = 0; digit < DIGIT_COUNT; digit++, left = Math.floor(left / DIGITS.length)) {
    digits = DIGITS.charAt(left % DIGITS.length) + digits;
  }
  return withChecksum(`${keyPrefix}5g000${digits}`);
}

/** Returns the 18 characters of an id of 15 or 18, or undefined for another text. The first fifteen are case-sensitive. */
export function completeId(text: string): string | undefined {
  return /^[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?$/.test(text) ? withChecksum(text.slice(0, 15)) : undefined;
}

/**
 * Adds the checksum to an id: a letter for each five characters, with a bit for each upper-case one. The first character is the least
 * significant bit.
 */
function withChecksum(id: string): string {
  return id + checkLetter(id, 0) + checkLetter(id, 5) + checkLetter(id, 10);
}

function checkLetter(id: string, start: number): string {
  let bits = 0;
  for (let index = 0; index < 5; index++) {
    const character = id.charAt(start + index);
    if (character >= 'A' && character <= 'Z') bits += 1 << index;
  }
  return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345'.charAt(bits);
}

/** Returns the number from which `makeId` created the id, or undefined for an id with another prefix. */
export function numberOfId(keyPrefix: string, id: string): number | undefined {
  const start = `${keyPrefix}5g000`;
  if (!id.startsWith(start)) return undefined;
  return [...id.slice(start.length, start.length + DIGIT_COUNT)].reduce(
    (number, digit) => number * DIGITS.length + DIGITS.indexOf(digit),
    0,
  );
}

export const DEMO_USER_ID = makeId('005', 1);
export const ORGANIZATION_ID = makeId('00D', 1);

/** Prints a time as Salesforce's JSON contains it, in whole seconds. */
export function writeInstant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}.000+0000`;
}
