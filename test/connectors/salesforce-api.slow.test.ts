import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, type TestApp, USER_SECRET, useApp } from '../support/app.ts';

const CALLBACK_URL = 'https://app.example.com/callback';
const CLIENT = { apiKey: 'demo-client', apiSecret: 'demo-secret' };

/** What came to the callback URL when the user chose. */
async function authorize(
  service: TestApp,
  choice: 'approve' | 'deny',
  query: ApiCall['query'] = {},
): Promise<Readonly<Record<string, string>>> {
  const { body } = await service.call('/elements/salesforce/oauth/url', {
    query: { ...CLIENT, callbackUrl: CALLBACK_URL, state: 'my state', simulator: 'true', ...query },
  });
  const response = await fetch(`${body.oauthUrl}&auto=${choice}`, { redirect: 'manual' });
  return Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams);
}

async function connect(
  service: TestApp,
  providerData: object,
  client = CLIENT,
  simulator: object = { simulator: true },
): Promise<ApiAnswer> {
  const configuration = {
    'oauth.api.key': client.apiKey,
    'oauth.api.secret': client.apiSecret,
    'oauth.callback.url': CALLBACK_URL,
    ...simulator,
  };
  const body = { name: 'Sales', element: { key: 'salesforce' }, configuration, providerData };
  return service.call('/instances', { method: 'POST', body });
}

