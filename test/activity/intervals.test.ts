import { expect } from 'chai';
import { type AskedPeriod, pointsOf, readPeriod } from '../../src/activity/intervals.ts';

const NOW = Date.parse('2026-03-10T12:34:56.789Z');
const shown = (asked: AskedPeriod) => {
  const points = pointsOf(readPeriod(asked, NOW)).map((atMs) => new Date(atMs).toISOString());
  return { first: points[0], last: points.at(-1), count: points.length };
};
const messageOf = (asked: AskedPeriod) => {
  try {
    readPeriod(asked, NOW);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
  return undefined;
};

describe('a period of usage', () => {
  it('is the last day by hour, unless something else is asked for', () => {
    expect(shown({})).to.deep.equal({
      first: '2026-03-09T13:00:00.000Z',
      last: '2026-03-10T12:00:00.000Z',
      count: 24,
    });
    expect(shown({ interval: 'minute' }).count).to.equal(60);
    expect(shown({ interval: 'day' })).to.deep.equal({
      first: '2026-02-09T00:00:00.000Z',
      last: '2026-03-10T00:00:00.000Z',
      count: 30,
    });
  });

  it('has the intervals that it begins and ends in, and not the one that it ends before', () => {
    const asked = { from: '2026-03-01T23:59:00+01:00', to: '2026-03-04T00:00:00Z', interval: 'day' } as const;
    expect(shown(asked)).to.deep.equal({
      first: '2026-03-01T00:00:00.000Z',
      last: '2026-03-03T00:00:00.000Z',
      count: 3,
    });
    expect(shown({ ...asked, to: '2026-03-04T00:00:00.001Z' }).last).to.equal('2026-03-04T00:00:00.000Z');
  });

  it('has an end after its beginning', () => {
    const asked = { from: '2026-03-10T10:00:00Z', to: '2026-03-10T10:00:00Z' };
    expect(messageOf(asked)).to.equal("'to' must be after 'from'.");
  });

  it('has no more intervals than fit an answer, and says what would do', () => {
    const asked = { from: '2026-03-09T00:00:00Z', to: '2026-03-10T12:00:00Z', interval: 'minute' } as const;
    expect(messageOf(asked)).to.equal(
      "The period has 2160 minutes. Request at most 1500 minutes or a longer interval than 'minute'.",
    );
    expect(messageOf({ from: '2020-01-01T00:00:00Z', interval: 'day' })).to.equal(
      'The period has 2261 days. Request at most 1500 days.',
    );
  });

  it('does not begin before what is kept, and says what would do', () => {
    const asked = { from: '2026-01-08T00:00:00Z', to: '2026-01-09T00:00:00Z', interval: 'hour' } as const;
    expect(messageOf(asked)).to.equal(
      "The service keeps counts by hour for 60 days, and 'from' is earlier. Send a later 'from', or a longer interval than 'hour'.",
    );
    expect(messageOf({ ...asked, interval: 'day' })).to.equal(undefined);
  });
});
