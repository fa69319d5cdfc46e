import { expect } from 'chai';
import type { ObjectSpec } from '../../src/connector/index.ts';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import { planPoll } from '../../src/polls/plan.ts';
import { THINGS } from './things.ts';

describe('the plan of a poll of a mapped object', () => {
  const { mortals }: Readonly<Record<string, ObjectSpec>> = Object(THINGS.objects);
  const settings = readPollSettings({ 'event.notification.enabled': true, 'event.objects': 'mortals' });
  const [resource] = settings?.resources ?? [];

  /** Returns how a mapped object with these members of `changes` is polled. */
  function planOf(vendor: ObjectSpec | undefined, changes: ObjectSpec['changes']) {
    if (vendor === undefined || settings === undefined || resource === undefined) throw new Error('It is not polled.');
    const mapped = { fields: { id: { type: 'string' } }, changes, vendor, mapping: { version: '1' }, inForce: {} };
    const { kind, hasFeed } = planPoll(resource, settings, mapped as unknown as ObjectSpec);
    return [kind, hasFeed];
  }

  it('compares all records, beside the feed, if the mapping leaves out the time of changes', () => {
    expect(planOf(mortals, { feed: mortals?.changes?.feed })).to.deep.equal(['snapshot', true]);
  });

  it('only reads the feed if the provider reports all changes by it', () => {
    const feed = mortals?.changes?.feed;
    expect(planOf(mortals && { ...mortals, changes: { feed } }, { feed })).to.deep.equal(['feed', true]);
  });
});
