import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { ManageAPI, utils } from 'connectwise-rest';
import type { SimulatorOptions } from '#connector/simulator';
import { callProvider, type ServedSimulator, serveSimulator, type TestCall } from '#connector/testing';
import { CLIENT_ID, COMPANY, createSimulator, PRIVATE_KEY, PUBLIC_KEY, SIGNING_KEY } from './simulator.ts';

const BASE = '/v4_6_release/apis/3.0';
const basicOf = (user: string, password = PRIVATE_KEY) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const LOGIN = { authorization: basicOf(`${COMPANY}+${PUBLIC_KEY}`), clientId: CLIENT_ID };
/** Types that are generated from the provider's OpenAPI document. */
const DOCUMENT = readFileSync(createRequire(import.meta.url).resolve('connectwise-rest/dist/ManageTypes.d.ts'), 'utf8');

/** A response body. Its type is not checked, because the tests compare every member that they read. */
type Body = Readonly<Record<string, unknown>>;
type Sent = Parameters<NonNullable<SimulatorOptions['send']>>[0];

/** Creates a client of connectwise-rest that uses the simulator instead of the cloud. */
function createClient(url: string, privateKey = PRIVATE_KEY): ManageAPI {
  const keys = { companyId: COMPANY, companyUrl: 'localhost', publicKey: PUBLIC_KEY, privateKey, clientId: CLIENT_ID };
  const client = new ManageAPI({ ...keys, logger: () => undefined });
  for (const api of [client, client.ServiceAPI, client.CompanyAPI, client.TimeAPI, client.SalesAPI, client.SystemAPI]) {
    Reflect.get(api, 'instance').defaults.baseURL = url + BASE;
  }
  return client;
}

