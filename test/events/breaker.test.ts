import { expect } from 'chai';
import { createBreaker } from '../../src/events/dispatch/breaker.ts';

const OPTIONS = { failures: 5, hardFailures: 3, shortestParkMs: 5_000, longestParkMs: 60_000 };

describe('the breaker', () => {
  it('opens after 5 failures in a row, and a success between them starts the count anew', () => {
    const breaker = createBreaker(OPTIONS);
    for (let failure = 0; failure < 4; failure++) breaker.fail(0, false);
    expect(breaker.succeed()).to.equal(false);
    for (let failure = 0; failure < 4; failure++) expect(breaker.fail(0, false)).to.equal(false);
    expect(breaker.state(0)).to.equal('closed');
    expect(breaker.fail(0, false)).to.equal(true);
    expect(breaker.state(0)).to.equal('open');
  });

  it('opens after 3 failures that held a connection or got none', () => {
    const breaker = createBreaker(OPTIONS);
    expect([1, 2, 3].map(() => breaker.fail(0, true))).to.deep.equal([false, false, true]);
  });

  it('does not lengthen the pause for what was in flight when it opened', () => {
    const breaker = createBreaker(OPTIONS);
    for (let failure = 0; failure < 3; failure++) breaker.fail(0, true);
    expect(breaker.fail(1_000, true)).to.equal(false);
    expect(breaker.openUntilMs()).to.equal(5_000);
  });

  it('closes at a success and says so once', () => {
    const breaker = createBreaker(OPTIONS);
    for (let failure = 0; failure < 3; failure++) breaker.fail(0, true);
    expect(breaker.succeed()).to.equal(true);
    expect(breaker.succeed()).to.equal(false);
    expect(breaker.state(0)).to.equal('closed');
    expect(breaker.isClean()).to.equal(true);
  });
});
