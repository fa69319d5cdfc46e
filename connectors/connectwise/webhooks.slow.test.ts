import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { QUICK, useReceiver } from '../../test/api/events/receiving.ts';
import { post } from '../../test/api/events/shop.ts';
import { type ApiAnswer, useApp } from '../../test/support/app.ts';
import { until } from '../../test/support/until.ts';
import { DEMO_CONFIGURATION, SIGNING_KEY, signCallback } from './simulator.ts';
import { callbacks } from './webhooks.ts';

const KEYS = 'https://na.myconnectwise.net/v4_6_release//system/callbackkey/index.rails';
const COMPANY = { company: 'Acme' };

function bodyOf(type: string, action: string, keyUrl = `${KEYS}?companyName=acme&id=1`) {
  return { CompanyId: 'acme', Type: type, Action: action, ID: 7, Entity: '{"id":7}', Metadata: { key_url: keyUrl } };
}

function callOf(body: object, key?: string): WebhookCall {
  const { headers, body: text } = signCallback(body, key);
  return { method: 'POST', url: 'https://x.example/', headers, body: Buffer.from(text) };
}

describe('callbacks of ConnectWise', () => {
  it('are verified by their bytes', () => {
    const { verify } = callbacks;
    const verdictOf = (call: WebhookCall) =>
      verify === 'unsigned' ? verify : verify(call, { secret: SIGNING_KEY, now: 0, config: COMPANY });
    const good = callOf(bodyOf('ticket', 'added'));
    const flipped = Buffer.from(good.body);
    flipped[20] = (flipped[20] ?? 0) ^ 1;
    expect(verdictOf(good)).to.equal('genuine');
    expect(verdictOf({ ...good, body: flipped })).to.equal('forged');
    expect(verdictOf(callOf(bodyOf('ticket', 'added'), 'another key'))).to.equal('forged');
    expect(verdictOf({ ...good, headers: {} })).to.equal('unsigned');
  });

  it('name a key of the company, and nothing else is asked for', () => {
    const asked = (keyUrl: string) => callbacks.signingKey?.request(callOf(bodyOf('ticket', 'added', keyUrl)), COMPANY);
    const own = `${KEYS}?companyName=acme&id=1`;
    expect(asked(own)).to.deep.equal({ url: own, anonymous: true });
    const others = [
      `${KEYS}?companyName=other&id=1`,
      `${KEYS}?id=1`,
      `${KEYS}?companyName=other&companyName=acme`,
      'https://na.myconnectwise.net/files/key.json?companyName=acme',
      'callbackkey',
      '',
    ];
    for (const other of others) expect(asked(other), other).to.equal(undefined);
    const read = (body: unknown) => callbacks.signingKey?.read({ status: 200, headers: {}, body });
    expect([read({ signing_key: 'k' }), read('{"signing_key":"k"}')]).to.deep.equal(['k', 'k']);
    expect(() => read({})).to.throw('The response lacks the key.');
  });

  it('tell of what happened to which record', () => {
    const reported = (type: string, action: string) =>
      callbacks.events(callOf(bodyOf(type, action)), {}).map((event) => `${event.objectName}.${event.action}`);
    expect(reported('Ticket', 'added')).to.deep.equal(['incidents.created']);
    expect(reported('company', 'deleted')).to.deep.equal(['organizations.deleted']);
    expect(reported('time', 'updated')).to.deep.equal(['time-entries.updated']);
    expect(reported('contact', 'moved')).to.deep.equal(['contacts.unknown']);
    expect(reported('invoice', 'added')).to.deep.equal([]);
  });
});

describe('callbacks of ConnectWise, from the registration to the receiver', () => {
  const service = useApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();
  const connect = (url: string) =>
    service.createInstance('connectwise', {
      ...{ ...DEMO_CONFIGURATION, simulator: true, 'event.vendor.type': 'webhook' },
      ...{ 'event.notification.enabled': true, 'event.notification.callback.url': url },
    });
  const registered = async ({ token, eventUrl }: ApiAnswer['body']): Promise<readonly string[]> => {
    const { body } = await service.call('/passthrough/system/callbacks', { token, query: { pageSize: 1000 } });
    const own = body.filter(({ url }: { readonly url: string }) => url === `${eventUrl}?recordId=`);
    return own.map(({ type }: { readonly type: string }) => type).sort();
  };
  const TYPES = ['company', 'configuration', 'contact', 'opportunity', 'ticket', 'time'];

  it('come for all types, once each, and end with the instance', async () => {
    const url = receiver.open('all');
    const instance = await connect(url);
    await until(async () => (await registered(instance)).length === TYPES.length);
    expect(await registered(instance)).to.deep.equal(TYPES);
    const change = (table: string, counts: object) =>
      post(`${service.app.simulatorsUrl}/connectwise/simulate/changes`, JSON.stringify({ table, ...counts }), {
        'content-type': 'application/json',
      });
    await until(async () => {
      await change('tickets', { update: 1 });
      return receiver.at(url).length > 0;
    });
    const [first] = receiver.at(url);
    expect([first?.body.type, first?.body.data.object.id]).to.deep.equal([
      'incidents.updated',
      Number(first?.body.data.objectId),
    ]);
    const { body } = await change('companies', { remove: 1 });
    const find = () => receiver.at(url).find(({ body }) => body.type === 'organizations.deleted');
    await until(async () => find() !== undefined);
    expect(find()?.body.data.objectId).to.equal(body.removed[0]);

    const { token } = await connect(receiver.open('watch'));
    await service.call(`/instances/${instance.id}`, { method: 'DELETE' });
    await until(async () => (await registered({ token, eventUrl: instance.eventUrl })).length === 0);
  });

  it('count once when they come again, and not at all with a key of others', async () => {
    const url = receiver.open('one');
    const instance = await connect(url);
    await until(async () => (await registered(instance)).length === TYPES.length);
    await post(
      `${service.app.simulatorsUrl}/connectwise/simulate/changes`,
      JSON.stringify({ table: 'contacts', update: 1 }),
      { 'content-type': 'application/json' },
    );
    const [{ body: event } = { body: undefined }] = await receiver.waitFor(url, 1);
    const send = (body: object, key?: string) => {
      const signed = signCallback(body, key);
      return post(`${instance.eventUrl}?recordId=7&action=updated`, signed.body, signed.headers);
    };
    const { raw } = event.data;
    expect((await send(raw)).status).to.equal(200);
    const at = (keyUrl: string) => ({ ...raw, ID: 1, Metadata: { key_url: keyUrl } });
    const own: string = raw.Metadata.key_url;
    const strangers = [
      own.replace('companyName=acme', 'companyName=other'),
      own.replace('myconnectwise.net', 'myconnectwise.net.example.com'),
      own.replace('https://api-na', 'https://api-eu'),
      own.replace(/id=.*/, 'id=another'),
      // Another page of the API requires credentials.
      own.replace('/v4_6_release//system', '/v4_6_release/other/system'),
    ];
    for (const stranger of strangers) expect((await send(at(stranger))).status, stranger).to.equal(401);
    expect((await send({ ...raw, ID: 1 }, 'another key')).status).to.equal(401);
    expect((await send({ ...raw, Type: 'company', ID: 0 })).status).to.equal(200);
    await receiver.waitFor(url, 2);
    expect(receiver.at(url)).to.have.length(2);
  });
});
