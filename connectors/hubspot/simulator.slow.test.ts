import { createHash, createHmac } from 'node:crypto';
import { expect } from 'chai';
import { callProvider, type ServedSimulator, serveSimulator } from '#connector/testing';
import { KINDS_BY_NAME } from './simulator/properties.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_PRIVATE_TOKEN, type HubSpotSimulatorOptions } from './simulator.ts';

type SentWebhook = Parameters<NonNullable<HubSpotSimulatorOptions['send']>>[0];
type Properties = Readonly<Record<string, string | null>>;
interface Shown {
  readonly id: string;
  readonly properties: Properties;
  readonly archived: boolean;
}
type Filter = readonly [propertyName: string, operator: string, value?: string | readonly string[], highValue?: string];

const holds = (value: string | null | undefined, test: (text: string) => boolean) => value != null && test(value);
const day = (text: string) => String(Date.parse(text));

/** Filters, each with the contacts that it finds, in words of its own. */
const FILTERS: readonly (readonly [filter: Filter, finds: (properties: Properties) => boolean])[] = [
  [['firstname', 'EQ', 'pRiNtEr'], ({ firstname }) => /^printer$/i.test(firstname ?? '')],
  [['tier', 'EQ', 'gold'], ({ tier }) => tier === 'gold'],
  [['tier', 'EQ', 'Gold'], () => false],
  [['tier', 'EQ', 'Silver'], ({ tier }) => tier === 'Silver'],
  [['score', 'EQ', '1.0'], ({ score }) => score === '1'],
  [['score', 'LTE', '0.1'], ({ score }) => holds(score, (text) => Number(text) <= 0.1)],
  [['score', 'GTE', '0.1'], ({ score }) => holds(score, (text) => Number(text) >= 0.1)],
  [['score', 'GT', '0.1'], ({ score }) => holds(score, (text) => Number(text) > 0.1)],
  [['score', 'LT', '0.3'], ({ score }) => holds(score, (text) => Number(text) < 0.3)],
  [
    ['score', 'BETWEEN', '0.1', '0.3'],
    ({ score }) => holds(score, (text) => Number(text) >= 0.1 && Number(text) <= 0.3),
  ],
  [['is_vip', 'NEQ', 'true'], ({ is_vip }) => is_vip !== 'true'],
  [['createdate', 'GTE', day('2024-02-01')], ({ createdate }) => holds(createdate, (text) => text >= '2024-02')],
  [['createdate', 'LTE', '2024-02-01T00:00:00Z'], ({ createdate }) => holds(createdate, (text) => text < '2024-02')],
  [['anniversary', 'GT', day('2025-01-01')], ({ anniversary }) => holds(anniversary, (text) => text > '2025-01-01')],
  [['firstname', 'IN', ['printer', 'null']], ({ firstname }) => /^(?:printer|null)$/i.test(firstname ?? '')],
  [['firstname', 'IN', ['Printer']], () => false],
  [['firstname', 'NOT_IN', ['Printer']], () => true],
  [['tier', 'IN', ['BRONZE', 'gold']], ({ tier }) => tier === 'BRONZE' || tier === 'gold'],
  [['tier', 'NOT_IN', ['BRONZE', 'gold']], ({ tier }) => tier !== 'BRONZE' && tier !== 'gold'],
  [['interests', 'IN', ['chess']], ({ interests }) => holds(interests, (text) => text.includes('chess'))],
  [['interests', 'EQ', 'golf'], ({ interests }) => interests === 'golf'],
  [['jobtitle', 'HAS_PROPERTY'], ({ jobtitle }) => jobtitle !== null],
  [['jobtitle', 'NOT_HAS_PROPERTY'], ({ jobtitle }) => jobtitle === null],
  [['email', 'CONTAINS_TOKEN', '*@example.com'], ({ email }) => email !== null],
  [['email', 'CONTAINS_TOKEN', 'person1*'], ({ email }) => holds(email, (text) => text.startsWith('person1'))],
  [['email', 'CONTAINS_TOKEN', 'example'], () => false],
  [['lastname', 'CONTAINS_TOKEN', 'SÖHNE'], ({ lastname }) => holds(lastname, (text) => text.includes('Söhne'))],
  [['lastname', 'CONTAINS_TOKEN', 'o söhne'], ({ lastname }) => holds(lastname, (text) => text.includes('Söhne'))],
  [['lastname', 'CONTAINS_TOKEN', 'Print'], () => false],
  [['lastname', 'NOT_CONTAINS_TOKEN', 'pri*'], ({ lastname }) => !holds(lastname, (text) => /\bpri/i.test(text))],
];

