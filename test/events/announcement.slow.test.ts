import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createAnnouncement } from '../../src/events/sweep/announcement.ts';
import { silentLog } from '../support/database.ts';

const EVERY_MS = 5;

describe('the announcement of due deliveries', () => {
  function counted() {
    const sent = { count: 0, first: Promise.withResolvers<void>() };
    const send = async () => {
      sent.count++;
      sent.first.resolve();
    };
    return { sent, ...createAnnouncement({ clock: SYSTEM_CLOCK, log: silentLog }, send, EVERY_MS) };
  }

  it('is made once for many within its time', async () => {
    const { announce, sent, stop } = counted();
    for (let time = 0; time < 10; time++) announce();
    await sent.first.promise;
    await stop();
    expect(sent.count).to.equal(1);
  });

  it('is not made after the stop, whether it was asked for before or after', async () => {
    const { announce, sent, stop } = counted();
    announce();
    await stop();
    announce();
    await sleep(EVERY_MS * 4);
    expect(sent.count).to.equal(0);
  });

  it('is waited for by the stop when it is under way', async () => {
    const under = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    let sent = false;
    const send = async () => {
      under.resolve();
      await end.promise;
      sent = true;
    };
    const { announce, stop } = createAnnouncement({ clock: SYSTEM_CLOCK, log: silentLog }, send, EVERY_MS);
    announce();
    await under.promise;
    const stopped = stop();
    end.resolve();
    await stopped;
    expect(sent).to.equal(true);
  });
});
