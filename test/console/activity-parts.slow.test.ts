import { expect } from 'chai';
import { whereOf } from '../../console/activity/filter.ts';
import { layOut } from '../../console/activity/layout.ts';

describe('the bars of a waterfall', () => {
  it('stand one after the other where there is room for that', () => {
    const { spans, endMs, isParallel } = layOut([10, 5, 20], 100);
    expect(spans.map(({ startMs, endMs: end }) => [startMs, end])).to.deep.equal([
      [0, 10],
      [10, 15],
      [15, 35],
    ]);
    expect([endMs, isParallel]).to.deep.equal([100, false]);
  });

  it('overlap where calls took longer together than the request, and end in the order in which they ended', () => {
    const { spans, endMs, isParallel } = layOut([60, 40, 90], 100);
    expect(spans.map(({ startMs, endMs: end }) => [startMs, end])).to.deep.equal([
      [0, 60],
      [20, 60],
      [0, 90],
    ]);
    expect([endMs, isParallel]).to.deep.equal([100, true]);
  });

  it('have an axis where nothing took any time, and where a call took longer than its request', () => {
    expect(layOut([], 0).endMs).to.be.above(0);
    expect(layOut([120], 100)).to.deep.equal({ spans: [{ startMs: 0, endMs: 120 }], endMs: 120, isParallel: true });
  });
});

describe('the filter of the activity', () => {
  const NOW = Date.parse('2026-03-01T12:00:00Z');

  for (const [name, filter, where] of [
    ['is nothing without a control', {}, undefined],
    ['joins what the controls say', { instance: '5', failures: '1' }, 'instanceId = 5 AND status >= 400'],
    ['takes text as text', { element: "o'x" }, "elementKey = 'o''x'"],
    ['takes signs of a pattern as they are', { path: '100%_\\' }, "path LIKE '%100\\%\\_\\\\%'"],
    ['knows the time', { since: '1h' }, 'timestamp >= 2026-03-01T11:00:00.000Z'],
    ['passes over what no control says', { instance: '5 OR 1', status: 'constructor', since: 'toString' }, undefined],
    ['is what was written, before all controls', { where: 'rows > 1', instance: '5' }, 'rows > 1'],
  ] as const) {
    it(name, () => {
      expect(whereOf(filter, NOW)).to.equal(where);
    });
  }
});