describe('the ConnectWise simulator', () => {
  const sent: Sent[] = [];
  const saved: unknown[] = [];
  const memory = { load: () => saved.at(-1), save: (value: unknown) => void saved.push(value) };
  let served: ServedSimulator;
  let client: ManageAPI;

  before(async () => {
    served = await serveSimulator('connectwise', (options) =>
      createSimulator({ ...options, memory, send: (webhook) => void sent.push(webhook) }),
    );
    client = createClient(served.url);
  });
  after(() => served.stop());
  beforeEach(() => {
    sent.length = 0;
    saved.length = 0;
    served.reset();
  });

  const ask = (path: string, options: TestCall = {}) =>
    callProvider(path.startsWith('http') ? path : served.url + BASE + path, { headers: LOGIN, ...options });
  const read = async (path: string, options?: TestCall) => (await ask(path, options)).body;
  const send = (method: string, path: string, body: object) => read(path, { method, body });
  const count = async (parameters: Body, path = '/service/tickets') => {
    const { length, message } = await read(`${path}?pageSize=1000&${new URLSearchParams(Object(parameters))}`);
    return length ?? message;
  };
  const tickets = (conditions: string) => count({ conditions });

  it('shows no member that the OpenAPI document does not have', async () => {
    const later = ['connectWiseID', 'screenId', 'screenDescription', 'podDescription'];
    for (const [path, schema] of Object.entries(SCHEMAS)) {
      const start = DOCUMENT.search(new RegExp(`\\n {8}"?${schema.replace('.', '\\.')}"?: \\{`));
      const text = DOCUMENT.slice(start, DOCUMENT.indexOf('\n        };', start));
      const known = [...text.matchAll(/\n {12}(\w+)\??:/g)].map(([, name]) => name);
      const rows: readonly Body[] = (await ask(`${path}?pageSize=1000`)).body;
      expect(rows.length, path).to.be.within(1, 150);
      expect([...known, ...later]).to.include.members([...new Set(rows.flatMap((row) => Object.keys(row)))]);
    }
  });

  it('lets in the keys of the company with a client id, and tells others as the cloud does', async () => {
    const { authorization, clientId } = LOGIN;
    const wrong: readonly TestCall['headers'][] = [
      { authorization },
      { clientId },
      { clientId, authorization: basicOf(`${COMPANY}+${PUBLIC_KEY}`, 'wrong') },
      { clientId, authorization: basicOf(`other+${PUBLIC_KEY}`) },
      { clientId, authorization, forwarded: 'host=api-na.myconnectwise.example' },
    ];
    const refused = await Promise.all(wrong.map((headers) => ask('/service/tickets/5000', { headers: headers ?? {} })));
    expect(refused.map(({ status }) => status)).to.deep.equal([401, 401, 401, 400, 400]);
    expect(refused[3]?.text).to.equal('Cannot route. Codebase/company is invalid');
    expect(await read('/service/tickets/5000')).to.include({ id: 5000 });
    const { ServiceAPI } = createClient(served.url, 'wrong');
    expect(await failureOf(ServiceAPI.getServiceTickets())).to.include({ status: 401 });
    const limited = await ask('/service/tickets/5000', { headers: { ...LOGIN, 'x-simulate': '429; retry-after=30' } });
    const message = 'Too many requests. Please try again in 30 seconds.';
    expect(limited.body).to.deep.equal({ error: 'ConnectWiseAPI', message });
    expect(await read('/nothing')).to.deep.equal({ code: 'ConnectWiseApi', message: 'The endpoint does not exist.' });
  });

  it('gives lists to its client, by pages of numbers and forward only', async () => {
    const parameters = { conditions: 'closedFlag = false', orderBy: 'summary desc, id asc' };
    const whole = await client.ServiceAPI.getServiceTickets({ ...parameters, pageSize: 1000 });
    const paged = await client.paginate(client.ServiceAPI.getServiceTickets, { pageSize: 7 }, parameters);
    expect(paged).to.deep.equal(whole).and.to.have.lengthOf(90);
    const { headers: shown } = await ask('/company/contacts?pagesize=30&page=2&conditions=id>0');
    const link = shown.get('link');
    expect(link).to.match(/contacts\/\?conditions=id%3E0&pageSize=30&page=3>; rel="next", .*page=3>; rel="last"/);
    expect(link).to.match(/page=1>; rel="first", .*page=1>; rel="prev"$/);
    const ids: unknown[] = [];
    const headers = { ...LOGIN, 'pagination-type': 'forward-only' };
    for (let next: string | undefined = '/company/contacts?pageSize=30'; next !== undefined; ) {
      const page = await ask(next, { headers });
      ids.push(...page.body.map(({ id }: Body) => id));
      next = /<(.*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect([ids.length, new Set(ids).size]).to.deep.equal([80, 80]);
    expect(await read('/company/contacts?orderBy=id', { headers })).to.include({ code: 'ApiFindCondition' });
    expect(await read('/service/tickets?pageSize=1001')).to.include({ code: 'ApiFindCondition' });
  });

  it('reads conditions as the guide writes them', async () => {
    for (const [conditions, found] of Object.entries(READ))
      expect(await tickets(conditions), conditions).to.equal(found);
    expect(await tickets('summary = "printer"')).to.equal(await tickets('summary like "PRINTER%"'));
    expect(await tickets('summary like "[[]brackets]"'))
      .to.equal(await tickets('summary = "[brackets]"'))
      .and.not.to.equal(0);
    const [all, valued] = [await tickets(''), await tickets('company/id != null')];
    expect([all, Number(valued) + Number(await tickets('company/id = null'))]).to.deep.equal([120, 120]);
    const [later, earlier] = ['>=', '<'].map((sign) => tickets(`_info/lastUpdated ${sign} [2023-12-31T10:00:00Z]`));
    expect(Number(await later) + Number(await earlier)).to.equal(120);
  });

  it('refuses what is no condition, in its own words where they are known', async () => {
    for (const [conditions, message] of Object.entries(TOLD)) expect(await tickets(conditions)).to.equal(message);
    for (const conditions of WRONG) {
      const { status, text } = await ask(`/service/tickets?conditions=${encodeURIComponent(conditions)}`);
      expect([status, JSON.parse(text).code], conditions).to.deep.equal([400, 'ApiFindCondition']);
    }
    expect(await read('/company/contacts?conditions=types/name="Primary"')).to.include({ code: 'ApiFindCondition' });
  });

  it('creates, patches, replaces and deletes for its client', async () => {
    const ticket = { summary: "O'Brien 👩‍🚀", company: { identifier: 'Company1' } };
    const made = await client.ServiceAPI.postServiceTickets(ticket);
    expect(made).to.deep.include({ recordType: 'ServiceTicket', severity: 'Medium', closedFlag: false });
    expect(made.company).to.include({ id: 253, identifier: 'Company1' });
    const id = Number(made.id);
    const patch = (path: string, value: unknown) =>
      send('PATCH', `/service/tickets/${id}`, [{ op: 'replace', path, value }]);
    expect(await patch('/summary', 'New')).to.include({ summary: 'New' });
    // A change inside an object has no effect, although the status is 200.
    expect((await patch('company/id', 250)).company).to.deep.equal(made.company);
    expect(await patch('company', { id: 1 })).to.deep.equal({
      ...{ code: 'InvalidObject', message: 'ticket object is invalid' },
      errors: [{ code: 'NotFound', message: 'company not found', resource: 'ticket', field: 'company/id' }],
    });
    const fields = Object(await patch('customFields', [{ id: 16, value: 7.5 }])).customFields;
    expect(fields.map(({ value }: Body) => value)).to.deep.equal([null, 7.5, null, null]);
    const said = { text: 'two\nlines', resolutionFlag: true };
    const note = await client.ServiceAPI.postServiceTicketsByParentIdNotes(id, said);
    expect(note).to.include({ ticketId: id, ...said });
    await client.ServiceAPI.deleteServiceTicketsById(id);
    const data = { code: 'NotFound', message: `Service Ticket ${id} not found` };
    expect(await failureOf(client.ServiceAPI.getServiceTicketsById(id))).to.deep.include({ status: 404, data });
    expect(Object(await send('POST', '/company/contacts', {})).errors).to.deep.equal([
      { ...MISSING, message: 'The firstName field is required.', resource: 'contact', field: 'firstName' },
    ]);
    const hours = { timeStart: '2026-01-31T08:00:00Z', timeEnd: '2026-01-31T09:30:00Z', chargeToId: 5000 };
    expect((await client.TimeAPI.postTimeEntries(hours)).ticket).to.include({ id: 5000 });
    await client.CompanyAPI.deleteCompanyCompaniesById(250);
    expect(await client.CompanyAPI.getCompanyCompaniesById(250)).to.include({ deletedFlag: true });
  });

  it('calls back, so that its client finds the signature good and every change of it not', async () => {
    const entry = { url: 'https://app.example.com/hook?recordId=', objectId: 1, type: 'contact', level: 'owner' };
    const made = await client.SystemAPI.postSystemCallbacks(entry);
    expect(made).to.deep.include({ ...entry, payloadVersion: '3.0.0', inactiveFlag: false });
    const again = Object(await send('POST', '/system/callbacks', { ...entry, url: 'ftp://x', level: 'x' }));
    expect(again.errors.map(({ field }: Body) => field)).to.deep.equal(['url', 'level']);
    expect(Object(await send('POST', '/system/callbacks', entry)).errors[0]).to.include({ code: 'ObjectExists' });
    // After a restart the simulator still has its callbacks.
    served.reset();
    await served.command('/simulate/changes', { table: 'contacts', create: 1, update: 1, remove: 1 });
    const bodies = sent.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ Action }) => Action)).to.deep.equal(['added', 'updated', 'deleted']);
    expect(JSON.parse(bodies[1].Entity)).to.include({ id: bodies[1].ID, title: 'Changed 1' });
    const { id: CallbackObjectRecId } = made;
    expect(bodies[2]).to.deep.include({ Entity: null, Type: 'contact', CompanyId: COMPANY, CallbackObjectRecId });
    expect(sent[1]?.url).to.equal(`https://app.example.com/hook?recordId=${bodies[1].ID}&action=updated`);
    const { signing_key: key } = await read(bodies[0].Metadata.key_url, { headers: {} });
    expect(key).to.equal(SIGNING_KEY);
    const { verifyMessage } = utils.Callback;
    const signature = sent[0]?.headers['x-content-signature'] ?? '';
    expect(verifyMessage(bodies[0], signature, SIGNING_KEY)).to.equal(true);
    expect(verifyMessage({ ...bodies[0], ID: 1 }, signature, SIGNING_KEY)).to.equal(false);
    expect(verifyMessage(bodies[0], signature, 'other')).to.equal(false);
    await client.SystemAPI.deleteSystemCallbacksById(Number(made.id));
    await served.command('/simulate/changes', { table: 'contacts', update: 1 });
    expect(sent).to.have.lengthOf(3);
  });
});

