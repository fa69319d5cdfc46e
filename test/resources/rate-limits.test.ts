import { expect } from 'chai';
import { createRateLimits } from '../../src/resources/rate-limits.ts';

const INSTANCE = { accountId: 1, id: 2 };

describe('what providers tell of their limits', () => {
  let steadyMs = 0;
  const limits = createRateLimits({ steady: () => steadyMs });

  it('is known of its instance, with the time that is left, until the limit is new', () => {
    limits.note(INSTANCE, { limit: 100, remaining: 3, resetSeconds: 30 });
    steadyMs += 10_000;
    expect(limits.find(INSTANCE)).to.deep.equal({ limit: 100, remaining: 3, resetSeconds: 20 });
    expect(limits.find({ ...INSTANCE, accountId: 2 })).to.equal(undefined);
    steadyMs += 20_000;
    expect(limits.find(INSTANCE)).to.equal(undefined);
  });

  it('is known for a minute where nothing tells when the limit is new', () => {
    limits.note(INSTANCE, { limit: 100, remaining: 3 });
    expect(limits.find(INSTANCE)).to.deep.equal({ limit: 100, remaining: 3, resetSeconds: 60 });
    steadyMs += 60_000;
    expect(limits.find(INSTANCE)).to.equal(undefined);
  });

  it('is what was told last', () => {
    limits.note(INSTANCE, { limit: 100, remaining: 3, resetSeconds: 30 });
    limits.note(INSTANCE, { limit: 100, remaining: 99, resetSeconds: 60 });
    expect(limits.find(INSTANCE)).to.include({ remaining: 99 });
  });
});
