import { expect } from 'chai';
import { DEMO_CONFIGURATION as BAMBOOHR } from '../../connectors/bamboohr/simulator.ts';
import {
  DEMO_CONFIGURATION as DYNAMICS,
  DEMO_ACCESS_TOKEN as DYNAMICS_TOKEN,
} from '../../connectors/dynamics/simulator.ts';
import { DEMO_ACCESS_TOKEN as DRIVE_TOKEN } from '../../connectors/googledrive/simulator.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { useApp } from '../support/app.ts';
import { type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

describe('polling a simulated provider', () => {
  const service = useApp({}, { pollerOptions: { lookMs: 50 } });
  let receiver: MisbehavingServer;

  before(async () => {
    receiver = await startMisbehavingServer({ otherwise: status(204) });
  });
  after(() => receiver.close());

  /** An instance whose polls ran once each, of what was there before, and told of nothing. */
  async function create(element: string, configuration: object, path: string) {
    const { id } = await service.createInstance(element, {
      ...configuration,
      simulator: true,
      'event.notification.enabled': true,
      'event.notification.callback.url': `${receiver.url}/${path}`,
      'event.poller.refresh_interval': 0.02,
    });
    const polls = async () => (await service.call(`/instances/${id}/polls`)).body;
    const methods = async () =>
      (await polls()).map(({ resource, method }: Record<string, unknown>) => `${resource} by ${method}`);
    const untilRun = (times: number) =>
      until(async () => {
        const found: readonly { runs: number }[] = await polls();
        return found.length > 0 && found.every(({ runs }) => runs >= times);
      });
    await untilRun(1);
    const received = () =>
      receiver.requests.filter(({ url }) => url === `/${path}`).map(({ body }) => JSON.parse(body));
    expect(received()).to.deep.equal([]);

    async function command(name: string, body: object) {
      const place = `${service.app.simulatorsUrl}/${element}/simulate/${name}`;
      const response = await fetch(place, { method: 'POST', body: JSON.stringify(body) });
      expect(response.status).to.equal(200);
      return JSON.parse(await response.text());
    }

    /** Changes records as others do, and sees an event for each, once. */
    async function expectEvents(object: string, counts: object) {
      const { created, updated, removed } = await command('changes', { table: object, ...counts });
      await command('clock', { byMs: 60_000 });
      const count = created.length + updated.length + removed.length;
      await until(() => received().length >= count);
      const [{ runs }] = await polls();
      await untilRun(runs + 2);
      expect(received().map(({ type, data }) => `${type} ${data.objectId}`)).to.have.members([
        ...created.map((id: string) => `${object}.created ${id}`),
        ...updated.map((id: string) => `${object}.updated ${id}`),
        ...removed.map((id: string) => `${object}.deleted ${id}`),
      ]);
      for (const { type, data } of received()) expect('object' in data, type).to.equal(!type.endsWith('.deleted'));
      const told = (await polls()).reduce((sum: number, { events }: { events: number }) => sum + events, 0);
      expect(told).to.equal(count);
      for (const { failures, lastError } of await polls()) expect([failures, lastError]).to.deep.equal([0, undefined]);
    }
    return { id, polls, methods, received, command, expectEvents };
  }

  // As the documents of this API have it, word for word.
  const KNOWN = {
    events: { url: "/hubs/humancapital/events?where=since='${gmtDate:yyyy-MM-dd'T'HH:mm:ssZ}'", idField: 'id' },
  };
  for (const [what, path, more] of [
    ['by nothing but an interval', 'bamboohr', {}],
    ['by the name and the URL that its users know', 'known', { 'event.poller.configuration': KNOWN }],
  ] as const) {
    it(`follows what BambooHR tells of its employees, ${what}`, async () => {
      const { methods, expectEvents } = await create('bamboohr', { ...BAMBOOHR, ...more }, path);
      expect(await methods()).to.deep.equal(['employees by feed']);
      await expectEvents('employees', { create: 1, update: 2, remove: 1 });
      expect(await methods()).to.deep.equal(['employees by feed']);
    });
  }

  it('says what an account does not have, and goes on when it is named rightly', async () => {
    const { id, polls } = await create('bamboohr', { ...BAMBOOHR, 'event.objects': 'employes' }, 'unknown');
    const [poll] = await polls();
    expect(poll.lastError).to.match(/^NOT_FOUND: .*'employes'.*'employees'/);
    const configuration = { 'event.objects': 'employees' };
    await service.call(`/instances/${id}`, { method: 'PATCH', body: { configuration } });
    await until(async () => (await polls())[0]?.resource === 'employees' && (await polls())[0]?.runs === 1);
    expect((await polls())[0]).not.to.have.property('lastError');
  });

  it('asks Salesforce for the usual objects, and for those that were deleted', async () => {
    const { methods, expectEvents } = await create('salesforce', CONNECTED, 'salesforce');
    expect(await methods()).to.have.members(['Account by window', 'Contact by window', 'Opportunity by window']);
    await expectEvents('Contact', { create: 1, update: 2, remove: 2 });
  });

  const since = "SystemModstamp>='${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}'";
  const BY_URL = {
    url: `/hubs/crm/Contact?where=${since}&fields=Id,Email,SystemModstamp,CreatedDate`,
    idField: 'Id',
    datesConfiguration: { updatedDateField: 'SystemModstamp', createdDateField: 'CreatedDate' },
  };
  const WHOLE = { url: '/Contact?fields=Id,LastName,Phone', idField: 'Id' };
  for (const [what, path, method, configuration] of [
    [
      'asks by the URL of the configuration, with the time in its place',
      'url',
      'window',
      JSON.stringify({ Contact: BY_URL }),
    ],
    ['compares everything, where nothing tells of changes', 'snapshot', 'snapshot', { Contact: WHOLE }],
  ] as const) {
    it(what, async () => {
      const settings = { ...CONNECTED, 'event.poller.configuration': configuration };
      const { methods, received, expectEvents } = await create('salesforce', settings, path);
      expect(await methods()).to.deep.equal([`Contact by ${method}`]);
      await expectEvents('Contact', { create: 2, update: 1 });
      for (const { data } of received()) expect(data.object.Id).to.equal(data.objectId);
    });
  }

  const LOGGED_IN = { 'oauth.api.key': 'demo-client', 'oauth.api.secret': 'demo-secret' };
  const DRIVE = { ...LOGGED_IN, 'oauth.user.token': DRIVE_TOKEN };
  const DATAVERSE = { ...DYNAMICS, ...LOGGED_IN, 'oauth.user.token': DYNAMICS_TOKEN };

  for (const [what, element, configuration, object] of [
    ['reads the log of Google Drive from its token', 'googledrive', DRIVE, 'files'],
    ['asks Dataverse for the deletions since its token', 'dynamics', DATAVERSE, 'contact'],
  ] as const) {
    it(what, async () => {
      const settings = { ...configuration, 'event.objects': object };
      const { methods, expectEvents } = await create(element, settings, `tokens-${element}`);
      expect(await methods()).to.deep.equal([`${object} by window`]);
      await expectEvents(object, { create: 2, update: 1, remove: 2 });
    });
  }

  it('reports that a provider has forgotten the token, and reads on', async () => {
    const settings = { ...DATAVERSE, 'event.objects': 'lead' };
    const { id, received, command } = await create('dynamics', settings, 'forgotten');
    await command('clock', { byMs: 8 * 86_400_000 });
    const isTold = ({ type }: { type: string }) => type === 'poll.restarted';
    await until(() => received().some(isTold));
    const [{ data }] = received().filter(isTold);
    expect(data).to.deep.include({ objectName: 'lead', elementKey: 'dynamics' });
    expect(data.object).to.deep.include({ instanceId: id, resource: 'lead', failures: 0 });
    expect(Date.parse(data.object.missingSince)).to.be.within(Date.now() - 60_000, Date.now());
    const { removed } = await command('changes', { table: 'lead', remove: 1 });
    await until(() => received().some(({ data: { objectId } }) => objectId === removed[0]));
    expect(received().map(({ type }) => type)).to.deep.equal(['poll.restarted', 'lead.deleted']);
  });
});
