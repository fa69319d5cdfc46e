import { expect } from 'chai';
import { compileWish, createChoice } from '../../src/events/endpoints/choose.ts';
import { newEvent, plainSource } from '../support/events.ts';

/** A hundred endpoints, whose filters read the whole text of each record. */
const WANTING = Array.from({ length: 100 }, (_, subscriptionId) => ({
  receiver: { subscriptionId, host: 'example.com', ordered: false },
  ...compileWish({ eventTypes: ['*'], where: "object.text LIKE '%a%b%c%'" }),
}));
const NOTHING = { record: async () => undefined, types: async () => undefined };
const events = (count: number) => Array.from({ length: count }, () => newEvent(1, { object: { text: 'aaaa' } }));

describe('a hundred endpoints with hostile filters', () => {
  it('let other work run in between', async () => {
    let pauses = 0;
    const pacer = { isDue: () => true, begin: () => {}, pause: async () => void pauses++ };
    const choose = createChoice(WANTING, { records: NOTHING, pacer, clock: { steady: () => 0 } });
    for (const event of events(3)) expect(await choose(event, plainSource(1, 1))).to.deep.equal([]);
    // Before each filter, once for the event and once for its record.
    expect(pauses).to.equal(3 * 2 * WANTING.length);
  });

  it('spend one second on the records of a call, and get the other events unfiltered', async () => {
    let nowMs = 0;
    // Each of them takes four milliseconds.
    const clock = { steady: () => (nowMs += 2) };
    const pacer = { isDue: () => false, begin: () => {}, pause: async () => {} };
    const choose = createChoice(WANTING, { records: NOTHING, pacer, clock });
    let judged = 0;
    let unfiltered = 0;
    for (const event of events(10)) {
      const receivers = await choose(event, plainSource(1, 1));
      expect(receivers.every((receiver) => receiver.unfiltered === true)).to.equal(true);
      unfiltered += receivers.length;
      judged += WANTING.length - receivers.length;
    }
    expect(judged, 'judged').to.equal(501);
    expect(unfiltered, 'unfiltered').to.equal(499);
  });
});
