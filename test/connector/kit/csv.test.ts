import { expect } from 'chai';
import fc from 'fast-check';
import { csvRows } from '../../../src/connector/kit/csv.ts';
import { anyCharacter } from '../../support/characters.ts';

const HOSTILE = [
  '',
  ' ',
  '"',
  '""',
  ',',
  '\n',
  '\r\n',
  'a,"b"\r\nc',
  '=1+1',
  'ü€😀',
  'x'.repeat(100_000),
  'null',
  '\r',
];

/** As RFC 4180 has it: every value in quotes. */
const quoted = (rows: readonly (readonly string[])[], end: string) =>
  rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',') + end).join('');

describe('rows of CSV', () => {
  it('have at most 100,000 cells', () => {
    const row = ','.repeat(99_999);
    expect([...csvRows(row)].map(({ length }) => length)).to.deep.equal([100_000]);
    expect(() => [...csvRows(`${row},`)]).to.throw('The CSV has a row of more than 100000 cells.');
  });

  const cell = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: anyCharacter }));
  const rows = fc
    .integer({ min: 1, max: 4 })
    .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }));

  for (const end of ['\n', '\r\n']) {
    it(`are what was written, whatever it was, with ${JSON.stringify(end)} at the end`, () => {
      fc.assert(
        fc.property(rows, (given) => {
          expect([...csvRows(quoted(given, end))]).to.deep.equal(given);
          // The last end may be missing.
          expect([...csvRows(quoted(given, end).slice(0, -end.length))]).to.deep.equal(given);
        }),
      );
    });
  }

  it('need no quotes around plain values', () => {
    expect([...csvRows('Id,Name\n1,Ann\n2,\n,Bo')]).to.deep.equal([
      ['Id', 'Name'],
      ['1', 'Ann'],
      ['2', ''],
      ['', 'Bo'],
    ]);
    expect([...csvRows('a,b\r\n1,')]).to.deep.equal([
      ['a', 'b'],
      ['1', ''],
    ]);
    expect([...csvRows('')]).to.deep.equal([]);
  });

  for (const text of ['"a', '"a"b', 'a\n"b""', '"a"\rb'])
    it(`are none of ${JSON.stringify(text)}`, () => {
      expect(() => [...csvRows(text)]).to.throw('The CSV has a quoted text');
    });
});
