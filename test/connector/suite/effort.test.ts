import { expect } from 'chai';
import { FULL, hasEveryLiteral, QUICK, readEffort, SMOKE, THOROUGH } from '../../../suite/effort.ts';

describe('the effort for a connector', () => {
  const cases = [
    ['what is quick, by default', {}, QUICK],
    ['the least in npm test', { CONFORMANCE: 'smoke' }, SMOKE],
    ['about two thirds of everything in npm run test:slow', { CONFORMANCE: 'thorough' }, THOROUGH],
    ['everything in npm run test:slow, if it is chosen', { CONFORMANCE: 'thorough', CONFORMANCE_OF: 'box,keap' }, FULL],
    ['what is quick, if others are chosen', { CONFORMANCE: 'thorough', CONFORMANCE_OF: 'keap' }, QUICK],
    ['everything with CONFORMANCE=full', { CONFORMANCE: 'full' }, FULL],
    [
      'what is quick with CONFORMANCE=full, if others are chosen',
      { CONFORMANCE: 'full', CONFORMANCE_OF: 'keap' },
      QUICK,
    ],
    ['everything with another seed', { CONFORMANCE: 'full', CONFORMANCE_SEED: '7' }, { ...FULL, seed: 7 }],
  ] as const;
  for (const [what, environment, effort] of cases) {
    it(`is ${what}`, () => {
      expect(readEffort(environment, 'box')).to.deep.equal(effort);
    });
  }

  it('has as many random filters as CONFORMANCE_RUNS says', () => {
    const { filters, filtersInAll } = readEffort({ CONFORMANCE_RUNS: '40' }, 'box');
    expect([filters, filtersInAll]).to.deep.equal([40, Number.POSITIVE_INFINITY]);
  });

  it('has every literal for a real server if its connector changed, or other cases than last time are tried', () => {
    const environments = [{}, { CONFORMANCE_OF: 'keap' }, { CONFORMANCE_OF: 'keap,box' }, { CONFORMANCE_SEED: '7' }];
    const found = environments.map((environment) => hasEveryLiteral(environment, 'box'));
    expect(found).to.deep.equal([false, false, true, true]);
  });
});
