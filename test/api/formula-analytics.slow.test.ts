import { expect } from 'chai';
import { pluck, useSharedApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { authorizationOf, updateRows, useTenants, withDatabase } from './support/tenants.ts';

const END = {
  name: 'end',
  type: 'script',
  properties: { body: "if (trigger.args.bad) throw('bad'); done({ a: 1 });" },
};

type Entry = Readonly<Record<string, unknown>> & { readonly timestamp: string };
const HOUR_MS = 3_600_000;

describe('analytics of formulas', () => {
  const service = useSharedApp();
  const tenants = useTenants(service);
  let instanceId = 0;
  let formulaId = 0;

  const post = (path: string, body: unknown) => service.change('POST', path, body);
  const get = (path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    service.get(path, { query, headers });
  const lastHour = () => ({ from: new Date(Date.now() - HOUR_MS).toISOString(), interval: 'minute' });
  const sum = (entries: readonly Entry[], name: string) => entries.reduce((all, entry) => all + Number(entry[name]), 0);

  before(async () => {
    const triggers = [{ type: 'manual', onSuccess: ['end'] }];
    const formula = await post('/formulas', { name: 'counted', triggers, steps: [END] });
    formulaId = formula.id;
    ({ id: instanceId } = await post(`/formulas/${formula.id}/instances`, { name: 'Counted' }));
    const path = `/formulas/instances/${instanceId}/executions`;
    for (const input of [{}, {}, { bad: true }]) await post(path, input);
    await until(async () => (await get('/formulas/analytics/statuses/now')).pending === 0);
  });

  it('count executions in the last days, or in the intervals of a period', async () => {
    const days = await get('/formulas/analytics');
    expect(days).to.have.length(8);
    expect(days.at(-1).count).to.equal(3);
    expect(days[0]).to.have.all.keys('timestamp', 'count');
    const minutes = await get('/formulas/analytics', lastHour());
    expect(minutes).to.have.length(61);
    expect(sum(minutes, 'count')).to.equal(3);
    expect(await get('/formulas/analytics', { interval: 'hour' })).to.have.length(25);
  });

  it('count their outcomes', async () => {
    const statuses = await get('/formulas/analytics/statuses', lastHour());
    expect(statuses).to.have.length(61);
    expect(['success', 'failed', 'total'].map((name) => sum(statuses, name))).to.deep.equal([2, 1, 3]);
  });

  it('count them by instance and by account', async () => {
    const instances = await get('/formulas/analytics/instances');
    expect(instances).to.have.length(8);
    expect(instances.at(-1)).to.deep.include({
      total: 3,
      records: [
        { formulaInstanceId: instanceId, formulaInstanceName: 'Counted', formulaId, count: 3, success: 2, failed: 1 },
      ],
    });
    const accounts = await get('/formulas/analytics/accounts');
    const { accountId } = service;
    expect(accounts.at(-1).records).to.have.length(1);
    expect(accounts.at(-1).records[0]).to.include({ accountId, count: 3, success: 2, failed: 1 });
    expect(accounts[0]).to.deep.include({ total: 0, records: [] });
  });

  it('measure steps', async () => {
    const steps = await get('/formulas/analytics/steps', lastHour());
    expect(steps).to.have.length(61);
    expect(sum(steps, 'count')).to.equal(6);
    const busy = steps.find(({ count }: { count: number }) => count > 0);
    expect(busy).to.have.all.keys('timestamp', 'count', 'executionTime', 'executionDelay', 'contextSize');
    expect(busy.contextSize).to.be.greaterThan(0);
    expect(busy.executionDelay).to.be.within(0, 10_000);
  });

  it('count what has not ended, with planned retries', async () => {
    expect(await get('/formulas/analytics/statuses/now')).to.deep.equal({
      pending: 0,
      queued: 0,
      retry: 0,
      retries: [],
    });
    const triggers = [{ type: 'manual', onSuccess: ['again'] }];
    const steps = [{ name: 'again', type: 'retryFormulaExecution', properties: { retryAttempts: '2' } }];
    const formula = await post('/formulas', { name: 'again', triggers, steps });
    const { id } = await post(`/formulas/${formula.id}/instances`, { name: 'Again' });
    const [{ id: executionId }] = await post(`/formulas/instances/${id}/executions`, {});
    await until(async () => (await get('/formulas/analytics/statuses/now')).retry === 1);
    const { retries, ...counts } = await get('/formulas/analytics/statuses/now');
    expect(counts).to.deep.equal({ pending: 0, queued: 0, retry: 1 });
    const [{ retryDate, ...retry }] = retries;
    expect(retry).to.deep.equal({ executionId, formulaInstanceId: id, attempt: 1 });
    expect(Date.parse(retryDate) - Date.now()).to.be.within(170_000, 181_000);
  });

  it('show an account its own executions, and an administrator all accounts of the organization', async () => {
    const headers = authorizationOf(tenants.sibling);
    for (const path of ['', '/instances', '/accounts', '/statuses', '/steps']) {
      const entries = await get(`/formulas/analytics${path}`, {}, headers);
      expect(sum(entries, path === '' || path === '/steps' ? 'count' : 'total'), path).to.equal(0);
    }
    const all = await get('/formulas/analytics/accounts', lastHour());
    expect(sum(all, 'total')).to.be.at.least(3);
    const ofSibling = await get('/formulas/analytics/accounts', lastHour(), {
      'Elements-Account-Id': String(tenants.sibling.accountId),
    });
    expect(sum(ofSibling, 'total')).to.equal(0);
  });

  it('are refused for a period that ends before it begins, is too long, or has another interval', async () => {
    const [from, to] = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'];
    for (const path of ['', '/accounts', '/instances', '/statuses', '/steps']) {
      const ask = (query: Record<string, string>) => service.call(`/formulas/analytics${path}`, { query });
      expectProblem(await ask({ from, to, interval: 'minute' }), 'REQUEST_INVALID');
      expectProblem(await ask({ from, to: from, interval: 'minute' }), 'REQUEST_INVALID');
      expectProblem(await ask({ interval: 'second' }), 'REQUEST_INVALID');
      expectProblem(await ask({ from: '2026-01-01', to: '2026-01-31', interval: 'minute' }), 'REQUEST_INVALID');
    }
  });

  it('are a metric beside the others', async () => {
    const read = async () => (await get('/metrics/formula-executions', { interval: 'hour' }))[0];
    // Counts are written behind the executions, some at a time.
    await until(async () => (await read())?.count >= 3);
    expect((await read()).id).to.equal(service.accountId);
    const { body } = await fetchMetrics(service.app.url);
    for (const name of [
      'causeway_formula_executions_running 0',
      'causeway_work_due{kind="formulas"} 0',
      'causeway_work_oldest_due_seconds{kind="formulas"} 0',
      'causeway_formula_executions_ended_total{status="failed"}',
    ])
      expect(body).to.contain(name);
  });
});

async function fetchMetrics(url: string) {
  const response = await fetch(`${url}/metrics`);
  return { status: response.status, body: await response.text() };
}

describe('jobs', () => {
  const service = useSharedApp();
  const tenants = useTenants(service);
  const { change, get, send } = service;

  async function createJob(name: string, settings: object = {}) {
    const formula = await change('POST', '/formulas', {
      name,
      configuration: [{ key: 'when' }],
      triggers: [{ type: 'scheduled', properties: { cron: `\${config.when}` }, onSuccess: ['end'] }],
      steps: [{ name: 'end', type: 'script', properties: { body: 'done();' } }],
    });
    const configuration = { when: '0 0 0 1 1 ?' };
    const instance = await change('POST', `/formulas/${formula.id}/instances`, { name, configuration, settings });
    return { formulaId: Number(formula.id), id: Number(instance.id) };
  }
  const idsOf = async () => pluck(await get('/jobs'), 'id');

  it('are the formula instances that a schedule starts, as long as these are active', async () => {
    const { formulaId, id } = await createJob('scheduled');
    const job = await get(`/jobs/${id}`);
    const { nextRunDate, createdDate, ...rest } = job;
    expect(rest).to.deep.equal({
      id,
      name: 'scheduled',
      description: `formula ${formulaId}, instance ${id}`,
      formulaId,
      formulaInstanceId: id,
      cron: '0 0 0 1 1 ?',
    });
    expect(nextRunDate).to.match(/-01-01T00:00:00.000Z$/);
    expect(await idsOf()).to.deep.equal([id]);
    await change('PATCH', `/formulas/${formulaId}`, { active: false });
    expect(await idsOf()).to.deep.equal([]);
    await change('PATCH', `/formulas/${formulaId}`, { active: true });
    expect(await idsOf()).to.deep.equal([id]);
    expect(await service.get('/jobs', { query: { where: `formulaId = ${formulaId}` } })).to.deep.equal([job]);
    expect(await service.get('/jobs', { query: { where: "name = 'other'" } })).to.deep.equal([]);
    expectProblem(await tenants.sibling.call(`/jobs/${id}`), 'NOT_FOUND');
  });

  it('end by deactivating their instances', async () => {
    const { formulaId, id } = await createJob('ended');
    expect(await change('DELETE', `/jobs/${id}`)).to.deep.equal({ id });
    expectProblem(await send('GET', `/jobs/${id}`), 'NOT_FOUND', `There is no job ${id}.`);
    expectProblem(await send('DELETE', `/jobs/${id}`), 'NOT_FOUND');
    expect((await get(`/formulas/instances/${id}`)).active).to.equal(false);
    await change('PUT', `/formulas/${formulaId}/instances/${id}/active`);
    expect(await idsOf()).to.include(id);
    const log = await get('/audit-logs/formula-instances');
    expect(
      log.some(({ requestMethod, method }: Record<string, string>) => [requestMethod, method].includes('DELETE')),
    ).to.equal(true);
  });

  it('end with the time to live of their instances', async () => {
    const { id } = await createJob('short', { 'formula.instance.time.to.live': 3600 });
    const { id: other } = await createJob('long', { 'formula.instance.time.to.live': 7200 });
    await updateRows(service, 'formula_instance', { id }, { expires_at: new Date(0) });
    await withDatabase(service, (knex) =>
      knex.raw("insert into pgboss.job (name, data) values ('formulas.keep', '{}')"),
    );
    await until(async () => (await send('GET', `/formulas/instances/${id}`)).status === 404);
    expect(await idsOf())
      .to.include(other)
      .and.not.include(id);
  });
});
