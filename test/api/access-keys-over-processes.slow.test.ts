import { expect } from 'chai';
import { type TestApp, useAnotherProcess, useApp } from '../support/app.ts';
import { createKey, withKey } from './support/access-keys.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, createUser } from './support/tenants.ts';

/** Requests of each process, at least: on a slow machine the rotations end before so many. */
const LEAST_ROUNDS = 10;

describe('access keys over two processes', function overProcesses() {
  this.timeout(120_000);
  const one = useApp();
  const other = useAnotherProcess(one);

  const newShop = () => one.createInstance('odata', SHOP);

  /** The other process has the key in memory, and refuses it in the first request after the response to the change. */
  async function expectEnd(key: string, change: () => Promise<unknown>, message: RegExp): Promise<void> {
    for (const service of [one, other]) expect((await withKey(service, key)('/Orders')).status).to.equal(200);
    await change();
    for (const service of [other, one])
      expectProblem(await withKey(service, key)('/Orders'), 'UNAUTHENTICATED', message);
  }

  const NOT_VALID = /^The access key is not valid/;

  it('works in a process that did not create it', async () => {
    const { id } = await newShop();
    const { key } = await createKey(one, { instances: [id] });
    expect((await withKey(other, key)('/Orders')).status).to.equal(200);
  });

  it('ends everywhere when it is deleted', async () => {
    const { id: shop } = await newShop();
    const { id, key } = await createKey(one, { instances: [shop] });
    await expectEnd(key, () => one.send('DELETE', `/keys/${id}`), NOT_VALID);
  });

  it('ends everywhere when it is rotated without an overlap', async () => {
    const { id: shop } = await newShop();
    const { id, key } = await createKey(one, { instances: [shop] });
    const rotation = { method: 'POST', body: { overlapSeconds: 0 } };
    await expectEnd(key, () => one.call(`/keys/${id}/rotate`, rotation), NOT_VALID);
  });

  it('refuses nobody while it is rotated with an overlap', async () => {
    const { id: shop } = await newShop();
    const created = await createKey(one, { instances: [shop] });
    const valid: string[] = [created.key];
    const statuses: number[] = [];
    let isOver = false;
    const hammer = async (service: TestApp) => {
      for (let round = 0; !isOver || round < LEAST_ROUNDS; round++) {
        const key = valid[round % valid.length] ?? '';
        statuses.push((await withKey(service, key)('/keys/me')).status);
      }
    };
    const hammers = [hammer(one), hammer(other)];
    for (let count = 1; count < 5; count++) {
      const body = await one.change('POST', `/keys/${created.id}/rotate`, { overlapSeconds: 600 });
      valid.push(body.key);
    }
    isOver = true;
    await Promise.all(hammers);
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
  });

  it('ends everywhere when its user is deactivated', async () => {
    const { id: shop } = await newShop();
    const maker = await createUser(one, { accountId: one.accountId, name: 'maker', role: 'default-user' });
    const { key } = await createKey(one, { instances: [shop] }, authorizationOf(maker));
    const deactivate = () => one.send('PATCH', `/users/${maker.id}`, { active: false });
    await expectEnd(key, deactivate, NOT_VALID);
  });

  it('ends everywhere when its instance is deleted', async () => {
    const { id } = await newShop();
    const { key } = await createKey(one, { instances: [id] });
    const remove = () => one.send('DELETE', `/instances/${id}`);
    await expectEnd(key, remove, /^The instance of this access key was deleted\.$/);
  });
});
