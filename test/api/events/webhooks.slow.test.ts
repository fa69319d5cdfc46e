import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type ApiAnswer, useApp } from '../../support/app.ts';
import { json, status } from '../../support/misbehaving-server.ts';
import { until } from '../../support/until.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { pagesOf } from '../support/pages.ts';
import { sendRaw } from '../support/raw-request.ts';
import { withDatabase } from '../support/tenants.ts';
import { findSubscription, QUICK, useReceiver, verify } from './receiving.ts';
import { bodyOf, post, SHOP_SECRET, type ShopEvent, sign, useShopServer } from './shop.ts';

const MINUTE_MS = 60_000;

describe('a webhook of a provider', () => {
  const shop = useShopServer();
  const service = useApp({ SIMULATORS_PORT: 'off' }, Object.assign(shop.overrides, { engineOptions: QUICK }));
  const receiver = useReceiver();
  let callbacks = 0;

  /** An instance whose events go to a receiver of its own. */
  async function open(
    more: object = {},
    element = 'shop',
  ): Promise<{ readonly instance: ApiAnswer['body']; readonly callback: string }> {
    const callback = receiver.open(`shop-${callbacks++}`);
    const instance = await service.createInstance(element, {
      simulator: true,
      'event.notification.enabled': true,
      'event.notification.callback.url': callback,
      ...(element === 'shop' && { 'hooks.secret': SHOP_SECRET }),
      ...more,
    });
    return { instance, callback };
  }

  function send({ eventUrl }: ApiAnswer['body'], ...events: readonly ShopEvent[]): Promise<ApiAnswer> {
    const body = bodyOf(...events);
    return post(eventUrl, body, sign(body, SHOP_SECRET));
  }

  async function eventsOf({ id }: ApiAnswer['body'], query: Readonly<Record<string, string | number>> = {}) {
    return await service.get(`/instances/${id}/events`, { query });
  }

  it('arrives at the callback URL with the record, signed as every event is', async () => {
    const { instance, callback } = await open();
    const event = { id: 'e1', what: 'updated', item: 'a1', at: '2026-01-31T18:42:00Z' };
    const response = await send(instance, event);
    expect([response.status, response.body]).to.deep.equal([200, { accepted: 1 }]);
    const [received] = await receiver.waitFor(callback, 1);
    const { secret } = await findSubscription(service, callback);
    expect(received && verify(received, secret)).to.deep.equal({
      id: received?.body.id,
      type: 'items.updated',
      timestamp: '2026-01-31T18:42:00.000Z',
      data: {
        objectName: 'items',
        objectId: 'a1',
        elementKey: 'shop',
        hub: 'general',
        accountId: 1,
        instance: { id: instance.id, name: 'Test', tags: [] },
        object: { id: 'a1', name: 'Item a1' },
        raw: event,
      },
    });
    const [listed] = await eventsOf(instance);
    const { createdDate, record, ...shown } = listed;
    expect(shown).to.deep.equal(received?.body);
    expect(record).to.deep.equal({ objectName: 'items', id: 'a1', name: 'Item a1' });
    expect(Date.parse(createdDate)).to.be.greaterThan(Date.parse(shown.timestamp));
  });

  it('is refused when anything about it is wrong, and stores nothing', async () => {
    const { instance } = await open();
    const { instance: other } = await open({ 'hooks.secret': 'another secret' });
    const body = bodyOf({ what: 'created', item: 'b1' });
    const headers = sign(body, SHOP_SECRET);
    const { 'x-shop-signature': signature = '', ...bare } = headers;
    const flipped = signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const forged = 'The signature of the request does not match this instance.';
    const missing = 'The request has no signature to verify.';
    const stale = 'The signature of the request is too old, or dated in the future.';
    const REFUSED: readonly (readonly [string, string, Readonly<Record<string, string>>, string])[] = [
      [instance.eventUrl, body.replace('b1', 'b2'), headers, forged],
      [instance.eventUrl, body, { ...headers, 'x-shop-signature': flipped }, forged],
      [instance.eventUrl, body, { ...headers, 'x-shop-time': String(Number(headers['x-shop-time']) + 1) }, forged],
      [instance.eventUrl, body, bare, missing],
      [instance.eventUrl, body, sign(body, 'another secret'), forged],
      [other.eventUrl, body, headers, forged],
      [instance.eventUrl, body, sign(body, SHOP_SECRET, Date.now() - 6 * MINUTE_MS), stale],
      [instance.eventUrl, body, sign(body, SHOP_SECRET, Date.now() + 6 * MINUTE_MS), stale],
    ];
    for (const [url, sent, given, words] of REFUSED)
      expectProblem(await post(url, sent, given), 'UNAUTHENTICATED', words);
    expect([await eventsOf(instance), await eventsOf(other)]).to.deep.equal([[], []]);
    expect(
      (await post(instance.eventUrl, body, sign(body, SHOP_SECRET, Date.now() - 4 * MINUTE_MS))).body,
    ).to.deep.equal({
      accepted: 1,
    });
  });

  it('is refused as long as there is no secret to verify it with', async () => {
    const { instance } = await open({ 'hooks.secret': undefined });
    const body = bodyOf({ what: 'created', item: 'c1' });
    expectProblem(await post(instance.eventUrl, body, sign(body, '')), 'UNAUTHENTICATED', /no signature/);
    const configuration = { 'hooks.secret': 'later' };
    await service.send('PATCH', `/instances/${instance.id}/configuration`, configuration);
    await until(async () => (await post(instance.eventUrl, body, sign(body, 'later'))).status === 200);
    expect(await eventsOf(instance)).to.have.length(1);
  });

  it('is verified with the key that it names, where that is one of the provider', async () => {
    const { instance } = await open({}, 'bazaar');
    const reads = () => shop.server.requests.filter(({ url }) => url.includes('/keys/')).length;
    const sendWith = (keyUrl: string | undefined, secret: string, item: string) => {
      const body = JSON.stringify({ key_url: keyUrl, events: [{ what: 'created', item }] });
      return post(instance.eventUrl, body, {
        'x-shop-signature': createHmac('sha256', secret).update(body).digest('hex'),
      });
    };
    const good = 'https://shop.example.com/keys/one';
    expect((await sendWith(good, 'secret one', 'k1')).body).to.deep.equal({ accepted: 1 });
    expect((await sendWith(good, 'secret one', 'k2')).body).to.deep.equal({ accepted: 1 });
    expect(reads()).to.equal(1);
    expectProblem(await sendWith(good, 'secret two', 'k3'), 'UNAUTHENTICATED', /signature/);
    for (const url of [undefined, 'https://shop.example.com/keys/none']) {
      expectProblem(await sendWith(url, 'secret none', 'k3'), 'UNAUTHENTICATED', /no signature/);
    }
    const before = reads();
    for (const url of ['https://evil.example.com/keys/one', 'http://127.0.0.1/keys/one', 'file:///etc/passwd', 'x']) {
      expectProblem(await sendWith(url, 'secret one', 'k3'), 'UNAUTHENTICATED', /no signature/);
    }
    expect(reads()).to.equal(before);
    expectProblem(
      await sendWith('https://shop.example.com/keys/later', 'secret later', 'k3'),
      'OVERLOADED',
      /key of the signature cannot be read/,
    );
    expect(await eventsOf(instance)).to.have.length(2);
  });

  it('is dropped when it comes again: by its id, or by its bytes where it has none', async () => {
    const { instance } = await open();
    const first = { id: 'twice', what: 'created', item: 'd1' };
    expect((await send(instance, first)).body).to.deep.equal({ accepted: 1 });
    // In another call, beside a new one.
    expect((await send(instance, first, { what: 'created', item: 'd2' })).body).to.deep.equal({ accepted: 1 });
    const again = await send(instance, first, { what: 'created', item: 'd2' });
    expect([again.status, again.body]).to.deep.equal([200, { accepted: 0 }]);
    expect((await send(instance, { what: 'created', item: 'd2' })).body).to.deep.equal({ accepted: 1 });
    expect(await eventsOf(instance)).to.have.length(3);
    // Of another instance it is another event.
    const { instance: other } = await open();
    expect((await send(other, first)).body).to.deep.equal({ accepted: 1 });
  });

  it('answers who asks whether somebody is there, and takes no event for that', async () => {
    const { instance } = await open();
    const response = await fetch(`${instance.eventUrl}?challenge=%3Cb%3E1`);
    expect([response.status, await response.text()]).to.deep.equal([200, '<b>1']);
    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expectProblem(await post(`${instance.eventUrl}?challenge=1`, bodyOf()), 'UNAUTHENTICATED', /no signature/);
    const put = await fetch(instance.eventUrl, { method: 'PUT', body: '{}' });
    expect([put.status, put.headers.get('allow')]).to.deep.equal([405, 'POST, GET, HEAD']);
  });

  it('is taken unsigned where its provider signs nothing, and answered as the provider wants', async () => {
    const { instance, callback } = await open({}, 'market');
    const response = await post(instance.eventUrl, bodyOf({ what: 'unknown', item: 'e1' }));
    expect([response.status, response.body, response.headers.get('content-type')]).to.deep.equal([
      202,
      '<Response/>',
      'text/xml',
    ]);
    const [event] = await receiver.waitFor(callback, 1);
    expect([event?.body.type, event?.body.data.object]).to.deep.equal(['items.unknown', { id: 'e1', name: 'Item e1' }]);
  });

  it('may begin with something for people to do, which stands among the warnings until events come', async () => {
    const { instance } = await open({}, 'market');
    const warningsOf = async () => (await service.get(`/instances/${instance.id}`)).warnings;
    expect(await warningsOf()).to.equal(undefined);
    expect((await post(`${instance.eventUrl}?code=123`, '')).status).to.equal(200);
    expect(await warningsOf()).to.deep.equal(['Enter 123 at the market.']);
    // Known here at once, and to whoever takes the next call soon.
    await until(async () => {
      await post(instance.eventUrl, bodyOf({ what: 'unknown', item: 'e2' }));
      return (await warningsOf()) === undefined;
    });
  });

  it('is bounded, and all or nothing', async () => {
    const { instance } = await open();
    const large = bodyOf({ what: 'created', item: 'f'.repeat(200_000) });
    const postSigned = (body: string) => post(instance.eventUrl, body, sign(body, SHOP_SECRET));
    expectProblem(await postSigned(large), 'PAYLOAD_TOO_LARGE', /larger than 195 kB/);
    const many = Array.from({ length: 1_001 }, (_, index) => ({ what: 'deleted', item: String(index) }));
    const tooMany = 'The request has 1001 events; the maximum is 1000.';
    expectProblem(await send(instance, ...many), 'PAYLOAD_TOO_LARGE', tooMany);
    const deep = `{"events":${'['.repeat(200)}${']'.repeat(200)}}`;
    expectProblem(await postSigned(deep), 'REQUEST_INVALID', /nested deeper than 100/);
    for (const odd of [
      '{"events":7}',
      'nothing',
      '[]',
      '{"events":[{"what":"created"}]}',
      bodyOf({ what: 'eaten', item: 'f1' }),
    ]) {
      const message = 'The request does not have the form of a webhook of Shop.';
      expectProblem(await postSigned(odd), 'REQUEST_INVALID', message);
    }
    expect(await eventsOf(instance)).to.deep.equal([]);
    expect((await send(instance, ...many.slice(1))).body).to.deep.equal({ accepted: 1_000 });
  });

  it('has its records read once each, and none that was deleted or came along', async () => {
    const { instance } = await open();
    const before = shop.ids().length;
    await send(
      instance,
      { id: '1', what: 'created', item: 'g1' },
      { id: '2', what: 'updated', item: 'g1' },
      { id: '3', what: 'deleted', item: 'g2' },
      { id: '4', what: 'updated', item: 'g3', record: { id: 'g3', name: 'sent' } },
    );
    expect(shop.ids().slice(before)).to.deep.equal(['g1']);
    const objects = (await eventsOf(instance)).map(({ data }: ApiAnswer['body']) => data.object);
    const read = { id: 'g1', name: 'Item g1' };
    expect(objects).to.deep.equal([{ id: 'g3', name: 'sent' }, undefined, read, read]);
  });

  it('is delivered without a record that cannot be read, that is not wanted, or that is one too many', async () => {
    const { instance } = await open();
    shop.server.answer('/shop/items/h1', status(500));
    const response = await send(instance, { what: 'updated', item: 'h1' }, { what: 'updated', item: 'missing' });
    expect(response.body).to.deep.equal({ accepted: 2 });
    const without = (events: readonly ApiAnswer['body'][]) => events.filter(({ data }) => data.object === undefined);
    expect(without(await eventsOf(instance))).to.have.length(2);

    const { instance: other } = await open({ 'event.notification.hydrate': 'false' });
    const before = shop.ids().length;
    await send(other, { what: 'updated', item: 'h2' });
    expect(without(await eventsOf(other))).to.have.length(1);
    expect(shop.ids()).to.have.length(before);

    const { instance: third } = await open();
    await send(third, ...Array.from({ length: 30 }, (_, index) => ({ what: 'updated', item: `h${index}x` })));
    expect(shop.ids()).to.have.length(before + 25);
    expect(without(await eventsOf(third))).to.have.length(5);
  });

  it('is stored with its record, though its provider waits no longer', async () => {
    const { instance } = await open();
    const { server } = shop;
    let answer = () => {};
    server.answer('/shop/items/slow1', (response, request) => {
      answer = () => json({ id: 'slow1', name: 'Late' })(response, request);
    });
    const provider = new AbortController();
    const body = bodyOf({ id: 's1', what: 'updated', item: 'slow1' });
    const headers = sign(body, SHOP_SECRET);
    const call = fetch(instance.eventUrl, { method: 'POST', body, headers, signal: provider.signal });
    await until(async () => shop.ids().includes('slow1'));
    provider.abort();
    await call.catch(() => undefined);
    // So that the service has heard of it.
    await sleep(200);
    answer();
    await until(async () => (await eventsOf(instance)).length > 0);
    expect((await eventsOf(instance))[0].data.object).to.deep.equal({ id: 'slow1', name: 'Late' });
    server.answer('/shop/items/slow1', json({ id: 'slow1', name: 'Late' }));
    const again = await send(instance, { id: 's1', what: 'updated', item: 'slow1' });
    expect(again.body).to.deep.equal({ accepted: 0 });
  });

  it('is accepted and dropped while its instance is disabled, has no events enabled, or is polled', async () => {
    const { instance, callback } = await open();
    const path = `/instances/${instance.id}`;
    const configure = (configuration: object) => service.send('PATCH', `${path}/configuration`, configuration);
    let count = 0;
    // Who takes the call hears of a change a moment after it is made.
    const untilAccepted = (accepted: number) =>
      until(async () => {
        const { status: code, body } = await send(instance, { id: `idle ${count++}`, what: 'created', item: 'i1' });
        expect(code).to.equal(200);
        return body.accepted === accepted;
      });
    const received = async (outcome: string) => {
      const text = await (await fetch(`${service.app.url}/metrics`)).text();
      const counter = new RegExp(
        `^causeway_webhooks_received_total\\{element="shop",outcome="${outcome}"\\} (\\d+)`,
        'm',
      );
      return Number(counter.exec(text)?.[1] ?? 0);
    };
    const untilReceivedAs = async (outcome: string) => {
      const before = await received(outcome);
      await until(async () => {
        await send(instance, { id: `idle ${count++}`, what: 'created', item: 'i1' });
        return (await received(outcome)) > before;
      });
    };
    await service.send('DELETE', `${path}/enabled`);
    await untilReceivedAs('disabled');
    await service.send('PUT', `${path}/enabled`);
    await untilAccepted(1);
    await configure({ 'event.notification.enabled': false });
    await untilReceivedAs('off');
    await configure({ 'event.notification.enabled': true, 'event.vendor.type': 'polling' });
    await untilReceivedAs('polling');
    const before = await eventsOf(instance);
    await untilAccepted(0);
    expect(await eventsOf(instance)).to.deep.equal(before);
    const message = /event\.vendor\.type' must be/;
    expectProblem(await configure({ 'event.vendor.type': 'pigeon' }), 'REQUEST_INVALID', message);
    await configure({ 'event.vendor.type': 'webhook' });
    await untilAccepted(1);
    await receiver.waitFor(callback, 1);
  });

  it('finds nothing at an address that is nobody’s, whatever the reason', async () => {
    const { instance } = await open();
    const { instance: gone } = await open();
    await service.send('DELETE', `/instances/${gone.id}`);
    await until(async () => (await send(gone)).status === 404);
    const body = bodyOf({ what: 'created', item: 'j1' });
    const key = instance.eventUrl.split('/').at(-1);
    const wrong = [
      gone.eventUrl,
      instance.eventUrl.replace('/shop/', '/market/'),
      instance.eventUrl.replace('/shop/', '/bamboohr/'),
      instance.eventUrl.replace(
        key,
        key.replace(/^./, (first: string) => (first === 'A' ? 'B' : 'A')),
      ),
      instance.eventUrl.slice(0, -1),
      `${instance.eventUrl}A`,
    ];
    const problems = await Promise.all(wrong.map((url) => post(url, body, sign(body, SHOP_SECRET))));
    for (const problem of problems) expectProblem(problem, 'NOT_FOUND', 'This URL does not receive events.');
    // The last character of a key has bits that mean nothing: only the one spelling is an address.
    const spellings = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map(
      (last) => key.slice(0, -1) + last,
    );
    const answers = await Promise.all(
      spellings.map((spelling) => fetch(`${instance.eventUrl.replace(key, spelling)}?challenge=1`)),
    );
    expect(answers.filter((response) => response.status === 200)).to.have.length(1);
  });

  it('has an address that stays, that no two instances share, and that no line of the log has', async () => {
    const { instance } = await open();
    const { instance: other } = await open();
    expect(instance.eventUrl).to.match(/^http:\/\/127\.0\.0\.1:\d+\/events\/shop\/[\w-]{43}$/);
    expect(other.eventUrl).not.to.equal(instance.eventUrl);
    const shown = await service.get(`/instances/${instance.id}`);
    expect(shown.eventUrl).to.equal(instance.eventUrl);
    // As it was read, it may be sent back.
    const { status: code } = await service.send('PUT', `/instances/${instance.id}`, shown);
    expect(code).to.equal(200);
    await send(instance, { what: 'created', item: 'k1' });
    await post(instance.eventUrl, 'forged');
    const key = instance.eventUrl.split('/').at(-1);
    expect(service.logged.filter((line) => line.includes(key))).to.deep.equal([]);
    const lines = service.logged
      .map((line) => JSON.parse(line))
      .filter(({ instanceId, msg }) => instanceId === instance.id && msg === 'request');
    expect(lines.map(({ path, status: of }) => [path, of])).to.deep.include.members([
      ['/events/shop/[redacted]', 200],
      ['/events/shop/[redacted]', 401],
    ]);
  });

  it('has an address whose secret part stands in no line of the log, and in no other error, however it is asked', async () => {
    const { instance } = await open();
    const key = instance.eventUrl.split('/').at(-1);
    const { origin } = new URL(instance.eventUrl);
    const first = key.charCodeAt(0).toString(16);
    const paths = [
      ...[`/events/shop/${key}`, `/events/shop/${key}/`, `/events/shop/${key}/more`, `/events/shop//${key}`],
      ...[`//events/shop/${key}`, `/EVENTS/Shop/${key}`, `/events/${key}`, `/events/nothing/${key}`],
      ...[`/events/shop/%${first}${key.slice(1)}`, `/%65vents/shop/${key}`, `/events%2Fshop%2F${key}`],
      ...[`/events/shop%2F${key}`, `/events/shop/x/${key}`, `/proxied/events/shop/${key}`],
      ...[`/elements/api-v2/events/shop/${key}`, `/elements/api-v2/EVENTS/shop/${key}?x=1`],
    ];
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
    const before = service.logged.length;
    for (const path of paths) {
      for (const method of methods) {
        for (const authorization of ['', `User ${service.userSecret}, Organization ${service.organizationSecret}`]) {
          const response = await sendRaw(origin, { method, path, headers: authorization ? { authorization } : {} });
          expect(JSON.stringify(response.body ?? ''), `${method} ${path}`).to.not.include(key);
        }
      }
    }
    const written = service.logged.slice(before);
    expect(written.length).to.be.at.least(paths.length * methods.length * 2);
    const tail = key.slice(1);
    expect(written.filter((line) => line.includes(tail))).to.deep.equal([]);
    await withDatabase(service, async (knex) => {
      const last = () => knex('activity').where({ path: '/elements/api-v2/EVENTS/shop/[redacted]', method: 'DELETE' });
      await until(async () => (await last()).length > 0);
      const rows = [await knex('activity').select(), await knex('audit_log').select()];
      expect(JSON.stringify(rows)).to.not.include(tail);
    });
  });

  it('is counted by what became of it', async () => {
    const { instance } = await open();
    await send(instance, { what: 'created', item: 'l1' });
    const response = await fetch(`${service.app.url}/metrics`);
    const text = await response.text();
    for (const outcome of [
      ...['accepted', 'dropped', 'handshake', 'forged', 'stale', 'unsigned', 'malformed', 'disabled', 'off'],
      'polling',
    ]) {
      expect(text).to.match(
        new RegExp(`^causeway_webhooks_received_total\\{element="shop",outcome="${outcome}"\\} [1-9]`, 'm'),
      );
    }
    expect(text).to.match(/^causeway_webhooks_received_total\{element="none",outcome="unknown"\} [1-9]/m);
    expect(text).to.match(/^causeway_webhook_reads_total\{outcome="left"\} 5/m);
  });

  it('is described by the element', async () => {
    const signed = await service.get('/elements/shop');
    const unsigned = await service.get('/elements/market');
    expect([signed.webhooks, unsigned.webhooks]).to.deep.equal([
      { signed: true, registration: 'manual', secretKey: 'hooks.secret' },
      { signed: false, registration: 'manual' },
    ]);
  });

  describe('in the list of the events of its instance', () => {
    it('comes before what was accepted earlier, in pages', async () => {
      const { instance } = await open({ 'event.notification.hydrate': false });
      for (const item of ['m1', 'm2', 'm3', 'm4', 'm5'])
        await send(instance, { what: item === 'm3' ? 'deleted' : 'updated', item });
      const path = `/instances/${instance.id}/events`;
      const answers = await pagesOf((nextPage) => service.call(path, { query: { pageSize: 2, nextPage } }));
      const pages = answers.map(({ body }) => body.map(({ data }: ApiAnswer['body']) => data.objectId));
      expect(pages).to.deep.equal([['m5', 'm4'], ['m3', 'm2'], ['m1']]);
      const [deleted] = await eventsOf(instance, { where: "type = 'items.deleted'" });
      expect(deleted.data.objectId).to.equal('m3');
      expect(await eventsOf(instance, { where: `id = '${deleted.id}'` })).to.deep.equal([deleted]);
      expect(await eventsOf(instance, { where: `createdDate < '${deleted.createdDate}'` })).to.have.length(2);
      const bad = await service.call(`/instances/${instance.id}/events`, { query: { where: 'colour = 1' } });
      expectProblem(bad, 'WHERE_INVALID', /colour/);
    });
  });
});

describe('a webhook that finds no room', () => {
  const shop = useShopServer();
  const service = useApp(
    { SIMULATORS_PORT: 'off' },
    Object.assign(shop.overrides, { engineOptions: { maxPendingAccepts: 0 } }),
  );

  it('is refused, so that its provider sends it again', async () => {
    const instance = await service.createInstance('market', {
      simulator: true,
      'event.notification.enabled': true,
      'event.notification.callback.url': 'http://127.0.0.1:9/',
    });
    const response = await post(instance.eventUrl, bodyOf({ what: 'created', item: 'a' }));
    expectProblem(response, 'OVERLOADED', 'Too many events are waiting to be stored. Try again later.');
    expect(response.headers.get('retry-after')).to.equal('1');
  });
});
