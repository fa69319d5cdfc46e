import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { failureOf, normalise, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import intercom from './index.ts';
import { discoverObjects } from './objects.ts';
import { conversationParts } from './parts.ts';
import { createSimulator, DEMO_ACCESS_TOKEN } from './simulator.ts';
import { appWebhooks } from './webhooks.ts';

/** Returns the searches of a filter, with the objects as they are before an account's attributes are read. */
async function asked(name: string, where: string): Promise<readonly unknown[]> {
  const outline = objectOf(await discoverObjects(), name);
  const send = async () => ({ status: 200, headers: {}, body: { data: [] } });
  const context = { config: {}, signal: new AbortController().signal, send };
  const object = await outline.describe?.({ ...context, offload: () => Promise.reject(new Error('not used')) });
  if (object === undefined) throw new Error('An outline was expected.');
  return prepareQuery({ where, orderBy: undefined }, object).plan.queries.map(({ native }) => native);
}

describe('searches of Intercom', () => {
  it('have lists of either conditions or groups', async () => {
    expect(await asked('contacts', "role = 'user' AND (name = 'a' OR email = 'b')")).to.deep.equal([
      {
        operator: 'AND',
        value: [
          { operator: 'AND', value: [{ field: 'role', operator: '=', value: 'user' }] },
          {
            operator: 'OR',
            value: [
              { field: 'name', operator: '=', value: 'a' },
              { field: 'email', operator: '=', value: 'b' },
            ],
          },
        ],
      },
    ]);
  });

  it('have days around times, in any time zone', async () => {
    const where = "created_at >= '2026-01-31T10:00:00Z' AND created_at < '2026-02-01T10:00:00Z'";
    expect(await asked('contacts', where)).to.deep.equal([
      {
        operator: 'AND',
        value: [
          { field: 'created_at', operator: '>', value: Date.UTC(2026, 0, 30, 9) / 1000 },
          { field: 'created_at', operator: '<', value: Date.UTC(2026, 1, 2, 11) / 1000 },
        ],
      },
    ]);
  });

  it('use the terms of categories, and the names of titles', async () => {
    expect(await asked('tickets', "category = 'Back-office' AND title LIKE 'Prin%'")).to.deep.equal([
      {
        operator: 'AND',
        value: [
          { field: 'category', operator: '=', value: 'task' },
          { field: 'title', operator: '^', value: 'Prin' },
        ],
      },
    ]);
  });
});

describe('webhooks of Intercom', () => {
  const callOf = (event: object): WebhookCall => {
    const body = JSON.stringify(event);
    const signature = `sha1=${createHmac('sha1', 'secret').update(body).digest('hex')}`;
    return { method: 'POST', url: '', headers: { 'x-hub-signature': signature }, body: Buffer.from(body) };
  };
  const event = (topic: string, item: object) => ({
    ...{ type: 'notification_event', app_id: 'abc', id: 'notif_1', topic, created_at: 1_769_817_600 },
    data: { type: 'notification_event_data', item },
  });

  it('are verified', () => {
    const verdictOf = (call: WebhookCall, secret: string) =>
      appWebhooks.verify !== 'unsigned' && appWebhooks.verify(call, { secret, now: 0, config: {} });
    const call = callOf(event('ping', {}));
    expect([verdictOf(call, 'secret'), verdictOf(call, 'other')]).to.deep.equal(['genuine', 'forged']);
    expect(verdictOf({ ...call, headers: {} }, 'secret')).to.equal('unsigned');
  });

  it('report records, also from events about their parts', () => {
    const read = (topic: string, item: object, config = {}) =>
      appWebhooks
        .events(callOf(event(topic, item)), config)
        .map(({ objectName, objectId, action }) => [objectName, objectId, action]);
    expect(read('contact.user.created', { id: 'a' })).to.deep.equal([['contacts', 'a', 'created']]);
    expect(read('contact.user.tag.created', { contact: { id: 'a' } })).to.deep.equal([['contacts', 'a', 'updated']]);
    expect(read('conversation.admin.single.created', { id: '7' })).to.deep.equal([['conversations', '7', 'created']]);
    expect(read('ticket.closed', { id: '7' })).to.deep.equal([['tickets', '7', 'updated']]);
    expect(read('company.deleted', { id: 'b' })).to.deep.equal([['companies', 'b', 'deleted']]);
    expect(read('ping', {})).to.deep.equal([]);
    expect(read('company.deleted', { id: 'b' }, { 'intercom.workspace.id': 'other' })).to.deep.equal([]);
  });
});

describe('Intercom', () => {
  it('is asked in the region of the workspace', () => {
    const urls = ['US', 'EU', 'AU'].map((region) => intercom.baseUrl({ 'intercom.region': region }));
    expect(urls).to.deep.equal(['https://api.intercom.io', 'https://api.eu.intercom.io', 'https://api.au.intercom.io']);
  });

  it('repeats all messages of an error, and when the calls begin anew', () => {
    const body = { type: 'error.list', errors: [{ code: 'a', message: 'One.' }, { message: 'Two.' }] };
    expect(intercom.classify?.({ status: 400, headers: {}, body })).to.include({ message: 'One. Two.' });
    const headers = { date: 'Sat, 31 Jan 2026 00:00:00 GMT', 'x-ratelimit-limit': '166', 'x-ratelimit-remaining': '7' };
    expect(intercom.rateLimit?.({ ...headers, 'x-ratelimit-reset': '1769817610' })).to.deep.equal({
      ...{ limit: 166, remaining: 7, resetSeconds: 10 },
    });
  });
});

describe('conversation parts of Intercom', () => {
  let provider: Provider;
  before(async () => {
    provider = await startProvider(intercom, createSimulator, { 'oauth.user.token': DEMO_ACCESS_TOKEN });
  });
  after(() => provider.stop());

  const create = (values: Readonly<Record<string, unknown>>) =>
    provider.connect().run(conversationParts.create, {
      values: { conversation_id: '517', body: 'a < b', ...values },
      fields: [],
    });
  const partsOf = async (parentId: string) => {
    const { records } = await provider.connect().list(conversationParts, { parentId });
    return records.map((record) => normalise(conversationParts, record));
  };
  const contact = { author: { type: 'user', id: '6762f0dd1bb69f9f2193bb83' } };

  it('are read in the list of their conversation and alone', async () => {
    const parts = await partsOf('517');
    expect(parts.map(({ part_type }) => part_type)).to.deep.equal(['comment', 'note']);
    const { id = '' } = parts[1] ?? {};
    const part = await provider.connect().run(conversationParts.get, { id: String(id), fields: [] });
    expect(normalise(conversationParts, part)).to.deep.equal(parts[1]);
    for (const gone of ['517-1', '517', '518x-1000']) {
      const failure = await failureOf(provider.connect().run(conversationParts.get, { id: gone, fields: [] }));
      expect(failure.code, gone).to.equal('NOT_FOUND');
    }
  });

  it('are added as comments of admins and contacts, and as notes of admins', async () => {
    const before = await partsOf('517');
    const admin = { type: 'admin', id: '992' };
    const made = [
      await create({ author: admin }),
      await create(contact),
      await create({ author: admin, part_type: 'note' }),
    ].map((part) => normalise(conversationParts, part));
    expect(made.map(({ part_type, author_type, body }) => [part_type, author_type, body])).to.deep.equal([
      ['comment', 'admin', '<p>a &lt; b</p>'],
      ['comment', 'user', '<p>a &lt; b</p>'],
      ['note', 'admin', '<p>a &lt; b</p>'],
    ]);
    expect(await partsOf('517')).to.deep.equal([...before, ...made]);
  });

  it('are no notes of contacts, and no assignments', async () => {
    const messageOf = async (values: object) => (await failureOf(create({ ...values }))).message;
    expect(await messageOf({ ...contact, part_type: 'note' })).to.equal(
      "A note is written by an admin: 'author_type' must be admin.",
    );
    expect(await messageOf({ ...contact, part_type: 'assignment' })).to.equal(
      "A new part is a comment or a note: 'part_type' must be one of them.",
    );
  });
});
