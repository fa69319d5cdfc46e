import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createEventIds, parseEventId, showEventId } from '../../src/events/event-id.ts';

const random = { bytes: randomBytes };
const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('event ids', () => {
  it('are UUIDs of version 7 that begin with the time', () => {
    const newId = createEventIds({ clock: { now: () => 0x0123456789ab }, random });
    const id = newId();
    expect(id).to.match(UUID_7);
    expect(id.slice(0, 13)).to.equal('01234567-89ab');
  });

  it('ascend and differ, even more of them than one millisecond can count, even when the clock goes back', () => {
    let nowMs = 5_000;
    const newId = createEventIds({ clock: { now: () => nowMs }, random });
    const ids = Array.from({ length: 10_000 }, (_, index) => {
      if (index === 9_000) nowMs = 4_000;
      return newId();
    });
    expect(new Set(ids).size).to.equal(10_000);
    expect([...ids].sort()).to.deep.equal(ids);
    for (const id of ids) expect(id).to.match(UUID_7);
  });

  it('are shown as evt_ with 32 digits, and read back', () => {
    const id = createEventIds({ clock: SYSTEM_CLOCK, random })();
    expect(showEventId(id)).to.match(/^evt_[0-9a-f]{32}$/);
    expect(parseEventId(showEventId(id))).to.equal(id);
  });

  for (const wrong of ['evt_1', 'evt_', '0190', `evt_${'g'.repeat(32)}`, `EVT_${'a'.repeat(32)}`]) {
    it(`does not read ${wrong}`, () => {
      expect(parseEventId(wrong)).to.equal(undefined);
    });
  }
});
