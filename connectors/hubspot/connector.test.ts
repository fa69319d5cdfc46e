import { Signature } from '@hubspot/api-client/lib/src/utils/signature.js';
import { expect } from 'chai';
import { defineObject, type ProviderResponse, rejected, type WebhookCall } from '#connector';
import { type Connection, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/query.ts';
import { toFieldSpec } from './fields.ts';
import hubspot from './index.ts';
import { discoverObjects } from './objects.ts';
import { deletionsOf, FILTERING, type Groups, listOf } from './search.ts';
import { createSimulator, DEMO_PRIVATE_TOKEN } from './simulator.ts';
import { ACCOUNT, appWebhooks } from './webhooks.ts';

const property = (type: string, more: object = {}) => toFieldSpec({ name: 'x', type, fieldType: 'text', ...more }, []);
const PEOPLE = defineObject<Groups>({
  ...FILTERING,
  fields: {
    name: property('string'),
    stage: property('enumeration'),
    size: property('number'),
    day: property('date'),
    at: property('datetime'),
    phone: property('string', { fieldType: 'phonenumber' }),
  },
  list: listOf('contacts'),
});

const groupsOf = (where: string) => prepareQuery({ where }, PEOPLE).plan.native;
const one = (...filters: readonly object[]) => [{ filters }];
const filter = (propertyName: string, operator: string, value?: unknown) => ({
  propertyName,
  operator,
  ...(Array.isArray(value) ? { values: value } : value !== undefined && { value }),
});

describe('filters of HubSpot', () => {
  for (const [where, groups] of [
    ["name = 'Zoë'", one(filter('name', 'EQ', 'Zoë'))],
    ["name IN ('Ann', 'BOB')", one(filter('name', 'IN', ['ann', 'bob']))],
    ["stage IN ('Won', 'LOST')", one(filter('stage', 'IN', ['Won', 'LOST']))],
    ["name != 'Ann'", one(filter('name', 'HAS_PROPERTY'))],
    ["stage != 'Won'", one(filter('stage', 'HAS_PROPERTY'), filter('stage', 'NEQ', 'Won'))],
    ["name LIKE 'An%'", one(filter('name', 'CONTAINS_TOKEN', 'An*'))],
    ["name LIKE '%ann b-%'", one(filter('name', 'CONTAINS_TOKEN', '*ann*'))],
    ["name LIKE '%zoë%'", undefined],
    ['at >= 2026-01-31 AND size < 1.50', one(filter('at', 'GTE', '1769817600000'), filter('size', 'LT', '1.5'))],
    ['day = 2026-01-31', one(filter('day', 'EQ', '1769817600000'))],
    ['phone IS NULL', one(filter('phone', 'NOT_HAS_PROPERTY'))],
    ["phone = '1'", undefined],
    ["size = 1 OR stage = 'Won'", [...one(filter('size', 'EQ', '1')), ...one(filter('stage', 'EQ', 'Won'))]],
  ] as const) {
    it(`are groups: ${where}`, () => expect(groupsOf(where)).to.deep.equal(groups));
  }
});

describe('HubSpot', () => {
  let provider: Provider;
  let connection: Connection;
  before(async () => {
    provider = await startProvider(hubspot, createSimulator, { 'oauth.user.token': DEMO_PRIVATE_TOKEN });
    connection = provider.connect();
  });
  after(() => provider.stop());

  it('searches for ids where the properties would be too long, and reads the records by a second call', async () => {
    const contacts = await connection.describe('contacts');
    const fields = Object.entries(contacts.fields).map(([name, spec]) => ({
      ...spec,
      name,
      native: spec.native ?? name,
    }));
    const many = [
      ...fields,
      ...Array.from({ length: 60 }, (_, index) => ({
        type: 'string' as const,
        name: `a_long_name_${index}`,
        native: `a_long_name_${index}`,
      })),
    ];
    const short = await connection.list(contacts, { fields, limit: 7 });
    const before = connection.requests.length;
    const long = await connection.list(contacts, { fields: many, limit: 7 });
    expect(long).to.deep.equal(short);
    expect(connection.requests.slice(before).map((request) => request.replace(/\?.*/, ''))).to.deep.equal([
      'GET https://api.hubapi.com/crm/v3/objects/contacts',
      'POST https://api.hubapi.com/crm/v3/objects/contacts/batch/read',
    ]);
  });

  it('has custom objects, and its own objects also for tokens that may not read their definitions', async () => {
    const pets = objectOf((await connection.discover()).objects, 'pets');
    expect(pets).to.include({ custom: true, native: '2-4711001' });
    const send = async () => Promise.reject(rejected('The token lacks a scope.'));
    expect(await discoverObjects({ config: {}, signal: new AbortController().signal, send }))
      .to.include.keys('contacts', 'owners')
      .and.not.have.property('pets');
  });

  it('reads the limit of calls, and an account that moves is out of service', () => {
    const headers = {
      'x-hubspot-ratelimit-max': '190',
      'x-hubspot-ratelimit-remaining': '7',
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
    };
    expect(hubspot.rateLimit?.(headers)).to.deep.equal({ limit: 190, remaining: 7, resetSeconds: 10 });
    expect(hubspot.rateLimit?.({})).to.equal(undefined);
    const moving: ProviderResponse = { status: 477, headers: {}, body: { message: 'It moves.' } };
    expect(hubspot.classify?.(moving)).to.deep.equal({ kind: 'unavailable', message: 'It moves.' });
  });

  it('reports archived records from a time on, and how far the list is complete', async () => {
    const feed = deletionsOf('contacts');
    if (!('read' in feed)) throw new Error('The feed is one call.');
    const results = ['2026-01-30', '2026-02-01'].map((day, index) => ({
      id: `${index}`,
      archivedAt: `${day}T00:00:00.000Z`,
    }));
    const response = { status: 200, headers: { date: 'Sun, 01 Feb 2026 01:00:00 GMT' }, body: { results } };
    expect(feed.read(response, { since: '2026-01-31T00:00:00Z' })).to.deep.equal({
      changes: [{ id: '1', action: 'deleted', at: '2026-02-01T00:00:00.000Z' }],
      until: '2026-02-01T01:00:00.000Z',
    });
  });
});

const URL = 'https://causeway.example.com/events/hubspot/key?a=%3A%20b';
const EVENT = {
  eventId: 1,
  subscriptionId: 2,
  portalId: 62515,
  occurredAt: 1_564_113_600_000,
  attemptNumber: 0,
  objectId: 123,
};

/** Makes a request that HubSpot's own client has signed. */
function callOf(events: unknown, { timestamp = '1564113600000', secret = 'yyyy-yyyy' } = {}): WebhookCall {
  const body = Buffer.from(JSON.stringify(events));
  // HubSpot decodes some characters of the address, and not the blank.
  const url = URL.replace('%3A', ':');
  const signature = Signature.getSignature('POST', 'v3', {
    signature: '',
    clientSecret: secret,
    requestBody: String(body),
    url,
    timestamp: Number(timestamp),
  });
  return {
    method: 'POST',
    url: URL,
    body,
    headers: { 'x-hubspot-signature-v3': signature, 'x-hubspot-request-timestamp': timestamp },
  };
}

describe('webhooks of HubSpot', () => {
  const verdictOf = (call: WebhookCall, secret = 'yyyy-yyyy', now = 1_564_113_600_000) =>
    appWebhooks.verify === 'unsigned' ? 'unsigned' : appWebhooks.verify(call, { secret, now, config: {} });

  it('are genuine for five minutes', () => {
    const call = callOf([EVENT]);
    expect(verdictOf(call)).to.equal('genuine');
    expect(verdictOf(call, 'yyyy-yyyy', 1_564_113_600_000 + 300_000)).to.equal('genuine');
    expect(verdictOf(call, 'yyyy-yyyy', 1_564_113_600_000 + 301_000)).to.equal('stale');
    expect(verdictOf(call, 'another')).to.equal('forged');
    expect(verdictOf({ ...call, url: `${URL}&c=d` })).to.equal('forged');
    expect(
      verdictOf({ ...call, headers: { ...call.headers, 'x-hubspot-request-timestamp': '1564113600001' } }),
    ).to.equal('forged');
    expect(verdictOf({ ...call, headers: {} })).to.equal('unsigned');
  });

  it('have a batch of events, also of merges, and none of other accounts and of associations', () => {
    const events = [
      { ...EVENT, subscriptionType: 'contact.creation' },
      { ...EVENT, subscriptionType: 'object.propertyChange', objectTypeId: '0-3', propertyName: 'amount' },
      { ...EVENT, subscriptionType: 'company.deletion' },
      { ...EVENT, subscriptionType: 'ticket.merge', primaryObjectId: 5, newObjectId: 7, mergedObjectIds: [5, 6] },
      { ...EVENT, subscriptionType: 'contact.associationChange' },
      { ...EVENT, subscriptionType: 'object.creation', objectTypeId: '2-4711001' },
      { ...EVENT, subscriptionType: 'contact.creation', portalId: 1 },
    ];
    const read = appWebhooks.events(callOf(events), { [ACCOUNT]: '62515' });
    expect(read.map(({ objectName, objectId, action }) => `${objectName} ${objectId} ${action}`)).to.deep.equal([
      'contacts 123 created',
      'deals 123 updated',
      'companies 123 deleted',
      'tickets 7 updated',
      'tickets 5 deleted',
      'tickets 6 deleted',
    ]);
    expect(new Set(read.map(({ id }) => id)).size).to.equal(read.length);
    expect(read[0]?.at).to.deep.equal(new Date('2019-07-26T04:00:00Z'));
  });
});
