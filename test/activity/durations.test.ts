import { expect } from 'chai';
import { array, assert, double, integer, property } from 'fast-check';
import { addDurations, bucketOf, countDuration, percentile } from '../../src/activity/durations.ts';

const MOST_ERROR = 0.05;
const us = () => integer({ min: 100, max: 600_000_000 });

describe('durations in buckets', () => {
  it('tell every percentile within 5 %, from a tenth of a millisecond to ten minutes', () => {
    assert(
      property(
        array(us(), { minLength: 1, maxLength: 200 }),
        double({ min: 0, max: 1, noNaN: true }),
        (given, share) => {
          const counted: number[] = [];
          for (const one of given) countDuration(counted, one);
          const sorted = given.toSorted((one, other) => one - other);
          const exact = sorted[Math.max(0, Math.ceil(given.length * share) - 1)] ?? 0;
          expect(Math.abs(percentile(counted, share) - exact) / exact).to.be.at.most(MOST_ERROR);
        },
      ),
    );
  });

  it('are in one bucket each, which grow with them', () => {
    expect([0, 99, 100, 109, 111, 1_000].map(bucketOf)).to.deep.equal([0, 0, 1, 1, 2, 25]);
    expect(bucketOf(Number.MAX_SAFE_INTEGER)).to.equal(bucketOf(700_000_000));
  });

  it('add up to what all of them are', () => {
    assert(
      property(array(us()), array(us()), (one, other) => {
        const count = (given: readonly number[]) => {
          const counted: number[] = [];
          for (const each of given) countDuration(counted, each);
          return counted;
        };
        const sum = count(one);
        addDurations(sum, count(other));
        expect(sum).to.deep.equal(count([...one, ...other]));
      }),
    );
  });

  it('are none where there is no call', () => {
    expect(percentile([], 0.5)).to.equal(0);
  });
});
