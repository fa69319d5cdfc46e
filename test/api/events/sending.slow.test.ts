import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { pluck, useSharedApp } from '../../support/app.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { BAMBOOHR } from '../support/simulated.ts';
import { readEverything } from '../support/tenants.ts';
import {
  createSource,
  DELIVERIES,
  findSubscription,
  QUICK,
  sendEvent,
  useReceiver,
  verify,
  waitForDeliveries,
} from './receiving.ts';

describe('a test event', () => {
  const service = useSharedApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();

  it('has the body and the headers of the original API where its instance asks for them', async () => {
    const url = receiver.open('original');
    const key = 'key of the tests';
    const { id } = await createSource(service, url, {
      'event.notification.format': 'elements',
      'event.notification.signature.key': key,
    });
    const response = await service.send('POST', '/events/test', {
      instanceId: id,
      type: 'employees.updated',
      data: { lastName: 'O’Neil' },
    });
    const [event] = await receiver.waitFor(url, 1);
    const { eventId } = response.body;
    const date = event?.body.createdDate;
    expect(event?.body).to.deep.equal({
      id: eventId,
      severity: 'low',
      createdDate: date,
      topic: 'event',
      action: 'updated',
      user: 'system',
      message: {
        elementKey: 'bamboohr',
        accountId: service.accountId,
        eventId,
        companyId: service.organizationId,
        instanceId: id,
        instance_id: id,
        instanceName: 'Test',
        instanceTags: [],
        raw: { lastName: 'O’Neil' },
        events: [
          {
            date,
            elementKey: 'bamboohr',
            pollDate: date,
            eventType: 'UPDATED',
            hubKey: 'humancapital',
            objectType: 'employees',
          },
        ],
      },
    });
    expect(event?.request.headers['elements-webhook-id']).to.equal(eventId);
    const signature = createHmac('sha256', key)
      .update(event?.request.body ?? '')
      .digest('base64');
    expect(event?.request.headers['elements-webhook-signature']).to.equal(`sha256=${signature}`);
    // The signature of the subscription is over what was sent too, and what is listed stays as it is.
    expect(event && verify(event, (await findSubscription(service, url)).secret)).to.deep.equal(event?.body);
    const [delivery] = await waitForDeliveries(service, `event.id = '${eventId}' AND status = 'delivered'`, 1);
    expect(delivery.event).to.have.all.keys('id', 'type', 'timestamp', 'data');
    const other = await service.send('PATCH', `/instances/${id}/configuration`, { 'event.notification.format': 'xml' });
    expectProblem(other, 'REQUEST_INVALID', /'event\.notification\.format' must be a text such as elements/);
  });

  it('reaches the callback URL of its instance, signed as the published package verifies', async () => {
    const url = receiver.open('first');
    const instance = await createSource(service, url);
    const response = await service.send('POST', '/events/test', {
      instanceId: instance.id,
      type: 'employees.updated',
      data: { lastName: 'O’Neil' },
    });
    const subscription = await findSubscription(service, url);
    expect(response.body).to.deep.equal({
      eventId: response.body.eventId,
      subscriptionId: subscription.id,
      config: { url },
    });
    const [event] = await receiver.waitFor(url, 1);
    expect(event?.request.method).to.equal('POST');
    expect(event?.request.headers).to.include({
      'webhook-id': response.body.eventId,
      'content-type': 'application/json',
    });
    expect(event && verify(event, subscription.secret)).to.deep.equal({
      id: response.body.eventId,
      type: 'employees.updated',
      timestamp: event?.body.timestamp,
      data: {
        objectName: 'employees',
        elementKey: 'bamboohr',
        hub: 'humancapital',
        accountId: service.accountId,
        instance: { id: instance.id, name: 'Test', tags: [] },
        object: { lastName: 'O’Neil' },
      },
    });
  });

  it('keeps the headers of each attempt as its receiver got them, without what is a secret', async () => {
    const url = receiver.open('headers');
    const { id } = await createSource(service, url, { 'event.notification.signature.key': 'application' });
    receiver.fail(url);
    const eventId = await sendEvent(service, id);
    await receiver.waitFor(url, 1);
    receiver.recover(url);
    const [{ id: deliveryId }] = await waitForDeliveries(
      service,
      `event.id = '${eventId}' AND status = 'delivered'`,
      1,
    );
    const body = await service.get(`${DELIVERIES}/${deliveryId}`);
    const received = receiver.at(url);
    expect(body.attemptHistory.length).to.be.above(1);
    expect(body.attemptHistory).to.have.length(received.length);
    for (const [index, { requestHeaders }] of body.attemptHistory.entries()) {
      const { 'content-type': type, ...others } = requestHeaders;
      // A word that somebody took for a key.
      expect(type).to.equal('[redacted]/json');
      expect(received[index]?.request.headers).to.include(others);
      expect(others).to.include.keys('webhook-id', 'webhook-timestamp', 'webhook-signature', 'user-agent');
      expect(others['elements-webhook-signature']).to.match(/^sha256=/);
    }
  });

  it('names its record, also in lists without bodies', async () => {
    const url = receiver.open('records');
    const { id } = await createSource(service, url);
    const data = { id: 105, displayName: 'Charlotte \0 \ud800', other: 'x' };
    await service.send('POST', '/events/test', { instanceId: id, type: 'employees.updated', data });
    await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 1);
    const record = { objectName: 'employees', id: '105', name: 'Charlotte \0 \ufffd' };
    for (const hydrate of ['true', 'false']) {
      const where = `config.url = '${url}'`;
      const body = await service.get(DELIVERIES, { query: { where, hydrate } });
      expect(body).to.have.length(1);
      expect(body[0].record).to.deep.equal(record);
      expect('data' in body[0].event).to.equal(hydrate === 'true');
      expect((await service.get(`${DELIVERIES}/${body[0].id}`)).record).to.deep.equal(record);
    }
    const events = await service.get(`/instances/${id}/events`);
    expect(pluck(events, 'record')).to.deep.equal([record]);
  });

  it('is of the type test.created unless another is given', async () => {
    const url = receiver.open('default-type');
    const { id } = await createSource(service, url);
    await sendEvent(service, id);
    const [event] = await receiver.waitFor(url, 1);
    expect(event?.body).to.include({ type: 'test.created' });
    expect(event?.body.data).to.include({ objectName: 'test' });
  });

  it('carries a second signature when the instance has a key for it, which is never shown', async () => {
    const url = receiver.open('signed-twice');
    const key = 'canary-signature-key-8814';
    const { id } = await createSource(service, url, { 'event.notification.signature.key': key });
    await sendEvent(service, id);
    const [event] = await receiver.waitFor(url, 1);
    const expected = createHmac('sha256', key)
      .update(event?.request.body ?? '')
      .digest('base64');
    expect(event?.request.headers['elements-webhook-signature']).to.equal(`sha256=${expected}`);
    const body = await service.get(`/instances/${id}`);
    expect(body.configuration['event.notification.signature.key']).to.equal('********');
    expect(await readEverything(service)).not.to.include(key);
    expect(service.logged.join('\n')).not.to.include(key);
  });

  it('is a conflict while events are off for the instance', async () => {
    const { id } = await service.createInstance('bamboohr', BAMBOOHR);
    for (const configuration of [
      {},
      { 'event.notification.enabled': false, 'event.notification.callback.url': receiver.open('off') },
    ]) {
      await service.send('PATCH', `/instances/${id}/configuration`, configuration);
      const response = await service.send('POST', '/events/test', { instanceId: id });
      expectProblem(response, 'CONFLICT', new RegExp(`^Events are off for instance ${id}\\. Set `));
    }
  });

  it('is refused when it is not of the right form', async () => {
    const { id } = await createSource(service, receiver.open('form'));
    for (const body of [
      {},
      { instanceId: 'x' },
      { instanceId: id, type: 'created' },
      { instanceId: id, type: 'a.renamed' },
      { instanceId: id, type: ' a.created' },
      { instanceId: id, data: [] },
      { instanceId: id, other: 1 },
    ]) {
      expectProblem(await service.send('POST', '/events/test', body), 'REQUEST_INVALID');
    }
  });

  it('is sent once for an Idempotency-Key', async () => {
    const url = receiver.open('once');
    const { id } = await createSource(service, url);
    const call = { method: 'POST', body: { instanceId: id }, headers: { 'Idempotency-Key': 'test-event-1' } };
    const first = await service.call('/events/test', call);
    const second = await service.call('/events/test', call);
    expect(second.body).to.deep.equal(first.body);
    expect(await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 1)).to.have.length(1);
    expect(receiver.at(url)).to.have.length(1);
  });

  it('can be found by its id, and read with every attempt', async () => {
    const url = receiver.open('history');
    const { id } = await createSource(service, url);
    receiver.fail(url);
    const eventId = await sendEvent(service, id, { note: 'x' });
    await receiver.waitFor(url, 2);
    receiver.recover(url);
    const [found] = await waitForDeliveries(service, `event.id = '${eventId}' AND status = 'delivered'`, 1);
    const body = await service.get(`${DELIVERIES}/${found.id}`);
    const { attemptHistory, ...delivery } = body;
    expect(delivery).to.deep.equal(found);
    expect(delivery.event).to.deep.equal(receiver.at(url)[0]?.body);
    expect(attemptHistory).to.have.length(delivery.attempts).and.above(2);
    expect(pluck(attemptHistory, 'attempt')).to.deep.equal(receiver.at(url).map((_, index) => index + 1));
    expect(attemptHistory[0]).to.include({ delivered: false, statusCode: 503 });
    expect(attemptHistory[0].error).to.match(/503/);
    expect(attemptHistory.at(-1)).to.include({ delivered: true, statusCode: 204 }).and.not.have.property('error');
    expect(new Set(receiver.at(url).map(({ request }) => request.headers['webhook-id']))).to.have.property('size', 1);
  });
});
