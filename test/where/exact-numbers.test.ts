import { expect } from 'chai';
import { ExactNumber } from '../../src/numbers/exact-json.ts';
import { compareValues, compileCondition, type FieldSpec, prepareCondition } from '../../src/where/index.ts';

const amount: FieldSpec = { type: 'number' };

const near = (value: unknown) =>
  compileCondition(prepare("amount = 9007199254740993 OR amount IN ('0.10000000000000000001')"))({ amount: value });

function prepare(where: string) {
  const condition = prepareCondition(where, { fields: { amount } });
  if (condition === undefined) throw new Error('There is no condition.');
  return condition;
}

describe('numbers with more digits than a double holds', () => {
  it('are compared with a literal by all of them, however the row has them', () => {
    for (const digits of ['9007199254740993', '0.10000000000000000001']) {
      expect(near(new ExactNumber(digits))).to.equal(true);
      expect(near(digits)).to.equal(true);
    }
    for (const value of [9007199254740992, new ExactNumber('9007199254740993.1'), 0.1, new ExactNumber('1e400')])
      expect(near(value), String(value)).to.equal(false);
  });

  it('are sorted by all of them', () => {
    const sorted = [
      -1,
      9007199254740992,
      new ExactNumber('9007199254740993'),
      '9007199254740993.5',
      9007199254740994,
      null,
    ];
    const compare = compareValues({ ...amount, name: 'amount', native: 'amount' });
    expect([...sorted].reverse().sort(compare)).to.deep.equal(sorted);
  });
});
