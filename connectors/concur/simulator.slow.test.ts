import { expect } from 'chai';
import { callProvider, type ServedSimulator, serveSimulator, type TestCall } from '#connector/testing';
import { createSimulator, DEMO_ACCESS_TOKEN, GEOLOCATION, TRAVELER_ACCESS_TOKEN } from './simulator.ts';

const as = (token: string, more = {}) => ({ authorization: `Bearer ${token}`, accept: 'application/json', ...more });
const at = (host: string) => ({ forwarded: `host=${host}.api.concursolutions.com` });
const TRAVELER = 'J.Traveler+1@example.com';
const REPORTS = '/api/v3.0/expense/reports';
const ENTRIES = '/api/v3.0/expense/entries';
/** The members and types of the provider's OpenAPI document of Reports v3. Members are nullable if its examples show null. */
const KINDS: readonly (readonly [members: string, kind: RegExp])[] = [
  ['(Personal|TotalApproved|TotalClaimed)Amount|AmountDue(CompanyCard|Employee)|Total', /^-?\d+(\.\d\d?)?$/],
  ['EverSentBack|HasException|ReceiptsReceived', /^(true|false)$/],
  ['(Create|LastModified)Date', /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,2}[1-9])?"$/],
  ['(Paid|ProcessingPayment|Submit|UserDefined)Date', /^(null|"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,2}[1-9])?")$/],
  ['(Approval|Payment)Status(Code|Name)|Owner(LoginID|Name)|(Ledger)?Name|CurrencyCode|Country', /^".+"$/],
  ['ID|URI|PolicyID|LastComment|WorkflowActionUrl', /^"/],
  ['Approver(LoginID|Name)|CountrySubdivision', /^(null|".+")$/],
  ['OrgUnit[1-6]|Custom1?[1-9]|Custom[12]0', /^(null|\{"Code":.+,"ListItemID":.+,"Type":".+","Value":".+"\})$/],
];

