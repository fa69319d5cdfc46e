import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createIdempotencyStore } from '../../src/accounts/idempotency/store.ts';
import { type ApiCall, type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { theRow } from '../support/database.ts';
import { hang, json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { sendRaw } from './support/raw-request.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, countRows, useTenants, withDatabase } from './support/tenants.ts';

const OTHER_REQUEST = 'This Idempotency-Key was used for another request in the last 24 hours. Send a new key.';
const RUNNING =
  'The first request with this Idempotency-Key has not finished. Try again later. If it never finishes, its outcome is unknown.';
const NOT_SENT_AGAIN = ' This is the first result of this Idempotency-Key; the request was not sent again.';

const connectors = OUTSIDE_CONNECTORS;

describe('Idempotency-Key', () => {
  const service = useApp({ CONNECTORS_PATH: connectors });
  const provider = useMisbehavingServer();
  const tenants = useTenants(service);
  let token: string;
  let keys = 0;
  before(async () => {
    provider.answer('/me', json({}));
    const configuration = { 'base.url': provider.url, 'api.key': 'a-key' };
    token = (await service.createInstance('impatient', configuration)).token;
  });

  const newKey = () => `key-${++keys}`;
  const post = (key: string, call: ApiCall = {}) =>
    service.call('/items', {
      method: 'POST',
      body: { name: 'one' },
      token,
      ...call,
      headers: { 'idempotency-key': key, ...call.headers },
    });
  const created = () => provider.requests.filter(({ method }) => method === 'POST').length;

  /** Makes a record; each has another id, so that a second one shows. */
  function answerWithNewIds(): void {
    let id = 100;
    provider.answer('/items', (response, request) => json({ id: id++, name: 'one' })(response, request));
  }

  it('answers the first result to the same request, and the provider has one record', async () => {
    answerWithNewIds();
    const key = newKey();
    const before = created();
    const first = await post(key);
    const second = await post(key);
    expect(first.body).to.deep.equal({ id: 100, name: 'one' });
    expect(second.body).to.deep.equal(first.body);
    expect(second.headers.get('elements-provider-calls')).to.equal(first.headers.get('elements-provider-calls'));
    expect(second.headers.get('elements-request-id')).not.to.equal(first.headers.get('elements-request-id'));
    expect(created() - before).to.equal(1);
  });

  it('does nothing for requests without it, and lets another key do it again', async () => {
    answerWithNewIds();
    const before = created();
    await post(newKey());
    await post(newKey());
    await service.send('POST', '/items', { name: 'one' }, { token });
    await service.send('POST', '/items', { name: 'one' }, { token });
    expect(created() - before).to.equal(4);
  });

  it('makes one instance, whose token both answers have', async () => {
    const rows = await countRows(service, 'instance');
    const call = {
      method: 'POST',
      body: { element: { key: 'odata' }, name: 'Once', configuration: SHOP },
      headers: { 'idempotency-key': newKey() },
    };
    const [first, second] = [await service.call('/instances', call), await service.call('/instances', call)];
    expect(second.body).to.deep.equal(first.body);
    expect((await service.call('/Products?pageSize=1', { token: second.body.token })).status).to.equal(200);
    expect(await countRows(service, 'instance')).to.equal(rows + 1);
  });

  it('is a conflict with another body, address, object or instance', async () => {
    answerWithNewIds();
    const key = newKey();
    expect((await post(key)).status).to.equal(200);
    const other = await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': 'a-key' });
    const before = created();
    for (const call of [
      { body: { name: 'two' } },
      { body: { name: 'one', extra: 1 } },
      { token: other.token },
    ] as const) {
      expectProblem(await post(key, call), 'CONFLICT', OTHER_REQUEST);
    }
    const inHub = await service.send(
      'POST',
      '/hubs/general/items',
      { name: 'one' },
      { token, headers: { 'idempotency-key': key } },
    );
    expectProblem(inHub, 'CONFLICT', OTHER_REQUEST);
    expect(created() - before).to.equal(0);
  });

  it('is a conflict while the first request runs, and its result after', async () => {
    const key = newKey();
    const before = created();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    provider.answer('/items', (response, request) => {
      onAsked();
      released.then(() => json({ id: 1, name: 'one' })(response, request));
    });
    const first = post(key);
    await asked;
    expectProblem(await post(key), 'CONFLICT', RUNNING);
    release();
    expect((await first).body).to.deep.equal({ id: 1, name: 'one' });
    expect((await post(key)).body).to.deep.equal({ id: 1, name: 'one' });
    expect(created() - before).to.equal(1);
  });

  it('lets one of many requests at the same moment through', async () => {
    answerWithNewIds();
    const key = newKey();
    const before = created();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(key)));
    for (const response of answers) {
      if (response.status !== 200) expectProblem(response, 'CONFLICT', RUNNING);
      else expect(response.body).to.deep.equal({ id: 100, name: 'one' });
    }
    expect(answers.some(({ status: code }) => code === 200)).to.equal(true);
    expect(created() - before).to.equal(1);
  });

  it('is free again after a failure that changed nothing', async () => {
    const key = newKey();
    const failures = [status(400), status(401), status(404), status(429), status(422)];
    for (const failure of failures) {
      provider.answer('/items', failure);
      expect((await post(key)).status).to.be.greaterThan(400);
    }
    expectProblem(await post(key, { body: { nmae: 1 } }), 'REQUEST_INVALID');
    answerWithNewIds();
    expect((await post(key)).body).to.deep.equal({ id: 100, name: 'one' });
  });

  it('remembers a failure after which nobody knows what the provider did', async () => {
    for (const [does, code] of [
      [hang, 'PROVIDER_TIMEOUT'],
      [status(500), 'PROVIDER_UNAVAILABLE'],
      [json('nonsense'), 'PROVIDER_PROTOCOL'],
    ] as const) {
      const key = newKey();
      provider.answer('/items', does);
      const first = await post(key);
      expectProblem(first, code);
      answerWithNewIds();
      const before = created();
      expectProblem(await post(key), code, first.body.message + NOT_SENT_AGAIN);
      expectProblem(await post(key, { body: { name: 'two' } }), 'CONFLICT', OTHER_REQUEST);
      expect(created() - before).to.equal(0);
    }
  });

  it('remembers that the caller hung up while the provider worked', async () => {
    const key = newKey();
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    provider.answer('/items', () => onAsked());
    const controller = new AbortController();
    const cut = fetch(`${service.app.baseUrl}/items`, {
      method: 'POST',
      body: JSON.stringify({ name: 'one' }),
      headers: {
        ...authorizationOf(service, token),
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      signal: controller.signal,
    }).catch(() => undefined);
    await asked;
    controller.abort();
    await cut;
    answerWithNewIds();
    const before = created();
    for (let response = await post(key); ; response = await post(key)) {
      if (response.status === 409) continue;
      expectProblem(response, 'INTERNAL');
      break;
    }
    expect(created() - before).to.equal(0);
  });

  it('belongs to one user', async () => {
    answerWithNewIds();
    const key = newKey();
    const before = created();
    expect((await post(key)).body.id).to.equal(100);
    const colleague = await post(key, { headers: authorizationOf(tenants.colleague, token) });
    expect(colleague.body.id).to.equal(101);
    expect(
      (await post(key, { body: { name: 'two' }, headers: authorizationOf(tenants.colleague, token) })).status,
    ).to.equal(409);
    expect((await post(key)).body.id).to.equal(100);
    expect(created() - before).to.equal(2);
  });

  it('is not looked at for methods that may be repeated anyway', async () => {
    provider.answer('/items/1', json({ id: 1, name: 'one' }));
    const rows = await countRows(service, 'idempotency_record');
    const headers = { 'idempotency-key': newKey() };
    await service.call('/items/1', { token, headers });
    await service.call('/items/1', { method: 'DELETE', token, headers });
    expect(await countRows(service, 'idempotency_record')).to.equal(rows);
  });

  it('has 1 to 255 characters, of any kind that a header takes', async () => {
    answerWithNewIds();
    for (const key of [
      'x'.repeat(255),
      'a b;c="d", e',
      "'; drop table idempotency_record; --",
      '__proto__',
      '%00%0d%0a',
      '\u00fc',
    ]) {
      const [first, second] = [await post(key), await post(key)];
      expect(first.status, key).to.equal(200);
      expect(second.body).to.deep.equal(first.body);
    }
    const tooLong = 'headers.idempotency-key must NOT have more than 255 characters.';
    expectProblem(await post('x'.repeat(256)), 'REQUEST_INVALID', tooLong);
    const empty = await sendRaw(service.app.url, {
      method: 'POST',
      path: '/elements/api-v2/items',
      headers: {
        ...authorizationOf(service, token),
        'content-type': 'application/json',
        'idempotency-key': '',
      },
      body: '{"name":"one"}',
    });
    expectProblem(empty, 'REQUEST_INVALID', 'headers.idempotency-key must NOT have fewer than 1 characters.');
  });

  describe('is stored with a hash of its request', () => {
    const call = {
      method: 'POST',
      body: {
        element: { key: 'odata' },
        name: 'Guessed',
        configuration: { ...SHOP, username: 'u', password: 'sommer12' },
      },
    };

    /** What the service makes of a request, known to everybody who reads its code. */
    const unkeyedHash = (password: string) => {
      const { body } = call;
      const guess = { ...body, configuration: { ...body.configuration, password } };
      const fingerprint = JSON.stringify(['createInstance', null, '/elements/api-v2/instances', guess]);
      return createHash('sha256').update(fingerprint).digest();
    };

    const createOnce = (key: string, body: object = call.body) =>
      service.call('/instances', { ...call, body, headers: { 'idempotency-key': key } });

    const setHash = (hash: Buffer) =>
      withDatabase(service, (knex) => knex('idempotency_record').update({ request_hash: hash }));

    it('in which no password can be guessed', async () => {
      await withDatabase(service, (knex) => knex('idempotency_record').delete());
      expect((await createOnce(newKey())).status).to.equal(200);
      const row = await withDatabase(service, (knex) => theRow(knex('idempotency_record').select('request_hash')));
      const found = ['hunter2', 'sommer12', 'geheim'].filter((word) => unkeyedHash(word).equals(row.request_hash));
      expect(found).to.deep.equal([]);
    });

    it('which an earlier release made without a key, and is good all the same', async () => {
      const key = newKey();
      const first = await createOnce(key);
      await setHash(unkeyedHash('sommer12'));
      expect((await createOnce(key)).body).to.deep.equal(first.body);
      expectProblem(await createOnce(key, { ...call.body, name: 'Another' }), 'CONFLICT', OTHER_REQUEST);
    });
  });

  it('is good for 24 hours', async () => {
    answerWithNewIds();
    const key = newKey();
    expect((await post(key)).body.id).to.equal(100);
    await age(23);
    expect((await post(key)).body.id).to.equal(100);
    await age(25);
    expect((await post(key)).body.id).to.equal(101);
  });

  it('is deleted with its answer when it is older', async () => {
    answerWithNewIds();
    await post(newKey());
    await age(25);
    await post(newKey());
    await withDatabase(service, async (knex) => {
      await createIdempotencyStore(knex).purge(new Date(Date.now() - 24 * 3_600_000));
    });
    expect(await countRows(service, 'idempotency_record')).to.equal(1);
  });

  /** Makes every record this old. A distributed table accepts no time that is computed from a column. */
  function age(hours: number): Promise<void> {
    return withDatabase(service, async (knex) => {
      await knex('idempotency_record').update({ created_at: new Date(Date.now() - hours * 3_600_000) });
    });
  }

  describe('in a second process on the same database', () => {
    let second: StartedApp;
    before(async () => {
      second = await startTestApp({ CONNECTORS_PATH: connectors, DATABASE_URL: service.databaseUrl });
    });
    after(() => second.stop());

    it('is known there as well', async () => {
      answerWithNewIds();
      const before = created();
      const call = { method: 'POST', body: { name: 'one' }, token, headers: { 'idempotency-key': newKey() } };
      const first = await service.call('/items', call);
      expect((await second.call('/items', call)).body).to.deep.equal(first.body);
      expect(created() - before).to.equal(1);
    });
  });
});
