import { expect } from 'chai';
import { createStartLimit } from '../../src/formulas/executions/start-limit.ts';

const PLACE = { accountId: 1, id: 7 };

describe('the starts of a formula instance', () => {
  it('are limited also when many come at the same time, before any of them is stored', async () => {
    let nowMs = 0;
    let looks = 0;
    const countStarts = async () => {
      looks++;
      await new Promise(setImmediate);
      return 0;
    };
    const limit = createStartLimit({ countStarts, clock: { now: () => nowMs }, perMinute: 1_000 });
    const take = async (times: number) => {
      const refusals = await Promise.all(Array.from({ length: times }, () => limit.take(PLACE)));
      return refusals.filter((refusal) => refusal === undefined).length;
    };
    expect(await take(3_000)).to.equal(1_000);
    expect(looks).to.be.at.most(21);
    nowMs = 2_000;
    expect(await take(10)).to.equal(0);
    // They would be stored by now.
    nowMs = 10_000;
    expect(await take(10)).to.equal(10);
  });

  it('may be more at a time than are counted without a look', async () => {
    const limit = createStartLimit({ countStarts: async () => 900, clock: { now: () => 0 }, perMinute: 1_000 });
    expect(await limit.take(PLACE, 100)).to.equal(undefined);
    expect(await limit.take(PLACE, 101)).to.equal(
      'Formula instance 7 was started more than 1000 times within a minute.',
    );
  });
});
