import { expect } from 'chai';
import { untilRun } from '../polls/things.ts';
import { type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { QUICK, useReceiver } from './events/receiving.ts';
import { BAMBOOHR } from './support/simulated.ts';

const SERVICENOW = { username: 'admin', password: 'demo-password', 'company.name': 'demo', simulator: true };
const POLLED = {
  ...SERVICENOW,
  'event.notification.enabled': true,
  'event.vendor.type': 'polling',
  'event.objects': 'incident',
  'event.poller.refresh_interval': 0.05,
};

describe('simulators with split roles', function splitRoles() {
  this.timeout(60_000);
  const receiver = useReceiver();
  const api = useApp({ ROLE: 'api', SIMULATORS_PORT: '0' });
  let others: readonly StartedApp[] = [];
  afterEach(async () => {
    await Promise.all(others.map(({ stop }) => stop()));
    others = [];
  });

  async function start(environment: Readonly<Record<string, string>>): Promise<StartedApp> {
    const overrides = { pollerOptions: { lookMs: 50 }, engineOptions: QUICK };
    const other = await startTestApp({ DATABASE_URL: api.databaseUrl, ...environment }, overrides);
    others = [...others, other];
    return other;
  }
  async function createIncident(token: string): Promise<{ readonly sys_id: string }> {
    const [{ caller_id }] = await api.get('/incident', { token, query: { pageSize: '1' } });
    const body = { short_description: 'Split', caller_id };
    const created = await api.send('POST', '/incident', body, { token });
    expect(created.status).to.equal(200);
    return created.body;
  }
  const url = () => api.app.simulatorsUrl ?? '';

  const ways: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
    SIMULATORS_URL: () => ({ SIMULATORS_PORT: 'off', SIMULATORS_URL: url() }),
    SIMULATORS_PORT: () => ({ SIMULATORS_PORT: new URL(url()).port }),
  };
  for (const [variable, environment] of Object.entries(ways))
    it(`are one for the calls of the API and the polls of a worker with ${variable}`, async () => {
      const worker = await start({ ROLE: 'worker', ...environment() });
      expect(worker.app.simulatorsUrl).to.equal(url());
      const callback = receiver.open(`/${variable}`);
      const configuration = { ...POLLED, 'event.notification.callback.url': callback };
      const { id, token } = await api.createInstance('servicenow', configuration);
      await untilRun(api, id, { runs: 1, resource: 'incident' });
      const created = await createIncident(token);
      const [event] = await receiver.waitFor(callback, 1);
      expect(event?.body.data).to.include({ objectName: 'incident', objectId: created.sys_id });
      await api.send('DELETE', `/instances/${id}`);
    });

  it('are those of another process for an API that serves none', async () => {
    const { token } = await api.createInstance('servicenow', SERVICENOW);
    const second = await start({ ROLE: 'api', ...ways.SIMULATORS_URL?.(), EGRESS_ALLOW: '' });
    const { sys_id } = await createIncident(token);
    const found = await second.call(`/incident/${sys_id}`, { token });
    expect([found.status, found.body.short_description]).to.deep.equal([200, 'Split']);
    const elements = await api.get('/elements/salesforce');
    expect((await second.get('/elements/salesforce')).simulator)
      .to.deep.equal(elements.simulator)
      .and.not.equal(undefined);
  });

  it('are no way around the egress for an instance that does not ask for them', async () => {
    const second = await start({ ROLE: 'api', ...ways.SIMULATORS_URL?.(), EGRESS_ALLOW: '' });
    const body = { element: { key: 'odata' }, name: 'Around', configuration: { 'base.url': `${url()}/odata/v4/shop` } };
    const refused = await second.send('POST', '/instances', body);
    expect(refused.status).to.equal(400);
    expect(refused.body.message).to.match(/127\.0\.0\.1/);
  });

  it('are missed with the variables that the operator sets, and nobody is told to reach the provider instead', async () => {
    const second = await start({ ROLE: 'api', SIMULATORS_PORT: 'off' });
    const body = { element: { key: 'bamboohr' }, name: 'Alone', configuration: BAMBOOHR };
    const refused = await second.send('POST', '/instances', body);
    expect([refused.status, refused.body.message]).to.deep.equal([
      400,
      'This process has no access to the simulator of BambooHR. The operator sets SIMULATORS_PORT for the process that serves the simulators, and SIMULATORS_URL for the others.',
    ]);
  });
});
