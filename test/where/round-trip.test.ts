import { expect } from 'chai';
import fc from 'fast-check';
import { parseWhere } from '../../src/where/parse.ts';
import { print } from '../../src/where/print.ts';
import { runs, seedOr } from '../../suite/effort.ts';
import { predicatesOn, treesOf } from '../../suite/filters.ts';
import { anyCharacter } from '../support/characters.ts';
import { withoutLocs } from './faults.ts';
import { literal } from './literal.ts';

const words = [
  'a',
  'NOT',
  'not',
  'in',
  'like',
  'is',
  'null',
  'between',
  'and',
  'OR',
  'true',
  'from',
  '-x',
  'x-',
  '@a',
  'é',
  '名',
];
const hostile = [
  "'",
  '"',
  '--',
  '/*',
  '(',
  ')',
  '%',
  '\\',
  ' ',
  '..',
  '.',
  '1a',
  '-1',
  '-',
  '__proto__',
  '😀',
  'a b',
  '\n',
  '\0',
  '=',
  ';',
];
const part = fc.oneof(
  fc.constantFrom(...words, ...hostile),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
);
const names = fc
  .array(part, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('.').replaceAll('`', ''))
  .filter((name) => name !== '' && name.isWellFormed());
const texts = fc
  .oneof(fc.string({ unit: anyCharacter }), fc.string({ unit: fc.constantFrom(...hostile, ...words) }))
  .filter((text) => text.isWellFormed());

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const dates = fc.tuple(digits(4), digits(2), digits(2)).map((parts) => parts.join('-'));
const fractions = fc.oneof(
  fc.constant(''),
  fc
    .integer({ min: 1, max: 12 })
    .chain(digits)
    .map((text) => `.${text}`),
);
const zones = fc.constantFrom('', 'Z', 'z', '+02', '-0730', '+05:30');
const literals = fc.oneof(
  texts.map(literal.text),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => literal.number(String(value))),
  fc.tuple(fc.constantFrom('', '+', '-'), digits(30)).map(([sign, text]) => literal.number(sign + text)),
  fc.boolean().map(literal.boolean),
  dates.map(literal.date),
  fc
    .tuple(dates, fc.constantFrom('T', 't'), digits(2), digits(2), digits(2), fractions, zones)
    .map(([day, separator, hour, minute, second, fraction, zone]) =>
      literal.dateTime(`${day}${separator}${hour}:${minute}:${second}${fraction}${zone}`),
    ),
);
const filters = treesOf(
  names.chain((name) => predicatesOn({ name, literals, patterns: texts.map(literal.text) })),
  { depth: 4 },
);

describe('printing and parsing', () => {
  it('gives the same tree again, whatever the names and values', function roundTrip() {
    this.timeout(60_000);
    fc.assert(
      fc.property(filters, (filter) => {
        const text = print(filter);
        fc.pre(Buffer.byteLength(text) <= 16_384);
        const again = parseWhere(text);
        expect(withoutLocs(again)).to.deep.equal(withoutLocs(filter));
        expect(print(again)).to.equal(text);
      }),
      { seed: seedOr(4), numRuns: runs(3000) },
    );
  });

  it('keeps every node inside its text', () => {
    fc.assert(
      fc.property(filters, (filter) => {
        const text = print(filter);
        fc.pre(Buffer.byteLength(text) <= 16_384);
        JSON.stringify(parseWhere(text), (key, value) => {
          if (key === 'loc') {
            expect(value.offset).to.be.at.least(0);
            expect(value.length).to.be.at.least(1);
            expect(value.offset + value.length).to.be.at.most(text.length);
          }
          return value;
        });
      }),
      { seed: seedOr(5), numRuns: runs(500) },
    );
  });
});
