import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, pluck, useSharedApp } from '../support/app.ts';
import { hang, json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { rowsOf } from './support/pages.ts';
import { BAMBOOHR } from './support/simulated.ts';
import { authorizationOf, useTenants } from './support/tenants.ts';

const requestIdOf = ({ headers }: ApiAnswer) => headers.get('elements-request-id') ?? '';

describe('the activity of an account', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS }, { recorderOptions: { flushMs: 20 } });
  const others = useTenants(service);
  const provider = useMisbehavingServer();
  before(() => provider.answer('/me', json({})));
  const instance = useInstance(service, 'bamboohr', BAMBOOHR);
  const impatient = useInstance(service, 'impatient', () => ({
    'base.url': provider.url,
    'api.key': 'key-of-the-tests',
  }));

  /** When it has been written. */
  async function activityOf(response: ApiAnswer, call: ApiCall = {}): Promise<ApiAnswer['body']> {
    const path = `/activity/${requestIdOf(response)}`;
    await until(async () => (await service.call(path, call)).status === 200);
    return (await service.call(path, call)).body;
  }

  it('has a query with what the provider was asked for it', async () => {
    const response = await instance.call('/employees', { query: { where: "status = 'Active'", pageSize: 3 } });
    const { providerCalls, timestamp, durationMs, ...rest } = await activityOf(response);
    expect(rest).to.deep.equal({
      requestId: requestIdOf(response),
      accountId: service.accountId,
      userId: service.userId,
      instanceId: instance.id,
      elementKey: 'bamboohr',
      method: 'GET',
      path: '/elements/api-v2/employees',
      operation: 'listRecords',
      status: 200,
      rows: 3,
      pushdown: response.headers.get('elements-query-pushdown'),
    });
    expect(Date.parse(timestamp)).to.be.closeTo(Date.now(), 60_000);
    expect(durationMs).to.be.above(0);
    expect(providerCalls).to.have.length(Number(response.headers.get('elements-provider-calls')));
    expect(providerCalls[0]).to.include({ host: 'acme.bamboohr.com', status: 200, retries: 0 });
    expect(providerCalls[0].path).to.match(/^\/api\//);
  });

  it('says why a call failed: each try, its status, the code of the answer', async () => {
    provider.answer('/items', status(503), status(503), status(429, { 'retry-after': '0' }), json([], 422));
    const response = await impatient.call('/items');
    const { providerCalls, ...activity } = await activityOf(response);
    expect(activity).to.include({ status: response.status, code: response.body.code, elementKey: 'impatient' });
    const tries = providerCalls.map((call: ApiAnswer['body']) => [call.status, call.retries]);
    expect(tries.length).to.equal(Number(provider.requests.filter(({ url }) => url.startsWith('/items')).length));
    expect(tries[0]).to.deep.equal([503, 0]);
    expect(tries.map(([, retries]: number[]) => retries)).to.deep.equal(tries.map((_: unknown, at: number) => at));
  });

  it('says that a provider did not answer, and that the caller hung up', async () => {
    provider.answer('/items', hang);
    const controller = new AbortController();
    const hungUp = fetch(`${service.app.baseUrl}/items`, {
      headers: { authorization: `User ${service.userSecret}, Element ${impatient.token}` },
      signal: controller.signal,
    }).catch(() => undefined);
    const before = provider.requests.length;
    await until(async () => provider.requests.length > before);
    controller.abort();
    await hungUp;
    const where = `status = 499 AND instanceId = ${impatient.id}`;
    await until(async () => (await service.call('/activity', { query: { where } })).body.length > 0);
    const [found] = await service.get('/activity', { query: { where } });
    expect(found).to.include({ status: 499, cut: true, operation: 'listRecords' });
    expect(found).not.to.have.property('code');
    expect(found.providerCalls[0]).to.include({ failure: 'aborted', path: '/items', retries: 0 });
    provider.dropConnections();
  });

  it('has calls of the platform, with the instance that the path names, and refusals', async () => {
    const shown = await activityOf(await service.call(`/instances/${instance.id}`));
    expect(shown).to.deep.include({
      instanceId: instance.id,
      operation: 'getInstance',
      status: 200,
      providerCalls: [],
    });
    expect(shown).not.to.have.any.keys('elementKey', 'code', 'rows');
    const missing = await activityOf(await service.call('/nothing/of/the/kind'));
    expect(missing).to.include({ status: 404, code: 'NOT_FOUND' });
    expect(missing).not.to.have.property('operation');
    const invalid = await activityOf(await service.call('/instances?pageSize=0'));
    expect(invalid).to.include({ status: 400, code: 'REQUEST_INVALID', operation: 'listInstances' });
  });

  it('has no query of a request, neither ours nor the provider’s', async () => {
    const response = await instance.call('/employees?where=firstName%20%3D%20%27Charlotte%27');
    expect(JSON.stringify(await activityOf(response))).not.to.include('Charlotte');
  });

  it('keeps the first fifty provider calls, and counts the others', async () => {
    let next = 0;
    provider.answer('/items', (...sent) => json({ records: [{ id: next, name: 'a' }], next: `${next++}` })(...sent));
    const response = await impatient.call('/items', {
      query: { where: "name = 'b'" },
      headers: { 'elements-max-provider-calls': '60' },
    });
    expect(response.headers.get('elements-provider-calls')).to.equal('60');
    const { providerCalls, moreProviderCalls } = await activityOf(response);
    expect([providerCalls.length, moreProviderCalls]).to.deep.equal([50, 10]);
  });

  it('has a request that is passed through', async () => {
    provider.answer('/items', json([{ id: 1 }]));
    const response = await impatient.call('/passthrough/items');
    const { providerCalls, ...activity } = await activityOf(response);
    expect(activity).to.include({ operation: 'passGet', status: 200 });
    expect(providerCalls[0]).to.include({ method: 'GET', host: provider.host, path: '/items', status: 200 });
  });

  describe('in lists', () => {
    it('comes from new to old, in pages without gap or doubling while more comes in', async () => {
      const where = "operation = 'listElements'";
      const made: string[] = [];
      for (let call = 0; call < 7; call++) {
        const response = await service.call('/elements');
        made.unshift(requestIdOf(response));
        await activityOf(response);
      }
      const rows = await rowsOf(async (nextPage) => {
        if (nextPage !== undefined) await activityOf(await service.call('/elements'));
        return service.call('/activity', { query: { where, pageSize: 2, nextPage } });
      });
      const read = rows.map(({ requestId }) => requestId);
      expect(read).to.deep.equal(made);
    });

    it('is filtered by what is shown, and says what is not known', async () => {
      const failed = await instance.call('/employees?where=nothing%3D1');
      await activityOf(failed);
      const where = `status >= 400 AND elementKey = 'bamboohr' AND code = 'WHERE_INVALID' AND durationMs >= 0.1`;
      const body = await service.get('/activity', { query: { where } });
      expect(pluck(body, 'requestId')).to.include(requestIdOf(failed));
      expectProblem(await service.call('/activity', { query: { where: "stauts = 'x'" } }), 'WHERE_INVALID');
    });

    it('is of one instance, by its token or by its path, and is not there for one that is not', async () => {
      await activityOf(await service.call(`/instances/${instance.id}/configuration`));
      const body = await service.get(`/instances/${instance.id}/activity`);
      const operations = new Set(pluck(body, 'operation'));
      expect([...operations]).to.include.members(['listRecords', 'getInstanceConfiguration']);
      expect(new Set(pluck(body, 'instanceId'))).to.deep.equal(new Set([instance.id]));
      expectProblem(await service.call('/instances/999999/activity'), 'NOT_FOUND');
    });

    it('has a token of a page for itself alone', async () => {
      const { headers } = await service.call('/activity', { query: { pageSize: 1 } });
      const nextPage = headers.get('elements-next-page-token') ?? '';
      for (const path of [`/instances/${instance.id}/activity`, '/usage'])
        expectProblem(await service.call(path, { query: { nextPage } }), 'REQUEST_INVALID');
      const where = 'status = 200';
      expectProblem(await service.call('/activity', { query: { nextPage, where } }), 'REQUEST_INVALID');
      const response = await others.sibling.call('/activity', { query: { nextPage } });
      expectProblem(response, 'REQUEST_INVALID');
    });
  });

  it('is nobody else’s, neither in lists nor by its id', async () => {
    const response = await instance.call('/employees', { query: { pageSize: 1 } });
    await activityOf(response);
    for (const tenant of [others.stranger, others.sibling]) {
      const headers = authorizationOf(tenant);
      for (const path of ['/activity', '/usage'])
        expectProblem(await service.call(`${path}/${requestIdOf(response)}`, { headers }), 'NOT_FOUND');
      expectProblem(await service.call(`/instances/${instance.id}/activity`, { headers }), 'NOT_FOUND');
      const own = await service.call('/elements', { headers });
      expect(await activityOf(own, { headers })).to.include({ accountId: tenant.accountId });
      const listed = await service.get('/activity', { headers });
      expect(new Set(pluck(listed, 'accountId'))).to.deep.equal(new Set([tenant.accountId]));
      expectProblem(await service.call(`/activity/${requestIdOf(own)}`), 'NOT_FOUND');
    }
  });

  it('is not found by an id that nobody had, and an id that is none is said to be none', async () => {
    const problem = await service.call(`/activity/${randomUUID()}`);
    expectProblem(problem, 'NOT_FOUND');
    expectProblem(await service.call('/activity/abc'), 'REQUEST_INVALID');
  });

  it('has the same rows as usage, under other names', async () => {
    const response = await instance.call('/hubs/humancapital/employees', { query: { pageSize: 1 } });
    const requestId = requestIdOf(response);
    const activity = await activityOf(response);
    const body = await service.get(`/usage/${requestId}`);
    expect(body).to.deep.equal({
      user_id: service.userId,
      account_id: service.accountId,
      company_id: service.organizationId,
      process_time: activity.durationMs,
      traffic_id: requestId,
      traffic_date: activity.timestamp,
      request_id: requestId,
      request_status: 200,
      request_ip: body.request_ip,
      request_uri: '/elements/api-v2/hubs/humancapital/employees',
      element_key: 'bamboohr',
      element_name: 'BambooHR',
      element_api: '/hubs/humancapital/employees',
    });
    expect(body.request_ip).to.match(/127\.0\.0\.1$/);
    const where = `request_id = '${requestId}' AND request_status = 200 AND process_time > 0`;
    expect(await service.get('/usage', { query: { where } })).to.deep.equal([body]);
  });
});
