import { expect } from 'chai';
import { startProvider } from '#connector/testing';
import { createFollower } from '../../suite/follower.ts';
import twilio from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describe('changes of Twilio', () => {
  it('are noticed within a day of the message, by comparing', async () => {
    const provider = await startProvider(twilio, createSimulator, DEMO_CONFIGURATION);
    try {
      const { poll } = createFollower({
        ...{ connector: twilio, config: DEMO_CONFIGURATION, simulatorsUrl: provider.simulatorsUrl },
        objectName: 'messages',
      });
      await poll();
      const { created } = Object(await provider.command('/simulate/changes', { table: 'messages', create: 2 }));
      expect((await poll()).map(({ type }) => type)).to.deep.equal(['messages.created', 'messages.created']);
      const [id] = created;
      const { update } = (await provider.connect().discover()).object('messages');
      await provider.connect().run(update, { id, values: { body: '' }, fields: [] });
      expect((await poll()).map(({ type, objectId }) => [type, objectId])).to.deep.equal([['messages.updated', id]]);
      expect(await poll()).to.deep.equal([]);
    } finally {
      await provider.stop();
    }
  });
});
