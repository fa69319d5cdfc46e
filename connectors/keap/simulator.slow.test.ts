import { expect } from 'chai';
import type { SimulatorOptions } from '#connector/simulator';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { createSimulator, DEMO_ACCESS_KEY, DEMO_ACCESS_TOKEN } from './simulator.ts';

type SentWebhook = Parameters<NonNullable<SimulatorOptions['send']>>[0];

const CONTACT_FIELDS = 'id,email_addresses,phone_numbers,addresses,custom_fields,update_time';

const has = (part: RegExp) => (row: ResponseBody) => part.test(JSON.stringify(row));

/** Filters of v2, each with the rows that it must match. */
const FILTERS: readonly (readonly [path: string, filter: string, means: (row: ResponseBody) => unknown])[] = [
  ['contacts', 'ids==1,2,11,8', ({ id }) => ['1', '2', '11'].includes(String(id))],
  ['contacts', 'contact_id>=5;contact_id<12', ({ id }) => Number(id) >= 5 && Number(id) < 12],
  ['contacts', 'email==PERSON3*', has(/"email":"Person3/)],
  ['contacts', 'phone_number==480*;phone_fields==PHONE1,PHONE2', has(/"number":"480/)],
  ['contacts', 'start_update_time==2024-02-01T00:00:00.000Z', (row) => String(row.update_time) > '2024-02'],
  ['contacts', 'billing_address_locality==chandler', has(/"field":"BILLING"[^}]*"locality":"CHANDLER"/i)],
  ['tags', 'description==NONE', has(/"description":(null|"")/)],
  [
    'tags',
    'category_id==NONE;until_create_time==2024-02-01T00:00:00Z;',
    ({ category, create_time }) => category === null && /^202(3-12|4-01)/.test(String(create_time)),
  ],
  [
    'tasks',
    'user_id==UNASSIGNED;is_completed==true',
    (row) => row.completed === true && row.assigned_to_user_id === null,
  ],
  ['tasks', 'title==PRINT*;has_due_date==true', has(/"title":"print.*"due_time":"/i)],
  ['opportunities', 'projected_revenue_high>1000', (row) => Number(row.projected_revenue_high) > 1000],
  ['orders', 'id!=1;id<=11;product_id==41', (row) => Number(row.id) <= 11 && has(/"product":{"id":"41"/)(row)],
  ['sales/transactions', 'amount<0;order_id==1', has(/"amount":-.*"order_ids":\["1"]/)],
  ['taskAppointments', 'start_time>=2024-01-20T00:00:00Z;user_id==17', has(/"17","start_time":"2024-0(1-[23]|[234])/)],
];

const REFUSED = [
  ...['tags?filter=nope==1', 'tags?filter=name', 'tags?filter=name>a', 'tags?filter=tag_ids==a', 'tags?filter=name=='],
  ...['contacts?filter=given_name==*a', 'contacts?filter=phone_number==480', 'contacts?filter=ids>2'],
  ...['contacts?filter=start_update_time==2026-01-01T00:00:00Z', 'tasks?filter=priority==LOW', 'contacts?fields=nope'],
  ...['opportunities?filter=ids==1;opportunity_id>2', 'tags?order_by=id asc', 'tags?order_by=name up'],
  ...['contacts?filter=phone_number==48*;phone_fields==PHONE1', 'tasks?filter=id!=1'],
  ...['tags?page_token=abc', 'files?filter=created_time>2026-01-01T00:00:00Z'],
];

describe('the Keap simulator', () => {
  let simulator: ServedSimulator;
  let sent: SentWebhook[] = [];
  before(async () => {
    const send = (webhook: SentWebhook) => void sent.push(webhook);
    simulator = await serveSimulator('keap', (options) => createSimulator({ ...options, send }));
  });
  after(() => simulator.stop());
  beforeEach(() => {
    simulator.reset();
    sent = [];
  });

  function call(path: string, method = 'GET', body?: object, more: Readonly<Record<string, string>> = {}) {
    const headers = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}`, ...more };
    if (body === undefined) return simulator.call<ResponseBody>(path, { method, headers });
    if (body instanceof FormData || body instanceof URLSearchParams)
      return simulator.call<ResponseBody>(path, { method, headers, body });
    const json = { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    return simulator.call<ResponseBody>(path, { method, ...json });
  }
  const at = (path: string, ...rest: CallRest) => call(`/crm/rest/${path}`, ...rest);
  const rowsOf = (body: ResponseBody): readonly ResponseBody[] => Object.values(body).find(Array.isArray) ?? [];
  const change = async (table: string, counts: object): Promise<object> =>
    Object(await simulator.command('/simulate/changes', { table, ...counts }));

  for (const [path, filter, means] of FILTERS) {
    it(`finds ${path} by ${filter}`, async () => {
      const all = { contacts: `fields=${CONTACT_FIELDS}`, tasks: 'fields=custom_fields' };
      const fields = Object.entries(all).find(([name]) => name === path)?.[1] ?? '';
      const meant = rowsOf((await at(`v2/${path}?${fields}`)).body).filter(means);
      expect(meant).to.have.length.within(1, 50);
      const found = await at(`v2/${path}?${fields}&filter=${encodeURIComponent(filter)}`);
      expect(rowsOf(found.body)).to.deep.equal(meant);
    });
  }

  it('refuses what the reference does not have', async () => {
    for (const path of REFUSED) {
      const { status, body } = await at(`v2/${path}`);
      expect([path, status, body.code, body.status]).to.deep.equal([path, 400, 400, 'INVALID_ARGUMENT']);
    }
  });

  it('lets in tokens and keys at both hosts, and refuses as the gateway does', async () => {
    const responses = [
      await at('v2/tags', 'GET', undefined, { forwarded: 'host=api.keap.com' }),
      await at('v1/appointments', 'GET', undefined, { authorization: '', 'x-keap-api-key': DEMO_ACCESS_KEY }),
      await at('v2/tags', 'GET', undefined, { forwarded: 'host=accounts.infusionsoft.com' }),
      await at('v2/tags', 'GET', undefined, { authorization: 'Bearer nope' }),
    ];
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 404, 401]);
    expect(responses[3]?.body).to.have.nested.property(
      'fault.detail.errorcode',
      'keymanagement.service.invalid_access_token',
    );
    expect(responses[3]?.headers.get('x-keap-product-quota-limit')).to.equal('');
    expect(responses[0]?.headers.get('x-keap-product-throttle-limit')).to.equal('1500');
  });

  it('gives tokens for a code, and for a refresh token that is used once, to a client that proves itself as in Keap’s SDK', async () => {
    const redirect_uri = 'https://app.example/back';
    const query = new URLSearchParams({ client_id: 'demo-client', redirect_uri, state: 's', auto: 'approve' });
    const back = new URL((await call(`/app/oauth/authorize?${query}`)).headers.get('location') ?? '').searchParams;
    expect(back.get('scope')).to.equal('full|ab103.infusionsoft.com');
    const client = { client_id: 'demo-client', client_secret: 'demo-secret' };
    const token = (form: Readonly<Record<string, string>>, authorization = '') =>
      call('/token', 'POST', new URLSearchParams(form), { authorization });
    const code = back.get('code') ?? '';
    const exchange = { grant_type: 'authorization_code', code, redirect_uri };
    expect((await token(exchange, `Basic ${btoa('demo-client:demo-secret')}`)).status).to.equal(401);
    const first = await token({ ...client, ...exchange });
    expect(first.body).to.include({ token_type: 'bearer', expires_in: 86_400 });
    const renew = { grant_type: 'refresh_token', refresh_token: String(first.body.refresh_token) };
    const basic = `Basic ${btoa('demo-client:demo-secret')}`;
    const responses = [await token({ ...client, ...renew }), await token(renew, basic), await token(renew, basic)];
    expect(responses.map(({ status }) => status)).to.deep.equal([401, 200, 400]);
    const authorization = `Bearer ${responses[1]?.body.access_token}`;
    expect((await at('v2/tags', 'GET', undefined, { authorization })).status).to.equal(200);
    expect((await token(client)).body.error_description).to.equal('response_type or grant_type is required');
  });

  it('pages v2 by tokens to an empty one, and v1 by links that do not end', async () => {
    const first = (await at('v2/tasks?page_size=40&order_by=due_time%20desc')).body;
    const rest = (await at(`v2/tasks?page_size=40&order_by=due_time%20desc&page_token=${first.next_page_token}`)).body;
    const due = [...rowsOf(first), ...rowsOf(rest)].map(({ due_time }) => String(due_time ?? ''));
    expect([rest.next_page_token, due.length, due]).to.deep.equal(['', 75, due.toSorted().reverse()]);
    const { next_page_token: address } = (await at('v2/tags?page_size=59')).body;
    expect(rowsOf((await call(String(address).slice(simulator.url.length))).body)).to.have.length(1);
    expect(rowsOf((await at('v2/tags?page_size=0')).body)).to.have.length(60);
    const { body } = await at('v1/appointments?limit=10&offset=60&since=2023-01-01T00:00:00.000Z');
    expect([rowsOf(body).length, body.count]).to.deep.equal([6, 66]);
    expect(body.next).to.match(/\/v1\/appointments\/\?limit=10&offset=70&since=2023-01-01T00%3A00%3A00\.000Z$/);
    const earned = await at('v1/affiliates/commissions?affiliateId=5&order=DATE_EARNED&order_direction=DESCENDING');
    const ofThird = rowsOf((await at('v2/affiliates/3:commissions')).body);
    expect(new Set(ofThird.map((row) => row.sales_affiliate_id))).to.deep.equal(new Set(['3']));
    const dates = rowsOf(earned.body).map(({ date_earned }) => String(date_earned));
    expect(dates).to.deep.equal(dates.toSorted().reverse()).and.to.have.length.above(10);
    expect(dates[0]).to.match(/^2024-0\d-\d\dT.*\.000\+0000$/);
    expect(new Set(rowsOf((await at('v1/tasks/search')).body).map(({ user_id }) => user_id))).to.deep.equal(
      new Set([1]),
    );
    expect((await at('v1/appointments?limit=x')).body).to.deep.equal({ message: 'limit is not valid' });
  });

  it('creates, changes what the mask names, and deletes', async () => {
    const contact = { given_name: "D'Arcy 李", phone_numbers: [{ number: '1', field: 'PHONE1' }] };
    const made = await at('v2/contacts?fields=id,given_name,source_type', 'POST', contact);
    expect(made.body).to.deep.equal({ id: made.body.id, given_name: "D'Arcy 李", source_type: 'API' });
    const path = `v2/contacts/${made.body.id}`;
    const changed = await at(`${path}?update_mask=family_name`, 'PATCH', { given_name: 'A', family_name: 'B' });
    expect(changed.body).to.deep.equal({ id: made.body.id, given_name: "D'Arcy 李", family_name: 'B' });
    expect([made.status, (await at(path, 'DELETE')).status]).to.deep.equal([201, 204]);
    expect((await at(path)).body).to.include({
      code: 404,
      message: 'Unable to find this Contact',
      status: 'NOT_FOUND',
    });
    const deal = { contact_id: '1', opportunity_title: 'x', stage_id: '18' };
    expect((await at('v2/opportunities', 'POST', deal)).body).to.nested.include({ 'stage.name': 'New Opportunity' });
    expect((await at('v2/opportunities', 'POST', { ...deal, contact_id: '9' })).status).to.equal(400);
    const times = { start_date: '2026-01-15T09:00:00.000Z', end_date: '2026-01-15T10:00:00.000Z' };
    const { body } = await at('v1/appointments', 'POST', { title: 'A', location: 'B', contact_id: 2, ...times });
    const one = `v1/appointments/${body.id}`;
    expect((await at(one, 'PATCH', { title: 'C' })).body).to.deep.equal({
      ...body,
      title: 'C',
      location: 'B',
      ...times,
    });
    expect((await at(one, 'DELETE')).status).to.equal(204);
    expect((await at(one)).body).to.deep.equal({ message: 'Unable to find this Appointment' });
  });

  it('takes files as they are, and gives them back', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ file_name: 'ü.bin', file_association: 'USER' })) form.set(name, value);
    expect((await at('v2/files', 'POST', form)).status).to.equal(400);
    form.set('file', new Blob(['\u0000content']), 'ü.bin');
    const made = await at('v2/files', 'POST', form);
    expect(made.body, made.text).to.include({ file_name: 'ü.bin', file_size: 8, contact_id: null, is_public: false });
    expect((await at(`v2/files/${made.body.id}:data`)).text).to.equal('\u0000content');
  });

  it('verifies a hook by its secret, and tells batches of ids of what changed', async () => {
    const hook = { eventKey: 'contact.edit', hookUrl: 'https://app.example/hook' };
    const made = await at('v1/hooks', 'POST', hook);
    expect(made.body).to.deep.equal({ key: made.body.key, ...hook, status: 'Verified' });
    expect(sent[0]).to.deep.include({ url: hook.hookUrl, body: '' }).and.have.nested.property('headers.x-hook-secret');
    await change('contacts', { create: 1, update: 2 });
    const reported = JSON.parse(sent[1]?.body ?? '{}');
    expect([sent.length, reported.event_key, reported.object_type]).to.deep.equal([2, 'contact.edit', 'contact']);
    expect(reported.object_keys.map(({ id }: ResponseBody) => id)).to.deep.equal([1, 2]);
    await simulator.command('/simulate/hooks', { echo: false });
    const again = await at(`v1/hooks/${made.body.key}/verify`, 'POST');
    await change('contacts', { update: 1 });
    expect([again.body.status, sent.length]).to.deep.equal(['Unverified', 3]);
    expect((await at(`v1/hooks/${made.body.key}`, 'DELETE')).status).to.equal(204);
  });

  it('changes rows of each table, refuses what is too much, and compares as it is told to', async () => {
    const tables = 'contacts tags tasks opportunities orders transactions emails files appointments commissions';
    for (const table of tables.split(' ')) {
      const keys = Object.values(await change(table, { create: 2, update: 1, remove: 1 }));
      expect(keys.map((each) => each.length)).to.deep.equal([2, 1, 1]);
    }
    const other = await serveSimulator('keap', (given) =>
      createSimulator({ ...given, text: 'as written', callsPerMinute: 1 }),
    );
    const headers = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
    const ask = async () => (await fetch(`${other.url}/crm/rest/v2/tasks?filter=title==follow*`, { headers })).text();
    const responses = [JSON.parse(await ask()), JSON.parse(await ask())];
    await other.stop();
    expect(responses[0].tasks).to.deep.equal([]);
    expect(responses[1].fault.detail.errorcode).to.equal('policies.ratelimit.QuotaViolation');
  });
});

type CallRest = readonly [method?: string, body?: object, headers?: Readonly<Record<string, string>>];

/** A response body. Its type is not checked, because the tests compare every member that they read. */
interface ResponseBody {
  readonly [member: string]: unknown;
}