describe('the SAP Concur simulator', () => {
  let simulator: ServedSimulator;
  before(async () => {
    simulator = await serveSimulator('concur', createSimulator);
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  const call = (path: string, options: TestCall = {}) =>
    callProvider(simulator.url + path, { headers: as(DEMO_ACCESS_TOKEN), ...options });
  const send = (method: string, path: string, body: object) => call(path, { method, body });
  const token = (form: Readonly<Record<string, string>>, host = 'us') =>
    call('/oauth2/v0/token', { headers: at(host), body: new URLSearchParams(form) });
  const statusesOf = (...all: readonly Readonly<Record<string, string>>[]) =>
    Promise.all(all.map(async (headers) => (await call(REPORTS, { headers })).status));
  async function list(query = '', path = REPORTS): Promise<readonly Row[]> {
    const { Items = [], NextPage } = (await call(`${path}?user=ALL&limit=100${query}`)).body;
    const rest = typeof NextPage === 'string' ? (await call(path + new URL(NextPage).search)).body.Items : undefined;
    return [...Items, ...(rest ?? [])];
  }

  it('gives tokens for a code, and others for a refresh token, with the base of what follows', async () => {
    const address = 'https://app.example/back';
    const login = `/oauth2/v0/authorize?client_id=demo-client&redirect_uri=${address}&response_type=code&auto`;
    const goOn = async (choice: string) =>
      (await call(login + choice, { headers: at('www-us') })).location.searchParams;
    expect([...(await goOn('=deny')).keys()]).to.have.members(['error_code', 'error_description']);
    const back = await goOn('=approve&state=s');
    expect(Object.fromEntries(back)).to.include({ geolocation: GEOLOCATION, state: 's' });
    const client = { client_id: 'demo-client', client_secret: 'demo-secret' };
    const code = { ...client, grant_type: 'authorization_code', redirect_uri: address, code: back.get('code') ?? '' };
    const first = (await token(code)).body;
    expect(first).to.include({ expires_in: 3600, token_type: 'Bearer', scope: 'EXPRPT', geolocation: GEOLOCATION });
    expect(Number(first.refresh_expires_in) * 1000).to.be.above(Date.now() + 182 * 86_400_000);
    expect((await token(code)).body).to.include({ error: 'invalid_request' });
    const renewal = { ...client, grant_type: 'refresh_token', refresh_token: String(first.refresh_token) };
    expect((await token(renewal, 'eu2')).body).to.include({ code: 16, geolocation: GEOLOCATION });
    const second = (await token(renewal, 'us2')).body;
    expect(second.refresh_token).to.be.a('string').and.not.equal(first.refresh_token);
    expect((await token(renewal, 'us2')).body).to.include({ error: 'invalid_grant' });
    expect(await statusesOf(as(String(second.access_token)))).to.deep.equal([200]);
    await simulator.command('/simulate/clock', { byMs: 3_600_000 });
    expect(await statusesOf(as(String(second.access_token)))).to.deep.equal([403]);
  });

  it('wants a good token at its data center: 401 without one, 403 for others', async () => {
    const [here, elsewhere] = [as(DEMO_ACCESS_TOKEN, at('us2')), as(DEMO_ACCESS_TOKEN, at('eu2'))];
    expect(await statusesOf({}, as('nope'), elsewhere, here)).to.deep.equal([401, 403, 403, 200]);
    const { Error: error } = (await call(REPORTS, { headers: as('nope') })).body;
    expect(error).to.have.all.keys('Message', 'Server-Time', 'Id');
    expect(error?.Message).to.equal('Forbidden. Please check your Instance URL and OAuth token.');
  });

  it('shows reports with the members and types of the documents', async () => {
    const rows = await list();
    expect(rows).to.have.length(120);
    for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
      const [, kind] = KINDS.find(([members]) => new RegExp(`^(${members})$`).test(name)) ?? [];
      expect(JSON.stringify(value), name).to.match(kind ?? /nothing/);
    }
    for (const row of rows) expect(Object.keys(row)).to.have.length(59);
  });

  it('pages by addresses, 25 rows unless told and 100 at most', async () => {
    const [usual, most] = await Promise.all([call(REPORTS), call(`${REPORTS}?user=ALL&limit=1000`)]);
    expect([usual.body.Items?.length, most.body.Items?.length]).to.deep.equal([25, 100]);
    expect(usual.body.NextPage).to.match(new RegExp(`^${simulator.url}${REPORTS}\\?offset=\\w+$`));
    expect((await call(`${REPORTS}?limit=70`)).body.NextPage).to.equal(null);
  });

  it('shows the own reports, and those of others to an administrator', async () => {
    const other = `user=${encodeURIComponent(TRAVELER)}`;
    const countAs = async (bearer: string, query: string) => {
      const { status, body } = await call(`${REPORTS}?limit=100&${query}`, { headers: as(bearer) });
      return body.Items?.length ?? status;
    };
    const queries = ['', other, 'user=ALL', 'user=nobody'];
    const byAdmin = await Promise.all(queries.map((query) => countAs(DEMO_ACCESS_TOKEN, query)));
    expect(byAdmin).to.deep.equal([70, 50, 100, 0]);
    const byTraveler = await Promise.all(queries.map((query) => countAs(TRAVELER_ACCESS_TOKEN, query)));
    expect(byTraveler).to.deep.equal([50, 50, 403, 403]);
    const [row = {}] = (await call(`${REPORTS}?${other}`)).body.Items ?? [];
    const one = await Promise.all(['', other, 'user=ALL'].map((query) => call(`${REPORTS}/${row.ID}?${query}`)));
    expect(one.map(({ status }) => status)).to.deep.equal([404, 200, 400]);
  });

  const MADE = '2024-01-06T23:59:59.997';
  const FILTERS: Readonly<Record<string, (row: Row, entries: readonly Row[]) => boolean>> = {
    'approvalStatusCode=A_PEND,a_qx7': ({ ApprovalStatusCode: code }) => code === 'A_PEND' || code === 'A_QX7',
    'paymentStatusCode=P_PAID&countryCode=us&nope=1&batchID=': (row) =>
      row.PaymentStatusCode === 'P_PAID' && row.Country === 'US',
    [`createDateAfter=${MADE}`]: ({ CreateDate }) => String(CreateDate) > MADE,
    [`createDateBefore=${MADE}`]: ({ CreateDate }) => String(CreateDate) < MADE,
    'userDefinedDateAfter=2024-01-17': ({ UserDefinedDate: day }) => day !== null && String(day) >= '2024-01-18',
    'paidDateBefore=9999-12-31T00:00:00.000': ({ PaidDate }) => PaidDate !== null,
    'modifiedDateBefore=2024-01-15': ({ LastModifiedDate }) => String(LastModifiedDate) < '2024-01-15',
    'isTestUser=TRUE&reimbursementMethod=APCHECK': ({ OwnerLoginID }) => OwnerLoginID === TRAVELER,
    'vendorName=ACME HOTELS ': (_, all) => all.some(({ VendorDescription: name }) => /^acme/i.test(String(name))),
    'hasVAT=false': (_, all) => all.every(({ HasVAT }) => HasVAT === false),
    'hasAttendees=true': (_, all) => all.some(({ HasAttendees }) => HasAttendees === true),
    'entryTransactionDateAfter=2024-12-01': (_, all) => all.some((each) => String(each.TransactionDate) > '2024-12-02'),
  };

  it('filters by all that is asked; bounds are strict, and two parameters take lists', async () => {
    const [rows, entries] = await Promise.all([list(), list('', ENTRIES)]);
    const entriesOf = ({ ID }: Row) => entries.filter(({ ReportID }) => ReportID === ID);
    for (const [query, test] of Object.entries(FILTERS)) {
      const found = (await list(`&${query}`)).map(({ ID }) => ID);
      expect(found.length, query).to.be.within(1, 119);
      expect(found, query).to.deep.equal(rows.filter((row) => test(row, entriesOf(row))).map(({ ID }) => ID));
    }
    expect(await list(`&reportID=${rows[2]?.ID}`, ENTRIES)).to.deep.equal(entriesOf(rows[2] ?? {}));
  });

  it('creates a report and answers where it is, changes it without an answer, and deletes none', async () => {
    const values = { Name: "D'Arcy 李", Comment: 'c', OrgUnit1: '02', Custom9: 'y', Total: 5 };
    const made = await send('POST', REPORTS, values);
    const path = `${REPORTS}/${made.body.ID}`;
    expect(made.body).to.deep.equal({ ID: made.body.ID, URI: simulator.url + path });
    const shown = { Name: "D'Arcy 李", LastComment: 'c', Total: 0, 'OrgUnit1.Value': "R&D «O'Neil»", Custom9: null };
    expect((await call(path)).body).to.nested.include(shown);
    const day = '2024-02-29T10:30:00';
    const change = { Name: 'n', OrgUnit1: '', Comment: null, UserDefinedDate: day };
    expect(await send('PUT', path, change)).to.include({ status: 204, text: '' });
    expect((await call(path)).body).to.include({ Name: 'n', OrgUnit1: null, LastComment: 'c', UserDefinedDate: day });
    expect((await call(path, { method: 'DELETE' })).status).to.equal(405);
    const [paid = {}] = await list('&paymentStatusCode=P_PAID');
    expect((await send('PUT', `${REPORTS}/${paid.ID}`, { Name: 'n' })).status).to.equal(400);
  });

  it('refuses values that are none', async () => {
    const queries = ['limit=0', 'offset=25', 'hasVAT=1', 'paidDateAfter=2024-02-30', 'paidDateAfter=2024-03-05T00:00'];
    const bodies = [{}, { Name: 5 }, { Name: 'x'.repeat(41) }, { Name: 'x', UserDefinedDate: 'now' }];
    const lists = queries.map((query) => call(`${REPORTS}?${query}`));
    const responses = await Promise.all([...lists, ...bodies.map((body) => send('POST', REPORTS, body))]);
    for (const { status, body } of responses)
      expect([status, typeof body.Error?.Message]).to.deep.equal([400, 'string']);
  });

  it('answers XML to those who do not accept JSON', async () => {
    const headers = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
    const { text } = await call(`${REPORTS}?limit=1`, { headers });
    expect(text).to.match(/<Reports [^>]+><Items [^>]+><Report [^>]+>.+<\w+ xsi:nil="true" \/>/);
    const none = await call(`${REPORTS}?countryCode=XX`, { headers });
    expect(none.text).to.match(/<Items [^>]+><\/Items><NextPage xsi:nil="true" \/><\/Reports>$/);
  });

  it('changes records on request', async () => {
    const counts = { table: 'reports', create: 1, update: 2, remove: 1 };
    const { created, updated } = Object(await simulator.command('/simulate/changes', counts));
    const since = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const found = (await list(`&modifiedDateAfter=${since}`)).map(({ ID }) => ID);
    expect(found).to.have.members([...created, ...updated]);
  });

  it('takes what it is told for a limit, and for the status of a bad token', async () => {
    const reported = { callsPerMinute: 1, badToken: 401 } as const;
    const other = await serveSimulator('concur', (options) => createSimulator({ ...options, ...reported }));
    const statusOf = async (bearer: string) => (await fetch(other.url + REPORTS, { headers: as(bearer) })).status;
    expect([await statusOf('nope'), await statusOf(DEMO_ACCESS_TOKEN)]).to.deep.equal([401, 429]);
    await other.stop();
  });
});

type Row = Readonly<Record<string, unknown>>;
