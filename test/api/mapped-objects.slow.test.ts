import { expect } from 'chai';
import { type ApiAnswer, clientOf, pluck, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { useReceiver } from './events/receiving.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { SHOP } from './support/simulated.ts';
import { useTenants } from './support/tenants.ts';

const NOTHING_PASSES = [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }];
const GOODS = {
  fields: [
    { path: 'key', type: 'string' },
    { path: 'title', type: 'string' },
    { path: 'cents', type: 'number' },
    { path: 'info.kind', type: 'string' },
    { path: 'released', type: 'date' },
    { path: 'shop', type: 'string' },
  ],
};
const OF_PRODUCTS = {
  vendorName: 'Products',
  fields: [
    { path: 'key', vendorPath: 'Id' },
    { path: 'title', vendorPath: 'Name' },
    { path: 'cents', vendorPath: 'Price', configuration: [{ type: 'number', properties: { multiply: 100 } }] },
    { path: 'info.kind', vendorPath: 'Category' },
    { path: 'released', vendorPath: 'ReleasedOn' },
  ],
  configuration: NOTHING_PASSES,
};

describe('mapped objects', () => {
  const service = useApp({ SIMULATORS_PORT: '0', EGRESS_ALLOW: '127.0.0.1' });
  const tenants = useTenants(service);
  const receiver = useReceiver();
  const instance = useInstance(service, 'odata', SHOP);
  const shop = clientOf((path, call) => service.call(path, { token: instance.token, ...call }));

  before(async () => {
    await service.change('POST', '/organizations/objects/goods/definitions', GOODS);
    await service.change('POST', '/organizations/elements/odata/transformations/goods', OF_PRODUCTS);
  });

  const post = (path: string, body: unknown) => service.send('POST', path, body);
  const list = (query: Record<string, string | number>, path = '/goods') => shop.call(path, { query });

  async function ok(answer: Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { status, body, headers } = await answer;
    expect(status, JSON.stringify(body)).to.equal(200);
    return { status, body, headers };
  }

  it('stand after the objects of the provider, and say which of them they are', async () => {
    const names = await ok(shop.call('/objects'));
    expect(names.body.at(-1)).to.equal('goods');
    const body = await shop.get('/objects', { query: { details: 'true' } });
    expect(body.at(-1)).to.include({
      name: 'goods',
      vendorName: 'Products',
      type: 'vdr',
      level: 'organization',
    });
    expect(body[0]).to.include({ name: 'Products', vendorName: 'Products', type: 'vendor' });
    const metadata = await shop.get('/objects/goods/metadata');
    const byName = new Map(metadata.fields.map((field: { name: string }) => [field.name, field]));
    expect(byName.get('info.kind')).to.include({
      nativeName: 'Category',
      vendorPath: 'Category',
      level: 'organization',
      mapped: true,
    });
    expect(byName.get('shop')).to.include({ mapped: false, readOnly: true });
    const custom = await ok(shop.call('/objects/goods/metadata', { query: { customFieldsOnly: 'true' } }));
    expect(custom.body.fields).to.deep.equal([]);
    expect([...byName.keys()]).to.deep.equal(['key', 'title', 'cents', 'info.kind', 'released', 'shop']);
  });

  it('are filtered by their own fields, at the provider where it can', async () => {
    const all = (await ok(list({ pageSize: 1000 }))).body;
    expect(Object.keys(all[0])).to.deep.equal(['key', 'title', 'cents', 'info', 'released', 'shop']);
    const pushed = await ok(list({ pageSize: 1000, where: "cents > 10000 AND info.kind = 'Music'" }));
    expect(pushed.headers.get('elements-query-pushdown')).to.equal('full');
    expect(pushed.body).to.deep.equal(
      all.filter((row: ApiAnswer['body']) => row.cents !== null && row.cents > 10000 && row.info.kind === 'Music'),
    );
    const byKey = await ok(list({ where: "key IN ('2', '3', '03', 'x')" }));
    expect(pluck(byKey.body, 'key')).to.deep.equal(['2', '3']);
    expectProblem(await list({ where: "Name = 'x'" }), 'WHERE_INVALID', "Unknown field 'Name'.");
    const [details] = (await list({ where: "key = '1' AND titel = 'x'" })).body.details;
    expect(details).to.include({ position: 14, length: 5, nearest: 'title' });
  });

  it('explain what becomes of a filter at the provider', async () => {
    const query = { objectName: 'goods', where: "title LIKE 'a%' AND cents = 150" };
    const body = await shop.change('POST', '/query/explain', query);
    expect(body.parsed).to.equal("title LIKE 'a%' AND cents = 150");
    expect(body.pushed).to.equal("Name LIKE 'a%' AND Price = 1.5");
    expect(body.predicates[1]).to.include({ predicate: 'cents = 150', rewritten: 'Price IN (1.5)', pushed: true });
  });

  it('are ordered and paged, and refuse the token of another version', async () => {
    const first = await ok(list({ orderBy: 'title desc', pageSize: 3, fields: 'title' }));
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    const second = await ok(list({ orderBy: 'title desc', pageSize: 3, fields: 'title', nextPage }));
    expect(first.body[2].title > second.body[0].title).to.equal(true);
    const path = '/organizations/elements/odata/transformations/goods';
    await service.change('PUT', path, { ...OF_PRODUCTS, fields: OF_PRODUCTS.fields.slice(0, 4) });
    expectProblem(await list({ orderBy: 'title desc', pageSize: 3, fields: 'title', nextPage }), 'REQUEST_INVALID');
    await service.change('PUT', path, OF_PRODUCTS);
  });

  it('are read, written and read again', async () => {
    const sent = { title: 'Mapped', cents: 150, info: { kind: 'Book' }, released: '2026-01-31' };
    const made = await shop.change('POST', '/goods', sent);
    expect(made).to.deep.include(sent);
    const at = `/goods/${made.key}`;
    expect(await shop.get(at)).to.deep.equal(made);
    expect(await shop.get(`/Products/${made.key}`)).to.include({
      Name: 'Mapped',
      Price: 1.5,
    });
    const changed = await ok(shop.send('PATCH', at, { cents: 250 }));
    expect(changed.body).to.deep.equal({ ...made, cents: 250 });
    // As it was read.
    await shop.change('PATCH', at, changed.body);
    expectProblem(await shop.send('PATCH', at, { key: '0' }), 'REQUEST_INVALID');
    const message = "Unknown field 'Weight'.";
    expectProblem(await shop.send('POST', '/goods', { ...sent, Weight: 1 }), 'REQUEST_INVALID', message);
    expectProblem(await shop.send('POST', '/goods', { ...sent, cents: 'x' }), 'REQUEST_INVALID');
    await shop.change('DELETE', at);
    expectProblem(await shop.call(at), 'NOT_FOUND');
  });

  it('merge the fields of three levels, and answer each level by itself', async () => {
    const { id } = instance;
    const account = `/accounts/${service.accountId}`;
    await service.change('POST', '/organizations/objects/layers/definitions', {
      fields: [{ path: 'a', type: 'string' }],
    });
    await service.change('POST', `${account}/objects/layers/definitions`, { fields: [{ path: 'b', type: 'string' }] });
    await service.change('POST', `/instances/${id}/objects/layers/definitions`, {
      fields: [{ path: 'c', type: 'string' }],
    });
    const inherit = [...NOTHING_PASSES, { type: 'inherit' }];
    const of = (path: string, vendorPath: string) => ({
      vendorName: 'Products',
      fields: [{ path, vendorPath }],
      configuration: inherit,
    });
    await service.change('POST', '/organizations/elements/odata/transformations/layers', of('a', 'Name'));
    await service.change('POST', `${account}/elements/odata/transformations/layers`, of('b', 'Category'));
    await service.change('POST', `/instances/${id}/transformations/layers`, of('c', 'Price'));
    const body = await service.get(`/instances/${id}/transformations/layers`);
    expect(body.fields.map(({ path, level }: Record<string, string>) => `${path} ${level}`)).to.have.members([
      'a organization',
      'b account',
      'c instance',
    ]);
    const [row] = (await ok(list({ pageSize: 1 }, '/layers'))).body;
    expect(Object.keys(row)).to.have.members(['a', 'b', 'c']);
    await service.change('PATCH', '/organizations/objects/layers', { objectName: 'tiers' });
    // The lower levels follow, or they would map an object that nobody defines.
    expect(Object.keys((await ok(list({ pageSize: 1 }, '/tiers'))).body[0])).to.have.members(['a', 'b', 'c']);
    expectProblem(await list({}, '/layers'), 'NOT_FOUND');
  });

  it('are nobody else’s, and each tenant has his own under the same name', async () => {
    const { token } = await tenants.stranger.createInstance('odata', SHOP);
    expectProblem(await tenants.stranger.call('/goods', { token }), 'NOT_FOUND');
    await tenants.stranger.change('POST', '/organizations/objects/goods/definitions', {
      fields: [{ path: 'only', type: 'string' }],
    });
    const body = {
      vendorName: 'Products',
      fields: [{ path: 'only', vendorPath: 'Category' }],
      configuration: NOTHING_PASSES,
    };
    await tenants.stranger.change('POST', '/organizations/elements/odata/transformations/goods', body);
    const rows = await tenants.stranger.get('/goods', { query: { pageSize: 1 }, token });
    expect(Object.keys(rows[0])).to.deep.equal(['only']);
    expect(Object.keys((await ok(list({ pageSize: 1 }))).body[0])).to.include('title');
  });

  it('run scripts, whose fields are checked here and whose faults are reported', async () => {
    const path = '/instances/transformations/goods';
    const script = { body: 'transformedObject.shop = originalObject.Name.toUpperCase(); done(transformedObject);' };
    await shop.change('POST', path, { ...OF_PRODUCTS, script });
    const one = await ok(list({ where: "shop = 'ABC'", fields: 'shop,title' }));
    expect(one.headers.get('elements-query-pushdown')).to.equal('none');
    expect(one.body).to.deep.equal([
      { shop: 'ABC', title: 'ABC' },
      { shop: 'ABC', title: 'abc' },
    ]);
    const kept = await ok(list({ where: 'cents > 10000' }));
    expect(kept.headers.get('elements-query-pushdown')).to.equal('full');
    expectProblem(await shop.send('PUT', path, { ...OF_PRODUCTS, script: { body: 'done(' } }), 'REQUEST_INVALID');
    await shop.change('PUT', path, {
      ...OF_PRODUCTS,
      script: { body: "if (originalObject.Id === 2) throw new Error('no'); done(transformedObject);" },
    });
    const faulty = await ok(list({ pageSize: 3 }));
    expect(faulty.headers.get('elements-transformation-errors')).to.equal('1');
    expect(faulty.headers.get('elements-error')).to.contain('no');
    expect(faulty.body).to.have.length(3);
    expectProblem(await list({ pageSize: 3, onTransformationError: 'fail' }), 'TRANSFORMATION_FAILED');
    await shop.change('PUT', path, {
      ...OF_PRODUCTS,
      script: { body: 'done(originalObject.Id % 2 === 0 ? null : transformedObject);', filterEmptyResponse: true },
    });
    const odd = await ok(list({ pageSize: 3, fields: 'key' }));
    expect(pluck(odd.body, 'key')).to.deep.equal(['1', '3', '5']);
    await shop.change('DELETE', path);
  });

  it('are found by the values that the script gives to a filter, where the transformation asks for it', async () => {
    const path = '/instances/transformations/goods';
    const body = `
      if (isWhere) transformedObject.where.forEach((condition) => {
        if (condition.attribute === 'Name') condition.value = condition.value.toLowerCase();
      });
      else if (fromVendor) transformedObject.title = originalObject.Name.toUpperCase();
      done(transformedObject);`;
    const titles = async (query: Record<string, string>) => {
      const answer = await ok(list({ ...query, fields: 'title,key' }));
      return { ...answer, titles: pluck(answer.body, 'title') };
    };
    await shop.change('POST', path, { ...OF_PRODUCTS, script: { body } });
    const checkedHere = await titles({ where: "title = 'ABC'" });
    expect(checkedHere.headers.get('elements-query-pushdown')).to.equal('none');
    expect(checkedHere.titles).to.deep.equal(['ABC', 'ABC']);
    const configuration = [...NOTHING_PASSES, { type: 'applyJSOnQueryFieldValue' }];
    await shop.change('PUT', path, { ...OF_PRODUCTS, configuration, script: { body } });
    const asked = await titles({ where: "title = 'ABC' AND cents IS NOT NULL" });
    expect(asked.headers.get('elements-query-pushdown')).to.equal('partial');
    expect(asked.headers.get('elements-error')).to.equal(null);
    // The other one has the name ABC at the provider, which the script did not ask for.
    expect(asked.titles).to.deep.equal(['ABC']);
    const query = { objectName: 'goods', where: "title = 'ABC'" };
    const explained = await shop.change('POST', '/query/explain', query);
    expect(explained.pushed).to.equal("Name = 'abc'");
    expect(explained.residual).to.equal("title = 'ABC'");
    expect(explained.predicates[0]).to.include({ rewritten: "Name = 'abc'", exactness: 'superset', pushed: true });
    expect(explained.predicates[0].reason).to.contain('the script of the mapping changed the value');
    const headers = { 'Elements-Query-Mode': 'pushdown-only' };
    const alone = await shop.call('/goods', { query: { where: "title = 'ABC'" }, headers });
    expectProblem(alone, 'WHERE_UNSUPPORTED');
    const failing = { body: "if (isWhere) throw 'no filter'; done(transformedObject);" };
    await shop.change('PUT', path, { ...OF_PRODUCTS, configuration, script: failing });
    const failed = await titles({ where: "title = 'ABC'" });
    expect(failed.titles).to.deep.equal(['ABC']);
    expect(failed.headers.get('elements-error')).to.equal('The script failed for the filter: no filter');
    expect(failed.headers.get('elements-transformation-errors')).to.equal(null);
    expectProblem(
      await list({ where: "title = 'ABC'", onTransformationError: 'fail' }),
      'TRANSFORMATION_FAILED',
      'The script of the mapping failed for the filter: no filter',
    );
    const tried = await ok(shop.send('POST', '/query/explain', query));
    expect(tried.headers.get('elements-error')).to.contain('no filter');
    await shop.change('DELETE', path);
  });

  it('tell the activity of a request what their script wrote and why it failed', async () => {
    const path = '/instances/transformations/goods';
    const body = `console.log(fromVendor ? 'read' : 'write', '${instance.token}');
      if (originalObject.Id === 2) throw new Error('no');
      done(transformedObject);`;
    await shop.change('POST', path, { ...OF_PRODUCTS, script: { body } });
    const activityOf = async ({ headers }: ApiAnswer) => {
      const requestId = headers.get('elements-request-id') ?? '';
      const get = () => service.call(`/activity/${requestId}`);
      await until(async () => (await get()).status === 200);
      return (await get()).body;
    };
    const listed = await activityOf(await ok(list({ pageSize: 3 })));
    expect(listed.scripts).to.deep.equal({
      // The token of the instance is a secret.
      console: Array.from({ length: 3 }, () => 'read [redacted]'),
      failures: 1,
      reasons: [{ reason: 'Error: no (line 2)', count: 1, recordIds: ['2'] }],
    });
    const strict = await list({ pageSize: 3, onTransformationError: 'fail' });
    expectProblem(strict, 'TRANSFORMATION_FAILED');
    expect((await activityOf(strict)).scripts).to.deep.include({ failures: 1 });
    const made = await ok(shop.send('POST', '/goods', { title: 'Told' }));
    expect((await activityOf(made)).scripts.console).to.deep.equal(['write [redacted]', 'read [redacted]']);
    const failing = await ok(service.call('/activity', { query: { where: 'scripts.failures > 0' } }));
    expect(pluck(failing.body, 'requestId')).to.include(listed.requestId);
    expect(failing.body.every(({ scripts }: ApiAnswer['body']) => scripts.failures > 0)).to.equal(true);
    // A bulk job runs it for an entry of its own.
    const { body: job } = await ok(shop.call('/bulk/query', { method: 'POST', query: { q: 'select key from goods' } }));
    await until(async () => (await shop.call(`/bulk/${job.id}/status`)).body.status === 'COMPLETED');
    await until(async () => {
      const runs = await service.get('/activity', { query: { kind: 'bulk' } });
      return runs.some(({ scripts }: ApiAnswer['body']) => scripts?.reasons[0]?.recordIds.includes('2'));
    });
    await shop.change('DELETE', path);
    await shop.change('DELETE', `/Products/${made.body.key}`);
  });

  it('can be tried out in both directions', async () => {
    const { id: instanceId } = instance;
    const tried = await ok(
      post('/transformations/goods/execute', { instanceId, payload: { Id: 7, Name: 'x', Price: 1.5 } }),
    );
    expect(tried.body).to.deep.equal({
      key: '7',
      title: 'x',
      cents: 150,
      info: { kind: null },
      released: null,
      shop: null,
    });
    const back = await ok(
      post('/transformations/goods/execute', { instanceId, method: 'POST', payload: { title: 'x', cents: 150 } }),
    );
    expect(back.body).to.deep.equal({ Name: 'x', Price: 1.5 });
    const wrong = await ok(post('/transformations/goods/execute', { instanceId, payload: { Price: 'much' } }));
    expect(wrong.headers.get('elements-error')).to.equal("1 value of 'cents' could not be converted");
    expectProblem(await post('/transformations/Products/execute', { instanceId, payload: {} }), 'NOT_FOUND');
    expectProblem(await post('/transformations/goods/execute', { payload: {} }), 'REQUEST_INVALID');
  });

  it('reject in a try-out what the write rejects, with the same words', async () => {
    const { id: instanceId } = instance;
    const made = await shop.change('POST', '/goods', { title: 'Tried' });
    const execute = (method: string, payload: object) =>
      post('/transformations/goods/execute', { instanceId, method, payload });
    const namesOf = ({ body }: ApiAnswer, begin: string) =>
      body.details.map(({ path, message }: Record<string, string>) => [path?.replace(begin, ''), message]);
    const bodies: readonly (readonly [method: string, payload: object])[] = [
      ['POST', { title: 'x', Weight: 1, titel: 'y' }],
      ['POST', { title: 'x', cents: 'much' }],
      ['POST', { title: ['x'], info: { kind: {} } }],
      ['POST', { title: 'x', shop: 'y' }],
      ['PATCH', { nothing: 1, info: { other: 2 } }],
      ['PATCH', { cents: 'much', title: { a: 1 } }],
    ];
    for (const [method, payload] of bodies) {
      const path = method === 'POST' ? '/goods' : `/goods/${made.key}`;
      const written = await shop.send(method, path, payload);
      const tried = await execute(method, payload);
      expect([tried.status, tried.body.code, tried.body.message]).to.deep.equal([
        written.status,
        written.body.code,
        written.body.message,
      ]);
      expect(written.status).to.equal(400);
      expect(namesOf(tried, '/body/payload')).to.deep.equal(namesOf(written, '/body'));
    }
    // The write compares with the stored record, and there is none here.
    const unset = await execute('PATCH', { key: '0', title: 'x' });
    expectProblem(unset, 'REQUEST_INVALID', "'key' cannot be set on update.");
    expect(unset.body.details[0].path).to.equal('/body/payload/key');
    const script = { body: 'if (!fromVendor) transformedObject.Nothing = 1; done(transformedObject);' };
    await shop.change('POST', '/instances/transformations/goods', { ...OF_PRODUCTS, script });
    const byScript = await execute('POST', { title: 'x' });
    expectProblem(byScript, 'REQUEST_INVALID', "Unknown field 'Nothing'.");
    expectProblem(await shop.send('POST', '/goods', { title: 'x' }), 'REQUEST_INVALID', "Unknown field 'Nothing'.");
    await shop.change('DELETE', '/instances/transformations/goods');
    await shop.change('DELETE', `/goods/${made.key}`);
  });

  it('reject in a try-out a method that the object does not have', async () => {
    await service.change('POST', '/organizations/objects/sold/definitions', {
      fields: [{ path: 'id', type: 'string' }],
    });
    const mapped = { vendorName: 'entries', fields: [{ path: 'id', vendorPath: 'id' }] };
    await service.change('POST', '/organizations/elements/concur/transformations/sold', mapped);
    const tried = await post('/transformations/sold/execute', { elementKey: 'concur', method: 'POST', payload: {} });
    expectProblem(tried, 'REQUEST_INVALID');
    expect(tried.body.details[0].path).to.equal('/body/method');
    expect(tried.body.message).to.match(/cannot POST/);
  });

  it('are listed over all instances, in one order', async () => {
    const other = await service.createInstance('odata', SHOP, { name: 'second', tags: ['b'] });
    const query = { orderBy: 'title desc', pageSize: 4, fields: 'title', where: 'title IS NOT NULL' };
    const pages: ApiAnswer['body'][] = [];
    let nextPage: string | undefined;
    do {
      const page = await ok(service.call('/federated/goods', { query: { ...query, nextPage } }));
      pages.push(page.body);
      nextPage = page.headers.get('elements-next-page-token') ?? undefined;
    } while (nextPage !== undefined && pages.length < 100);
    const rows = pages.flat();
    const single = (await ok(list({ orderBy: 'title desc', fields: 'title', where: 'title IS NOT NULL' }))).body;
    expect(rows).to.have.length(2 * single.length);
    expect(rows.map(({ title }) => title)).to.deep.equal(
      single.flatMap(({ title }: { title: string }) => [title, title]),
    );
    expect(new Set(rows.map(({ _instance }) => _instance.id))).to.deep.equal(new Set([instance.id, other.id]));
    const tagged = await ok(service.call('/federated/goods', { query: { 'tags[]': 'b', pageSize: 100 } }));
    expect(tagged.body.every((row: ApiAnswer['body']) => row._instance.id === other.id)).to.equal(true);
    expectProblem(await service.call('/federated/goods', { query: { where: 'nothing = 1' } }), 'WHERE_INVALID');
    expectProblem(await service.call('/federated/nothing', {}), 'NOT_FOUND');
    await service.change('DELETE', `/instances/${other.id}`);
  });

  it('are read by bulk jobs', async () => {
    const made = await ok(
      shop.call('/bulk/query', {
        method: 'POST',
        query: { q: 'select key, title from goods where cents > 10000' },
      }),
    );
    const { id } = made.body;
    await until(async () => (await shop.call(`/bulk/${id}/status`)).body.status === 'COMPLETED');
    const file = await shop.call(`/bulk/${id}/goods`, { asBytes: true });
    expect(file.body.toString().split('\r\n')[0] ?? '').to.match(/^"?key"?,"?title"?$/);
  });

  it('become events under their own names where the instance asks for them', async () => {
    const url = receiver.open('mapped');
    const configuration = {
      ...SHOP,
      'event.notification.enabled': true,
      'event.notification.callback.url': url,
      'event.vendor.type': 'polling',
      'event.objects': 'goods',
    };
    const polled = await service.createInstance('odata', configuration, { name: 'polled' });
    const poll = () => ok(service.send('POST', `/instances/${polled.id}/polls/goods/run`));
    const lastRun = async () => (await service.get(`/instances/${polled.id}/polls`))[0]?.lastSuccessDate;
    const pollOnce = async () => {
      const before = await lastRun();
      await until(async () => {
        await poll();
        return (await lastRun()) !== before;
      });
    };
    await pollOnce();
    const made = await service.change('POST', '/Products', { Name: 'Polled', Price: 2 }, { token: polled.token });
    await pollOnce();
    const [event] = await receiver.waitFor(url, 1);
    expect(event?.body.type).to.equal('goods.created');
    expect(event?.body.data).to.include({
      objectName: 'goods',
      objectId: String(made.Id),
      vendorObjectName: 'Products',
    });
    expect(event?.body.data.object).to.include({ title: 'Polled', cents: 200 });
    expect(event?.body.data.raw).to.include({ Name: 'Polled', Price: 2 });
    // Another mapping is no news of the provider.
    await service.change('POST', `/instances/${polled.id}/transformations/goods`, {
      ...OF_PRODUCTS,
      fields: OF_PRODUCTS.fields.slice(0, 3),
    });
    // The first of them may be a run that began before, and the change below would be no news to the next one.
    for (const _ of [1, 2]) await pollOnce();
    await service.change('PATCH', `/Products/${made.Id}`, { Name: 'Polled again' }, { token: polled.token });
    // A run that began before the change may be the one that `pollOnce` waits for.
    await until(async () => {
      await pollOnce();
      return receiver.at(url).length > 1;
    });
    const events = await receiver.waitFor(url, 2);
    expect(events.map(({ body }) => body.type)).to.deep.equal(['goods.created', 'goods.updated']);
    expectProblem(
      await post('/instances', {
        element: { key: 'servicenow' },
        name: 'x',
        configuration: { 'event.objects': 'nothing' },
      }),
      'REQUEST_INVALID',
    );
  });

  it('leave nulls out of responses where the instance wants none', async () => {
    const made = await service.createInstance('odata', { ...SHOP, 'filter.response.nulls': false }, { name: 'bare' });
    const query = { where: 'cents IS NULL', pageSize: 1 };
    const { body: rows } = await ok(service.call('/goods', { query, token: made.token }));
    expect(rows[0]).to.not.have.any.keys('cents', 'shop');
    const { body } = await ok(service.call(`/goods/${rows[0].key}`, { token: made.token }));
    expect(body).to.deep.equal(rows[0]);
    await service.change('DELETE', `/instances/${made.id}`);
  });
});
