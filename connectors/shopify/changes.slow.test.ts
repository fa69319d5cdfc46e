import { expect } from 'chai';
import { startProvider } from '#connector/testing';
import { createFollower } from '../../suite/follower.ts';
import shopify from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const configuration = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };

describe('The deletions of Shopify', () => {
  it('are listed for products only, page by page, and each becomes one event', async () => {
    const provider = await startProvider(shopify, createSimulator, configuration);
    try {
      const { simulatorsUrl } = provider;
      const { poll } = createFollower({
        connector: shopify,
        config: configuration,
        simulatorsUrl,
        objectName: 'products',
      });
      await provider.command('/simulate/changes', { table: 'products', create: 260 });
      expect(await poll()).to.deep.equal([]);
      const connection = provider.connect();
      const { removed } = Object(await provider.command('/simulate/changes', { table: 'products', remove: 260 }));
      const events = await poll();
      expect(events.map(({ type, objectId }) => `${type} ${objectId}`)).to.have.members(
        removed.map((id: string) => `products.deleted ${id}`),
      );
      expect(await poll()).to.deep.equal([]);
      for (const name of ['orders', 'customers', 'draftOrders']) {
        expect((await connection.describe(name)).changes, name).to.not.have.property('feed');
      }
    } finally {
      await provider.stop();
    }
  });
});
