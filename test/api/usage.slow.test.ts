import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, pluck, useApp } from '../support/app.ts';
import { theRow } from '../support/database.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf, useTenants, withDatabase } from './support/tenants.ts';

const DAY = { interval: 'day' } as const;
const METRICS = ['api', 'hub-api', 'events', 'element-instances-created', 'bulk-jobs'];
const sumOf = (points: readonly ApiAnswer['body'][], name: string): number =>
  points.reduce((sum, point) => sum + point[name], 0);

describe('the usage of an account', () => {
  const service = useApp({}, { recorderOptions: { flushMs: 20 } });
  const others = useTenants(service);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  before(async () => {
    for (let call = 0; call < 3; call++) await people.call('/employees?pageSize=1');
    await people.call('/employees?where=nothing%3D1');
    await service.call('/nothing');
    // All of that, and what was asked to find out.
    await until(async () => sumOf(await bodyOf('/usage/analytics/activity', DAY), 'count') >= 6);
  });

  async function bodyOf(path: string, query: ApiCall['query'] = {}, call: ApiCall = {}): Promise<ApiAnswer['body']> {
    const response = await service.call(path, { ...call, query });
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    expect(response.headers.get('elements-returned-count')).to.equal(String(response.body.length));
    return response.body;
  }

  it('is counted by each interval of a period, also those without a request', async () => {
    const days = await bodyOf('/usage/analytics/activity', DAY);
    expect(days).to.have.length(30);
    expect(days.slice(0, 29).every(({ count }: ApiAnswer['body']) => count === 0)).to.equal(true);
    expect(days[29].timestamp).to.equal(`${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`);
    for (const interval of ['minute', 'hour'])
      expect(sumOf(await bodyOf('/usage/analytics/activity', { interval }), 'count')).to.be.at.least(6);
  });

  it('is counted by element, by outcome and by duration', async () => {
    const [element] = await bodyOf('/usage/analytics/activity/elements', DAY);
    expect(element).to.include({ elementKey: 'bamboohr', elementName: 'BambooHR', count: 4 });
    const statuses = await bodyOf('/usage/analytics/statuses', DAY);
    expect(sumOf(statuses, 'failed')).to.equal(2);
    expect(sumOf(statuses, 'success')).to.be.at.least(4);
    const [times, ...rest] = await bodyOf('/usage/analytics/times', DAY);
    expect(rest).to.deep.equal([]);
    const { min, p50, p95, p99, max, avg } = times;
    expect([min, p50, p95, p99, max]).to.deep.equal([min, p50, p95, p99, max].toSorted((one, other) => one - other));
    expect(min).to.be.above(0);
    expect(avg).to.be.within(min, max);
  });

  it('refuses a period that is too fine, over, or no time', async () => {
    const query = { from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z', interval: 'minute' };
    for (const path of ['/usage/analytics/activity', '/usage/analytics/times', '/metrics/api']) {
      expectProblem(await service.call(path, { query }), 'REQUEST_INVALID', /Request at most 1500 minutes/);
      expectProblem(await service.call(path, { query: { from: 'yesterday' } }), 'REQUEST_INVALID');
      expectProblem(await service.call(path, { query: { interval: 'week' } }), 'REQUEST_INVALID');
    }
  });

  it('is nobody else’s', async () => {
    for (const tenant of [others.stranger, others.sibling]) {
      const headers = authorizationOf(tenant);
      expect(await bodyOf('/usage/analytics/activity/elements', DAY, { headers })).to.deep.equal([]);
      for (const metric of METRICS) {
        const entries = await bodyOf(`/metrics/${metric}`, DAY, { headers });
        expect(entries.every(({ id }: ApiAnswer['body']) => id === tenant.accountId)).to.equal(true);
      }
    }
  });

  it('has metrics of requests, of those on instances, and of instances that were made', async () => {
    const [api] = await bodyOf('/metrics/api', DAY);
    expect(api).to.include({ id: 1, interval: 'day' });
    const [{ count, details }] = api.metrics;
    expect(count).to.equal(api.count);
    expect(details.success + details.clientErrors + details.serverErrors).to.equal(count);
    expect(details.clientErrors).to.be.at.least(2);
    const [hub] = await bodyOf('/metrics/hub-api', DAY);
    expect(hub.metrics[0]).to.deep.include({ count: 4, details: { bamboohr: 4 } });
    const [made] = await bodyOf('/metrics/element-instances-created', DAY);
    expect(made.metrics[0]).to.deep.include({ count: 1, details: { bamboohr: 1 } });
    expect(await bodyOf('/metrics/bulk-jobs', DAY)).to.deep.equal([]);
    expectProblem(await service.call('/metrics/nothing'), 'REQUEST_INVALID');
  });

  it('has metrics of events, when they were accepted', async () => {
    const events = { 'event.notification.enabled': true, 'event.notification.callback.url': 'http://127.0.0.1:9/x' };
    const { id } = await service.createInstance('bamboohr', { ...BAMBOOHR, ...events });
    for (let event = 0; event < 3; event++)
      await service.send('POST', '/events/test', { instanceId: id, data: { event } });
    await until(async () => (await bodyOf('/metrics/events', DAY))[0]?.count === 3);
    const [found] = await bodyOf('/metrics/events', DAY);
    expect(found.metrics[0].details).to.deep.equal({ bamboohr: 3 });
  });

  it('has metrics of bulk jobs that came to their end, downloads and uploads', async () => {
    const shop = await service.createInstance('odata', SHOP);
    const authorization = `User ${service.userSecret}, Element ${shop.token}`;
    async function upload(text: string): Promise<void> {
      const form = new FormData();
      form.append('metaData', JSON.stringify({ format: 'csv', action: 'delete' }));
      form.append('file', new Blob([text]), 'rows.csv');
      const url = `${service.app.baseUrl}/bulk/Products`;
      expect((await fetch(url, { method: 'POST', headers: { authorization }, body: form })).status).to.equal(200);
    }
    const download = { method: 'POST', token: shop.token, body: { objectName: 'Products' } };
    expect((await service.call('/bulk/query', download)).status).to.equal(200);
    await upload('Id\n999999\n');
    // It ends as a failure.
    await upload('Id\n"1"x\n');
    for (const path of ['/metrics/bulk-jobs', '/organizations/me/metrics/bulk-jobs']) {
      await until(async () => (await bodyOf(path, DAY))[0]?.count === 3);
      const [found, ...more] = await bodyOf(path, DAY);
      expect(more).to.deep.equal([]);
      expect(found.metrics[0].details).to.deep.equal({ odata: 3 });
    }
  });

  it('has metrics of all accounts of the organization, for who may see them', async () => {
    await others.sibling.call('/elements');
    await others.stranger.call('/elements');
    const path = '/organizations/me/metrics/api';
    const ids = async (call: ApiCall = {}) => pluck(await bodyOf(path, DAY, call), 'id');
    await until(async () => (await ids()).includes(others.sibling.accountId));
    expect(await ids()).to.deep.equal([1, others.sibling.accountId]);
  });

  it('is for who may view logs', async () => {
    await withDatabase(service, async (knex) => {
      const { id } = await theRow(knex('app_user').where({ email_address: 'colleague@example.com' }).select('id'));
      await knex('user_role').where({ user_id: id }).update({ role: 'default-user' });
    });
    for (const path of ['/activity', '/usage', '/usage/analytics/times', '/metrics/api'])
      expectProblem(await others.colleague.call(path), 'FORBIDDEN', /viewAccountLogs/);
    const message = /viewOrganizationLogs/;
    expectProblem(await others.colleague.call('/organizations/me/metrics/api'), 'FORBIDDEN', message);
  });

  it('stands at the place of the API, and the measurements of the operator at theirs', async () => {
    const operator = await fetch(`${service.app.url}/metrics`);
    expect(await operator.text()).to.include('causeway_activity_dropped_total 0');
  });
});
