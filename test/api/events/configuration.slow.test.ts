import { expect } from 'chai';
import { pluck, useSharedApp } from '../../support/app.ts';
import { expectProblem, faultsOf } from '../support/expect-problem.ts';
import { BAMBOOHR } from '../support/simulated.ts';
import { countRows } from '../support/tenants.ts';

const URL = 'http://127.0.0.1:9/events';
const ON = { ...BAMBOOHR, 'event.notification.enabled': true, 'event.notification.callback.url': URL };

describe('the configuration of events', () => {
  const service = useSharedApp();

  const create = (configuration: object) =>
    service.send('POST', '/instances', { element: { key: 'bamboohr' }, name: 'x', configuration });

  it('shows in every record of the instance where events go', async () => {
    const created = await create(ON);
    const { id } = created.body;
    const shown = { eventsEnabled: true, eventsNotificationCallbackUrl: URL };
    expect(created.body).to.include(shown);
    expect(await service.get(`/instances/${id}`)).to.include(shown);
    const listed = await service.get('/accounts/instances');
    expect(listed.find((instance: { id: number }) => instance.id === id)).to.include(shown);
  });

  it('is off unless it is enabled', async () => {
    const off = { eventsEnabled: false, eventsNotificationCallbackUrl: 'false' };
    const { body } = await create({ ...BAMBOOHR, 'event.notification.callback.url': URL });
    expect(body).to.include(off);
    const enabled = await service.send('PATCH', `/instances/${body.id}/configuration`, {
      'event.notification.enabled': 'true',
    });
    expect(enabled.body).to.include({ 'event.notification.enabled': true });
    expect(await service.get(`/instances/${body.id}`)).to.include({ eventsEnabled: true });
  });

  it('may be on without a callback URL, for formulas', async () => {
    const { body } = await create({ ...BAMBOOHR, 'event.notification.enabled': true });
    expect(body).to.include({ eventsEnabled: true, eventsNotificationCallbackUrl: 'false' });
  });

  it('refuses a callback URL that may not be called, before anything is stored', async () => {
    const before = await countRows(service, 'instance');
    for (const [url, reason] of [
      ['http://10.1.2.3/events', /10\.1\.2\.3/],
      ['http://169.254.169.254/latest', /169\.254\.169\.254/],
      [`https://127.0.0.1/${'x'.repeat(2048)}`, /2048 characters/],
    ] as const) {
      const response = await create({ ...ON, 'event.notification.callback.url': url });
      expectProblem(response, 'REQUEST_INVALID', reason);
      expect(response.body.message).to.match(/^'event\.notification\.callback\.url' cannot be called: /);
      expect(Object.keys(faultsOf(response))).to.deep.equal(['body.configuration.event.notification.callback.url']);
    }
    for (const url of ['x', 'ftp://127.0.0.1/', 'https://user:word@127.0.0.1/']) {
      expectProblem(await create({ ...ON, 'event.notification.callback.url': url }), 'REQUEST_INVALID');
    }
    expect(await countRows(service, 'instance')).to.equal(before);
  });

  it('refuses such a URL in a change too, and leaves the instance as it was', async () => {
    const { id } = (await create(ON)).body;
    const change = { 'event.notification.callback.url': 'http://10.1.2.3/' };
    const calls = [
      service.send('PATCH', `/instances/${id}`, { configuration: change }),
      service.send('PATCH', `/instances/${id}/configuration`, change),
      service.send('PUT', `/instances/${id}`, { name: 'y', configuration: { ...ON, ...change } }),
    ];
    for (const response of await Promise.all(calls)) expectProblem(response, 'REQUEST_INVALID', /10\.1\.2\.3/);
    expect(await service.get(`/instances/${id}`)).to.include({ eventsNotificationCallbackUrl: URL, name: 'x' });
  });

  it('refuses values of the wrong type', async () => {
    for (const wrong of [
      { 'event.notification.enabled': 'perhaps' },
      { 'event.notification.ordered': 3 },
      { 'event.notification.signature.key': {} },
    ]) {
      const response = await create({ ...ON, ...wrong });
      expectProblem(response, 'REQUEST_INVALID');
      expect(Object.keys(faultsOf(response))).to.deep.equal([`body.configuration.${Object.keys(wrong)[0]}`]);
    }
  });

  it('keeps the signature key when its mask is sent back', async () => {
    const { id } = (await create({ ...ON, 'event.notification.signature.key': 'key-of-the-tests' })).body;
    const path = `/instances/${id}/configuration`;
    const shown = await service.get(path);
    expect(shown).to.include({ 'event.notification.signature.key': '********' });
    expect(await service.change('PATCH', path, shown)).to.deep.equal(shown);
  });

  it('names its keys in the catalogue', async () => {
    const body = await service.get('/elements/bamboohr');
    const keys = pluck(body.configuration, 'key');
    expect(keys).to.include.members([
      'event.notification.enabled',
      'event.notification.callback.url',
      'event.notification.signature.key',
      'event.notification.ordered',
    ]);
  });
});
