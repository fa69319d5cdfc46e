import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { createKey, withKey } from './support/access-keys.ts';
import { SHOP } from './support/simulated.ts';
import { readEverything } from './support/tenants.ts';

/** The key in the forms in which a text may have it. */
function formsOf(key: string): readonly string[] {
  const bytes = Buffer.from(key);
  return [key, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}

describe('access keys as canaries', function canaries() {
  this.timeout(60_000);
  const service = useApp({ LOG_LEVEL: 'debug' });
  const keys: string[] = [];
  const answers: ApiAnswer[] = [];

  before('keys that were used rightly and wrongly', async () => {
    const shop = await service.createInstance('odata', SHOP);
    await service.send('PUT', `/instances/${shop.id}/trace-logging`);
    const repeated = { 'idempotency-key': 'the-same-key-twice' };
    const scope = { instances: [shop.id], access: 'write', allow: ['passthrough', 'bulk', 'federated'] };
    const created = await createKey(service, scope, repeated);
    expect((await createKey(service, scope, repeated)).key).to.equal(created.key);
    const rotated = await service.send('POST', `/keys/${created.id}/rotate`, { overlapSeconds: 3600 });
    const deleted = await createKey(service);
    await service.send('DELETE', `/keys/${deleted.id}`);
    const never = deleted.key.replace(/.{4}$/, '0000');
    keys.push(created.key, rotated.body.key, deleted.key, never);

    for (const key of keys) {
      const call = withKey(service, key);
      const record = async (path: string, given: ApiCall = {}) => void answers.push(await call(path, given));
      await record('/Orders');
      await record('/Orders', { query: { where: `Code = '${key}'` } });
      await record('/Orders', { query: { where: `Cdoe = '${key}'` } });
      await record(`/Orders/${key}`);
      await record(`/${key}`);
      await record(`/passthrough/Orders?key=${key}`);
      await record('/Orders', { method: 'POST', body: { Code: key, [key]: 1 } });
      await record('/instances', { method: 'DELETE' });
      await record('/federated/Orders');
      // A filter of a download is stored, so that the download can be carried out.
      await record('/bulk/query?q=select * from Orders', { method: 'POST' });
      await record('/keys/me', { headers: { 'elements-account-id': key } });
      await record('/Orders', { headers: { 'elements-instance-id': key } });
      for (const authorization of [`Bearer  ${key}x`, `bearer ${key}, Element x`, `User ${key}`, key, `Basic ${key}`])
        await record('/Orders', { headers: { authorization } });
      answers.push(await service.call(`/keys/me?key=${key}`));
      answers.push(await service.call(`/users/${key}`));
    }
    await until(
      async () => (await service.call('/activity', { query: { pageSize: 1000 } })).body.length > keys.length * 8,
    );
  });

  it('are in no line of the log', () => {
    expect(service.logged.length).to.be.above(answers.length);
    const text = service.logged.join('\n');
    for (const key of keys) for (const form of formsOf(key)) expect(text.includes(form), key).to.equal(false);
  });

  it('are in no table: not in the activity, its bodies, the audit log, or stored responses', async () => {
    const text = await readEverything(service);
    expect(text).to.include('activity_wire').and.include('idempotency_record').and.include('access-key');
    for (const key of keys) for (const form of formsOf(key)) expect(text.includes(form), key).to.equal(false);
  });

  it('are in no error, and in no header of a response', () => {
    const errors = answers.filter(({ status }) => status !== 200);
    expect(errors.length).to.be.above(keys.length * 5);
    for (const { body, headers, status } of answers) {
      const text = JSON.stringify([status === 200 ? '' : body, [...headers]]);
      for (const key of keys) expect(text.includes(key), `${status} ${text}`).to.equal(false);
    }
  });

  it('leave their name in the activity', async () => {
    const where = "keyName = 'Test' AND operation = 'listFederatedRecords'";
    const body = await service.get('/activity', { query: { where } });
    expect(body.length).to.be.above(0);
    const [{ id }] = await service.get('/keys');
    expect(body[0]).to.include({ keyId: id, keyName: 'Test', userId: service.userId });
    const [own] = await service.get('/activity', { query: { where: "operation = 'createAccessKey'" } });
    expect(own).to.not.have.any.keys('keyId', 'keyName');
  });

  it('leave entries in the audit log that name the key by its id', async () => {
    const body = await service.get('/audit-logs/authentication', { query: { pageSize: 1000 } });
    const entries: readonly {
      readonly target: string;
      readonly action: string;
      readonly changes?: ApiAnswer['body'];
    }[] = body;
    const ofKeys = entries.filter(({ target }) => target === 'access-key').map(({ action }) => action);
    expect(ofKeys).to.include.members(['create', 'show', 'rotate', 'delete']);
    const refused = entries.filter(({ changes }) => changes?.accessKey !== undefined);
    expect(refused.length).to.be.above(0);
    expect(refused[0]?.changes.accessKey).to.deep.include({ name: 'Test' });
  });
});
