const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PLACES = 7;

/** The 18 characters of the id with this number. */
export function makeId(keyPrefix: string, number: number): string {
  const digits = Array.from({ length: PLACES }, (_, place) =>
    DIGITS.charAt(Math.floor(number / DIGITS.length ** (PLACES - 1 - place)) % DIGITS.length),
  );
  return withChecksum(`${keyPrefix}5g000${digits.join('')}`);
}

/** The 18 characters of an id of 15 or 18; undefined when it is none. Case counts in the first fifteen. */
export function completeId(text: string): string | undefined {
  return /^[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?$/.test(text) ? withChecksum(text.slice(0, 15)) : undefined;
}

/** One letter for each five characters: a bit for each upper-case one of them, the first counting least. */
function withChecksum(id: string): string {
  const letters = [0, 5, 10].map((start) => {
    const bits = [...id.slice(start, start + 5)].map((character, place) => (/[A-Z]/.test(character) ? 2 ** place : 0));
    return 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345'.charAt(bits.reduce((sum, bit) => sum + bit, 0));
  });
  return id + letters.join('');
}

export const DEMO_USER_ID = makeId('005', 1);
export const ORGANIZATION_ID = makeId('00D', 1);
