import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { expectProblem } from '../api/support/expect-problem.ts';
import { authorizationOf, createUser, withDatabase } from '../api/support/tenants.ts';
import { THINGS, useThings } from '../polls/things.ts';
import { type StartedApp, startTestApp, USER_SECRET } from '../support/app.ts';
import { until } from '../support/until.ts';

const COUNT = 250;

describe('bulk jobs of a service', () => {
  const things = useThings({ bulkOptions: { chunkBytes: 2_000 } });
  let token: string;
  let other: StartedApp;
  before(async () => {
    for (let index = 0; index < COUNT; index++) things.provider.add(`t${1000 + index}`, { name: `Thing,"${index}"` });
    ({ token } = await things.create('/of-instance', { 'event.objects': 'notes' }));
    other = await startTestApp(
      { SIMULATORS_PORT: 'off', DATABASE_URL: things.service.databaseUrl },
      { connectors: [THINGS], bulkOptions: { chunkBytes: 2_000 } },
    );
  });
  after(() => other.stop());

  const call: typeof things.service.call = (path, input = {}) => things.service.call(path, { token, ...input });
  const statusOf = async (id: number) => (await call(`/bulk/${id}/status`)).body;
  const post = async (body: object, headers = {}) =>
    (await call('/bulk/query', { method: 'POST', body: { objectName: 'things', ...body }, headers })).body.id;
  const ended = async (id: number) => {
    await until(async () => (await statusOf(id)).bulkFinishTime !== undefined);
    return statusOf(id);
  };
  /** Events that came to a path. */
  const told = (path: string) =>
    things.receiver.requests.filter(({ url }) => url === path).map(({ body }) => JSON.parse(body));

  it('tell their end to the callback URL of the instance, or to their own', async () => {
    const ids = [
      await post({}),
      await post({ callbackUrl: `${things.receiver.url}/of-job` }),
      await post({}, { 'elements-async-callback-url': `${things.receiver.url}/of-header` }),
    ];
    for (const [index, path] of ['/of-instance', '/of-job', '/of-header'].entries()) {
      await until(async () => told(path).length > 0);
      const [event, ...more] = told(path);
      expect(more).to.deep.equal([]);
      expect(event.type).to.equal('bulk.completed');
      expect(event.data.objectId).to.equal(String(ids[index]));
      expect(event.data.object).to.deep.equal(await statusOf(ids[index] ?? 0));
      expect(event.data.object).to.include({ status: 'COMPLETED', recordsCount: COUNT });
      const query = { where: `event.id = '${event.id}'`, hydrate: 'false' };
      const { body: deliveries } = await things.service.call('/notifications/subscriptions/deliveries', { query });
      const { id, fileName } = event.data.object;
      expect(deliveries[0].record).to.deep.equal({ objectName: 'bulk', id: String(id), name: fileName });
    }
  });

  it('refuse a callback URL that must not be called', async () => {
    const response = await call('/bulk/query', {
      method: 'POST',
      body: { objectName: 'things' },
      headers: { 'elements-async-callback-url': 'http://169.254.169.254/' },
    });
    expectProblem(response, 'REQUEST_INVALID');
    expect(response.body.details[0].path).to.equal('/headers/elements-async-callback-url');
  });

  it('tell that they failed, and what for', async () => {
    things.provider.answerNext(
      ...Array.from(
        { length: 5 },
        () => (response: ServerResponse) => response.writeHead(400).end('{"message":"No."}'),
      ),
    );
    const id = await post({ callbackUrl: `${things.receiver.url}/failed` });
    expect(await ended(id)).to.include({ status: 'FAILED', code: 'PROVIDER_REJECTED' });
    await until(async () => told('/failed').length > 0);
    expect(told('/failed')[0]).to.deep.include({ type: 'bulk.failed' });
    const { body } = await call(`/bulk/${id}/errors`);
    expect(body).to.have.length(1);
    expect(body[0]).to.include({ code: 'PROVIDER_REJECTED' });
    expectProblem(await call(`/bulk/${id}/things`), 'NOT_FOUND', `Job ${id} has no file: it is FAILED.`);
    things.provider.answerNext();
  });

  for (const [how, method, path] of [
    ['cancelled', 'PUT', '/cancel'],
    ['deleted', 'DELETE', ''],
  ] as const) {
    it(`end their calls of the provider when they are ${how}, whichever process that is told`, async () => {
      let response: ServerResponse | undefined;
      things.provider.answerNext((hanging) => {
        response = hanging;
      });
      const id = await post({});
      await until(async () => response !== undefined);
      const closed = new Promise((resolve) => response?.once('close', resolve));
      for (const service of [things.service, other]) {
        const answer = await service.call(`/bulk/${id}${path}`, { token, method });
        // The second of them finds it ended.
        expect(answer.status).to.equal(service === things.service ? 200 : method === 'PUT' ? 409 : 404);
      }
      await closed;
      if (method === 'PUT') expect(await statusOf(id)).to.include({ status: 'CANCELLED', recordsCount: 0 });
    });
  }

  for (const [how, leave] of [
    ['deactivated', { method: 'PATCH', body: { active: false } }],
    ['deleted', { method: 'DELETE' }],
  ] as const) {
    it(`end when the user who started them is ${how}: they act for the person`, async () => {
      const name = `${how}-in-bulk`;
      const user = await createUser(things.service, { accountId: 1, name, role: 'default-user' });
      let response: ServerResponse | undefined;
      const away = Array.from({ length: 5 }, () => (later: ServerResponse) => later.writeHead(503).end());
      things.provider.answerNext(
        (hanging) => {
          response = hanging;
        },
        ...away,
      );
      const id = await post({}, authorizationOf(user, token));
      await until(async () => response !== undefined);
      const path = `/users/${name}@example.com`;
      expect((await things.service.call(path, leave)).status).to.equal(200);
      response?.writeHead(503).end();
      const { code, message } = await ended(id);
      expect({ code, message }).to.deep.equal({
        code: 'FORBIDDEN',
        message: `User ${user.id}, who started the job, may no longer work in account 1. Another user can start a new job.`,
      });
      things.provider.answerNext();
      expect(await ended(await post({}))).to.include({ status: 'COMPLETED', recordsCount: COUNT });
    });
  }

  it('have no file before they have ended', async () => {
    let response: ServerResponse | undefined;
    things.provider.answerNext((hanging) => {
      response = hanging;
    });
    const id = await post({});
    await until(async () => response !== undefined);
    expectProblem(await call(`/bulk/${id}/things`), 'NOT_FOUND', `Job ${id} has no file: it is RUNNING.`);
    response?.writeHead(200, { 'content-type': 'application/json' }).end('{"records":[]}');
    expect(await ended(id)).to.include({ status: 'COMPLETED', recordsCount: 0 });
    expect((await call(`/bulk/${id}/things`)).body).to.equal('id,name,state,createdAt,updatedAt\r\n');
  });

  it('break the connection of whoever reads a file that is deleted, so that it does not look whole', async () => {
    const ways: readonly Readonly<Record<string, string>>[] = [
      {},
      { accept: 'application/json' },
      { 'accept-encoding': 'gzip' },
    ];
    for (const more of ways) {
      const id = await post({});
      expect(await readFile(`/bulk/${(await ended(id)).id}/things`, more)).to.be.above(1_000);
      // The rest of it goes while its beginning is sent.
      await withDatabase(things.service, (knex) =>
        knex('bulk_chunk').where({ job_id: id }).where('start_byte', '>', 0).delete(),
      );
      const failure = await readFile(`/bulk/${id}/things`, more).catch((error: unknown) => error);
      expect(failure, JSON.stringify(more)).to.be.an('error');
    }
  });

  it('bound the time of change, and go on from another job', async () => {
    const from = new Date(Date.now() - 60_000).toISOString();
    things.provider.add('old', { updatedAt: '2020-01-01T00:00:00.000Z' });
    const idsOf = async (id: number) => {
      expect(await ended(id)).to.include({ status: 'COMPLETED' });
      const response = await call(`/bulk/${id}/things`, { headers: { accept: 'application/json' } });
      return response.body.map((row: { readonly id: string }) => row.id);
    };
    const first = await post({ from });
    expect(await idsOf(first))
      .to.have.length(COUNT)
      .and.not.include('old');
    expect(await idsOf(await post({ to: from }))).to.deep.equal(['old']);
    things.provider.change('old', { name: 'New again' });
    expect(await idsOf(await post({ continueFromJobId: first }))).to.include('old');
    const wrong = async (body: object) =>
      call('/bulk/query', { method: 'POST', body: { objectName: 'things', ...body } });
    expectProblem(await wrong({ continueFromJobId: 999_999 }), 'NOT_FOUND');
    expectProblem(await wrong({ continueFromJobId: first, from }), 'REQUEST_INVALID');
    expectProblem(await wrong({ from, to: '2020-01-01T00:00:00Z' }), 'REQUEST_INVALID', "'to' is before 'from'.");
    expectProblem(
      await wrong({ objectName: 'mortals', continueFromJobId: first }),
      'REQUEST_INVALID',
      `Job ${first} is a download of 'things', not a download of 'mortals'.`,
    );
    expectProblem(await wrong({ objectName: 'notes', from }), 'REQUEST_INVALID');
  });

  /** @throws when it is not whole, or an error */
  async function readFile(path: string, headers: Readonly<Record<string, string>>): Promise<number> {
    const authorization = `User ${USER_SECRET}, Element ${token}`;
    const request = get(things.service.app.baseUrl + path, {
      headers: { accept: 'text/csv', authorization, ...headers },
    });
    const [response]: readonly IncomingMessage[] = await once(request, 'response');
    let bytes = 0;
    for await (const piece of response ?? []) bytes += piece.length;
    if (response?.statusCode !== 200) throw new Error(`It was answered with ${response?.statusCode}`);
    return bytes;
  }
});
