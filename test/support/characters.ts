import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const PRINTABLE = { first: 0x20, count: 95 };

/**
 * Any character of Unicode; printable ones of ASCII are the simplest. The unit `binary` of fast-check has the same ones, but first lists them
 * all, which takes each process a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((index) => String.fromCodePoint(codePointAt(index)));

function codePointAt(index: number): number {
  if (index < PRINTABLE.count) return PRINTABLE.first + index;
  if (index < PRINTABLE.count + PRINTABLE.first) return index - PRINTABLE.count;
  return index < SURROGATES.first ? index : index + SURROGATES.count;
}
