import fc from 'fast-check';
import { AppError } from '../../src/errors.ts';
import { parseFieldList, parseOrderBy, parseStatement, parseWhere } from '../../src/where/parse.ts';
import { anyCharacter } from '../support/characters.ts';

/** Texts that nobody meant as a filter, to throw at the parser. */

const WORDS = [
  ...['a', 'b.c', '`x y`', '@odata', '-n', 'NOT', 'and', 'OR', 'In', 'LIKE', 'is', 'null', 'BETWEEN', 'true', 'FALSE'],
  ...['SELECT', 'from', 'WHERE', 'order', 'BY', 'asc', 'DESC', 'limit', 'eq', 'lik'],
  ...['=', '!=', '<>', '<', '<=', '>', '>=', '==', '!', '&&', '|', '(', ')', ',', '.', '*', '-', '+', ';', '#', '?'],
  ...["'x'", "''", "'it''s'", "'", '"x"', '"', '`', '``', '‘x’', '1', '-2.5', '1e9', '1e999', '.', '.5', '5.'],
  ...['2026-01-31', '2026-02-30', '2026-01-31T08:30:00Z', '2026-01-31T08:30:00.123+02:00', '9999-99-99T99:99'],
  ...['\0', '\ud800', '\udc00', '\r\n', '\t', '\u00a0', '\ufeff', 'é', '名', '😀', 'İ', '\u202e'],
] as const;

const VALID = [
  "a = 'x' AND b > 1 OR NOT (c IN (1, 2, 3) AND d LIKE 'a\\%b%')",
  'a BETWEEN 2026-01-31 AND 2026-02-28T23:59:59Z AND b IS NOT NULL',
  "((((not not in ('a'))))) or not.in = 1 or from = 'x'",
  "SELECT a, b.c FROM object WHERE a NOT IN ('x', 'y') ORDER BY a DESC, b LIMIT 10",
  "`it's` NOT LIKE '%_' AND `a b`.c NOT BETWEEN -1e5 AND +.5",
  'name desc, `order` asc, desc',
];

const tokens = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom('', ' ', ' ', ' ')), { maxLength: 60 })
  .map((parts) => parts.flat().join(''));

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const edits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.record({ at: fc.nat(80), remove: fc.nat(6), insert: fc.oneof(fc.constant(''), fc.constantFrom(...WORDS)) }),
  { minLength: 1, maxLength: 6 },
);

const mutations = fc
  .tuple(fc.constantFrom(...VALID), edits)
  .map(([text, changes]) =>
    changes.reduce(
      (changed, { at, remove, insert }) => changed.slice(0, at) + insert + changed.slice(at + remove),
      text,
    ),
  );

const repetitions = fc
  .tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS), fc.nat(6000), fc.constantFrom('', ' '))
  .map(([first, word, times, gap]) => first + gap + `${word}${gap}`.repeat(times));

export const fuzzTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 100 }) },
  // Any 16-bit units at all, halves of pairs included.
  { weight: 1, arbitrary: fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)) },
  { weight: 8, arbitrary: tokens },
  { weight: 8, arbitrary: mutations },
  { weight: 1, arbitrary: repetitions },
);

const PARSERS = [parseWhere, parseOrderBy, parseFieldList, parseStatement];

/** No honest text of 16 KB takes this long, even on a machine that is busy with other things. */
const LONGEST_MS = 1000;

/**
 * Parses a text in every way.
 * @returns how many of the parsers took it
 * @throws Error when a parser throws anything but WHERE_SYNTAX with places inside the text, or takes too long
 */
export function assertParserHolds(text: string): number {
  return PARSERS.filter((parse) => {
    const startedAt = performance.now();
    const taken = takes(parse, text);
    const ms = performance.now() - startedAt;
    if (ms > LONGEST_MS) throw new Error(`${parse.name} took ${Math.round(ms)} ms for ${JSON.stringify(text)}`);
    return taken;
  }).length;
}

function takes(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'WHERE_SYNTAX') throw error;
    for (const { position = 0, length = 0, message } of error.details ?? []) {
      const isInside = position >= 0 && position + length <= text.length && Number.isInteger(position + length);
      if (!isInside || message === '')
        throw new Error(`A fault of ${JSON.stringify(text)} is at ${position}+${length}`);
    }
    if ((error.details ?? []).length === 0) throw new Error(`No details for ${JSON.stringify(text)}`);
    return false;
  }
}
