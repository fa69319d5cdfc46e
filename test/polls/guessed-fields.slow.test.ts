import { expect } from 'chai';
import odata from '../../connectors/odata/index.ts';
import { createSimulator, DEMO_CONFIGURATION } from '../../connectors/odata/simulator.ts';
import { createFollower } from '../../suite/follower.ts';
import { type ServedSimulator, serveSimulator } from '../../suite/served.ts';

describe('polling an object that declares nothing of changes', () => {
  let provider: ServedSimulator;

  before(async () => {
    provider = await serveSimulator(odata.key, createSimulator);
  });
  after(() => provider.stop());

  const askedSince = (from: number) =>
    provider.seen
      .slice(from)
      .map(({ target }) => new URL(target, 'http://provider').searchParams.get('$filter'))
      .filter((filter) => filter !== null);

  it('asks for what changed by a field whose name tells that, and misses nothing', async () => {
    const { poll } = createFollower({
      ...{ connector: odata, config: DEMO_CONFIGURATION, simulatorsUrl: provider.simulatorsUrl },
      objectName: 'Products',
    });
    expect(await poll()).to.deep.equal([]);
    const { length } = provider.seen;
    const answer = Object(await provider.command('/simulate/changes', { table: 'Products', create: 2, update: 3 }));
    const events = await poll();
    expect(events.map(({ objectId }) => objectId)).to.have.members([...answer.created, ...answer.updated]);
    expect(await poll()).to.deep.equal([]);
    const filters = askedSince(length);
    expect(filters).not.to.deep.equal([]);
    for (const filter of filters) expect(filter).to.match(/^ChangedAt ge /);
  });

  it('compares all records where no name tells it', async () => {
    const { poll } = createFollower({
      ...{ connector: odata, config: DEMO_CONFIGURATION, simulatorsUrl: provider.simulatorsUrl },
      objectName: 'Countries',
    });
    const { length } = provider.seen;
    expect(await poll()).to.deep.equal([]);
    expect(await poll()).to.deep.equal([]);
    expect(askedSince(length)).to.deep.equal([]);
  });
});
