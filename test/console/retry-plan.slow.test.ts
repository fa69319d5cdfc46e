import { expect } from 'chai';
import { withStatus, writeWhere } from '../../console/events/delivery-filter.ts';
import { planRetries } from '../../console/events/retry-plan.ts';

const START_MS = Date.parse('2026-03-01T12:00:00Z');

/** Attempts that failed so many seconds after the start, each at once. */
function failedAt(...seconds: readonly number[]) {
  return seconds.map((after, index) => ({
    attempt: index + 1,
    date: new Date(START_MS + after * 1000).toISOString(),
    delivered: false,
    durationMs: 0,
  }));
}

/** Seconds from the start. */
function plan(attempts: ReturnType<typeof failedAt>, next: number, retryCount: 5 | 9 = 5) {
  const { planned } = planRetries({ attempts, nextAttemptMs: START_MS + next * 1000, retryCount });
  return planned.map(({ retry, atMs }) => [retry, Math.round((atMs - START_MS) / 1000)]);
}

describe('the planned retries of a delivery', () => {
  it('follow the original failure', () => {
    expect(plan(failedAt(0), 8)).to.deep.equal([
      [1, 8],
      [2, 72],
      [3, 584],
      [4, 4680],
      [5, 34_160],
    ]);
    expect(plan(failedAt(0, 8, 72), 584, 9)).to.have.length(7);
    expect(plan(failedAt(0, 8, 72, 584, 4680), 34_160)).to.deep.equal([[5, 34_160]]);
  });

  it('begin anew after a release', () => {
    const first = [0, 8, 72, 584, 4680, 34_160];
    expect(plan(failedAt(...first, 90_000), 90_008)).to.deep.equal([
      [1, 90_008],
      [2, 90_072],
      [3, 90_584],
      [4, 94_680],
      [5, 124_160],
    ]);
    expect(plan(failedAt(...first, 90_000, 90_008), 90_072).at(0)).to.deep.equal([2, 90_072]);
  });

  it('come behind the next one, however late a receiver wants that', () => {
    expect(plan(failedAt(0, 8), 560)).to.deep.equal([
      [2, 560],
      [3, 584],
      [4, 4680],
      [5, 34_160],
    ]);
    expect(plan(failedAt(0), 70).slice(0, 2)).to.deep.equal([
      [1, 70],
      [2, 78],
    ]);
  });
});

describe('the filter that controls above a list write', () => {
  it('has all of them, with quotes and patterns as the query language has them', () => {
    const choices = { subscription: '3', instance: '', type: `o'neill_%\\.*`, from: '2026-03-01T00:00:00.000Z' };
    expect(writeWhere(choices)).to.equal(
      `subscriptionId = 3 AND event.type LIKE 'o''neill\\_\\%\\\\.%' AND createdDate >= 2026-03-01T00:00:00.000Z`,
    );
    expect(writeWhere({ type: 'a.created' })).to.equal(`event.type = 'a.created'`);
  });

  it('is joined with the state, if there is one', () => {
    expect(withStatus('', undefined)).to.equal(undefined);
    expect(withStatus('id = 1', undefined)).to.equal('id = 1');
    expect(withStatus('', 'queued')).to.equal(`status = 'queued'`);
    expect(withStatus('id = 1 OR id = 2', 'queued')).to.equal(`status = 'queued' AND (id = 1 OR id = 2)`);
  });
});
