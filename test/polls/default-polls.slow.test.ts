import { expect } from 'chai';
import { DEMO_CONFIGURATION as BAMBOOHR } from '../../connectors/bamboohr/simulator.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { useApp } from '../support/app.ts';
import { until } from '../support/events.ts';
import { type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';

describe('polling that says no more than how often', () => {
  const service = useApp({}, { pollerOptions: { lookMs: 50 } });
  let receiver: MisbehavingServer;

  before(async () => {
    receiver = await startMisbehavingServer({ otherwise: status(204) });
  });
  after(() => receiver.close());

  async function poll(element: string, configuration: object) {
    const { polls } = await create(element, configuration);
    return polls();
  }

  /** An instance whose polls ran once each. */
  async function create(element: string, configuration: object, path = element) {
    const { id } = await service.createInstance(element, {
      ...configuration,
      simulator: true,
      'event.notification.enabled': true,
      'event.notification.callback.url': `${receiver.url}/${path}`,
      'event.poller.refresh_interval': 0.02,
    });
    const polls = async () => (await service.call(`/instances/${id}/polls`)).body;
    await until(async () => {
      const found: readonly { runs: number }[] = await polls();
      return found.length > 0 && found.every(({ runs }) => runs > 0);
    });
    return { id, polls };
  }

  async function command(element: string, path: string, body: object) {
    const response = await fetch(`${service.app.simulatorsUrl}/${element}/simulate/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    expect(response.status).to.equal(200);
    return JSON.parse(await response.text());
  }

  async function expectEvents(element: string, name: string, counts: object, path = element) {
    const { created, updated, removed } = await command(element, 'changes', { table: name, ...counts });
    await command(element, 'clock', { byMs: 60_000 });
    const received = () =>
      receiver.requests.filter(({ url }) => url === `/${path}`).map(({ body }) => JSON.parse(body));
    const count = created.length + updated.length + removed.length;
    await until(() => received().length >= count);
    expect(received().map(({ type, data }) => `${type} ${data.objectId}`)).to.have.members([
      ...created.map((id: string) => `${name}.created ${id}`),
      ...updated.map((id: string) => `${name}.updated ${id}`),
      ...removed.map((id: string) => `${name}.deleted ${id}`),
    ]);
    for (const { type, data } of received()) expect('object' in data, type).to.equal(!type.endsWith('.deleted'));
  }

  it('follows what BambooHR tells of its employees', async () => {
    const polls = await poll('bamboohr', BAMBOOHR);
    expect(polls.map(({ resource, method }: Record<string, unknown>) => [resource, method])).to.deep.equal([
      ['employees', 'feed'],
    ]);
    await expectEvents('bamboohr', 'employees', { create: 1, update: 2, remove: 1 });
  });

  // As the documents of this API have it, word for word.
  const KNOWN = {
    events: { url: "/hubs/humancapital/events?where=since='${gmtDate:yyyy-MM-dd'T'HH:mm:ssZ}'", idField: 'id' },
  };

  it('follows the employees of BambooHR by the name and the URL that its users know', async () => {
    const { polls } = await create('bamboohr', { ...BAMBOOHR, 'event.poller.configuration': KNOWN }, 'known');
    const expected = [['employees', 'feed', undefined]];
    const shown = async () =>
      (await polls()).map(({ resource, method, lastError }: Record<string, unknown>) => [resource, method, lastError]);
    expect(await shown()).to.deep.equal(expected);
    await expectEvents('bamboohr', 'employees', { create: 1, update: 1, remove: 1 }, 'known');
    expect(await shown()).to.deep.equal(expected);
  });

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
    const polls = await poll('salesforce', CONNECTED);
    expect(polls.map(({ resource, method }: Record<string, unknown>) => [resource, method])).to.have.deep.members([
      ['Account', 'window'],
      ['Contact', 'window'],
      ['Opportunity', 'window'],
    ]);
    await expectEvents('salesforce', 'Contact', { create: 1, update: 2, remove: 2 });
  });
});
