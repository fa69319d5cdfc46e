import { expect } from 'chai';
import fc from 'fast-check';
import { ExactNumber, parseJson } from '../../src/numbers/exact-json.ts';
import { createPacer } from '../../src/pace.ts';
import { collectDigits, restoreDigits } from '../../src/scripts/digits.ts';
import { librariesOf } from '../../src/scripts/thread/libraries.ts';
import { measureJson } from '../../src/scripts/thread/measure-json.ts';
import { runs, seedOr } from '../../suite/effort.ts';

describe('the digits of numbers', () => {
  const digitsOf = (value: unknown) => collectDigits([value], createPacer(new AbortController().signal));

  it('come back wherever the number is moved', async () => {
    const digits = await digitsOf(parseJson('{"a":[9007199254740993],"b":1.00000000000000000001,"c":5}'));
    const result = restoreDigits({ x: { y: 9007199254740992 }, z: [1, 5] }, digits);
    expect(JSON.stringify(result)).to.equal('{"x":{"y":9007199254740993},"z":[1.00000000000000000001,5]}');
  });

  it('come back for a result that is a number', async () => {
    const digits = await digitsOf(new ExactNumber('9007199254740993'));
    expect(restoreDigits(9007199254740992, digits)).to.deep.equal(new ExactNumber('9007199254740993'));
  });

  it('stay lost where two numbers become the same double', async () => {
    const digits = await digitsOf(parseJson('[9007199254740993,9007199254740992.5,9007199254740992.5]'));
    expect(restoreDigits([9007199254740992], digits)).to.deep.equal([9007199254740992]);
  });

  it('come back below a member with the name __proto__', async () => {
    const digits = await digitsOf(parseJson('9007199254740993'));
    const result = restoreDigits(JSON.parse('{"__proto__":9007199254740992}'), digits);
    expect(JSON.stringify(result)).to.equal('{"__proto__":9007199254740993}');
  });
});

describe('the measure of a JSON text', () => {
  it('agrees with a walk over the value', () => {
    const countOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, member) => sum + countOf(member), 1)
        : 1;
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { values, depth } = measureJson(JSON.stringify(value));
        expect(depth).to.equal(depthOf(value));
        // An empty array or object counts for its member too.
        expect(values).to.be.at.least(countOf(value));
        expect(values).to.be.at.most(2 * countOf(value));
      }),
      { seed: seedOr(7), numRuns: runs(2000) },
    );
  });

  it('is not misled by texts', () => {
    expect(measureJson('"[{,\\"[\\\\"')).to.deep.equal({ values: 1, depth: 0 });
  });
});

describe('the libraries of a script', () => {
  for (const [body, libraries] of [
    ['done(1)', []],
    ['require(\'lodash\'); require ( "moment" )', ['moment', 'lodash']],
    ["require('lodash/fp')", ['lodash/fp']],
    ["require('fs')", []],
    ["const r = require; r('moment')", ['util', 'moment', 'lodash', 'lodash/fp']],
    ['require(name)', ['util', 'moment', 'lodash', 'lodash/fp']],
  ] as const)
    it(`of ${body}`, () => {
      expect(librariesOf(body)).to.deep.equal(libraries);
    });
});
