import { expect } from 'chai';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { type ConcurSimulatorOptions, createSimulator, DEMO_ACCESS_TOKEN, TRAVELER_ACCESS_TOKEN } from './simulator.ts';

const HOME = 'us2.api.concursolutions.com';
const as = (token: string, more = {}) => ({ authorization: `Bearer ${token}`, accept: 'application/json', ...more });
const REPORTS = '/api/v3.0/expense/reports';
const ADMIN = 'ws.admin@example.com';
const TRAVELER = 'J.Traveler+1@example.com';

/** ReportGet in the provider's OpenAPI document; what its two example answers leave out of a type is null there. */
const NUMBERS = 'AmountDueCompanyCard AmountDueEmployee PersonalAmount Total TotalApprovedAmount TotalClaimedAmount';
const FLAGS = 'EverSentBack HasException ReceiptsReceived';
const TIMES = 'CreateDate LastModifiedDate PaidDate ProcessingPaymentDate SubmitDate UserDefinedDate';
const TEXTS = `ApprovalStatusCode ApprovalStatusName ApproverLoginID ApproverName Country CountrySubdivision CurrencyCode ID
  LastComment LedgerName Name OwnerLoginID OwnerName PaymentStatusCode PaymentStatusName PolicyID URI WorkflowActionUrl`;
const NULLABLE = `ApproverLoginID ApproverName CountrySubdivision PaidDate ProcessingPaymentDate SubmitDate UserDefinedDate`;
const words = (text: string) => text.split(/\s+/);
const FIELDS = [
  ...Array.from({ length: 20 }, (_, index) => `Custom${index + 1}`),
  ...words('OrgUnit1 OrgUnit2 OrgUnit3 OrgUnit4 OrgUnit5 OrgUnit6'),
];

