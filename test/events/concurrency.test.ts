import { expect } from 'chai';
import { type Concurrency, createConcurrency } from '../../src/events/dispatch/lane.ts';

const OPTIONS = { least: 8, most: 64, quickMs: 250 };

function succeed(concurrency: Concurrency, times: number, durationMs = 10, wasFull = true): void {
  for (let time = 0; time < times; time++) concurrency.succeed(durationMs, wasFull);
}

describe('the pushes a receiver gets at a time', () => {
  it('grow by one with each full round of quick successes', () => {
    const concurrency = createConcurrency(OPTIONS);
    succeed(concurrency, 7);
    expect(concurrency.limit()).to.equal(8);
    succeed(concurrency, 1);
    expect(concurrency.limit()).to.equal(9);
    succeed(concurrency, 9 + 10);
    expect(concurrency.limit()).to.equal(11);
  });

  it('grow to the most and no further', () => {
    const concurrency = createConcurrency(OPTIONS);
    succeed(concurrency, 10_000);
    expect(concurrency.limit()).to.equal(64);
  });

  it('do not grow while fewer are under way than may be', () => {
    const concurrency = createConcurrency(OPTIONS);
    succeed(concurrency, 1_000, 10, false);
    expect(concurrency.limit()).to.equal(8);
  });

  it('shrink by one with each slow success, and a slow one ends its round', () => {
    const concurrency = createConcurrency(OPTIONS);
    succeed(concurrency, 8 + 9 + 9);
    succeed(concurrency, 1, 251);
    expect(concurrency.limit()).to.equal(9);
    succeed(concurrency, 8);
    expect(concurrency.limit()).to.equal(9);
    succeed(concurrency, 100, 251);
    expect(concurrency.limit()).to.equal(8);
  });

  it('fall back at once when one fails, and grow anew', () => {
    const concurrency = createConcurrency(OPTIONS);
    succeed(concurrency, 10_000);
    concurrency.fail();
    expect(concurrency.limit()).to.equal(8);
    succeed(concurrency, 7);
    concurrency.fail();
    succeed(concurrency, 7);
    expect(concurrency.limit()).to.equal(8);
  });

  it('never grow when the most is not above the least', () => {
    const concurrency = createConcurrency({ ...OPTIONS, least: 8, most: 1 });
    succeed(concurrency, 1_000);
    expect(concurrency.limit()).to.equal(8);
  });
});
