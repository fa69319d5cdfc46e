import { expect } from 'chai';
import { toContextValue } from '../../src/formulas/executions/step-values.ts';

describe('the values of a step', () => {
  it('become an object of their members', () => {
    expect(
      toContextValue([
        [['a'], 1],
        [['response', 'code'], 200],
      ]),
    ).to.deep.equal({ a: 1, response: { code: 200 } });
  });

  it('become the value of a script that left no object, also beside its console', () => {
    expect(toContextValue([[[], 'x']])).to.equal('x');
    expect(
      toContextValue([
        [['console'], ['line']],
        [[], [1]],
      ]),
    ).to.deep.equal([1]);
  });
});
