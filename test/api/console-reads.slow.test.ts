import { expect } from 'chai';
import { type ApiCall, pluck, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR } from './support/simulated.ts';

const PASSWORD = 'violet anchor drifts past noon';
const WITHOUT = { consoleReads: 'false' };

describe('what the console reads to show itself', () => {
  const service = useApp({}, { recorderOptions: { flushMs: 20 } });
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  before(async () => {
    await service.send('PUT', '/users/me/password', { password: PASSWORD });
    // As a browser asks: without the secrets.
    const browse = (path: string, { method = 'GET', body = {}, headers = {} }) => {
      const content = method === 'GET' ? {} : { body: JSON.stringify(body) };
      return fetch(service.app.baseUrl + path, {
        method,
        ...content,
        headers: { 'content-type': 'application/json', ...headers },
      });
    };
    const began = await browse('/console/session', {
      method: 'POST',
      body: { email: 'admin@localhost', password: PASSWORD },
    });
    const [cookie = ''] = (began.headers.get('set-cookie') ?? '').split(';');
    const headers = { cookie, 'x-csrf-token': String(Object(await began.json()).csrfToken) };
    const onInstance = { ...headers, 'elements-element-instance-id': String(people.id) };
    expect((await browse('/hubs', { headers })).status).to.equal(200);
    expect((await browse('/bulk/jobs', { headers: onInstance })).status).to.equal(200);
    expect((await browse('/elements/nothing', { headers })).status).to.equal(404);
    expect((await browse('/employees/105', { headers: onInstance })).status).to.equal(200);
    const tagged = { method: 'PATCH', body: { tags: ['seen'] }, headers };
    expect((await browse(`/instances/${people.id}`, tagged)).status).to.equal(200);
    await service.call('/elements');
    await until(async () => (await pathsOf('/activity')).includes('/elements/api-v2/elements'));
  });

  async function pathsOf(path: string, query: ApiCall['query'] = {}): Promise<readonly string[]> {
    const body = await service.get(path, { query: { ...query, pageSize: 200 } });
    return body.map((row: { readonly path?: string; readonly request_uri?: string }) => row.path ?? row.request_uri);
  }

  it('is marked in the activity, and left out where it is not wanted', async () => {
    const body = await service.get('/activity', { query: { pageSize: 200 } });
    const marked = body.filter((row: { readonly consoleRead?: true }) => row.consoleRead);
    expect(pluck(marked, 'path')).to.have.members(['/elements/api-v2/hubs', '/elements/api-v2/bulk/jobs']);
    const rest = await pathsOf('/activity', WITHOUT);
    expect(rest).to.include.members([
      '/elements/api-v2/elements/nothing',
      '/elements/api-v2/employees/105',
      `/elements/api-v2/instances/${people.id}`,
      '/elements/api-v2/elements',
    ]);
    expect(rest).not.to.include('/elements/api-v2/hubs');
    expect(await pathsOf(`/instances/${people.id}/activity`)).to.include('/elements/api-v2/bulk/jobs');
    const ofInstance = await pathsOf(`/instances/${people.id}/activity`, WITHOUT);
    expect(ofInstance).to.include('/elements/api-v2/employees/105').and.not.include('/elements/api-v2/bulk/jobs');
    expect(await pathsOf('/usage', WITHOUT)).not.to.include('/elements/api-v2/hubs');
  });

  it('is counted with the other requests unless it is not wanted', async () => {
    const day = { interval: 'day' };
    const elementsOf = async (query: ApiCall['query']) =>
      (await service.call('/usage/analytics/activity/elements', { query: { ...day, ...query } })).body;
    expect((await elementsOf({})).at(-1)).to.include({ elementKey: 'bamboohr', count: 2 });
    expect((await elementsOf(WITHOUT)).at(-1)).to.include({ elementKey: 'bamboohr', count: 1 });

    const sumOf = async (path: string, member: string, query: ApiCall['query']) =>
      (await service.get(path, { query: { ...day, ...query } })).reduce(
        (sum: number, point: Readonly<Record<string, number>>) => sum + (point[member] ?? 0),
        0,
      );
    // Each time it asks without, it is asked of requests that were made before: those that ask come behind.
    for (const [path, member] of [
      ['/usage/analytics/activity', 'count'],
      ['/usage/analytics/statuses', 'success'],
      ['/metrics/api', 'count'],
    ] as const) {
      const without = await sumOf(path, member, WITHOUT);
      expect(await sumOf(path, member, {}), path).to.be.at.least(without + 2);
    }
    const body = await service.get('/usage/analytics/times', { query: day });
    expect(body).to.have.length(1);
    expect(body[0].min).to.be.at.most(body[0].p50);
  });
});
