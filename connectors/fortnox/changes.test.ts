import { expect } from 'chai';
import { type Provider, startProvider } from '#connector/testing';
import { createFollower } from '../../suite/follower.ts';
import fortnox from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

const URL_SINCE = "/customers?where=lastmodified='${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}'";

describe('changes of Fortnox', () => {
  let provider: Provider;

  beforeEach(async () => {
    provider = await startProvider(fortnox, createSimulator, DEMO_CONFIGURATION);
  });
  afterEach(() => provider.stop());

  const follow = (polling = {}) =>
    createFollower({
      ...{ connector: fortnox, config: DEMO_CONFIGURATION, simulatorsUrl: provider.simulatorsUrl, polling },
      objectName: 'customers',
    });
  const change = async (counts: object) =>
    Object(await provider.command('/simulate/changes', { table: 'customers', ...counts }));
  const idsOf = (events: Awaited<ReturnType<ReturnType<typeof follow>['poll']>>) =>
    events.map(({ objectId }) => objectId);

  it('are asked for by lastmodified where the configuration says so', async () => {
    const customers = { url: URL_SINCE, idField: 'CustomerNumber' };
    const { poll } = follow({ 'event.poller.configuration': { customers } });
    expect(await poll()).to.deep.equal([]);
    const { created, updated } = await change({ create: 2, update: 3 });
    expect(idsOf(await poll())).to.have.members([...created, ...updated]);
    expect(await poll()).to.deep.equal([]);
    const lists = provider.seen.map(({ target }) => target).filter((target) => target.includes('/customers?'));
    for (const target of lists) expect(target).to.match(/lastmodified=\d{4}-\d\d-\d\d%20\d\d%3A\d\d/);
  });

  it('are found by comparing where it says nothing', async () => {
    const { poll } = follow();
    expect(await poll()).to.deep.equal([]);
    const { created, updated } = await change({ create: 2, update: 3 });
    const events = await poll();
    expect(events.map(({ type, objectId }) => `${type} ${objectId}`)).to.have.members([
      ...created.map((id: string) => `customers.created ${id}`),
      ...updated.map((id: string) => `customers.updated ${id}`),
    ]);
    expect(await poll()).to.deep.equal([]);
  });
});
