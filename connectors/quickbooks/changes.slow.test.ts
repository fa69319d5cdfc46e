import { expect } from 'chai';
import { createMovableClock, type MovableClock } from '#connector/simulator';
import { type Provider, startProvider } from '#connector/testing';
import { createFollower } from '../../suite/follower.ts';
import quickbooks from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const CONFIG = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };
const HOUR_MS = 3_600_000;

describe('changes of QuickBooks', () => {
  let provider: Provider;
  let clock: MovableClock;

  beforeEach(async () => {
    clock = createMovableClock();
    provider = await startProvider(quickbooks, createSimulator, CONFIG);
  });
  afterEach(() => provider.stop());

  const followBills = () =>
    createFollower({
      ...{ connector: quickbooks, config: CONFIG, simulatorsUrl: provider.simulatorsUrl, clock },
      objectName: 'bills',
    });
  const change = async (counts: object) =>
    Object(await provider.command('/simulate/changes', { table: 'Bill', ...counts }));
  const wait = (byMs: number) => {
    clock.move(byMs);
    return provider.command('/simulate/clock', { byMs });
  };
  const capturedSince = () =>
    provider.seen
      .map(({ target }) => new URL(target, 'https://provider'))
      .filter(({ pathname }) => pathname.endsWith('/cdc'))
      .map(({ searchParams }) => Date.parse(searchParams.get('changedSince') ?? ''));

  it('are not looked through again and again for deletions, where there are none', async () => {
    const { poll } = followBills();
    await poll();
    await poll();
    await wait(2 * HOUR_MS);
    await poll();
    await poll();
    const [first = 0, second = 0, third = 0, fourth = 0] = capturedSince();
    // The poll reads a short time again, because storing its progress more often would cost more.
    expect([second, third]).to.deep.equal([first, first]);
    expect(fourth - third).to.be.within(2 * HOUR_MS, 2.5 * HOUR_MS);
  });

  it('are told of deletions behind more changes than one answer holds', async () => {
    const { poll } = followBills();
    await poll();
    await change({ create: 600 });
    await wait(10_000);
    await change({ create: 600 });
    await wait(10_000);
    const { removed } = await change({ remove: 1 });
    const events = await poll();
    const deleted = events.filter(({ type }) => type === 'bills.deleted');
    expect(deleted.map(({ objectId }) => objectId)).to.deep.equal(removed);
    // One of the new records was deleted before the poll read it.
    expect(events).to.have.length(1200);
    expect(await poll()).to.deep.equal([]);
  });

  it('show who is made inactive as changed, because nobody is deleted', async () => {
    const { poll } = createFollower({
      ...{ connector: quickbooks, config: CONFIG, simulatorsUrl: provider.simulatorsUrl, clock },
      objectName: 'customers',
    });
    await poll();
    await wait(HOUR_MS);
    const connection = provider.connect();
    const { update, fields } = (await connection.discover()).object('customers');
    expect(update).not.to.equal(undefined);
    const wanted = Object.keys(fields).map((name) => ({
      ...fields[name],
      name,
      native: name,
      type: 'string' as const,
    }));
    await connection.run(update, { id: '1', values: { Active: false }, fields: wanted });
    const events = await poll();
    expect(events.map(({ type, objectId, object }) => [type, objectId, Object(object).Active])).to.deep.equal([
      ['customers.updated', '1', false],
    ]);
  });
});
