import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalDecimal } from '../../src/numbers/decimal.ts';
import { ExactNumber } from '../../src/numbers/exact-json.ts';
import { toJsonNumber } from '../../src/numbers/number-value.ts';

const digits = (maxLength: number) => fc.stringMatching(/^\d+$/, { maxLength });
/** Decimals with and without sign, fraction and needless zeros, some of which have more digits than a double. */
const decimal = fc
  .tuple(fc.constantFrom('', '-'), digits(18), fc.option(digits(18), { nil: undefined }))
  .map(([sign, whole, fraction]) => `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}`);

describe('a decimal that is text at a provider', () => {
  it('becomes a number that prints the same decimal, with and without the short way', () => {
    fc.assert(
      fc.property(decimal, (text) => {
        const number = toJsonNumber(text);
        expect(typeof number === 'number' || number instanceof ExactNumber).to.equal(true);
        expect(canonicalDecimal(String(number))).to.equal(canonicalDecimal(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is a plain number up to 15 characters', () => {
    expect(toJsonNumber('65000.50')).to.equal(65000.5);
    expect(toJsonNumber('0.0000000000001')).to.equal(1e-13);
    expect(toJsonNumber('123456789012345')).to.equal(123456789012345);
  });

  it('is 0 for a negative zero', () => {
    for (const zero of ['-0', '-0.00']) expect(Object.is(toJsonNumber(zero), 0)).to.equal(true);
  });

  it('keeps the digits that a double loses', () => {
    expect(toJsonNumber('9007199254740993')).to.deep.equal(new ExactNumber('9007199254740993'));
    expect(toJsonNumber('0.12345678901234567')).to.deep.equal(new ExactNumber('0.12345678901234567'));
  });

  it('stays as it is where it is none', () => {
    for (const text of ['', '.', '12 USD', '1,5', '0x10']) expect(toJsonNumber(text)).to.equal(text);
  });
});