const tooMany = (groups: number, filters: number) =>
  Array.from({ length: groups }, () => ({
    filters: Array.from({ length: filters }, () => ({ propertyName: 'email', operator: 'HAS_PROPERTY' })),
  }));

const filtered = (propertyName: string, operator: string, more: object = {}) => ({
  filterGroups: [{ filters: [{ propertyName, operator, ...more }] }],
});

const REFUSED: readonly (readonly [why: string, body: object])[] = [
  ['more than 5 groups', { filterGroups: tooMany(6, 1) }],
  ['more than 6 filters in a group', { filterGroups: tooMany(1, 7) }],
  ['more than 18 filters', { filterGroups: tooMany(5, 4) }],
  ['an unknown property', filtered('nope', 'HAS_PROPERTY')],
  ['no value', filtered('email', 'EQ')],
  ['no list', filtered('email', 'IN', { value: 'a' })],
  ['no token', filtered('email', 'CONTAINS_TOKEN', { value: ' ' })],
  ['a text for a number', filtered('score', 'GT', { value: 'many' })],
  ['a text for a time', filtered('createdate', 'GT', { value: 'yesterday' })],
  ['two sorts', { sorts: ['email', 'score'] }],
  ['a sort by an unknown property', { sorts: ['nope'] }],
  ['a page of more than 200', { limit: 201 }],
  ['an empty page', { limit: 0 }],
  ['a position that is no integer', { after: 'x' }],
  ['a page beyond 10,000', { limit: 100, after: '9901' }],
  ['more than 3,000 characters', { query: 'x'.repeat(3000) }],
];

