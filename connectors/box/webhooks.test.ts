import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { failureOf, type Provider, startProvider } from '#connector/testing';
import box from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, deliver, SIGNATURE_KEYS } from './simulator.ts';
import { folderWebhooks } from './webhooks.ts';

const { primary, secondary } = SIGNATURE_KEYS;
const NOW = Date.parse('2026-01-31T08:30:00Z');
const MINUTE = 60_000;

/** Returns an event like the example in Box's guide, escaped as Box sends it. */
const event = (trigger: string, source: object) => ({
  type: 'webhook_event',
  id: 'eb0c4e06-751f-442c-86f8-fd5bb404dbec',
  created_at: '2026-01-31T00:29:59-08:00',
  trigger,
  webhook: { id: '53', type: 'webhook' },
  source,
});
const FILE = { id: '73835521473', type: 'file', sequence_id: '0', etag: '0', name: 'Übersicht a/b.png' };

function callOf(body: unknown, atMs = NOW, keys = SIGNATURE_KEYS): WebhookCall {
  const delivery = deliver(body, atMs, keys);
  return { method: 'POST', url: 'https://x.example/', headers: delivery.headers, body: Buffer.from(delivery.body) };
}

function verdictOf(call: WebhookCall, { secret = primary, other = secondary, now = NOW } = {}) {
  const { verify } = folderWebhooks;
  return verify === 'unsigned' ? verify : verify(call, { secret, now, config: { 'webhook.secondary.key': other } });
}

describe('webhooks of Box', () => {
  const call = callOf(event('FILE.UPLOADED', FILE));

  it('are signed with two keys, of which one that is right is enough', () => {
    const without = (header: string) => ({ ...call, headers: { ...call.headers, [header]: undefined } });
    expect([
      verdictOf(call),
      verdictOf(call, { secret: 'a new key' }),
      verdictOf(call, { other: 'a new key' }),
      verdictOf(call, { other: '' }),
      verdictOf(without('box-signature-secondary')),
      verdictOf(without('box-signature-primary')),
    ]).to.deep.equal(Array.from({ length: 6 }, () => 'genuine'));
    // Keys of another instance, and the two keys in each other's place.
    expect(verdictOf(call, { secret: 'of another', other: 'and another' })).to.equal('forged');
    expect(verdictOf(call, { secret: secondary, other: primary })).to.equal('forged');
    expect(verdictOf(call, { secret: 'a new key', other: '' })).to.equal('forged');
    expect(verdictOf({ ...call, headers: {} })).to.equal('unsigned');
  });

  it('are over every byte, and over the time of the delivery', () => {
    const flipped = Uint8Array.from(call.body, (byte, index) => (index === 7 ? byte ^ 1 : byte));
    expect(verdictOf({ ...call, body: flipped })).to.equal('forged');
    const headers = { ...call.headers, 'box-delivery-timestamp': new Date(NOW + 1000).toISOString() };
    expect(verdictOf({ ...call, headers })).to.equal('forged');
    expect(verdictOf(call, { now: NOW + 10 * MINUTE })).to.equal('genuine');
    expect(verdictOf(call, { now: NOW + 11 * MINUTE })).to.equal('stale');
  });

  it('tell of files and folders, by an id that stays when they are sent again', () => {
    const reported = (body: object, atMs = NOW) =>
      folderWebhooks.events(callOf(body, atMs), {}).map(({ raw, ...each }) => each);
    const uploaded = event('FILE.UPLOADED', FILE);
    expect(reported(uploaded)).to.deep.equal([
      {
        id: uploaded.id,
        action: 'created',
        objectName: 'files',
        objectId: FILE.id,
        at: new Date('2026-01-31T08:29:59Z'),
      },
    ]);
    expect(reported(uploaded, NOW + MINUTE)).to.deep.equal(reported(uploaded));
    const version = event('FILE.UPLOADED', { ...FILE, sequence_id: '1' });
    const trashed = event('FOLDER.TRASHED', { id: '1', type: 'folder' });
    expect(reported(version)[0]?.action).to.equal('updated');
    expect(reported(trashed)[0]).to.include({ action: 'deleted', objectName: 'folders', objectId: '1' });
    const other = [event('WEBHOOK.DELETED', []), event('NO_ACTIVE_SESSION', {}), event('FILE.PREVIEWED', FILE)];
    expect(other.flatMap((each) => reported(each))).to.deep.equal([]);
    expect(() => reported([])).to.throw('The response lacks an event.');
  });
});

describe('the registration of webhooks at Box', () => {
  const url = 'https://causeway.example.com/events/box/key';
  let provider: Provider;
  let folder: string;

  before(async () => {
    provider = await startProvider(box, createSimulator, { 'oauth.user.token': DEMO_ACCESS_TOKEN });
    const { body } = await provider.connect().context.send({ path: '/folders/0/items', query: { limit: 1 } });
    folder = Object(body).entries[0].id;
  });
  after(() => provider.stop());

  it('is on one folder, replaces what is left of a try, leaves those of others alone, and ends', async () => {
    const connection = provider.connect({ 'webhook.folder': folder });
    const { create, remove } = folderWebhooks.registration ?? {};
    await connection.run(create, { url });
    const second = await connection.run(create, { url });
    const deleted = connection.requests.filter((request) => request.startsWith('DELETE'));
    expect(deleted).to.have.length(1);
    const { body } = await connection.context.send({ path: `/webhooks/${second.id}` });
    expect(body).to.deep.include({ address: url }).and.to.have.nested.property('target.id', folder);
    expect((await failureOf(connection.run(create, { url: `${url}2` }))).code).to.equal('CONFLICT');
    await connection.run(remove, { id: second.id, url });
    expect((await failureOf(connection.run(remove, { id: second.id, url }))).code).to.equal('NOT_FOUND');
  });

  it('wants a folder', async () => {
    const failure = await failureOf(provider.connect().run(folderWebhooks.registration?.create, { url }));
    expect(failure.message).to.equal('Box reports the changes of one folder. Set `webhook.folder` to its id.');
  });
});
