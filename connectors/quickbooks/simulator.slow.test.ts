import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import OAuthClient from 'intuit-oauth';
import { DAY_MS } from '#connector/simulator';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { createSimulator, DEMO_ACCESS_TOKEN, deliver, REALM_ID, VERIFIER_TOKEN } from './simulator.ts';

/** The package's own types describe another way to import it. */
const QuickBooks: new (...settings: readonly unknown[]) => QuickBooksClient = createRequire(import.meta.url)(
  'node-quickbooks',
);

type Callback = (error: unknown, response: unknown) => void;
type QuickBooksClient = Record<string, (...given: unknown[]) => void> & { endpoint: string | undefined };

/** Intuit's own clients must work with the simulator as they do with QuickBooks. */
describe('the QuickBooks simulator', () => {
  let simulator: ServedSimulator;
  let client: QuickBooksClient;

  before(async () => {
    simulator = await serveSimulator('quickbooks', createSimulator);
    client = new QuickBooks('demo-client', 'demo-secret', DEMO_ACCESS_TOKEN, false, REALM_ID, false, false, 75, '2.0');
    client.endpoint = `${simulator.url}/v3/company/`;
    new OAuthClient(LOGIN).setAuthorizeURLs({
      authorizeEndpoint: `${simulator.url}/connect/oauth2`,
      tokenEndpoint: `${simulator.url}/oauth2/v1/tokens/bearer`,
      revokeEndpoint: `${simulator.url}/v2/oauth2/tokens/revoke`,
      userInfoEndpoint: `${simulator.url}/userinfo`,
    });
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  /** Calls node-quickbooks. Returns the fault if the provider rejects the request. */
  function ask(method: string, ...given: unknown[]): Promise<ResponseBody> {
    return new Promise((resolve, reject) => {
      const done: Callback = (error, response) => {
        const fault = Object(response).Fault ?? Object(Object(error).response).data?.Fault;
        if (error !== null && fault === undefined) reject(error);
        else resolve(fault === undefined ? (response as ResponseBody) : { Fault: fault });
      };
      client[method]?.call(client, ...given, done);
    });
  }

  const call = (path: string, request: RequestInit = {}) =>
    simulator.call<ResponseBody>(`/v3/company/${REALM_ID}/${path}`, {
      ...request,
      headers: { authorization: `Bearer ${DEMO_ACCESS_TOKEN}`, accept: 'application/json', ...request.headers },
    });

  const query = async (statement: string) => (await call(`query?query=${encodeURIComponent(statement)}`)).body;
  const post = async (path: string, body: object) =>
    (await call(path, { method: 'POST', body: JSON.stringify(body) })).body;

  async function count(entity: string, where = ''): Promise<number | undefined> {
    const response = await query(`select count(*) from ${entity}${where && ` where ${where}`}`);
    return response.QueryResponse?.totalCount;
  }

  async function logIn(): Promise<OAuthClient> {
    const login = new OAuthClient(LOGIN);
    const url = login.authorizeUri({ scope: OAuthClient.scopes.Accounting ?? '', state: 's&t' });
    const { headers } = await fetch(`${url}&auto=approve`, { redirect: 'manual' });
    await login.createToken(headers.get('location') ?? '');
    return login;
  }

  it('gives tokens for a code to intuit-oauth, with the company in the callback', async () => {
    const login = await logIn();
    const token = login.getToken();
    expect(token).to.include({ realmId: REALM_ID, state: 's&t', expires_in: 3600, token_type: 'bearer' });
    expect(token.x_refresh_token_expires_in).to.equal(8_726_400);
    const headers = { authorization: `Bearer ${token.access_token}` };
    expect((await call(`companyinfo/${REALM_ID}`, { headers })).status).to.equal(200);
    await simulator.command('/simulate/clock', { byMs: 3_600_000 });
    expect((await call(`companyinfo/${REALM_ID}`, { headers })).status).to.equal(401);
  });

  it('changes the refresh token once a day, and takes the one before for another day', async () => {
    const login = await logIn();
    const first = login.getToken().refresh_token;
    await login.refresh();
    expect(login.getToken().refresh_token).to.equal(first);
    await simulator.command('/simulate/clock', { byMs: DAY_MS });
    await login.refresh();
    const second = login.getToken().refresh_token;
    expect(second).not.to.equal(first);
    await login.refreshUsingToken(first);
    expect(login.getToken().refresh_token).to.equal(second);
    await simulator.command('/simulate/clock', { byMs: DAY_MS });
    expect(await errorOf(login.refreshUsingToken(first))).to.equal('invalid_grant');
    await login.refreshUsingToken(second);
    await login.revoke({ refresh_token: login.getToken().refresh_token });
    expect(await errorOf(login.refreshUsingToken(second))).to.equal('invalid_grant');
  });

  it('finds records for node-quickbooks: by fields, by operators, in order, all pages of them', async () => {
    const criteria = [
      { field: 'CompanyName', value: "o'brien%", operator: 'LIKE' },
      { field: 'Balance', value: '0', operator: '>=' },
      { field: 'desc', value: 'Id' },
      { field: 'limit', value: 3 },
      { field: 'fetchAll', value: true },
    ];
    const { QueryResponse } = await ask('findCustomers', criteria);
    const names = QueryResponse?.Customer?.map(({ CompanyName }) => CompanyName);
    expect(names).to.include("O'Brien & Söhne");
    const all = await ask('findInvoices', [
      { field: 'fetchAll', value: true },
      { field: 'limit', value: 30 },
    ]);
    expect(all.QueryResponse?.Invoice).to.have.length(80);
    const byIds = await ask('findInvoices', { Id: ['3', '1', '99999'] });
    expect(byIds.QueryResponse?.Invoice?.map(({ Id }) => Id)).to.deep.equal(['1', '3']);
    expect((await ask('findEstimates', { count: true })).QueryResponse).to.deep.equal({ totalCount: 40 });
    expect((await ask('findVendors', { DisplayName: 'nobody' })).QueryResponse).to.deep.equal({});
  });

  it('finds every name that is written with escapes', async () => {
    const { QueryResponse } = await query('select * from Vendor where Active in (true, false) maxresults 1000');
    const names = QueryResponse?.Vendor?.map(({ DisplayName }) => String(DisplayName)) ?? [];
    expect(names).to.have.length(36);
    for (const name of names) {
      const written = name.replace(/[\\']/g, '\\$&');
      expect(await count('Vendor', `Active in (true, false) and DisplayName = '${written}'`), name).to.equal(1);
    }
  });

  it('shows records as recorded answers have them', async () => {
    const { QueryResponse, time } = await query("select * from invoice where id = '4'");
    const [invoice] = QueryResponse?.Invoice ?? [];
    expect(QueryResponse).to.include({ startPosition: 1, maxResults: 1 });
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}-0[78]:00$/);
    expect(invoice).to.include({ Id: '4', SyncToken: '0', domain: 'QBO', sparse: false, TotalAmt: 0.1 });
    expect(invoice)
      .to.have.nested.property('TxnDate')
      .that.matches(/^\d{4}-\d\d-\d\d$/);
    expect(invoice?.MetaData)
      .to.have.property('LastUpdatedTime')
      .that.matches(/^[\d-]{10}T[\d:]{8}-0[78]:00$/);
    expect(invoice?.CustomerRef).to.have.all.keys('value', 'name');
    const sparse = await query('SELECT Id, DisplayName FROM Customer MAXRESULTS 1');
    expect(sparse.QueryResponse?.Customer?.[0]).to.have.all.keys('domain', 'sparse', 'Id', 'DisplayName');
  });

  it('creates, changes and makes inactive for node-quickbooks', async () => {
    const made = await ask('createCustomer', {
      GivenName: "D'Arcy",
      FamilyName: '李',
      PrimaryPhone: { FreeFormNumber: '1' },
    });
    expect(made).to.include({
      DisplayName: "D'Arcy 李",
      FullyQualifiedName: "D'Arcy 李",
      SyncToken: '0',
      Active: true,
    });
    const { Id, SyncToken } = made;
    const changed = await ask('updateCustomer', { Id, SyncToken, Notes: 'x', FamilyName: null, PrimaryPhone: {} });
    expect(changed).to.include({ Notes: 'x', FamilyName: '李', SyncToken: '1' }).and.not.have.property('PrimaryPhone');
    expect(codeOf(await ask('updateCustomer', { Id, SyncToken, Notes: 'y' }))).to.equal('5010');
    const full = await ask('updateCustomer', { Id, SyncToken: '1', DisplayName: 'Other', sparse: false });
    expect(full).to.include({ DisplayName: 'Other' }).and.not.have.any.keys('Notes', 'GivenName');
    const found = () => count('Customer', "DisplayName = 'OTHER'");
    expect(await found()).to.equal(1);
    await ask('updateCustomer', { Id, SyncToken: '2', Active: false });
    expect([await found(), await count('Customer', "DisplayName = 'Other' and Active = false")]).to.deep.equal([0, 1]);
    expect(await count('Customer', 'Active in (true, false)')).to.equal(61);
    expect(codeOf(await post('customer?operation=delete', { Id, SyncToken: '3' }))).to.equal('500');
  });

  it('adds invoices up, prints and deletes them for node-quickbooks, and tells of it', async () => {
    const Line = [
      { Amount: 31.5, DetailType: 'SalesItemLineDetail', SalesItemLineDetail: { ItemRef: { value: '1' } } },
      { Amount: 0.1, DetailType: 'SalesItemLineDetail', SalesItemLineDetail: { ItemRef: { value: '2' } } },
    ];
    const since = new Date(Date.now() - 60_000).toISOString();
    const made = await ask('createInvoice', { CustomerRef: { value: '1', name: 'wrong' }, Line });
    expect(made).to.include({ TotalAmt: 31.6, Balance: 31.6, SyncToken: '0' });
    expect(made.CustomerRef).to.have.property('name').not.equal('wrong');
    const pdf = Buffer.from((await ask('getInvoicePdf', made.Id)) as unknown as ArrayBuffer).toString('latin1');
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
    expect([pdf.slice(0, 8), pdf.slice(table, table + 4)]).to.deep.equal(['%PDF-1.4', 'xref']);
    expect((await ask('deleteInvoice', made.Id)).Invoice).to.deep.equal({
      status: 'Deleted',
      domain: 'QBO',
      Id: made.Id,
    });
    expect(codeOf(await ask('getInvoice', made.Id))).to.equal('610');
    const { CDCResponse } = await ask('changeDataCapture', ['Invoice', 'Customer'], since);
    const [invoices, customers] = CDCResponse?.[0]?.QueryResponse ?? [];
    expect(invoices?.Invoice?.map(({ Id, status }) => [Id, status])).to.deep.equal([[made.Id, 'Deleted']]);
    expect(customers).to.deep.equal({});
  });

  it('compares texts without cases, amounts as numbers, times as instants, a blank as nothing', async () => {
    const [made] = (await query("select * from Customer where Id = '2'")).QueryResponse?.Customer ?? [];
    const at = String(Object(made?.MetaData).CreateTime);
    const utc = new Date(at).toISOString();
    expect(await count('Customer', `metadata.createtime = '${at}'`)).to.equal(1);
    expect(await count('Customer', `MetaData.CreateTime >= '${utc}' AND MetaData.CreateTime <= '${utc}'`)).to.equal(1);
    const items = (await query("select * from Item where Name like '_%' maxresults 1000")).QueryResponse?.Item ?? [];
    expect(new Set(items.map(({ Name }) => String(Name)[0]))).to.deep.equal(new Set(['_']));
    expect(await count('Payment', "TotalAmt > '103.5'")).to.equal(await count('Payment', 'TotalAmt > 103.50'));
    expect(await count('Invoice', "TxnDate < '2024-01-01'")).to.equal(2);
    const none = (await count('Vendor', "CompanyName = ' '")) ?? 0;
    expect(none + ((await count('Vendor', "CompanyName like '%'")) ?? 0)).to.equal(await count('Vendor'));
    expect(await count('Bill', "VendorRef = '6'")).to.be.above(0);
    const post = await call('query', { method: 'POST', body: 'select * from Item orderby UnitPrice desc, Name' });
    expect(post.body.QueryResponse?.Item?.[0]).to.include({ UnitPrice: 123_456_789_012.34 });
    const strict = await serveSimulator('quickbooks', (options) => createSimulator({ ...options, text: 'as written' }));
    const url = `${strict.url}/v3/company/${REALM_ID}/query?format=json&query=`;
    const headers = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
    const response = await fetch(`${url}select+count(*)+from+Customer+where+CompanyName='CAESAR'`, { headers });
    const { QueryResponse } = (await response.json()) as ResponseBody;
    await strict.stop();
    expect(QueryResponse?.totalCount).to.be.below((await count('Customer', "CompanyName = 'CAESAR'")) ?? 0);
  });

  for (const [statement, code] of Object.entries({
    '': '4000',
    'select * from Customer where': '4000',
    "select * from Customer where DisplayName = 'it's'": '4000',
    'select * from Customer where DisplayName = "x"': '4000',
    "select * from Customer where (Id = '1')": '4000',
    'select * from Customer maxresults 5 startposition 1': '4000',
    "select * from Customer where Id = '1' or Id = '2'": '4001',
    "select * from Customer where Id != '1'": '4001',
    'select * from Customer where CompanyName is null': '4001',
    'select * from Nothing': '4001',
    'select BillAddr from Customer': '4001',
    "select * from Customer where Nothing = '1'": '4001',
    "select * from Customer where Notes = '1'": '4001',
    "select * from Invoice where DepartmentRef = '1'": '4001',
    "select * from Estimate where TotalAmt > '1'": '4001',
    "select * from Customer where Balance = 'much'": '4001',
    "select * from Customer where MetaData.CreateTime > 'today'": '4001',
    "select * from Invoice where TxnDate = '2024-02-30'": '4001',
    "select * from Invoice where CustomerRef like '1%'": '4001',
    'select * from Customer orderby PrimaryEmailAddr': '4001',
    'select * from Customer startposition 0': '4001',
    'select * from Customer maxresults 1001': '4001',
  })) {
    it(`refuses '${statement}' with ${code}`, async () => {
      expect(codeOf(await query(statement))).to.equal(code);
    });
  }

  for (const [path, body, code] of [
    ['customer', {}, '2020'],
    ['customer', { DisplayName: 'x', Nope: 1 }, '2010'],
    ['customer', { DisplayName: 'x', Taxable: 'yes' }, '2010'],
    ['customer', { DisplayName: 'x'.repeat(501) }, '2050'],
    ['vendor', { DisplayName: "'' c1" }, '6240'],
    ['customer', { Id: '1', DisplayName: 'x' }, '2020'],
    ['customer', { Id: '999', SyncToken: '0' }, '610'],
    ['invoice', { CustomerRef: { value: '1' } }, '2020'],
    ['invoice', { CustomerRef: { value: '999' }, Line: [{ Amount: 1 }] }, '2500'],
    ['payment', { CustomerRef: { value: '1' } }, '2020'],
    ['nothing', {}, '500'],
    ['companyinfo', { Id: '1', SyncToken: '0' }, '500'],
  ] as const) {
    it(`refuses POST ${path} ${JSON.stringify(body).slice(0, 60)} with ${code}`, async () => {
      expect(codeOf(await post(path, body))).to.equal(code);
    });
  }

  it('answers whom it does not let in as its gateway does, and XML to those who do not ask for JSON', async () => {
    const wrong = await call('customer/1', { headers: { authorization: 'Bearer nope' } });
    expect([wrong.status, wrong.body.fault?.error[0]?.code]).to.deep.equal([401, '3200']);
    const other = await call(`../${'1'.repeat(16)}/customer/1`);
    expect([other.status, other.body.fault?.error[0]?.code]).to.deep.equal([403, '3100']);
    const limited = await call('customer/1', { headers: { 'x-simulate': '429' } });
    expect([limited.status, limited.body.fault?.error[0]?.code]).to.deep.equal([429, '3001']);
    const elsewhere = await call('customer/1', { headers: { forwarded: 'host=appcenter.intuit.com' } });
    expect([elsewhere.status, codeOf(elsewhere.body)]).to.deep.equal([404, '500']);
    const { text } = await call('customer/1', { headers: { accept: '*/*' } });
    expect(text).to.match(/^<\?xml .*<IntuitResponse .*<Customer>.*<Id>1<\/Id>/s);
    expect(codeOf((await call('customer/no-number')).body)).to.equal('2030');
  });

  it('signs the bytes of what it delivers, in the form of today and that before', () => {
    const events = [{ entity: 'Invoice', id: '130', operation: 'Update', atMs: 1_757_539_885_179 }] as const;
    const { headers, body } = deliver(events);
    const signature = createHmac('sha256', VERIFIER_TOKEN).update(body).digest('base64');
    expect(headers['intuit-signature']).to.equal(signature);
    expect(JSON.parse(body)[0]).to.include({ type: 'qbo.invoice.updated.v1', intuitentityid: '130' });
    const before = JSON.parse(deliver(events, 'eventNotifications').body);
    expect(before.eventNotifications[0]).to.have.nested.property('dataChangeEvent.entities[0].name', 'Invoice');
  });

  it('changes records as others do', async () => {
    await simulator.command('/simulate/changes', { table: 'Bill', create: 2, update: 1, remove: 1 });
    await simulator.command('/simulate/changes', { table: 'Item', remove: 1 });
    const since = new Date(Date.now() - 60_000).toISOString();
    const { CDCResponse } = (await call(`cdc?entities=Bill,Item&changedSince=${since}`)).body;
    const [bills, items] = CDCResponse?.[0]?.QueryResponse ?? [];
    expect(bills?.Bill?.map(({ Id, status }) => [Id, status])).to.deep.equal([
      ['1', undefined],
      ['40', 'Deleted'],
      ['41', undefined],
      ['42', undefined],
    ]);
    expect(items?.Item?.map(({ Id, Active }) => [Id, Active])).to.deep.equal([['40', false]]);
  });
});

const LOGIN = {
  clientId: 'demo-client',
  clientSecret: 'demo-secret',
  environment: 'production',
  redirectUri: 'https://app.example.com/callback',
} as const;

async function errorOf(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => undefined,
    (error: unknown) => Object(error).error,
  );
}

function codeOf({ Fault }: ResponseBody): string | undefined {
  return Fault?.Error[0]?.code;
}

type Found = Readonly<Record<string, unknown>>;
type Response = Readonly<Partial<Record<'Customer' | 'Vendor' | 'Invoice' | 'Item' | 'Bill', readonly Found[]>>> & {
  readonly totalCount?: number;
};

/** A response body. Its type is not checked, because the tests compare every member that they read. */
interface ResponseBody {
  readonly [member: string]: unknown;
  readonly QueryResponse?: Response;
  readonly CDCResponse?: readonly { readonly QueryResponse: readonly Response[] }[];
  readonly Fault?: { readonly Error: readonly { readonly code: string }[] };
  readonly fault?: { readonly error: readonly { readonly code: string }[] };
}