describe('the HubSpot simulator', () => {
  let simulator: ServedSimulator;
  let options: Partial<HubSpotSimulatorOptions> = {};
  const sent: SentWebhook[] = [];

  before(async () => {
    const send = (webhook: SentWebhook) => void sent.push(webhook);
    simulator = await serveSimulator('hubspot', (given) => createSimulator({ ...given, send, ...options }));
  });
  after(() => simulator.stop());
  beforeEach(() => restart({}));

  function restart(changed: Partial<HubSpotSimulatorOptions>): void {
    options = changed;
    sent.length = 0;
    simulator.reset();
  }

  function call(request: string, body?: object, token = DEMO_ACCESS_TOKEN) {
    const [method = '', path = ''] = request.split(' ');
    return callProvider(simulator.url + path, { method, body, headers: { authorization: `Bearer ${token}` } });
  }

  /** Sends a request that must succeed. */
  async function ask(request: string, body?: object) {
    const { status, body: received } = await call(request, body);
    if (status >= 400) throw new Error(`${request}: ${status} ${JSON.stringify(received)}`);
    return received;
  }

  async function search(body: object, type = 'contacts'): Promise<readonly Shown[]> {
    const found: Shown[] = [];
    for (let after = '0'; ; ) {
      const page = await ask(`POST /crm/v3/objects/${type}/search`, { limit: 50, after, ...body });
      found.push(...page.results);
      if (page.paging === undefined) {
        expect(page.total).to.equal(found.length);
        return found;
      }
      after = page.paging.next.after;
    }
  }

  const CONTACT_NAMES = Object.keys(KINDS_BY_NAME.contacts?.properties ?? {});

  async function listContacts(): Promise<readonly Shown[]> {
    const { results } = await ask(`GET /crm/v3/objects/contacts?limit=100&properties=${CONTACT_NAMES}`);
    const after = results.at(-1).id;
    const more = await ask(`GET /crm/v3/objects/contacts?limit=100&after=${after}&properties=${CONTACT_NAMES}`);
    expect(more.paging).to.equal(undefined);
    return [...results, ...more.results];
  }

  for (const [[propertyName, operator, value, highValue], finds] of FILTERS) {
    it(`finds ${propertyName} ${operator} ${value ?? ''} ${highValue ?? ''}`, async () => {
      const values = Array.isArray(value) ? { values: value } : { value };
      const found = await search(filtered(propertyName, operator, { ...values, highValue }));
      const expected = (await listContacts()).filter(({ properties }) => finds(properties));
      expect(found.map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
      if (!['email', 'lastname', 'tier', 'firstname'].includes(propertyName)) expect(found).to.not.have.lengthOf(0);
    });
  }

  it('joins filters by AND and groups by OR', async () => {
    const filterGroups = [
      {
        filters: [
          { propertyName: 'tier', operator: 'EQ', value: 'gold' },
          { propertyName: 'email', operator: 'HAS_PROPERTY' },
        ],
      },
      { filters: [{ propertyName: 'is_vip', operator: 'EQ', value: 'true' }] },
    ];
    const expected = (await listContacts()).filter(
      ({ properties: { tier, email, is_vip } }) => (tier === 'gold' && email !== null) || is_vip === 'true',
    );
    expect((await search({ filterGroups })).map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
  });

  it('can leave records without a value out of negations', async () => {
    restart({ matchesMissing: false });
    const found = await search({ ...filtered('tier', 'NEQ', { value: 'gold' }), properties: ['tier'] });
    expect(new Set(found.map(({ properties }) => properties.tier))).to.deep.equal(new Set(['Silver', 'BRONZE', 'tin']));
  });

  it('sorts by one property, written as JSON or as an object', async () => {
    for (const sort of [
      JSON.stringify({ propertyName: 'score', direction: 'DESCENDING' }),
      { propertyName: 'score', direction: 'DESCENDING' },
    ]) {
      const found = await search({ sorts: [sort], properties: ['score'] });
      const scores = found.map(({ properties: { score } }) =>
        score === null ? Number.NEGATIVE_INFINITY : Number(score),
      );
      expect(scores).to.deep.equal(scores.toSorted((a = 0, b = 0) => b - a));
    }
    const texts = (await search({ sorts: ['city'], properties: ['city'] })).flatMap(
      ({ properties }) => properties.city ?? [],
    );
    expect(texts.map((text) => text.toLowerCase())).to.deep.equal(
      texts.map((text) => text.toLowerCase()).toSorted((a, b) => (a < b ? -1 : 1)),
    );
  });

  for (const [why, body] of REFUSED) {
    it(`refuses a search with ${why}`, async () => {
      const { status, body: error } = await call('POST /crm/v3/objects/contacts/search', body);
      expect([status, error.category], error.message).to.deep.equal([400, 'VALIDATION_ERROR']);
    });
  }

  it('shows the default properties, those that are requested, and null for one without a value', async () => {
    const [first] = await search({});
    const usual = ['createdate', 'email', 'firstname', 'hs_object_id', 'lastmodifieddate', 'lastname'];
    expect(Object.keys(first?.properties ?? {})).to.deep.equal(usual);
    const path = `GET /crm/v3/objects/contact/${first?.id}`;
    expect(await ask(path)).to.deep.equal(first);
    const some = await ask(`${path}?properties=tier,nope&properties=email`);
    expect(Object.keys(some.properties)).to.deep.equal([
      'createdate',
      'email',
      'hs_object_id',
      'lastmodifieddate',
      'tier',
    ]);
    const byEmail = await ask(`GET /crm/v3/objects/0-1/${first?.properties.email}?idProperty=email`);
    expect(byEmail).to.deep.equal(first);
  });

  it('reads records by their ids, and names those that do not exist', async () => {
    const [first, second] = await search({});
    const request = (...ids: readonly (string | undefined)[]) => ({
      ...{ inputs: ids.map((id) => ({ id })), properties: ['tier'], propertiesWithHistory: [] },
    });
    const path = 'POST /crm/v3/objects/contacts/batch/read';
    const whole = await call(path, request(second?.id, first?.id));
    expect([whole.status, whole.body.results.map(({ id }: Shown) => id)]).to.deep.equal([200, [first?.id, second?.id]]);
    expect(whole.body.results[0].properties).to.have.property('tier');
    const { status, body } = await call(path, request(first?.id, '1'));
    expect([status, body.results.length, body.errors[0].context]).to.deep.equal([207, 1, { ids: ['1'] }]);
    expect((await call(path, request(...Array.from({ length: 101 }, String)))).status).to.equal(400);
  });

  it('creates, changes, clears and archives a record', async () => {
    const { id, ...created } = await ask('POST /crm/v3/objects/pets', {
      properties: { name: "O'Neil", species: 'Dog', born: '2024-02-29', weight: '4.50', chipped: 'true' },
      associations: [],
    });
    expect(created.properties).to.include({
      name: "O'Neil",
      species: 'Dog',
      born: '2024-02-29',
      weight: '4.50',
      chipped: 'true',
    });
    await simulator.command('/simulate/clock', { byMs: 5000 });
    const changed = await ask(`PATCH /crm/v3/objects/pets/${id}`, { properties: { name: '', species: 'cat' } });
    expect(changed.properties).to.include({ name: '', species: 'cat' }).and.not.have.property('weight');
    expect(Date.parse(changed.updatedAt) - Date.parse(created.updatedAt)).to.be.within(5000, 15_000);
    const path = `/crm/v3/objects/pets/${id}`;
    expect((await ask(`GET ${path}?properties=name,weight`)).properties).to.include({ name: null, weight: '4.50' });
    expect(await call(`DELETE ${path}`)).to.include({ status: 204 });
    expect(await call(`DELETE ${path}`)).to.include({ status: 204 });
    expect((await call(`GET ${path}`)).body)
      .to.include({ message: 'resource not found' })
      .and.not.have.property('category');
    expect(await ask(`GET ${path}?archived=true`)).to.include({ id, archived: true });
    const { results } = await ask('GET /crm/v3/objects/pets?archived=true&limit=100');
    expect(results.map((each: Shown) => each.id)).to.include(id);
    expect(await search(filtered('hs_object_id', 'EQ', { value: id }), 'pets')).to.deep.equal([]);
  });

  it('reads times in both forms, and writes ISO 8601', async () => {
    const properties = { visited_at: '1709195400123', anniversary: '1709164800000' };
    const { id } = await ask('POST /crm/v3/objects/contacts', { properties });
    const shown = await ask(`GET /crm/v3/objects/contacts/${id}?properties=visited_at,anniversary`);
    expect(shown.properties).to.include({ visited_at: '2024-02-29T08:30:00.123Z', anniversary: '2024-02-29' });
    const again = await ask(`PATCH /crm/v3/objects/contacts/${id}`, {
      properties: { visited_at: '2024-02-29T08:30:00+01:00' },
    });
    expect(again.properties.visited_at).to.equal('2024-02-29T07:30:00Z');
  });

  it('names every property whose value is wrong', async () => {
    const properties = {
      ...{ nope: 'x', num_notes: '1', tier: 'GOLD', interests: 'golf;nope', score: 'many', visited_at: 'soon' },
      ...{ anniversary: '1709195400123', is_vip: 'yes', email: 'no address' },
    };
    const { status, body } = await call('POST /crm/v3/objects/contacts', { properties });
    expect([status, body.category]).to.deep.equal([400, 'VALIDATION_ERROR']);
    expect(body.message).to.match(/^Property values were not valid: \[\{"isValid":false,/);
    const codes = body.errors.map(({ code, context }: { code: string; context: { propertyName: string[] } }) => [
      ...context.propertyName,
      code,
    ]);
    expect(codes).to.have.deep.members([
      ['nope', 'PROPERTY_DOESNT_EXIST'],
      ['num_notes', 'READ_ONLY_VALUE'],
      ['tier', 'INVALID_OPTION'],
      ['interests', 'INVALID_OPTION'],
      ['score', 'INVALID_VALUE'],
      ['visited_at', 'INVALID_VALUE'],
      ['anniversary', 'INVALID_VALUE'],
      ['is_vip', 'INVALID_VALUE'],
      ['email', 'INVALID_EMAIL'],
    ]);
  });

  it('refuses a second record with a unique value', async () => {
    const [first] = await search({});
    const properties = { email: first?.properties.email?.toUpperCase() };
    expect((await call('POST /crm/v3/objects/contacts', { properties })).body).to.include({
      message: `Contact already exists. Existing ID: ${first?.id}`,
      category: 'CONFLICT',
    });
    expect(await call(`PATCH /crm/v3/objects/contacts/${first?.id}`, { properties })).to.include({ status: 200 });
  });

  it('describes properties of standard and custom objects, and the custom objects', async () => {
    const { results } = await ask('GET /crm/v3/properties/contacts');
    const named = (name: string) => results.find((each: { name: string }) => each.name === name);
    expect(named('email')).to.include({ type: 'string', hasUniqueValue: true, hubspotDefined: true });
    expect(named('tier').options.map(({ value }: { value: string }) => value)).to.deep.equal([
      'gold',
      'Silver',
      'BRONZE',
      'tin',
    ]);
    expect(named('tier')).to.include({ type: 'enumeration' }).and.not.have.property('hubspotDefined');
    expect(named('num_notes').modificationMetadata).to.include({ readOnlyValue: true });
    expect(named('hubspot_owner_id')).to.include({ referencedObjectType: 'OWNER', externalOptions: true });
    const { results: schemas } = await ask('GET /crm-object-schemas/v3/schemas');
    expect(schemas.map(({ objectTypeId }: { objectTypeId: string }) => objectTypeId)).to.deep.equal(['2-4711001']);
    expect((await call('GET /crm/v3/objects/dogs')).body.message).to.equal('Unable to infer object type from: dogs');
    expect((await call('GET /crm/v3/properties/dogs')).status).to.equal(400);
  });

  it('lists owners, who can be archived, and finds one by the id of the user', async () => {
    const { results, paging } = await ask('GET /crm/v3/owners?limit=3');
    expect(results).to.have.lengthOf(3);
    const next = await ask(`GET /crm/v3/owners?limit=500&after=${paging.next.after}`);
    const archived = await ask('GET /crm/v3/owners?archived=true');
    expect([...results, ...next.results, ...archived.results]).to.have.lengthOf(25);
    const [{ id, userId, email }] = results;
    expect(await ask(`GET /crm/v3/owners/${userId}?idProperty=userId`)).to.include({ id });
    expect((await ask(`GET /crm/v3/owners?email=${email}`)).results).to.deep.equal([results[0]]);
    expect((await call('GET /crm/v3/owners/1')).status).to.equal(404);
  });

  it('has every type of object, with rows that follow the description', async () => {
    for (const [name, { typeId, aliases }] of Object.entries(KINDS_BY_NAME)) {
      const { results } = await ask(`GET /crm/v3/objects/${name}?limit=100`);
      expect(results, name).to.have.lengthOf(100);
      for (const alias of [typeId, ...aliases]) {
        expect((await ask(`GET /crm/v3/objects/${alias}?limit=100`)).results, alias).to.deep.equal(results);
      }
    }
    expect(await ask('GET /account-info/v3/details')).to.include({ portalId: 8472 });
  });

  it('finds a change when its index knows of it', async () => {
    restart({ indexLagMs: 30_000 });
    const { id } = await ask('POST /crm/v3/objects/contacts', { properties: { city: 'Bern' } });
    const find = async (city: string) => (await search(filtered('city', 'EQ', { value: city }))).map((each) => each.id);
    expect(await find('Bern')).to.deep.equal([]);
    await simulator.command('/simulate/clock', { byMs: 20_000 });
    await ask(`PATCH /crm/v3/objects/contacts/${id}`, { properties: { city: 'Thun' } });
    await simulator.command('/simulate/clock', { byMs: 20_000 });
    expect([await find('Bern'), await find('Thun')]).to.deep.equal([[id], []]);
    await simulator.command('/simulate/clock', { byMs: 20_000 });
    expect([await find('Bern'), await find('Thun')]).to.deep.equal([[], [id]]);
  });

  it('limits calls and searches, and names the policy', async () => {
    restart({ callsPerTenSeconds: 3, searchesPerSecond: 1 });
    expect((await call('GET /crm/v3/owners')).headers.get('x-hubspot-ratelimit-remaining')).to.equal('2');
    await ask('POST /crm/v3/objects/contacts/search', {});
    const searched = await call('POST /crm/v3/objects/contacts/search', {});
    expect([searched.status, searched.body.policyName]).to.deep.equal([429, 'SECONDLY']);
    const limited = await call('GET /crm/v3/owners');
    expect(limited.body).to.include({ policyName: 'TEN_SECONDLY_ROLLING', category: 'RATE_LIMITS' });
    expect(limited.headers.get('x-hubspot-ratelimit-interval-milliseconds')).to.equal('10000');
  });

  it('logs in by a code, refreshes with the same token again, and ends access tokens after 30 minutes', async () => {
    const link =
      '/oauth/authorize?client_id=demo-client&scope=oauth&state=s&auto=approve&redirect_uri=https://a.example/cb';
    const { location } = await call(`GET ${link}`);
    const code = location.searchParams.get('code') ?? '';
    const client = { client_id: 'demo-client', client_secret: 'demo-secret' };
    const grant = (more: Record<string, string>) =>
      call('POST /oauth/v1/token', new URLSearchParams({ ...client, ...more }));
    const first = await grant({ grant_type: 'authorization_code', redirect_uri: 'https://a.example/cb', code });
    expect(first.body).to.include({ token_type: 'bearer', expires_in: 1800, token_use: 'access_token' });
    const { access_token: token, refresh_token } = first.body;
    expect((await call('GET /crm/v3/owners', undefined, token)).status).to.equal(200);
    await simulator.command('/simulate/clock', { byMs: 1_800_000 });
    expect((await call('GET /crm/v3/owners', undefined, token)).body).to.include({
      category: 'INVALID_AUTHENTICATION',
    });
    for (const _ of [1, 2]) {
      const again = await grant({ grant_type: 'refresh_token', refresh_token });
      expect(again.body.refresh_token).to.equal(refresh_token);
      expect((await call('GET /crm/v3/owners', undefined, again.body.access_token)).status).to.equal(200);
    }
    const statuses = [
      await grant({ grant_type: 'authorization_code', redirect_uri: 'https://a.example/cb', code }),
      await grant({ grant_type: 'refresh_token', refresh_token: 'x' }),
      await grant({ grant_type: 'refresh_token', refresh_token, client_secret: 'x' }),
    ].map(({ status, body }) => [status, body.status]);
    expect(statuses).to.deep.equal([
      [400, 'BAD_AUTH_CODE'],
      [400, 'BAD_REFRESH_TOKEN'],
      [400, 'BAD_CLIENT_ID'],
    ]);
    expect((await call('GET /crm/v3/owners', undefined, DEMO_PRIVATE_TOKEN)).status).to.equal(200);
  });

  it('signs webhooks in both versions', async () => {
    const url = 'https://me.example/hook?x=1';
    await simulator.command('/simulate/webhooks', { url, secret: 's3cret' });
    await simulator.command('/simulate/changes', { table: 'contacts', create: 1, update: 1, remove: 1 });
    await simulator.command('/simulate/changes', { table: 'notes', create: 1 });
    const batches = sent.map(({ body }) =>
      JSON.parse(body).map((event: { subscriptionType: string }) => event.subscriptionType),
    );
    expect(batches).to.deep.equal([['contact.creation'], ['contact.propertyChange'], ['contact.deletion']]);
    for (const { headers, body } of sent) {
      const signed = `POST${url}${body}${headers['x-hubspot-request-timestamp']}`;
      expect(headers['x-hubspot-signature-v3']).to.equal(
        createHmac('sha256', 's3cret').update(signed).digest('base64'),
      );
      expect(headers['x-hubspot-signature']).to.equal(createHash('sha256').update(`s3cret${body}`).digest('hex'));
    }
  });

  it('tells the author of a request that HubSpot does not know', async () => {
    const wrong = [
      'GET /crm/v3/objects/contacts?sort=email',
      'GET /crm/v4/objects/contacts',
      'PUT /crm/v3/objects/contacts/1',
    ];
    for (const request of wrong)
      expect((await call(request)).body.category).to.equal('CONTRADICTS_OFFICIAL_DESCRIPTION');
    await call('POST /crm/v3/objects/contacts', { properties: { score: 12 } });
    expect(simulator.takeContradictions()).to.have.lengthOf(4);
  });
});
