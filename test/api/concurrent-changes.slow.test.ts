import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { json, startMisbehavingServer } from '../support/misbehaving-server.ts';

describe('two changes of one configuration at the same time', () => {
  const service = useSharedApp();

  it('are not mixed: one wins, the other is a conflict that says what to do', async () => {
    const provider = await startMisbehavingServer();
    provider.answer('/', json({ value: [] }));
    const { id } = await service.createInstance('odata', { 'base.url': provider.url });
    const change = (username: string) =>
      service.call(`/instances/${id}/configuration`, {
        method: 'PATCH',
        body: { username, password: `${username}-password` },
      });
    const answers = await Promise.all(['one', 'two', 'three'].map(change));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).to.have.length.at.least(1);
    expect(new Set(statuses)).to.have.property('size').that.is.at.most(2);
    for (const { body } of answers.filter(({ status }) => status !== 200)) {
      expect(body.code).to.equal('CONFLICT');
      expect(body.message).to.equal(
        `Instance ${id} was changed by another request at the same time. Read it again and repeat the change.`,
      );
    }
    const { body } = await service.call(`/instances/${id}/configuration`);
    expect(['one', 'two', 'three']).to.include(body.username);
    await provider.close();
  });
});
