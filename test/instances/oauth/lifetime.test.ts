import { expect } from 'chai';
import {
  planAheadMs,
  planBackoffMs,
  planLifetime,
  planMarginMs,
  shortenLifetime,
} from '../../../src/instances/oauth/tokens/lifetime.ts';

const MINUTE_MS = 60_000;
const RENEWABLE = { renewable: true };

describe('planAheadMs', () => {
  const cases: readonly (readonly [life: string, lifeMs: number, aheadMs: number])[] = [
    ['2 s', 2_000, 1_000],
    ['just under 4 minutes', 4 * MINUTE_MS - 1, 2 * MINUTE_MS - 0.5],
    ['4 minutes', 4 * MINUTE_MS, 2 * MINUTE_MS],
    ['20 minutes', 20 * MINUTE_MS, 2 * MINUTE_MS],
    ['an hour', 60 * MINUTE_MS, 6 * MINUTE_MS],
    ['a day', 24 * 60 * MINUTE_MS, 10 * MINUTE_MS],
  ];
  for (const [life, lifeMs, aheadMs] of cases) {
    it(`renews a token that lives ${life} ${aheadMs / 1000} s ahead`, () => {
      expect(planAheadMs(lifeMs)).to.equal(aheadMs);
    });
  }
});

describe('planLifetime', () => {
  it('leaves a token without an expiry to the provider', () => {
    for (const seconds of [undefined, 0, -1, Number.NaN]) {
      expect(planLifetime(seconds, RENEWABLE)).to.deep.equal({ expiresInMs: null, refreshInMs: null });
    }
  });

  it('plans no refresh where none can be had', () => {
    expect(planLifetime(3600, { renewable: false })).to.deep.equal({ expiresInMs: 3_600_000, refreshInMs: null });
  });

  it('keeps absurd lives within what a database can hold', () => {
    expect(planLifetime(1e300, RENEWABLE).expiresInMs).to.equal(10 * 365 * 24 * 60 * MINUTE_MS);
  });

  it('loses the time that has gone by', () => {
    expect(shortenLifetime({ expiresInMs: 10, refreshInMs: 5 }, 7)).to.deep.equal({ expiresInMs: 3, refreshInMs: -2 });
    expect(shortenLifetime({ expiresInMs: null, refreshInMs: null }, 7)).to.deep.equal({
      expiresInMs: null,
      refreshInMs: null,
    });
  });
});

describe('planMarginMs', () => {
  it('stops trusting a token 30 s before its end', () => {
    expect(planMarginMs(planLifetime(3600, RENEWABLE))).to.equal(30_000);
  });

  it('stops trusting a token of a short life at an eighth of it', () => {
    expect(planMarginMs(planLifetime(4, RENEWABLE))).to.equal(500);
  });

  it('trusts what cannot be renewed to the end', () => {
    expect(planMarginMs(planLifetime(3600, { renewable: false }))).to.equal(0);
    expect(planMarginMs(planLifetime(undefined, RENEWABLE))).to.equal(0);
  });
});

describe('planBackoffMs', () => {
  const low = () => 0;
  const high = () => 1;

  it('doubles from a second to five minutes, half of it jitter', () => {
    expect([1, 2, 3, 9, 10, 99].map((failures) => planBackoffMs(low, failures))).to.deep.equal([
      500, 1_000, 2_000, 128_000, 150_000, 150_000,
    ]);
    expect([1, 2, 99].map((failures) => planBackoffMs(high, failures))).to.deep.equal([1_000, 2_000, 300_000]);
  });

  it('waits as long as the provider asks for, up to an hour', () => {
    expect(planBackoffMs(high, 1, 20_000)).to.equal(20_000);
    expect(planBackoffMs(high, 1, 86_400_000)).to.equal(3_600_000);
  });
});
