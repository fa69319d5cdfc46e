import { expect } from 'chai';
import { CLIENTS, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from '../../connectors/salesforce/simulator.ts';
import { useApp } from '../support/app.ts';
import { until } from '../support/events.ts';
import { type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';

const CREDENTIALS = {
  ...DEMO_CONFIGURATION,
  simulator: true,
  'oauth.user.token': DEMO_ACCESS_TOKEN,
  'oauth.api.key': 'demo-client',
  'oauth.api.secret': CLIENTS['demo-client']?.secret,
  'oauth.callback.url': 'https://app.example.com/callback',
};

describe('polling', () => {
  const service = useApp({}, { pollerOptions: { lookMs: 50 } });
  let receiver: MisbehavingServer;

  before(async () => {
    receiver = await startMisbehavingServer({ otherwise: status(204) });
  });
  after(() => receiver.close());

  const received = (path: string) =>
    receiver.requests.filter(({ url }) => url === path).map(({ body }) => JSON.parse(body));

  /** Changes records of the provider as others do. @returns the ids */
  async function change(counts: object): Promise<{ created: string[]; updated: string[]; removed: string[] }> {
    const response = await fetch(`${service.app.simulatorsUrl}/salesforce/simulate/changes`, {
      method: 'POST',
      body: JSON.stringify({ table: 'Contact', ...counts }),
    });
    expect(response.status).to.equal(200);
    return JSON.parse(await response.text());
  }

  async function createPolled(path: string, more: object) {
    return service.createInstance('salesforce', {
      ...CREDENTIALS,
      'event.notification.enabled': true,
      'event.notification.callback.url': `${receiver.url}${path}`,
      'event.poller.refresh_interval': 0.02,
      ...more,
    });
  }

  const pollsOf = async (id: number) => (await service.call(`/instances/${id}/polls`)).body;

  async function untilRun(id: number, runs: number) {
    await until(async () => {
      const [poll] = await pollsOf(id);
      if (poll?.lastError !== undefined) throw new Error(poll.lastError);
      return poll?.runs >= runs;
    });
  }

  async function checkChanges(path: string, id: number) {
    await untilRun(id, 1);
    expect(received(path)).to.deep.equal([]);
    const { created, updated } = await change({ create: 2, update: 1 });
    await until(() => received(path).length >= 3);
    const [{ runs }] = await pollsOf(id);
    await untilRun(id, runs + 2);
    const events = received(path).map(({ type, data }) => [type, data.objectId]);
    expect(events).to.have.deep.members([
      ...created.map((contact) => ['Contact.created', contact]),
      ...updated.map((contact) => ['Contact.updated', contact]),
    ]);
    const [first] = received(path);
    expect(first.data.object.Id).to.equal(first.data.objectId);
    expect((await pollsOf(id))[0]).to.include({ resource: 'Contact', failures: 0, events: 3 });
  }

  it('makes events of what changes at the provider, and of nothing that was there before', async () => {
    const { id } = await createPolled('/objects', { 'event.objects': 'Contact' });
    await checkChanges('/objects', id);
    expect((await pollsOf(id))[0].method).to.equal('window');
  });

  it('asks by the URL of the configuration, with the time in its place', async () => {
    const url =
      "/hubs/crm/Contact?where=SystemModstamp>='${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}'&fields=Id,Email,SystemModstamp,CreatedDate";
    const dates = { updatedDateField: 'SystemModstamp', createdDateField: 'CreatedDate' };
    const { id } = await createPolled('/url', {
      'event.poller.configuration': JSON.stringify({ Contact: { url, idField: 'Id', datesConfiguration: dates } }),
    });
    await checkChanges('/url', id);
  });

  it('compares everything with what was there, where nothing tells of changes', async () => {
    const url = '/Contact?fields=Id,LastName,Phone';
    const { id } = await createPolled('/snapshot', {
      'event.poller.configuration': { Contact: { url, idField: 'Id' } },
    });
    await checkChanges('/snapshot', id);
    expect((await pollsOf(id))[0].method).to.equal('snapshot');
  });
});
