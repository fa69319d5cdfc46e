import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { type ApiAnswer, useSharedApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { BAMBOOHR } from '../support/simulated.ts';
import { createSource, QUICK, type ReceivedEvent, useReceiver } from './receiving.ts';
import { post } from './shop.ts';

const WEBHOOK = { 'event.vendor.type': 'webhook' };
const ENDPOINT = '/passthrough/api/v1/webhooks';

describe('the registration of webhooks at a provider', () => {
  const service = useSharedApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();
  let callbacks = 0;

  const openCallback = () => receiver.open(`bamboohr-${callbacks++}`);

  /** As another instance with the same key sees them. */
  async function listWebhooks(token: string): Promise<readonly { readonly id: string; readonly url: string }[]> {
    const body = await service.get(ENDPOINT, { token });
    return body.webhooks;
  }

  async function waitForWebhook({ token, eventUrl }: ApiAnswer['body']) {
    const find = async () => (await listWebhooks(token)).find(({ url }) => url === eventUrl);
    await until(async () => (await find()) !== undefined);
    return find();
  }

  async function waitForNone(eventUrl: string, token: string): Promise<void> {
    await until(async () => (await listWebhooks(token)).every(({ url }) => url !== eventUrl));
  }

  /** Whoever looks on keeps the simulator within reach when an instance is gone. */
  const watch = () => service.createInstance('bamboohr', BAMBOOHR);

  async function change(changes: object): Promise<ApiAnswer['body']> {
    const response = await post(
      `${service.app.simulatorsUrl}/bamboohr/simulate/changes`,
      JSON.stringify({ table: 'employees', ...changes }),
      {
        'content-type': 'application/json',
      },
    );
    return response.body;
  }

  /** What is asked for fails so many times. */
  async function trouble(plan: object): Promise<void> {
    const response = await post(`${service.app.simulatorsUrl}/bamboohr/simulate/trouble`, JSON.stringify(plan), {
      'content-type': 'application/json',
    });
    expect(response.status).to.equal(204);
  }

  async function get({ id }: ApiAnswer['body']): Promise<ApiAnswer['body']> {
    return await service.get(`/instances/${id}`);
  }

  it('is made with the instance, and what happens at BambooHR arrives with the record', async () => {
    const callback = openCallback();
    const instance = await createSource(service, callback, WEBHOOK);
    await waitForWebhook(instance);
    // Its key is known to us at about the time when BambooHR has it: who sends before is refused, and sends again.
    await until(async () => {
      await change({ update: 1 });
      return receiver.at(callback).length > 0;
    });
    const [event] = receiver.at(callback);
    const { type, data } = event?.body ?? {};
    expect([type, data.objectName, data.objectId, data.object.id]).to.deep.equal([
      'employees.updated',
      'employees',
      '101',
      101,
    ]);
    expect(data.raw.type).to.equal('employee.updated');
    expect(data.object.city).to.match(/^Changed \d+$/);
    const { created, removed } = await change({ create: 1, remove: 1 });
    const find = (name: string, id: string) =>
      receiver.at(callback).find(({ body }: ReceivedEvent) => body.type === name && body.data.objectId === id);
    await until(
      async () =>
        find('employees.created', created[0]) !== undefined && find('employees.deleted', removed[0]) !== undefined,
    );
    expect(find('employees.created', created[0])?.body.data.object.firstName).to.equal('New');
    expect(find('employees.deleted', removed[0])?.body.data).not.to.have.property('object');
    const element = await service.get('/elements/bamboohr');
    expect(element.webhooks).to.deep.equal({ signed: true, registration: 'automatic' });
  });

  it('is not made for an instance that does not ask for it', async () => {
    const instance = await createSource(service, openCallback());
    const asked = await createSource(service, openCallback(), WEBHOOK);
    await waitForWebhook(asked);
    expect((await listWebhooks(instance.token)).map(({ url }) => url)).not.to.include(instance.eventUrl);
  });

  it('ends when events are switched off, and comes back with another key', async () => {
    const instance = await createSource(service, openCallback(), WEBHOOK);
    const first = await waitForWebhook(instance);
    const configure = (configuration: object) =>
      service.send('PATCH', `/instances/${instance.id}/configuration`, configuration);
    await configure({ 'event.notification.enabled': false });
    await waitForNone(instance.eventUrl, instance.token);
    await configure({ 'event.notification.enabled': true });
    const second = await waitForWebhook(instance);
    expect(second?.id).not.to.equal(first?.id);
    await configure({ 'event.vendor.type': 'polling' });
    await waitForNone(instance.eventUrl, instance.token);
  });

  it('is made when the instance is enabled again', async () => {
    const instance = await createSource(service, openCallback());
    const { token } = await watch();
    const path = `/instances/${instance.id}`;
    await service.send('DELETE', `${path}/enabled`);
    await service.send('PATCH', `${path}/configuration`, WEBHOOK);
    expect((await service.send('PUT', `${path}/enabled`)).status).to.equal(200);
    await waitForWebhook({ ...instance, token });
  });

  it('ends with the instance', async () => {
    const { token } = await watch();
    const instance = await createSource(service, openCallback(), WEBHOOK);
    await waitForWebhook(instance);
    expect((await service.send('DELETE', `/instances/${instance.id}`)).status).to.equal(200);
    expect((await listWebhooks(token)).map(({ url }) => url)).not.to.include(instance.eventUrl);
  });

  it('replaces what a try whose answer was lost has left', async () => {
    const { token } = await watch();
    const instance = await createSource(service, openCallback());
    const orphan = { name: 'Causeway', url: instance.eventUrl, format: 'json', monitorFields: ['firstName'] };
    for (let tries = 0; tries < 2; tries++) await service.send('POST', ENDPOINT, orphan, { token });
    const left = (await listWebhooks(token)).filter(({ url }) => url === instance.eventUrl).map(({ id }) => id);
    expect(left).to.have.length(2);
    await service.send('PATCH', `/instances/${instance.id}/configuration`, WEBHOOK);
    const find = async () => (await listWebhooks(token)).filter(({ url }) => url === instance.eventUrl);
    await until(async () => (await find()).every(({ id }) => !left.includes(id)) && (await find()).length === 1);
  });

  it('that fails is told, hinders no instance, and is made later', async () => {
    await trouble({ trouble: '403', times: 1, path: '/api/v1/webhooks/monitor_fields' });
    const instance = await createSource(service, openCallback(), WEBHOOK);
    expect(instance.valid).to.equal(true);
    await until(async () => (await get(instance)).warnings !== undefined);
    const { valid, warnings } = await get(instance);
    expect(valid).to.equal(true);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/^BambooHR did not accept the registration for events. Causeway tries again: /);
    const told = await service.get('/notifications', {
      query: { where: "type = 'instance.webhook.failed'" },
    });
    expect(told.at(-1).data).to.deep.equal({
      instanceId: instance.id,
      name: 'Test',
      elementKey: 'bamboohr',
      reason: warnings[0],
    });
    // A change of the settings is a reason to ask at once.
    await service.send('PATCH', `/instances/${instance.id}/configuration`, WEBHOOK);
    await waitForWebhook(instance);
    await until(async () => (await get(instance)).warnings === undefined);
  });

  it('that cannot be ended with the instance is told, and ends nothing else', async () => {
    const instance = await createSource(service, openCallback(), WEBHOOK);
    const webhook = await waitForWebhook(instance);
    await trouble({ trouble: '403', times: 1, path: `/api/v1/webhooks/${webhook?.id}` });
    expect((await service.send('DELETE', `/instances/${instance.id}`)).status).to.equal(200);
    const told = await service.get('/notifications', {
      query: { where: "type = 'instance.webhook.failed'" },
    });
    const { reason, ...of } = told.at(-1).data;
    expect(of).to.deep.equal({ instanceId: instance.id, name: 'Test', elementKey: 'bamboohr' });
    expect(reason).to.match(new RegExp(`^The webhook ${webhook?.id} still exists at the provider: `));
    // What it goes on sending finds nobody.
    const { 'x-bamboohr-timestamp': timestamp } = { 'x-bamboohr-timestamp': String(Math.floor(Date.now() / 1000)) };
    const signature = createHmac('sha256', 'any').update(`{}${timestamp}`).digest('hex');
    const headers = { 'x-bamboohr-signature': signature, 'x-bamboohr-timestamp': timestamp };
    expectProblem(await post(instance.eventUrl, '{}', headers), 'NOT_FOUND', /does not receive events/);
  });
});
