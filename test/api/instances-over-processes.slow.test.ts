import { expect } from 'chai';
import { type ApiAnswer, type TestApp, useAnotherProcess, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';

const ROUNDS = 10;

describe('an instance that changes on one process', function overProcesses() {
  this.timeout(60_000);
  const one = useApp();
  const other = useAnotherProcess(one);

  function ok({ status, body }: ApiAnswer): ApiAnswer['body'] {
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  it('sends events by its new settings from the next request on, on the other process', async () => {
    const configuration = { ...SHOP, 'event.notification.callback.url': 'http://127.0.0.1:9/events' };
    const { id } = await one.createInstance('odata', configuration);
    for (let round = 0; round < ROUNDS; round++) {
      const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
      for (const isOn of [true, false]) {
        const body = { 'event.notification.enabled': isOn };
        ok(await writer.call(`/instances/${id}/configuration`, { method: 'PATCH', body }));
        const sent = await reader.call('/events/test', { method: 'POST', body: { instanceId: id } });
        if (isOn) ok(sent);
        else expectProblem(sent, 'CONFLICT', /^Events are off/);
      }
    }
  });

  it('sends events of the types that its subscription wants, on the other process', async () => {
    const on = { 'event.notification.enabled': true, 'event.notification.callback.url': 'http://127.0.0.1:9/types' };
    const { id } = await one.createInstance('odata', { ...SHOP, ...on });
    const send = (service: TestApp) => service.call('/events/test', { method: 'POST', body: { instanceId: id } });
    const { subscriptionId } = ok(await send(one));
    const subscription = `/notifications/subscriptions/${subscriptionId}`;
    for (let round = 0; round < ROUNDS; round++) {
      const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
      ok(await writer.call(subscription, { method: 'PATCH', body: { eventTypes: ['things.created'] } }));
      expectProblem(await send(reader), 'CONFLICT', /does not receive events of the type/);
      ok(await writer.call(subscription, { method: 'PATCH', body: { eventTypes: ['*'] } }));
      expect(ok(await send(reader)).subscriptionId).to.equal(subscriptionId);
    }
  });

  it('serves nobody from the next request on, on the other process, where it was disabled or deleted', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, token } = await one.createInstance('odata', SHOP);
      const read = () => other.call('/Products', { token, query: { pageSize: 1 } });
      ok(await read());
      ok(await one.call(`/instances/${id}/enabled`, { method: 'DELETE' }));
      expectProblem(await read(), 'FORBIDDEN', /is disabled/);
      ok(await one.call(`/instances/${id}/enabled`, { method: 'PUT' }));
      ok(await read());
      ok(await one.call(`/instances/${id}`, { method: 'DELETE' }));
      expectProblem(await read(), 'UNAUTHENTICATED');
    }
  });
});