describe('the SAP Concur simulator', () => {
  let simulator: ServedSimulator;
  before(async () => {
    simulator = await serveSimulator('concur', createSimulator);
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  async function call(
    path: string,
    { method = 'GET', body, headers = as(DEMO_ACCESS_TOKEN), url = simulator.url }: CallOptions = {},
  ) {
    const response = await fetch(url + path, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const parsed: Answered = text.startsWith('{') ? JSON.parse(text) : {};
    return { status: response.status, headers: response.headers, text, body: parsed };
  }
  const send = (method: string, path: string, body: object) => call(path, { method, body: JSON.stringify(body) });
  const token = (form: Readonly<Record<string, string>>, host = 'us.api.concursolutions.com') =>
    call('/oauth2/v0/token', {
      method: 'POST',
      headers: { forwarded: `host=${host}` },
      body: new URLSearchParams(form),
    });
  async function list(query = '', path = REPORTS) {
    const { body } = await call(`${path}?user=ALL&limit=100${query}`);
    const next = body.NextPage == null ? undefined : new URL(String(body.NextPage));
    const rest = next === undefined ? [] : (await call(path + next.search)).body.Items;
    return [...(body.Items ?? []), ...(rest ?? [])];
  }

  it('gives tokens for a code, and others for a refresh token, with the base of what follows', async () => {
    const address = 'https://app.example/back';
    const asked = `/oauth2/v0/authorize?client_id=demo-client&redirect_uri=${address}&response_type=code&scope=EXPRPT&state=s&auto=`;
    const headers = { forwarded: 'host=www-us.api.concursolutions.com' };
    const back = new URL((await call(`${asked}approve`, { headers })).headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(back)).to.include({ geolocation: `https://${HOME}`, state: 's' });
    const denied = new URL((await call(`${asked}deny`, { headers })).headers.get('location') ?? '').searchParams;
    expect([denied.get('error_code'), denied.get('error')]).to.deep.equal(['access_denied', null]);
    const client = { client_id: 'demo-client', client_secret: 'demo-secret' };
    const exchange = {
      ...client,
      grant_type: 'authorization_code',
      redirect_uri: address,
      code: back.get('code') ?? '',
    };
    const first = (await token(exchange)).body;
    expect(first).to.include({
      expires_in: 3600,
      token_type: 'Bearer',
      scope: 'EXPRPT',
      geolocation: `https://${HOME}`,
    });
    expect(Number(first.refresh_expires_in) * 1000).to.be.above(Date.now() + 182 * 86_400_000);
    expect(String(first.id_token).split('.')).to.have.length(3);
    expect((await token(exchange)).body).to.include({ code: 103, error: 'invalid_request' });
    const renewal = { ...client, grant_type: 'refresh_token', refresh_token: String(first.refresh_token) };
    expect((await token(renewal, 'eu2.api.concursolutions.com')).body).to.include({
      code: 16,
      geolocation: `https://${HOME}`,
    });
    const second = (await token(renewal, HOME)).body;
    expect(second.refresh_token).to.be.a('string').and.not.equal(first.refresh_token);
    expect((await token(renewal, HOME)).body).to.include({ code: 108, error: 'invalid_grant' });
    const renewed = { headers: as(String(second.access_token)) };
    expect((await call(REPORTS, renewed)).status).to.equal(200);
    await simulator.command('/simulate/clock', { byMs: 3_600_000 });
    expect((await call(REPORTS, renewed)).status).to.equal(403);
  });

  it('says by numbers what is wrong about a request for tokens', async () => {
    const good = {
      grant_type: 'refresh_token',
      client_id: 'demo-client',
      client_secret: 'demo-secret',
      refresh_token: 'x',
    };
    const codes = await Promise.all(
      [
        {},
        { grant_type: 'x' },
        { ...good, client_secret: '' },
        { ...good, client_id: 'x' },
        { ...good, client_secret: 'x' },
        { ...good, grant_type: 'x' },
        good,
      ].map(async (form) => (await token(form)).body.code),
    );
    expect(codes).to.deep.equal([65, 62, 63, 61, 64, 60, 108]);
    const json = await call('/oauth2/v0/token', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(json.body.code).to.equal(135);
  });

  it('wants a good token at its data center: 401 without one, 403 for others', async () => {
    const tried = [
      { accept: '*/*' },
      as('nope'),
      as(DEMO_ACCESS_TOKEN, { forwarded: 'host=eu2.api.concursolutions.com' }),
    ];
    const home = [
      as(DEMO_ACCESS_TOKEN, { forwarded: `host=${HOME}` }),
      { authorization: `OAuth ${DEMO_ACCESS_TOKEN}` },
    ];
    const answers = await Promise.all([...tried, ...home].map((headers) => call(REPORTS, { headers })));
    expect(answers.map(({ status }) => status)).to.deep.equal([401, 403, 403, 200, 200]);
    const { Error: error = {} } = answers[1]?.body ?? {};
    expect(error).to.have.keys('Message', 'Server-Time', 'Id');
    expect(error.Message).to.equal('Forbidden. Please check your Instance URL and OAuth token.');
    expect(error['Server-Time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  });

  it('shows reports with the members and types of the documents', async () => {
    const rows = await list();
    expect(rows).to.have.length(120);
    const types = Object.entries({ number: NUMBERS, boolean: FLAGS, string: `${TIMES} ${TEXTS}` });
    const expected = [...types.flatMap(([, names]) => words(names)), ...FIELDS];
    for (const row of rows) {
      expect(Object.keys(row)).to.have.members(expected);
      for (const [type, names] of types) {
        for (const name of words(names))
          if (row[name] !== null || !words(NULLABLE).includes(name)) expect(row[name], name).to.be.a(type);
      }
      for (const name of words(TIMES))
        expect(String(row[name])).to.match(/^null$|^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,2}[1-9])?$/);
      for (const name of FIELDS)
        if (row[name] !== null) expect(row[name]).to.have.keys('Code', 'ListItemID', 'Type', 'Value');
    }
    for (const name of [...words(NULLABLE), 'OrgUnit1', 'Custom1'])
      expect(
        rows.some((row) => row[name] === null),
        name,
      ).to.equal(true);
  });

  it('pages by addresses, 25 rows unless told and 100 at most', async () => {
    const [usual, most, few] = await Promise.all(
      ['', '&limit=1000', '&limit=50'].map(async (query) => (await call(`${REPORTS}?user=ALL${query}`)).body),
    );
    expect([usual?.Items?.length, most?.Items?.length]).to.deep.equal([25, 100]);
    expect(few?.NextPage).to.match(new RegExp(`^${simulator.url}${REPORTS}\\?user=ALL&limit=50&offset=\\w+$`));
    expect((await call(`${REPORTS}?user=${encodeURIComponent(TRAVELER)}&limit=50`)).body.NextPage).to.equal(null);
  });

  it('shows the own reports, those of a login, or all to an administrator', async () => {
    const count = async (query: string, bearer = DEMO_ACCESS_TOKEN) => {
      const { status, body } = await call(`${REPORTS}?limit=100&${query}`, { headers: as(bearer) });
      return body.Items?.length ?? status;
    };
    const traveler = `user=${encodeURIComponent(TRAVELER)}`;
    const admin = await Promise.all([count(''), count(traveler), count('user=nobody')]);
    const other = await Promise.all(
      ['', traveler, 'user=ALL', `user=${ADMIN}`].map((query) => count(query, TRAVELER_ACCESS_TOKEN)),
    );
    expect([admin, other]).to.deep.equal([
      [70, 50, 0],
      [50, 50, 403, 403],
    ]);
    const [row = {}] = (await call(`${REPORTS}?${traveler}`)).body.Items ?? [];
    const one = await Promise.all(
      ['', `?${traveler}`, '?user=ALL'].map((query) => call(`${REPORTS}/${row.ID}${query}`)),
    );
    expect(one.map(({ status }) => status)).to.deep.equal([404, 200, 400]);
    expect(one[1]?.body).to.include({ ID: row.ID, Name: row.Name });
  });

  it('filters by all parameters together; bounds are strict, and two take lists', async () => {
    const rows = await list();
    const entries = await list('', '/api/v3.0/expense/entries');
    const { CreateDate: at } = rows.find(({ CreateDate }) => String(CreateDate).endsWith('.997')) ?? {};
    const ofEntry = (test: (entry: Row) => boolean) => (row: Row) =>
      entries.some((entry) => entry.ReportID === row.ID && test(entry));
    const cases: Readonly<Record<string, (row: Row) => boolean>> = {
      'approvalStatusCode=A_PEND,a_qx7': ({ ApprovalStatusCode: code }) => code === 'A_PEND' || code === 'A_QX7',
      'paymentStatusCode=P_PAID&currencyCode=usd': (row) =>
        row.PaymentStatusCode === 'P_PAID' && row.CurrencyCode === 'USD',
      'countryCode=JP&nope=1&batchID=': ({ Country }) => Country === 'JP',
      [`approverLoginID=${ADMIN}`]: ({ ApproverLoginID }) => ApproverLoginID === ADMIN,
      [`createDateAfter=${at}`]: ({ CreateDate }) => String(CreateDate) > String(at),
      [`createDateBefore=${at}`]: ({ CreateDate }) => String(CreateDate) < String(at),
      'createDateAfter=2024-03-01&createDateBefore=2024-07-01': ({ CreateDate }) =>
        /^2024-0[3-6]/.test(String(CreateDate)) && CreateDate !== '2024-03-01T00:00:00',
      'userDefinedDateAfter=2024-01-17': ({ UserDefinedDate: day }) =>
        day !== null && String(day) > '2024-01-17T00:00:00',
      'paidDateBefore=9999-12-31T00:00:00.000': ({ PaidDate }) => PaidDate !== null,
      'modifiedDateBefore=2024-01-15': ({ LastModifiedDate }) => String(LastModifiedDate) < '2024-01-15',
      'vendorName=ACME Hotels ': ofEntry(
        ({ VendorDescription }) => String(VendorDescription).toLowerCase() === 'acme hotels',
      ),
      'hasVAT=false': (row) => !ofEntry(({ HasVAT }) => HasVAT === true)(row),
      'hasBillableExpenses=true&expenseTypeCode=LODNG': (row) =>
        ofEntry(({ IsBillable }) => IsBillable === true)(row) &&
        ofEntry(({ ExpenseTypeCode }) => ExpenseTypeCode === 'LODNG')(row),
      'entryTransactionDateAfter=2024-12-01': ofEntry(
        ({ TransactionDate }) => String(TransactionDate) > '2024-12-01T00:00:00',
      ),
      'isTestUser=TRUE&reimbursementMethod=APCHECK': ({ OwnerLoginID }) => OwnerLoginID === TRAVELER,
    };
    for (const [query, test] of Object.entries(cases)) {
      const found = (await list(`&${query}`)).map(({ ID }) => ID);
      expect(found, query).to.deep.equal(rows.filter(test).map(({ ID }) => ID));
      expect(found.length, query).to.be.within(1, 119);
    }
    const [{ ReportID } = {}] = entries;
    const own = entries.filter((entry) => entry.ReportID === ReportID);
    expect(await list(`&reportID=${ReportID}`, '/api/v3.0/expense/entries')).to.deep.equal(own);
  });

  it('creates a report and answers where it is, changes it without an answer, and deletes none', async () => {
    const made = await send('POST', REPORTS, {
      Name: "D'Arcy 李",
      Comment: 'c',
      Purpose: 'p',
      OrgUnit1: '02',
      Custom1: 'x',
      Custom9: 'y',
      PolicyID: 'z',
      Total: 5,
    });
    const path = `${REPORTS}/${made.body.ID}`;
    expect(made.body).to.deep.equal({ ID: made.body.ID, URI: simulator.url + path });
    const { body } = await call(path);
    expect(body).to.include({
      Name: "D'Arcy 李",
      LastComment: 'c',
      Total: 0,
      ApprovalStatusCode: 'A_NOTF',
      PaymentStatusCode: 'P_NOTP',
      SubmitDate: null,
      Custom9: null,
      CurrencyCode: 'USD',
    });
    expect(body).to.deep.nested.include({
      'OrgUnit1.Value': "R&D «O'Neil»",
      Custom1: { Code: null, ListItemID: null, Type: 'Text', Value: 'x' },
    });
    expect(body.UserDefinedDate).to.match(/T00:00:00$/);
    const changed = await send('PUT', path, {
      Name: 'n',
      Custom1: '',
      Comment: null,
      UserDefinedDate: '2024-02-29T10:30:00',
    });
    expect([changed.status, changed.text]).to.deep.equal([204, '']);
    expect((await call(path)).body).to.include({
      Name: 'n',
      Custom1: null,
      LastComment: 'c',
      UserDefinedDate: '2024-02-29T10:30:00',
    });
    expect((await call(path, { method: 'DELETE' })).status).to.equal(405);
    const others = await send('POST', `${REPORTS}?user=${encodeURIComponent(TRAVELER)}`, { Name: 'x' });
    expect(
      (await call(`${REPORTS}/${others.body.ID}?user=${encodeURIComponent(TRAVELER)}`)).body.CurrencyCode,
    ).to.equal('EUR');
    const [paid = {}] = await list('&paymentStatusCode=P_PAID');
    expect((await send('PUT', `${REPORTS}/${paid.ID}`, { Name: 'n' })).status).to.equal(400);
  });

  const REFUSED: readonly (readonly [string, object?])[] = [
    ['?limit=0'],
    ['?offset=25'],
    ['?hasVAT=1'],
    ['?paidDateAfter=2024-02-30'],
    ['?paidDateAfter=2024-03-05T00:00:00Z'],
    ['?paidDateAfter=05/03/2024'],
    ['', {}],
    ['', { Name: ' ' }],
    ['', { Name: 5 }],
    ['', { Name: 'x'.repeat(41) }],
    ['', { Name: 'x', UserDefinedDate: 'now' }],
    ['?user=nobody', { Name: 'x' }],
  ];
  for (const [query, body] of REFUSED) {
    it(`refuses ${query} ${JSON.stringify(body ?? '')}`, async () => {
      const answer = await (body === undefined ? call(REPORTS + query) : send('POST', REPORTS + query, body));
      expect(answer.status).to.equal(400);
      expect(answer.body.Error?.Message).to.be.a('string').and.not.equal('');
    });
  }

  it('answers XML to those who do not accept JSON', async () => {
    const headers = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
    const [all, none, made] = await Promise.all([
      call(`${REPORTS}?limit=1`, { headers }),
      call(`${REPORTS}?countryCode=XX`, { headers }),
      call(REPORTS, { headers, method: 'POST', body: '{"Name":"x"}' }),
    ]);
    expect(all.text).to.match(
      /<Reports xmlns:xsd="[^"]+" xmlns:xsi="[^"]+"><Items><Report><ID>\w+<\/ID><URI>.+<PaidDate xsi:nil="true" \/>/,
    );
    expect(none.text).to.match(/<Items \/><NextPage xsi:nil="true" \/><\/Reports>$/);
    expect(made.text).to.match(/<Response [^>]+><ID>\w{20}<\/ID><URI>/);
  });

  it('changes records on request, and has the limits and refusals it is told to have', async () => {
    const changed = Object(
      await simulator.command('/simulate/changes', { table: 'reports', create: 1, update: 2, remove: 1 }),
    );
    const today = new Date().toISOString().slice(0, 10);
    expect((await list(`&modifiedDateAfter=${today}`)).map(({ ID }) => ID)).to.have.members([
      ...changed.created,
      ...changed.updated,
    ]);
    const statusOf = async (options: Partial<ConcurSimulatorOptions>, bearer: string) => {
      const other = await serveSimulator('concur', (more) => createSimulator({ ...more, ...options }));
      const { status } = await call(REPORTS, { url: other.url, headers: as(bearer) });
      await other.stop();
      return status;
    };
    expect([
      await statusOf({ callsPerMinute: 0 }, DEMO_ACCESS_TOKEN),
      await statusOf({ badToken: 401 }, 'x'),
    ]).to.deep.equal([429, 401]);
  });
});

interface CallOptions {
  readonly method?: string;
  readonly body?: string | URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly url?: string;
}

type Row = Readonly<Record<string, unknown>>;

/** The tests compare every member they read. */
interface Answered extends Row {
  readonly Items?: readonly Row[];
  readonly Error?: Row;
}
