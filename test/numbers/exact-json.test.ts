import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalDecimal } from '../../src/numbers/decimal.ts';
import { ExactNumber, parseJson } from '../../src/numbers/exact-json.ts';
import { runs } from '../../suite/effort.ts';
import { thrownBy } from '../support/failures.ts';

/** What V8 tells a reviver of a number: slow, and written by somebody else. */
function parseWithSources(text: string): unknown {
  const keep = (_name: string, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    const { source } = context;
    const canonical = canonicalDecimal(source);
    return canonical !== undefined && canonical === canonicalDecimal(String(value)) ? value : JSON.rawJSON(source);
  };
  return JSON.parse(text, keep);
}

const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.nat(30)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,22}$/)),
    fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.stringMatching(/^[eE][-+]?\d{1,4}$/)),
  )
  .map((parts) => parts.join(''));
const text = fc.oneof(
  fc.string().map((value) => JSON.stringify(value)),
  number.map((digits) => `"${digits}"`),
  fc.uuid().map((id) => `"${id}"`),
  fc.constant('"\\\\\\", 9007199254740993 "'),
);
const blank = fc.constantFrom('', ' ', '\n');
const json = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc
    .tuple(blank, fc.oneof({ depthSize: 'medium' }, number, text, tie('list'), tie('object')), blank)
    .map((parts) => parts.join('')),
  list: fc.array(tie('value'), { maxLength: 5 }).map((items) => `[${items}]`),
  object: fc
    .array(fc.tuple(text, tie('value')), { maxLength: 5 })
    .map((members) => `{${members.map(([name, value]) => `${name}:${value}`)}}`),
})).value;

describe('JSON with exact numbers', () => {
  it('has the digits of every number that a double cannot hold, and is as JSON.parse reads it otherwise', () => {
    fc.assert(
      fc.property(json, (given) => {
        expect(JSON.stringify(parseJson(given))).to.equal(JSON.stringify(parseWithSources(given)));
      }),
      { numRuns: runs(2000) },
    );
  });

  for (const digits of [
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1E+400',
    '1e-400',
    '0.1234567890123456789',
    '1.2345678901234567e10',
    '9'.repeat(500),
  ]) {
    it(`keeps ${digits.slice(0, 30)}`, () => {
      for (const [before, after] of [
        ['', ''],
        ['[', ']'],
        ['{"a":{"b": ', '\n}}'],
        ['{"__proto__":', '}'],
        ['[[["x"]],', ',[]]'],
      ]) {
        const given = `${before}${digits}${after}`;
        expect(JSON.stringify(parseJson(given))).to.equal(given.replace(/[ \n]/g, ''));
      }
      const parsed = parseJson(digits);
      expect(parsed).to.be.an.instanceOf(ExactNumber);
      expect(String(parsed)).to.equal(digits);
    });
  }

  for (const digits of [
    ...['9007199254740992', '0.30000000000000004', '1.50000000000000000000', '5e-324', '1e23', '-0.0'],
  ]) {
    it(`has ${digits} as the number that a double holds`, () => {
      expect(parseJson(`[${digits}]`)).to.deep.equal([Number(digits)]);
    });
  }

  it('is refused in the words of JSON.parse, where it breaks', () => {
    for (const given of [
      ...['{9007199254740993:1}', '[9007199254740993,]', '[01234567890123456789]', '[1.2.34567890123456789]', '[-]'],
      ...['9007199254740993 1', '["9007199254740993', '[9007199254740993e]', '[9007199254740993true]', '"\\'],
    ]) {
      const broken = () => JSON.parse(given);
      const reason = thrownBy(broken, SyntaxError).message;
      expect(() => parseJson(given), given).to.throw(SyntaxError, reason);
    }
  });

  it('may be nested deeper than functions can call themselves', () => {
    const depth = 200_000;
    expect(() => parseJson(`${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`)).not.to.throw();
  });

  it('is looked through once, however long its runs of digits are', () => {
    const before = process.cpuUsage();
    const digits = '1'.repeat(4_000_000);
    expect(parseJson(`["${digits}",9007199254740993]`)).to.have.length(2);
    expect(parseJson(`["${digits}"]`)).to.deep.equal([digits]);
    // Some tenths of a second; looking at every run from each of its digits would take minutes.
    expect(process.cpuUsage(before).user).to.be.below(20_000_000);
  });

  it('makes numbers that are deeply equal when their digits are, and only then', () => {
    const [one, same, other] = ['9007199254740993', '9007199254740993', '9007199254740995'].map(parseJson);
    expect(isDeepStrictEqual(one, same)).to.equal(true);
    expect(isDeepStrictEqual(one, other)).to.equal(false);
  });
});
