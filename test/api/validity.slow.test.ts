import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { SETUPS } from './support/troubled-setups.ts';

const reasonOf = (work: string) => `The provider refuses the credentials for '${work}'.`;

describe('an instance whose credentials a provider refuses', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const provider = useMisbehavingServer();

  async function createInstance(key: keyof typeof SETUPS): Promise<{ readonly id: number; readonly token: string }> {
    SETUPS[key].prepare(provider);
    return service.createInstance(key, SETUPS[key].configuration(provider.url));
  }

  async function validityOf(id: number): Promise<readonly unknown[]> {
    const { valid, invalidReason } = await service.get(`/instances/${id}`);
    return [valid, invalidReason];
  }

  async function countRefusals(id: number): Promise<number> {
    const body = await service.get('/notifications', {
      query: { where: `type = 'instance.credentials.refused'`, pageSize: 200 },
    });
    return body.filter(({ data }: { data: { instanceId: number } }) => data.instanceId === id).length;
  }

  it('says why it is not valid, wherever it is shown, and only as long as it is not', async () => {
    const { id, token } = await createInstance('impatient');
    expect(await validityOf(id)).to.deep.equal([true, undefined]);
    provider.answer('/items', status(401));
    expectProblem(await service.call('/items', { token }), 'INSTANCE_CREDENTIALS_FAILED');
    const shown = { valid: false, invalidReason: reasonOf('list items') };
    for (const path of ['/instances', '/accounts/instances', `/accounts/${service.accountId}/instances`]) {
      const body = await service.get(path);
      expect(
        body.find((one: { id: number }) => one.id === id),
        path,
      ).to.deep.include(shown);
    }
    expect(await service.get(`/instances/${id}`)).to.deep.include(shown);
    const configuration = SETUPS.impatient.configuration(provider.url);
    const body = await service.change('PATCH', `/instances/${id}`, { configuration });
    expect([body.valid, 'invalidReason' in body]).to.deep.equal([true, false]);
  });

  it('stays invalid, and is told of once, while a service shows its metadata to everybody and its data to nobody', async () => {
    const { id, token } = await createInstance('odata');
    provider.answer('/api/items', status(401));
    for (let call = 0; call < 3; call++) {
      expectProblem(await service.call('/items', { token }), 'INSTANCE_CREDENTIALS_FAILED');
      expect((await service.call('/objects/items/metadata', { token })).status).to.equal(200);
      expect(await validityOf(id)).to.deep.equal([false, reasonOf('list items')]);
    }
    expect(await countRefusals(id)).to.equal(1);
    SETUPS.odata.prepare(provider);
    expect((await service.call('/items', { token })).status).to.equal(200);
    expect(await validityOf(id)).to.deep.equal([true, undefined]);
  });

  it('stays invalid while everybody may read what it may not write', async () => {
    const { id, token } = await createInstance('impatient');
    for (let call = 0; call < 2; call++) {
      provider.answer('/items', status(401));
      const refused = await service.send('POST', '/items', { name: 'new' }, { token });
      expectProblem(refused, 'INSTANCE_CREDENTIALS_FAILED');
      SETUPS.impatient.prepare(provider);
      expect((await service.call('/items', { token })).status).to.equal(200);
      expect(await validityOf(id)).to.deep.equal([false, reasonOf('create items')]);
    }
    expect(await countRefusals(id)).to.equal(1);
  });

  it('is valid again when any of what was refused succeeds', async () => {
    const { id, token } = await createInstance('impatient');
    provider.answer('/items', status(401));
    await service.send('POST', '/items', { name: 'new' }, { token });
    expectProblem(await service.call('/items', { token }), 'INSTANCE_CREDENTIALS_FAILED');
    provider.answer('/items', json({ records: [] }));
    expect((await service.call('/items', { token })).status).to.equal(200);
    expect(await validityOf(id)).to.deep.equal([true, undefined]);
  });
});
