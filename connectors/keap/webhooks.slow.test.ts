import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { type Connection, failureOf, type Provider, startProvider } from '#connector/testing';
import { QUICK, useReceiver } from '../../test/api/events/receiving.ts';
import { useApp } from '../../test/support/app.ts';
import { until } from '../../test/support/until.ts';
import keap from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN } from './simulator.ts';
import { restHooks } from './webhooks.ts';

const URL_OF_EVENTS = 'https://events.example.com/e/1';
/** A simulator that drops its calls, and assumes that they were answered. */
const createSending: typeof createSimulator = (options) => createSimulator({ ...options, send: () => {} });

const OTHERS = 'https://events.example.com/e/2';

function callOf(body: unknown, headers: WebhookCall['headers'] = {}): WebhookCall {
  return { method: 'POST', url: URL_OF_EVENTS, headers, body: Buffer.from(JSON.stringify(body)) };
}

describe('REST hooks of Keap', () => {
  it('begin with a secret that comes back, and are not signed', () => {
    const { handshake, verify } = restHooks;
    const secret = { 'x-hook-secret': 'abc-123' };
    expect(handshake?.(callOf({}, secret), { secret: '' })).to.deep.equal({ status: 200, headers: secret, body: '' });
    expect(handshake?.(callOf({ event_key: 'contact.add' }), { secret: '' })).to.equal(undefined);
    expect(handshake?.(callOf({}, { 'x-hook-secret': 'a\r\nb' }), { secret: '' })).to.equal(undefined);
    expect(verify).to.equal('unsigned');
  });

  it('tell of records by their ids, each change of one by an id of its own', () => {
    const raw = { id: 7, apiUrl: '', timestamp: '2026-01-31T08:30:00Z' };
    const reported = restHooks.events(
      callOf({ event_key: 'contactGroup.edit', object_type: 'contactGroup', object_keys: [raw, { id: '8' }] }),
      {},
    );
    const event = { action: 'updated', objectName: 'tags' };
    expect(reported).to.deep.equal([
      {
        ...event,
        objectId: '7',
        id: 'contactGroup.edit:7:2026-01-31T08:30:00Z',
        at: new Date('2026-01-31T08:30:00Z'),
        raw,
      },
      { ...event, objectId: '8', raw: { id: '8' } },
    ]);
    for (const event_key of ['contactGroup.applied', 'invoice.payment.add', 'note.add', 'x']) {
      expect(restHooks.events(callOf({ event_key, object_keys: [raw] }), {}), event_key).to.deep.equal([]);
    }
    expect(() => restHooks.events(callOf({}), {})).to.throw('The response lacks the kind of the event.');
    expect(() => restHooks.events(callOf({ event_key: 'task.add' }), {})).to.throw('lacks the objects of the event.');
  });

  describe('are registered', () => {
    let simulator: Provider;
    let connection: Connection;

    beforeEach(async () => {
      simulator = await startProvider(keap, createSending, { 'oauth.user.token': DEMO_ACCESS_TOKEN });
      connection = simulator.connect();
    });
    afterEach(() => simulator.stop());

    const subscribe = (url = URL_OF_EVENTS) => connection.run(restHooks.registration?.create, { url });
    const hooks = async () => Object((await connection.context.send({ path: '/rest/v1/hooks' })).body);

    it('one for each kind of event, once, and removed together', async () => {
      const { id } = await subscribe();
      await subscribe(OTHERS);
      expect((await subscribe()).id).to.equal(id);
      expect(await hooks()).to.have.length(36);
      expect((await hooks()).every(({ status }: { status: string }) => status === 'Verified')).to.equal(true);
      await connection.run(restHooks.registration?.remove, { id, url: URL_OF_EVENTS });
      const left = (await hooks()).map(({ hookUrl }: { hookUrl: string }) => hookUrl);
      expect([left.length, ...new Set(left)]).to.deep.equal([18, OTHERS]);
    });

    it('and taken up again when Keap has given them up', async () => {
      await subscribe();
      await simulator.command('/simulate/hooks', { status: 'Inactive' });
      await subscribe();
      expect((await hooks()).every(({ status }: { status: string }) => status === 'Verified')).to.equal(true);
      await simulator.command('/simulate/hooks', { status: 'Inactive', echo: false });
      expect((await failureOf(subscribe())).message).to.match(/could not verify/);
    });
  });
});

describe('an instance of Keap with hooks', () => {
  const service = useApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();

  it('answers the handshake, and tells of a change with the record', async () => {
    const callback = receiver.open('keap');
    const { token } = await service.createInstance('keap', {
      'oauth.user.token': DEMO_ACCESS_TOKEN,
      'oauth.api.key': 'demo-client',
      'oauth.api.secret': CLIENTS['demo-client']?.secret,
      'oauth.callback.url': 'https://app.example.com/callback',
      simulator: true,
      'event.notification.enabled': true,
      'event.notification.callback.url': callback,
      'event.vendor.type': 'webhook',
    });
    await until(async () => {
      const { body } = await service.call('/passthrough/rest/v1/hooks', { token });
      return body.length === 18 && body.every(({ status }: { status: string }) => status === 'Verified');
    });
    const { body: tag } = await service.call('/tags', { token, method: 'POST', body: { name: 'Told of' } });
    const find = () => receiver.at(callback).find(({ body }) => body.type === 'tags.created');
    await until(async () => find() !== undefined);
    expect(find()?.body.data).to.deep.include({ objectId: tag.id, object: tag });
  });
});
