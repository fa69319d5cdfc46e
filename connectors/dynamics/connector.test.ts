import { expect } from 'chai';
import type { ObjectSpec, WebhookCall } from '#connector';
import { type Connection, type Provider, startProvider } from '#connector/testing';
import dynamics from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';
import { pluginWebhooks } from './webhooks.ts';

const configuration = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };

describe('Dynamics 365', () => {
  let provider: Provider;
  let connection: Connection;
  let incident: ObjectSpec;
  let accountId: string;

  before(async () => {
    provider = await startProvider(dynamics, createSimulator, configuration);
    connection = provider.connect();
    incident = await connection.describe('incident');
    const [account] = await connection.listAll(await connection.describe('account'), { limit: 1 });
    accountId = String(account?.accountid);
  });
  after(() => provider.stop());

  it('writes a lookup with several tables by the field of one of them', async () => {
    const native = (name: string) => incident.fields[name]?.native ?? name;
    const values = { title: 'Broken', [native('customerid_account')]: accountId };
    const created = await connection.run(incident.create, { values, fields: [] });
    expect(created).to.include({ _customerid_value: accountId, '_customerid_value@account': accountId });
    expect(incident.fields.customerid).to.include({ createable: false, updateable: false });
    expect(incident.fields.customerid_account).not.to.have.property('filter');
  });

  it('sends no id that could name a record by another key', async () => {
    const before = connection.requests.length;
    for (const id of ["ticketnumber='CAS-1'", "',title='x", '', '00000000-0000-0000-0000-00000000000g']) {
      for (const operation of [incident.get, incident.remove] as const) {
        const failure = await connection.run(operation, { id, fields: [] } as never).catch((error: unknown) => error);
        expect(failure, id).to.include({ code: 'NOT_FOUND' });
      }
    }
    expect(connection.requests).to.have.length(before);
  });

  it('creates tasks with a status that tasks have', async () => {
    const task = await connection.describe('task');
    const created = await connection.run(task.create, { values: { subject: 'Call' }, fields: [] });
    expect(created).to.include({ statecode: 0, statuscode: 2 });
  });

  it('has the environment in the scope', () => {
    const { auth } = dynamics;
    const url = new URL(
      (auth.type === 'oauth2' && auth.authorizeUrl?.({ ...configuration, 'dynamics.tenant': 'x' })) || '',
    );
    expect(url.origin + url.pathname).to.equal('https://login.microsoftonline.com/x/oauth2/v2.0/authorize');
    expect(url.searchParams.get('scope')).to.equal('https://demo.api.crm.dynamics.com/.default offline_access');
  });

  it('has only hosts of Dynamics 365', () => {
    const { pattern } = dynamics.configuration.find(({ key }) => key === 'dynamics.host') ?? {};
    for (const host of ['contoso.crm.dynamics.com', 'contoso.api.crm4.dynamics.com', 'a-1.crm19.dynamics.com'])
      expect(pattern?.test(host), host).to.equal(true);
    for (const host of [
      'dynamics.com',
      'a.crm.dynamics.com.evil.example',
      'a.crm.dynamics.com/',
      'a.crmx.dynamics.com',
    ])
      expect(pattern?.test(host), host).to.equal(false);
  });

  it('recognizes a repeated event by its operation, which a synchronous step does not have', () => {
    const idWith = (OperationId?: string) => {
      const body = { MessageName: 'Update', PrimaryEntityName: 'account', PrimaryEntityId: 'a', OperationId };
      const [event] = pluginWebhooks.events({ body: Buffer.from(JSON.stringify(body)) } as unknown as WebhookCall, {});
      return event?.id;
    };
    const operation = '0a6f1d54-8a3e-4f0a-9d36-d3a0d1b0a001';
    expect([idWith(operation), idWith('00000000-0000-0000-0000-000000000000'), idWith()]).to.deep.equal([
      ...[operation, undefined, undefined],
    ]);
  });

  it('reads a webhook, and refuses messages that are no change', () => {
    const read = (body: object) =>
      pluginWebhooks.events({ body: Buffer.from(JSON.stringify(body)) } as unknown as WebhookCall, {});
    const event = { MessageName: 'Delete', PrimaryEntityName: 'new_pet', PrimaryEntityId: accountId };
    expect(read(event)).to.deep.equal([{ action: 'deleted', objectName: 'new_pet', objectId: accountId, raw: event }]);
    expect(() => read({ ...event, MessageName: 'Assign' })).to.throw("The message 'Assign' is none");
  });
});
