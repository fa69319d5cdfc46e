import { expect } from 'chai';
import { bodyOf, type TestApp, useAnotherProcess, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';

const ROUNDS = 10;

describe('an instance that changes on one process', function overProcesses() {
  this.timeout(60_000);
  const one = useApp();
  const other = useAnotherProcess(one);

  it('sends events by its new settings from the next request on, on the other process', async () => {
    const configuration = { ...SHOP, 'event.notification.callback.url': 'http://127.0.0.1:9/events' };
    const { id } = await one.createInstance('odata', configuration);
    for (let round = 0; round < ROUNDS; round++) {
      const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
      for (const isOn of [true, false]) {
        const body = { 'event.notification.enabled': isOn };
        await writer.change('PATCH', `/instances/${id}/configuration`, body);
        const sent = await reader.send('POST', '/events/test', { instanceId: id });
        if (isOn) bodyOf(sent);
        else expectProblem(sent, 'CONFLICT', /^Events are off/);
      }
    }
  });

  it('sends events of the types that its subscription wants, on the other process', async () => {
    const on = { 'event.notification.enabled': true, 'event.notification.callback.url': 'http://127.0.0.1:9/types' };
    const { id } = await one.createInstance('odata', { ...SHOP, ...on });
    const send = (service: TestApp) => service.send('POST', '/events/test', { instanceId: id });
    const { subscriptionId } = bodyOf(await send(one));
    const subscription = `/notifications/subscriptions/${subscriptionId}`;
    for (let round = 0; round < ROUNDS; round++) {
      const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one];
      await writer.change('PATCH', subscription, { eventTypes: ['things.created'] });
      expectProblem(await send(reader), 'CONFLICT', /does not receive events of the type/);
      await writer.change('PATCH', subscription, { eventTypes: ['*'] });
      expect(bodyOf(await send(reader)).subscriptionId).to.equal(subscriptionId);
    }
  });

  it('serves nobody from the next request on, on the other process, where it was disabled or deleted', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, token } = await one.createInstance('odata', SHOP);
      const read = () => other.call('/Products', { token, query: { pageSize: 1 } });
      bodyOf(await read());
      await one.change('DELETE', `/instances/${id}/enabled`);
      expectProblem(await read(), 'FORBIDDEN', /is disabled/);
      await one.change('PUT', `/instances/${id}/enabled`);
      bodyOf(await read());
      await one.change('DELETE', `/instances/${id}`);
      expectProblem(await read(), 'UNAUTHENTICATED');
    }
  });
});
