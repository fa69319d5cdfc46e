import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Causeway, CausewayError, where } from '../../src/index.js';
import { failure, json, serve } from '../server.js';

const SECRETS = { userSecret: 'the-user-secret', organizationSecret: 'the-organization-secret' };

describe('a client', () => {
  it('says who calls, on the platform and on an instance', async () => {
    await using server = await serve(json([]));
    const causeway = new Causeway({ ...SECRETS, url: server.url, accountId: 'acme' });
    const account = causeway.withInstance('the-token');
    await account.hubs.listHubs();
    await account.objects.listObjects();
    await account.passthrough('/api/v1/meta');
    const user = 'User the-user-secret, Organization the-organization-secret';
    assert.deepEqual(
      server.received.map(({ url, headers }) => [url, headers.authorization]),
      [
        ['/elements/api-v2/hubs', user],
        ['/elements/api-v2/objects', `${user}, Element the-token`],
        ['/elements/api-v2/passthrough/api/v1/meta', `${user}, Element the-token`],
      ],
    );
    for (const { headers } of server.received) {
      assert.match(headers['user-agent'] ?? '', /^causeway-typescript\/\d+\.\d+\.\d+\S* \(node\/\d+/);
      assert.equal(headers['elements-account-id'], 'acme');
      assert.equal(headers['elements-version'], 'Helium');
    }
  });

  it('sends an access key in place of the secrets, and the id of an instance where there is one', async () => {
    await using server = await serve(json([]));
    const causeway = new Causeway({ key: 'ck_1', url: server.url });
    await causeway.hubs.listHubs();
    await causeway.objects.listObjects();
    const account = causeway.withInstance(3);
    await account.hubs.listHubs();
    await account.objects.listObjects();
    await account.passthrough('/x');
    assert.deepEqual(
      server.received.map(({ headers }) => [headers.authorization, headers['elements-instance-id']]),
      [
        ['Bearer ck_1', undefined],
        ['Bearer ck_1', undefined],
        ['Bearer ck_1', undefined],
        ['Bearer ck_1', '3'],
        ['Bearer ck_1', '3'],
      ],
    );
    assert.doesNotMatch(inspect(account, { depth: 20, showHidden: true }), /ck_1/);
  });

  it('takes secrets or a key, and the name of an instance that goes with them', () => {
    const url = 'http://127.0.0.1:9';
    const wrong: readonly [object, RegExp][] = [
      [{}, /userSecret and organizationSecret, or key/],
      [{ userSecret: 'u' }, /userSecret and organizationSecret, or key/],
      [{ ...SECRETS, key: 'ck_1' }, /not both/],
      [{ key: 'ck_1', elementToken: 't' }, /withInstance\(id\)/],
      [{ ...SECRETS, instanceId: 3 }, /withInstance\(token\)/],
    ];
    for (const [options, message] of wrong)
      assert.throws(() => Reflect.construct(Causeway, [{ ...options, url }]), message);
    const environment = { CAUSEWAY_URL: url, CAUSEWAY_KEY: 'ck_1', CAUSEWAY_USER_SECRET: 'ignored' };
    assert.ok(Causeway.fromEnvironment({}, environment));
    assert.throws(() => Causeway.fromEnvironment({}, { ...environment, CAUSEWAY_INSTANCE_ID: 'x' }), {
      message: 'CAUSEWAY_INSTANCE_ID must be the id of an instance, a whole number.',
    });
  });

  it('without a token makes no call on an instance', async () => {
    const causeway = new Causeway({ ...SECRETS, url: 'http://127.0.0.1:9' });
    await assert.rejects(causeway.records('employees').get(1), /withInstance/);
  });

  it('keeps its secrets to itself', async () => {
    await using server = await serve(failure(401, 'UNAUTHENTICATED'));
    const account = new Causeway({ ...SECRETS, url: server.url, elementToken: 'the-token' });
    const error = await account
      .records('employees')
      .get(1)
      .catch((failed) => failed);
    const unreachable = await new Causeway({ ...SECRETS, url: 'http://127.0.0.1:9', retries: 0 }).hubs
      .listHubs()
      .catch((failed) => failed);
    for (const value of [account, error, unreachable]) {
      const shown = inspect(value, { depth: 20, showHidden: true }) + JSON.stringify(value) + String(value);
      assert.doesNotMatch(shown, /the-user-secret|the-organization-secret|the-token/);
    }
  });

  it('comes from the environment, which says what it lacks', () => {
    const environment = {
      CAUSEWAY_URL: 'http://127.0.0.1:1/',
      CAUSEWAY_USER_SECRET: 'u',
      CAUSEWAY_ORGANIZATION_SECRET: 'o',
    };
    assert.equal(Causeway.fromEnvironment({}, environment).url, 'http://127.0.0.1:1/elements/api-v2');
    assert.throws(() => Causeway.fromEnvironment({}, { CAUSEWAY_URL: 'x' }), {
      name: 'CausewayError',
      message: 'Set the environment variables CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET.',
    });
    assert.ok(CausewayError.prototype instanceof Error);
  });

  it('takes a URL with a path and one without', () => {
    const urlOf = (url: string) => new Causeway({ ...SECRETS, url }).url;
    assert.equal(urlOf('https://api.example.com'), 'https://api.example.com/elements/api-v2');
    assert.equal(
      urlOf('https://example.com/causeway/elements/api-v2/'),
      'https://example.com/causeway/elements/api-v2',
    );
    assert.throws(() => urlOf('https://example.com/?a=b'), TypeError);
  });
});

describe('records', () => {
  it('come page by page, with what they were asked for', async () => {
    await using server = await serve(
      json([{ id: 1 }, { id: 2 }], { 'Elements-Next-Page-Token': 'next+1' }),
      json([], { 'Elements-Next-Page-Token': 'next-2' }),
      json([{ id: 3 }]),
    );
    const employees = new Causeway({ ...SECRETS, url: server.url, elementToken: 't' }).records<{ id: number }>('a/b c');
    const rows: number[] = [];
    const query = {
      where: where`name = ${'é & +'}`,
      fields: ['id', 'name'],
      orderBy: 'id',
      pageSize: 2,
      maxProviderCalls: 5,
    };
    for await (const { id } of employees.all(query)) rows.push(id);
    assert.deepEqual(rows, [1, 2, 3]);
    const first =
      '/elements/api-v2/a%2Fb%20c?where=name%20%3D%20%27%C3%A9%20%26%20%2B%27&fields=id%2Cname&orderBy=id&pageSize=2'.replaceAll(
        '%27',
        "'",
      );
    assert.deepEqual(
      server.received.map(({ url }) => url.replaceAll('%27', "'")),
      [first, `${first}&nextPage=next%2B1`, `${first}&nextPage=next-2`],
    );
    assert.equal(server.received[0]?.headers['elements-max-provider-calls'], '5');
  });

  it('are asked for no further than they are read', async () => {
    await using server = await serve(json([{ id: 1 }], { 'Elements-Next-Page-Token': 'more' }));
    for await (const _ of new Causeway({ ...SECRETS, url: server.url, elementToken: 't' }).records('x').all()) break;
    assert.equal(server.received.length, 1);
  });

  it('end where the next page is the same one again', async () => {
    await using server = await serve(json([{ id: 1 }], { 'Elements-Next-Page-Token': 'same' }));
    const rows = new Causeway({ ...SECRETS, url: server.url, elementToken: 't' }).records('x').all();
    const read = async () => {
      for await (const _ of rows);
    };
    await assert.rejects(read, /current page as the next one/);
    assert.equal(server.received.length, 2);
  });

  it('are created, changed, replaced and deleted', async () => {
    await using server = await serve(json({ id: 'A/1' }));
    const records = new Causeway({ ...SECRETS, url: server.url, elementToken: 't' }).records('orders');
    await records.create({ total: 1 });
    await records.update('A/1', { total: 2 });
    await records.replace('A/1', { total: 3 });
    await records.delete('A/1');
    assert.deepEqual(
      server.received.map(({ method, url, body }) => `${method} ${url.replace('/elements/api-v2', '')} ${body}`),
      [
        'POST /orders {"total":1}',
        'PATCH /orders/A%2F1 {"total":2}',
        'PUT /orders/A%2F1 {"total":3}',
        'DELETE /orders/A%2F1 ',
      ],
    );
  });

  it('may be files', async () => {
    await using server = await serve(json({ id: 'F-1' }), (response) => response.end('%PDF'));
    const files = new Causeway({ ...SECRETS, url: server.url, elementToken: 't' }).records('files');
    await files.createFile({ folder: 7 }, new File(['bytes'], 'a.txt', { type: 'text/plain' }));
    assert.equal(await (await files.file('F-1', 'application/pdf')).text(), '%PDF');
    const [created, got] = server.received;
    assert.match(created?.headers['content-type'] ?? '', /^multipart\/form-data; boundary=/);
    assert.match(
      created?.body ?? '',
      /name="metadata"\r\n\r\n\{"folder":7\}[\s\S]*name="file"; filename="a.txt"\r\nContent-Type: text\/plain\r\n\r\nbytes/,
    );
    assert.match(created?.headers.authorization ?? '', /Element t$/);
    assert.equal(created?.headers['idempotency-key'], undefined);
    assert.equal(got?.headers.accept, 'application/pdf');
  });
});
