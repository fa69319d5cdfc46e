import { expect } from 'chai';
import { useReceiver } from '../api/events/receiving.ts';
import { withDatabase } from '../api/support/tenants.ts';
import { useApp } from '../support/app.ts';
import { type ChangingOData, startChangingOData } from '../support/changing-odata.ts';
import { until } from '../support/until.ts';
import { ask, CHECKED, changesOf, checkNow, untilWatched, watchOf } from './watching.ts';

const ORDERS = { ID: 'Edm.Int32', name: 'Edm.String', total: 'Edm.Decimal', changedAt: 'Edm.DateTimeOffset' };
const NOTES = { ID: 'Edm.Int32', text: 'Edm.String' };

describe('a watched object', function watched() {
  this.timeout(20_000);
  const service = useApp({ SIMULATORS_PORT: 'off' }, CHECKED);
  const receiver = useReceiver();
  let provider: ChangingOData;

  before(async () => {
    provider = await startChangingOData({ Orders: ORDERS, Notes: NOTES });
  });
  after(() => provider?.stop());
  beforeEach(() => provider.set({ Orders: ORDERS, Notes: NOTES }));

  async function create(name: string, more: object = {}): Promise<{ readonly id: number; readonly url: string }> {
    const url = receiver.open(name);
    const { id } = await service.createInstance('odata', {
      'base.url': provider.url,
      'event.notification.enabled': true,
      'event.notification.callback.url': url,
      'event.vendor.type': 'webhook',
      ...more,
    });
    return { id, url };
  }

  /** Creates an instance whose orders are watched. */
  async function createWatched(name: string) {
    const created = await create(name);
    await ask(service, `/instances/${created.id}/watches/Orders`, 'PUT');
    await untilWatched(service, created.id, 'Orders');
    return created;
  }

  it('is read once it is requested, and reports a change once', async () => {
    const { id, url } = await create('once');
    const requested = await ask(service, `/instances/${id}/watches/Orders`, 'PUT');
    expect(requested).to.include({ objectName: 'Orders', requested: true, failures: 0 });
    await untilWatched(service, id, 'Orders');
    expect(await watchOf(service, id, 'Orders')).to.include({ fieldCount: 4 });
    expect(await changesOf(service, id)).to.deep.equal([]);

    provider.set({
      Orders: { ID: 'Edm.Int32', name: 'Edm.Int64', changedAt: 'Edm.DateTimeOffset', code: 'Edm.String' },
      Notes: NOTES,
    });
    await checkNow(service, id);
    await checkNow(service, id);
    const [change, ...others] = await changesOf(service, id);
    expect(others).to.deep.equal([]);
    expect(change).to.deep.include({
      objectName: 'Orders',
      added: ['code'],
      removed: ['total'],
      breaks: { mappings: [], polls: [], formulas: [] },
    });
    expect(change.changed).to.have.length(1);
    expect(change.changed[0]).to.deep.nested.include({
      field: 'name',
      'from.type': 'string',
      'from.nativeType': 'Edm.String',
      'to.type': 'integer',
      'to.nativeType': 'Edm.Int64',
    });
    const events = await receiver.waitFor(url, 1);
    expect(events.map(({ body: { type, data } }) => [type, data.objectName, data.object.removed])).to.deep.equal([
      ['schema.changed', 'Orders', ['total']],
    ]);
    expect(await ask(service, '/notifications')).to.deep.equal([]);
  });

  it('shows its new fields at once', async () => {
    const { id } = await create('fresh');
    const token = (await ask(service, `/instances/${id}`)).token;
    const fields = async () =>
      (await service.call('/objects/Orders/metadata', { token })).body.fields.map(({ name }: { name: string }) => name);
    await ask(service, `/instances/${id}/watches/Orders`, 'PUT');
    await untilWatched(service, id, 'Orders');
    expect(await fields()).to.not.include('code');
    provider.set({ Orders: { ...ORDERS, code: 'Edm.String' }, Notes: NOTES });
    expect(await fields()).to.not.include('code');
    await checkNow(service, id);
    await until(async () => (await fields()).includes('code'));
  });

  for (const [what, failWith] of [
    ['refuses the credentials', [401, '']],
    ['forbids it', [403, '']],
    ['is out of order', [500, 'no']],
    ['sends nothing', [200, '']],
    ['sends half of it', [200, '<?xml version="1.0"?><edmx:Edmx Version="4.0"><edmx:DataServices>']],
    [
      'describes no entity set',
      [
        200,
        '<?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"/></edmx:DataServices></edmx:Edmx>',
      ],
    ],
  ] as const) {
    it(`makes no event of a provider that ${what}`, async () => {
      const { id } = await createWatched(`failing-${failWith[0]}-${failWith[1].length}`);
      const [status, body] = failWith;
      provider.failWith((response) => void response.writeHead(status, { 'content-type': 'application/xml' }).end(body));
      await checkNow(service, id);
      const watch = await watchOf(service, id, 'Orders');
      expect(watch).to.include({ state: 'watched', fieldCount: 4, failures: 1 });
      expect(watch.lastError).to.match(/^(?:INSTANCE_CREDENTIALS_FAILED|PROVIDER_\w+): /);
      expect(await changesOf(service, id)).to.deep.equal([]);
      const { body: metadata } = await service.call(`/instances/${id}`);
      expect(metadata.id).to.equal(id);
    });
  }

  it('is missing only after a second reading without it, and comes back', async () => {
    const { id } = await createWatched('missing');
    provider.set({ Notes: NOTES });
    await checkNow(service, id);
    expect(await watchOf(service, id, 'Orders')).to.include({ state: 'missing' });
    expect((await changesOf(service, id))[0]).to.deep.include({
      object: 'removed',
      added: [],
      removed: ['ID', 'changedAt', 'name', 'total'],
    });
    provider.set({ Orders: ORDERS, Notes: NOTES });
    await checkNow(service, id);
    expect(await watchOf(service, id, 'Orders')).to.include({ state: 'watched' });
    expect((await changesOf(service, id)).map(({ object }: { object: string }) => object)).to.deep.equal([
      'added',
      'removed',
    ]);
  });

  it('names the mapping and the poll that a change breaks', async () => {
    const { id } = await create('broken', {
      'event.vendor.type': 'polling',
      'event.objects': 'Notes,Orders',
      'event.poller.refresh_interval': 600,
    });
    await ask(service, `/instances/${id}/objects/sales/definitions`, 'POST', {
      fields: [
        { path: 'title', type: 'string' },
        { path: 'amount', type: 'number' },
      ],
    });
    await ask(service, `/instances/${id}/transformations/sales`, 'POST', {
      vendorName: 'Orders',
      fields: [
        { path: 'title', vendorPath: 'name' },
        { path: 'amount', vendorPath: 'total' },
      ],
    });
    await until(async () => (await watchOf(service, id, 'Orders'))?.mappings.includes('sales'));
    await checkNow(service, id);
    expect(await watchOf(service, id, 'Orders')).to.deep.include({
      state: 'watched',
      requested: false,
      mappings: ['sales'],
      polls: ['Orders'],
    });
    const { changedAt: _, total: __, ...rest } = ORDERS;
    provider.set({ Orders: { ...rest, more: 'Edm.String' }, Notes: NOTES });
    await checkNow(service, id);
    const breaks = {
      mappings: [{ objectName: 'sales', fields: ['total'], mappedFields: ['amount'] }],
      polls: [{ resource: 'Orders', fields: ['changedAt'] }],
      formulas: [],
    };
    const [change] = await changesOf(service, id);
    expect(change).to.deep.include({ added: ['more'], removed: ['changedAt', 'total'], breaks });
    const [notice] = await ask(service, "/notifications?where=type = 'schema.broken'");
    expect(notice.data).to.deep.include({ instanceId: id, objectName: 'Orders', breaks });
  });

  it('starts a formula that names the event, names a formula that uses the field, and starts no other', async () => {
    const { id } = await create('formulas');
    const variable = { key: 'shop', type: 'elementInstance', required: true };
    const step = (api: string) => ({
      name: 'read',
      type: 'elementRequest',
      properties: { elementInstanceId: '${config.shop}', method: 'GET', api },
    });
    const start = async (name: string, properties: object, steps: readonly object[]): Promise<number> => {
      const trigger = { type: 'event', properties: { elementInstanceId: '${config.shop}', ...properties } };
      const formula = await ask(service, '/formulas', 'POST', {
        name,
        configuration: [variable],
        triggers: [{ ...trigger, onSuccess: ['read'] }],
        steps,
      });
      const configuration = { shop: String(id) };
      return (await ask(service, `/formulas/${formula.id}/instances`, 'POST', { name, configuration })).id;
    };
    const named = await start('named', { eventTypes: 'schema.changed' }, [
      { name: 'read', type: 'script', properties: { body: 'done({});' } },
    ]);
    const others = await start('others', {}, [step('/Orders?fields=ID,total')]);
    await untilWatched(service, id, 'Orders');
    const watch = await watchOf(service, id, 'Orders');
    expect(watch).to.deep.include({ requested: false });
    expect(watch.formulas.map(({ formulaName }: { formulaName: string }) => formulaName)).to.deep.equal(['others']);

    const { total: _, ...rest } = ORDERS;
    provider.set({ Orders: rest, Notes: NOTES });
    await checkNow(service, id);
    const [change] = await changesOf(service, id);
    expect(change.breaks).to.deep.equal({
      ...{ mappings: [], polls: [] },
      formulas: [
        {
          formulaId: watch.formulas[0].formulaId,
          formulaName: 'others',
          formulaInstanceId: others,
          formulaInstanceName: 'others',
          fields: ['total'],
        },
      ],
    });
    const executions = (instanceId: number) => ask(service, `/formulas/instances/${instanceId}/executions`);
    await until(async () => (await executions(named)).length === 1);
    expect(await executions(others)).to.deep.equal([]);
  });

  it('is read again after the provider complained of a field, and not after another error', async () => {
    const { id } = await createWatched('complaint');
    const { token } = await ask(service, `/instances/${id}`);
    await checkNow(service, id);
    const { total: _, ...rest } = ORDERS;
    provider.set({ Orders: rest, Notes: NOTES });
    const list = async (message: string) => {
      provider.rejectWith({ error: { code: '400', message } });
      expect((await service.call('/Orders', { token })).status).to.equal(422);
      provider.rejectWith(undefined);
    };
    const readings = provider.readings();
    await list('The filter is too long.');
    expect(await changesOf(service, id)).to.deep.equal([]);
    expect(provider.readings()).to.equal(readings);
    await list("Could not find a property named 'total' on type 'S.OrdersType'.");
    await until(async () => (await changesOf(service, id)).length === 1);
    // At most once an hour.
    provider.set({ Orders: ORDERS, Notes: NOTES });
    await list("Could not find a property named 'size' on type 'S.OrdersType'.");
    expect(await changesOf(service, id)).to.have.length(1);
  });

  it('cannot be an object that the provider does not have, nor be ended while something uses it', async () => {
    const { id } = await create('wrong', {
      'event.vendor.type': 'polling',
      'event.objects': 'Orders',
      'event.poller.refresh_interval': 600,
    });
    const call = (method: string, name: string) => service.call(`/instances/${id}/watches/${name}`, { method });
    const unknown = await call('PUT', 'Order');
    expect([unknown.status, unknown.body.message]).to.deep.equal([
      404,
      "OData has no object 'Order'. Did you mean 'Orders'? GET /objects lists them all.",
    ]);
    const missing = await call('DELETE', 'Notes');
    expect([missing.status, missing.body.message]).to.deep.equal([
      404,
      `Instance ${id} does not watch 'Notes'; GET /instances/${id}/watches lists what it watches.`,
    ]);
    await untilWatched(service, id, 'Orders');
    const used = await call('DELETE', 'Orders');
    expect([used.status, used.body.message]).to.deep.equal([
      409,
      `Nobody requested the watch of 'Orders' on instance ${id}: the poll 'Orders' uses the object. The watch ends with its last use.`,
    ]);
    expect((await call('PUT', 'Orders')).body).to.include({ requested: true });
    expect((await call('DELETE', 'Orders')).body).to.deep.equal({ objectName: 'Orders' });
    expect((await call('GET', 'Orders')).body).to.deep.include({ requested: false, polls: ['Orders'] });
    await ask(service, `/instances/${id}`, 'PATCH', { configuration: { 'event.objects': 'Notes' } });
    await untilWatched(service, id, 'Notes');
    expect((await call('GET', 'Orders')).status).to.equal(404);
  });

  it('is one of 200 that are requested of an instance, even at the same moment', async () => {
    const { id } = await create('many');
    await withDatabase(service, (knex) =>
      knex.raw(
        `insert into schema_watch (account_id, instance_id, object_name, requested)
         select 1, ?, 'Old' || n, true from generate_series(1, 199) n`,
        [id],
      ),
    );
    const requests = ['Orders', 'Notes'].map((name) =>
      service.call(`/instances/${id}/watches/${name}`, { method: 'PUT' }),
    );
    const [refused, ...others] = (await Promise.all(requests)).filter(({ status }) => status !== 200);
    expect(refused?.body).to.include({ code: 'CONFLICT' });
    expect(refused?.body.message).to.match(/^Instance \d+ has 200 requested watches, which is the maximum\./);
    expect(others).to.deep.equal([]);
    await withDatabase(service, (knex) => knex('schema_watch').where({ account_id: 1, instance_id: id }).delete());
  });

  it('lists its changes in pages, the newest first', async () => {
    const { id } = await createWatched('pages');
    for (const name of ['one', 'two', 'three']) {
      provider.set({ Orders: { ...ORDERS, [name]: 'Edm.String' }, Notes: NOTES });
      await checkNow(service, id);
    }
    const path = `/instances/${id}/schema-changes`;
    const first = await service.call(path, { query: { pageSize: 2 } });
    expect(first.body.map(({ added }: { added: unknown }) => added)).to.deep.equal([['three'], ['two']]);
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    const second = await service.call(path, { query: { pageSize: 2, nextPage } });
    expect(second.body.map(({ added }: { added: unknown }) => added)).to.deep.equal([['one']]);
    expect(second.headers.get('elements-next-page-token')).to.equal(null);
    expect((await service.call(path, { query: { where: "objectName = 'Notes'" } })).body).to.deep.equal([]);
    await ask(service, `/instances/${id}/watches/Orders`, 'DELETE');
    expect(await ask(service, `/instances/${id}/watches`)).to.deep.equal([]);
    expect(await changesOf(service, id)).to.have.length(3);
  });
});