describe('Salesforce through the API', () => {
  const service = useApp();
  let instance: ApiAnswer['body'];

  before(async () => {
    const response = await connect(service, await authorize(service, 'approve'));
    expect(response.status, JSON.stringify(response.body)).to.equal(200);
    instance = response.body;
  });

  const call = (path: string, input: ApiCall = {}) => service.call(path, { token: instance.token, ...input });
  const list = async (objectName: string, where: string, query: ApiCall['query'] = {}) =>
    call(`/${objectName}`, { query: { where, ...query } });

  it('keeps the place that the login told with the instance', async () => {
    const { body } = await service.call(`/instances/${instance.id}`);
    expect(body.configuration).to.include({ 'instance.url': 'https://acme.my.salesforce.com', 'api.version': '62.0' });
  });

  it('takes no number that a field cannot hold', async () => {
    const body = '{"Name":"Numbers","NumberOfEmployees":2147483648,"AnnualRevenue":1e309}';
    const { status, body: problem } = await call('/Account', { method: 'POST', body });
    expect(status).to.equal(400);
    expect(problem.details).to.deep.equal([
      { path: '/body/NumberOfEmployees', message: "'NumberOfEmployees' must be from -2147483648 to 2147483647." },
      {
        path: '/body/AnnualRevenue',
        message: "'AnnualRevenue' must be from -1.7976931348623157e+308 to 1.7976931348623157e+308.",
      },
    ]);
  });

  it('logs in at the place of sandboxes, and of a customer', async () => {
    const sandbox = await connect(service, await authorize(service, 'approve', { sandbox: 'true' }));
    const site = { siteAddress: 'https://globex--uat.sandbox.my.salesforce.com' };
    const custom = await connect(service, await authorize(service, 'approve', site));
    const places = [];
    for (const { body } of [sandbox, custom]) {
      places.push((await service.call(`/instances/${body.id}`)).body.configuration['instance.url']);
    }
    expect(places).to.deep.equal([
      'https://acme--dev.sandbox.my.salesforce.com',
      'https://globex--uat.sandbox.my.salesforce.com',
    ]);
  });

  it('connects two users who authorize at the same time, of their codes alone', async () => {
    const backs = await Promise.all(['ada', 'ben'].map((state) => authorize(service, 'approve', { state })));
    const answers = await Promise.all(backs.map(({ code }) => connect(service, { code })));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('uses no code while a production and a sandbox authorization are open, unless told which it is of', async () => {
    const production = await authorize(service, 'approve', { state: 'production' });
    const sandbox = await authorize(service, 'approve', { state: 'sandbox', sandbox: 'true' });
    const { body } = await connect(service, { code: production.code });
    expect([body.code, body.message]).to.deep.equal([
      'REQUEST_INVALID',
      'Several authorizations of Salesforce are open with this client and callback URL, and they differ in salesforce.sandbox. Send the state that came with the code as providerData.state, or send salesforce.sandbox in the configuration. The code was not used.',
    ]);
    for (const back of [production, sandbox]) expect((await connect(service, back)).status).to.equal(200);
  });

  it('refuses a site that is not of Salesforce', async () => {
    const query = { ...CLIENT, callbackUrl: CALLBACK_URL, simulator: 'true', siteAddress: 'https://evil.example' };
    const { status, body } = await service.call('/elements/salesforce/oauth/url', { query });
    expect([status, body.code]).to.deep.equal([400, 'REQUEST_INVALID']);
  });

  it('makes no instance of a user who denied', async () => {
    const providerData = await authorize(service, 'deny');
    expect(providerData).to.deep.equal({
      error: 'access_denied',
      error_description: 'end-user denied authorization',
      state: 'my state',
    });
    expect((await connect(service, providerData)).body.code).to.equal('REQUEST_INVALID');
  });

  it('wants to be told that the simulator is meant, so that the same body never reaches Salesforce itself', async () => {
    const providerData = await authorize(service, 'approve');
    const unsaid = await connect(service, providerData, CLIENT, {});
    expect([unsaid.status, unsaid.body.code, unsaid.body.details[0].path]).to.deep.equal([
      400,
      'REQUEST_INVALID',
      '/body/configuration/simulator',
    ]);
    expect(unsaid.body.message).to.equal(
      "The configuration of Salesforce: 'simulator' must be true: the code comes from the simulator of Salesforce, and without it an instance talks to Salesforce itself.",
    );
    // The code was not used up by it.
    const said = await connect(service, providerData, CLIENT, { simulator: 'true' });
    expect(said.status, JSON.stringify(said.body)).to.equal(200);
    const again = await connect(service, providerData, CLIENT, { simulator: 'true' });
    expect(again.body.code, 'and now it is').to.equal('PROVIDER_CREDENTIALS_INVALID');
  });

  it('does not take the code of Salesforce itself to the simulator', async () => {
    const state = 'begun at Salesforce';
    await service.call('/elements/salesforce/oauth/url', { query: { ...CLIENT, callbackUrl: CALLBACK_URL, state } });
    const response = await connect(service, { code: 'a code of Salesforce', state });
    expect([response.status, response.body.message]).to.deep.equal([
      400,
      "The configuration of Salesforce: 'simulator' must not be true: the code comes from Salesforce itself. For the simulator, authorize at the oauthUrl of a request with simulator=true.",
    ]);
  });

  it('makes no instance with a wrong secret', async () => {
    const providerData = await authorize(service, 'approve');
    const { body } = await connect(service, providerData, { ...CLIENT, apiSecret: 'wrong' });
    expect([body.code, body.providerMessage]).to.deep.equal([
      'PROVIDER_CREDENTIALS_INVALID',
      'invalid client credentials',
    ]);
  });

  it('lists objects without describing them, and describes one when asked', async () => {
    const { body } = await call('/objects?details=true');
    const account = body.find(({ name }: { readonly name: string }) => name === 'Account');
    expect(account.operations).to.deep.equal(['list', 'get', 'create', 'update', 'delete']);
    const metadata = (await call('/objects/Account/metadata')).body;
    expect(metadata.fields.map(({ name }: { readonly name: string }) => name)).to.include.members(['Id', 'Tier__c']);
    expect(metadata.limits).to.include({ maxPageSize: 2000, maxLength: 40_000 });
    expect(metadata.parameters.map(({ name }: { readonly name: string }) => name)).to.deep.equal(['includeDeleted']);
  });

  it('leaves a filter on numbers, dates and ids to Salesforce, and tells the total and the budget', async () => {
    const { body, headers } = await list('Opportunity', 'Amount > 100.5 AND CloseDate >= 2024-03-01', {
      fields: 'Id,Amount',
      orderBy: 'Amount desc',
      pageSize: 3,
    });
    expect(body.map(({ Amount }: { readonly Amount: number }) => Amount)).to.deep.equal([
      1000000.01, 1000000.01, 1000000.01,
    ]);
    expect(headers.get('elements-query-pushdown')).to.equal('full');
    expect(Number(headers.get('elements-total-count'))).to.be.above(3);
    expect(headers.get('ratelimit-limit')).to.equal('15000');
  });

  it('checks filters on text again', async () => {
    const { body, headers } = await list('Account', "Name = 'ACME' AND BillingCity LIKE 'O%'", { fields: 'Name' });
    expect(body).to.deep.equal([{ Name: 'Acme' }]);
    expect(headers.get('elements-query-pushdown')).to.equal('partial');
  });

  it('finds texts that look like syntax', async () => {
    for (const name of ["O'Neil & Söhne", '100% Wool_Co', 'Back\\slash Ltd', 'Say "Hi" GmbH', '日本商事']) {
      const where = `Name = '${name.replaceAll("'", "''")}'`;
      expect((await list('Account', where, { fields: 'Name' })).body).to.deep.equal([{ Name: name }]);
    }
  });

  it('filters by the name of a parent, and shows it when it is named', async () => {
    const where = "Account.Name = 'o''neil & söhne'";
    const { body } = await list('Contact', where, { fields: 'Account.Name', orderBy: 'Account.Name' });
    expect(body).to.deep.include({ Account: { Name: "O'Neil & Söhne" } });
    const [whole] = (await list('Contact', where)).body;
    expect(whole).to.have.property('AccountId');
    expect(whole).not.to.have.property('Account');
  });

  it('shows the statement that Salesforce would get', async () => {
    const body = { objectName: 'Contact', where: "LastName LIKE 'O''B%' OR Birthdate IS NULL", fields: 'Id' };
    const explained = (await call('/query/explain', { method: 'POST', body })).body;
    const soql = new URL(explained.request.url).searchParams.get('q');
    expect(soql).to.equal(
      "SELECT Id, LastName, Birthdate FROM Contact WHERE (LastName LIKE 'O\\'B%' OR Birthdate = null) ORDER BY Id",
    );
    expect(new URL(explained.request.url).host).to.equal('acme.my.salesforce.com');
  });

  it('creates, changes and deletes a record, and finds it among the deleted ones', async () => {
    const created = await call('/Contact', { method: 'POST', body: { LastName: 'Api', DoNotCall: true } });
    const path = `/Contact/${created.body.Id}`;
    expect(created.body).to.include({ Name: 'Api', DoNotCall: true, Email: null });
    const changed = await call(path, { method: 'PATCH', body: { Email: 'api@example.com' } });
    expect(changed.body).to.include({ LastName: 'Api', Email: 'api@example.com' });
    expect((await call(path, { method: 'DELETE' })).status).to.equal(200);
    expect((await call(path)).body.code).to.equal('NOT_FOUND');
    const where = `Id = '${created.body.Id}'`;
    expect((await list('Contact', where)).body).to.deep.equal([]);
    const [deleted] = (await list('Contact', `${where} AND includeDeleted = true`)).body;
    expect(deleted).to.include({ LastName: 'Api', IsDeleted: true });
  });

  it("passes on Salesforce's own words about a record that it refuses", async () => {
    const { status, body } = await call('/Account', { method: 'POST', body: { Name: 'x', Tier__c: 'Tin' } });
    expect([status, body.code, body.providerMessage]).to.deep.equal([
      422,
      'PROVIDER_REJECTED',
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST: Tier__c: bad value for restricted picklist field: Tin (Tier__c)',
    ]);
  });

  it('serves a file byte for byte, and takes one in base64', async () => {
    const [first] = (await list('ContentVersion', "PathOnClient = 'all-bytes.bin'")).body;
    expect(first.VersionData).to.equal(`/services/data/v62.0/sobjects/ContentVersion/${first.Id}/VersionData`);
    expect(await download(`/ContentVersion/${first.Id}`)).to.deep.equal(Array.from({ length: 256 }, (_, byte) => byte));
    const bytes = [0, 255, 10, 13, 39];
    const body = { PathOnClient: 'new.bin', VersionData: Buffer.from(bytes).toString('base64') };
    const created = await call('/ContentVersion', { method: 'POST', body });
    expect(await download(`/ContentVersion/${created.body.Id}`)).to.deep.equal(bytes);
  });

  it('says what a file is and how it is called, and refuses to answer it as what it is not', async () => {
    const [pdf] = (await list('ContentVersion', "Title = 'File 1 ü'")).body;
    const path = `/ContentVersion/${pdf.Id}`;
    for (const accept of [
      'application/pdf',
      'application/*, application/json;q=0',
      'image/png, */*;q=0.5, application/json;q=0',
    ]) {
      const { status, headers } = await fetchFile(path, accept);
      expect([status, headers.get('content-type'), headers.get('content-disposition')], accept).to.deep.equal([
        200,
        'application/pdf',
        `attachment; filename="Vertrag _Sud_ _ 100_.pdf"; filename*=UTF-8''Vertrag%20%22S%C3%BCd%22%20%E2%80%93%20100%25.pdf`,
      ]);
    }
    const stream = await fetchFile(path, 'application/octet-stream');
    expect([stream.status, stream.headers.get('content-type')]).to.deep.equal([200, 'application/octet-stream']);
    const record = await fetchFile(path, 'image/png, application/json;q=0.5');
    expect(await record.json()).to.include({ Id: pdf.Id });
    const picture = await fetchFile(path, 'image/png');
    expect(picture.status).to.equal(406);
    expect(await picture.json()).to.include({
      code: 'NOT_ACCEPTABLE',
      message:
        "A record of 'ContentVersion' is available as application/json or application/pdf or application/octet-stream. The Accept header requests 'image/png'.",
    });
    expect((await fetchFile('/ContentVersion/068000000000099AAA', 'application/pdf')).status).to.equal(404);
  });

  function fetchFile(path: string, accept: string): Promise<Response> {
    const authorization = `User ${USER_SECRET}, Element ${instance.token}`;
    return fetch(service.app.baseUrl + path, { headers: { authorization, accept } });
  }

  async function download(path: string): Promise<readonly number[]> {
    const response = await fetchFile(path, 'application/octet-stream');
    expect([response.status, response.headers.get('content-type')]).to.deep.equal([200, 'application/octet-stream']);
    return [...new Uint8Array(await response.arrayBuffer())];
  }

  it('refreshes a session that Salesforce has ended', async () => {
    const client = { apiKey: 'rotating-client', apiSecret: 'rotating-secret' };
    const response = await connect(service, await authorize(service, 'approve', client), client);
    const { token } = response.body;
    const before = await service.call('/User', { token });
    // A 401 for every session so far; refresh tokens stay.
    await endSessions(service);
    const after = await service.call('/User', { token });
    expect([before.status, after.status, after.body.length]).to.deep.equal([200, 200, 3]);
  });
});

async function endSessions({ app }: TestApp): Promise<void> {
  await fetch(`${app.simulatorsUrl}/salesforce/simulate/end-sessions`, { method: 'POST' });
}