/** The number of tickets per condition. The first conditions are examples of the developer guide and of the README of connectwise-rest. */
const READ = {
  '(contact/name like "Fred%" and closedFlag = false) or summary contains "test" AND  summary != "Some Summary"': 0,
  'dateEntered > [2015-12-23T05:53:27Z]': 120,
  'ClosedFlag = True': 30,
  'Board/Id in (1, 2)': 80,
  "board/name='Integration'": 40,
  'board/id not in (1, 2) and Summary Not Contains "Low Priority"': 40,
  '(id = 5000 or id = 5003) and id > 5003': 0,
  'id = 5000 or id = 5003 and id > 5003': 1,
};
const TOLD = {
  'invoiceDate = 1': 'invoiceDate is not a recognized name.',
  'closedFlag = 1': 'Expected a boolean value, not a numeric.',
  'severity = "Huge"': 'Enum value supplied was invalid',
  'customFields = 1': 'customFields is not a recognized name.',
};
const WRONG = [
  ...['id', 'id =', 'id = 1 and', '(id = 1', 'id = 1)', 'summary = x', 'summary = "a', 'id like 1', 'id in ()'],
  ...['summary = "a\\"', 'summary like "[a]"', 'lastUpdated > "2020-01-01"', 'id < null', 'id not = 1', 'id = 1;'],
];
const MISSING = { code: 'MissingRequiredField' };
const SCHEMAS = {
  '/service/tickets': 'Ticket',
  '/service/tickets/5000/notes': 'ServiceNote',
  '/time/entries': 'TimeEntry',
  '/company/companies': 'Company',
  '/company/contacts': 'Contact',
  '/company/configurations': 'Company.Configuration',
  '/sales/opportunities': 'Opportunity',
  '/system/userDefinedFields': 'UserDefinedField',
};

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => Promise.reject(new Error('It did not fail.')),
    (failure: unknown) => failure,
  );
}
