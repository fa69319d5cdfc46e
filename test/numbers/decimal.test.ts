import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalDecimal, compareDecimals, faithfulDouble } from '../../src/numbers/decimal.ts';
import { runs, seedOr } from '../../suite/effort.ts';

describe('decimals', () => {
  for (const [written, canonical] of [
    ['0', '0'],
    ['-0', '0'],
    ['-0.000', '0'],
    ['+1', '1'],
    ['1.0', '1'],
    ['1.', '1'],
    ['.5', '0.5'],
    ['-.5', '-0.5'],
    ['007.70', '7.7'],
    ['0.1', '0.1'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['12.34e1', '123.4'],
    ['12.34e-3', '0.01234'],
    ['-1.5e-2', '-0.015'],
    ['0e9999', undefined],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['0.123456789012345678901234567890', '0.12345678901234567890123456789'],
    [' 1 ', '1'],
    [`1e399`, `1${'0'.repeat(399)}`],
    ['1e400', undefined],
    ['1e999999', undefined],
    ['1e-401', undefined],
    ['9'.repeat(401), undefined],
    [`-${'0'.repeat(200)}.${'0'.repeat(199)}1e-0000`, `-0.${'0'.repeat(199)}1`],
    [`${' '.repeat(500)}1${' '.repeat(500)}`, '1'],
    [`1${'0'.repeat(500)}`, undefined],
    ['', undefined],
    ['.', undefined],
    ['-', undefined],
    ['e5', undefined],
    ['1e', undefined],
    ['0x10', undefined],
    ['1,5', undefined],
    ['1_000', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['١', undefined],
  ] as const) {
    it(`reads '${written.length > 40 ? `${written.slice(0, 40)}…` : written}'`, () => {
      expect(canonicalDecimal(written)).to.equal(canonical);
    });
  }

  it('compare by what they mean, however many digits they have', () => {
    const sorted = [
      ...['-100', '-20.5', '-20.45', '-1', '-0.1', '0', '0.09', '0.1', '0.11', '1', '9', '10', '10.0000000001'],
    ];
    expect([...sorted].reverse().sort(compareDecimals)).to.deep.equal(sorted);
    const long = '1234567890123456789012345678901234567890';
    expect(compareDecimals(`${long}.1`, `${long}.2`)).to.be.lessThan(0);
    expect(compareDecimals(`-${long}.1`, `-${long}.2`)).to.be.greaterThan(0);
  });

  it('have a faithful double up to 15 digits, and not at the ends of its range', () => {
    for (const text of [
      ...['0', '0.1', '-0.000000123456789012345', '123456789012345', '999999999999999', '-12345.6789012345'],
    ]) {
      expect(faithfulDouble(text), text).to.equal(Number(text));
    }
    for (const text of [
      '1234567890123456',
      '0.1234567890123456',
      '1000000000000000',
      canonicalDecimal('1e-350'),
      canonicalDecimal('1e-300'),
    ]) {
      expect(faithfulDouble(text ?? ''), text).to.equal(undefined);
    }
  });

  it('compare as their doubles do, where those are faithful and the other one is a double as JSON writes it', () => {
    const decimal = fc
      .tuple(fc.integer({ min: -999_999, max: 999_999 }), fc.integer({ min: -9, max: 9 }))
      .map(([digits, exponent]) => canonicalDecimal(`${digits}e${exponent}`) ?? '');
    const double = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }),
      decimal.map(Number),
      decimal.map((text) => Number(text) * (1 + Number.EPSILON)),
    );
    fc.assert(
      fc.property(decimal, double, (literal, value) => {
        const written = canonicalDecimal(String(value)) ?? '';
        expect(Math.sign(value - (faithfulDouble(literal) ?? Number.NaN))).to.equal(
          Math.sign(compareDecimals(written, literal)),
        );
      }),
      { seed: seedOr(1), numRuns: runs(3000) },
    );
  });
});
