import { expect } from 'chai';
import jsforce from 'jsforce';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { CLIENTS, createSimulator } from './simulator.ts';

/** Salesforce's own client for JavaScript must work with the simulator as it does with Salesforce. */
describe('the Salesforce simulator, to jsforce', () => {
  let simulator: ServedSimulator;
  let connection: jsforce.Connection;

  before(async () => {
    simulator = await serveSimulator('salesforce', createSimulator);
    connection = await logIn(simulator.url, 'demo-client');
  });
  after(() => simulator.stop());

  it('logs in by code with PKCE', async () => {
    expect(connection.userInfo?.organizationId).to.match(/^00D\w{15}$/);
    expect(connection.instanceUrl).to.equal(simulator.url);
  });

  it('counts rows', async () => {
    const rows = await connection.query('SELECT COUNT() FROM Account');
    expect([rows.totalSize, rows.records]).to.deep.equal([30, []]);
  });

  it('takes a code once', async () => {
    const oauth2 = createOAuth2(simulator.url, 'demo-client');
    const code = await approve(oauth2);
    await oauth2.requestToken(code);
    expect(await nameOf(oauth2.requestToken(code))).to.equal('invalid_grant');
  });

  it('refuses the code of another verifier', async () => {
    const code = await approve(createOAuth2(simulator.url, 'demo-client'));
    const other = createOAuth2(simulator.url, 'demo-client');
    expect(await nameOf(other.requestToken(code))).to.equal('invalid_grant');
  });

  it('sends who denies back with an error', async () => {
    const url = `${createOAuth2(simulator.url, 'demo-client').getAuthorizationUrl({ state: 'a&b' })}&auto=deny`;
    const back = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '');
    expect([back.searchParams.get('error'), back.searchParams.get('state')]).to.deep.equal(['access_denied', 'a&b']);
  });

  it('shows people a page to choose on', async () => {
    const page = await fetch(createOAuth2(simulator.url, 'demo-client').getAuthorizationUrl({}));
    expect(await page.text()).to.match(/auto=approve.*Allow/s);
  });

  it('keeps a refresh token, and rotates it for an application that has it so', async () => {
    const [kept, rotated] = await Promise.all([refreshTwice('demo-client'), refreshTwice('rotating-client')]);
    expect(kept).to.deep.equal({ returned: undefined, again: 'a token' });
    expect(rotated.returned).to.match(/^5Aep861/);
    expect(rotated.again).to.equal('invalid_grant');
  });

  it('ends the session of a revoked token', async () => {
    const other = await logIn(simulator.url, 'demo-client');
    await other.query('SELECT Id FROM User');
    await other.oauth2.revokeToken(other.accessToken ?? '');
    // This client cannot obtain a new access token.
    const bare = new jsforce.Connection({
      instanceUrl: simulator.url,
      accessToken: other.accessToken ?? '',
      version: '62.0',
    });
    expect(await nameOf(bare.query('SELECT Id FROM User'))).to.equal('INVALID_SESSION_ID');
  });

  it('is refreshed by jsforce when a session has ended', async () => {
    const other = await logIn(simulator.url, 'demo-client');
    await other.oauth2.revokeToken(other.accessToken ?? '');
    expect((await other.query('SELECT Id FROM User')).totalSize).to.equal(3);
  });

  it('lists and describes objects', async () => {
    const { sobjects } = await connection.describeGlobal();
    expect(sobjects.map(({ name }) => name)).to.include.members(['Account', 'Site__c', 'AccountChangeEvent']);
    const { fields } = await connection.describe('Account');
    const tier = fields.find(({ name }) => name === 'Tier__c');
    expect(tier?.picklistValues?.map(({ value }) => value)).to.deep.equal(['Gold', 'Silver', 'Bronze']);
  });

  it('pages through a long result', async () => {
    const first = await connection.query('SELECT Id FROM Contact ORDER BY Id', {
      headers: { 'Sforce-Query-Options': 'batchSize=200' },
    });
    expect([first.totalSize, first.done]).to.deep.equal([60, true]);
    await Promise.all(
      Array.from({ length: 150 }, (_, index) => connection.sobject('Task').create({ Subject: `Many ${index}` })),
    );
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => connection.sobject('Task').create({ Subject: `More ${index}` })),
    );
    const page = await connection.query('SELECT Id FROM Task ORDER BY Id', {
      headers: { 'Sforce-Query-Options': 'batchSize=200' },
    });
    expect([page.records.length, page.done, page.totalSize]).to.deep.equal([200, false, 220]);
    const rest = await connection.queryMore(page.nextRecordsUrl ?? '');
    const ids = new Set([...page.records, ...rest.records].map(({ Id }) => Id));
    expect([rest.done, ids.size]).to.deep.equal([true, 220]);
  });

  it('creates, changes and deletes a record, and finds it in the recycle bin', async () => {
    const accounts = connection.sobject('Account');
    const { id = '' } = await accounts.create({ Name: "  O'Brien  ", BillingCity: '' });
    expect(await accounts.retrieve(id)).to.include({ Name: "O'Brien", BillingCity: null, IsDeleted: false });
    await accounts.update({ Id: id, BillingCity: 'Oslo' });
    const { BillingAddress } = await accounts.retrieve(id);
    expect(BillingAddress).to.include({ city: 'Oslo' });
    await accounts.destroy(id);
    expect(await nameOf(accounts.retrieve(id))).to.equal('ENTITY_IS_DELETED');
    const soql = `SELECT Id FROM Account WHERE Id = '${id.slice(0, 15)}'`;
    expect((await connection.query(soql)).totalSize).to.equal(0);
    expect((await connection.query(soql, { scanAll: true })).totalSize).to.equal(1);
  });

  it('serves files byte for byte', async () => {
    const { records } = await connection.query('SELECT VersionData FROM ContentVersion ORDER BY Id LIMIT 1');
    const response = await fetch(simulator.url + records[0]?.VersionData, {
      headers: { authorization: `Bearer ${connection.accessToken}` },
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect([...bytes]).to.deep.equal(Array.from({ length: 256 }, (_, byte) => byte));
  });

  for (const [soql, errorCode] of Object.entries({
    'SELECT Id FROM Nothing': 'INVALID_TYPE',
    'SELECT Id FROM AccountChangeEvent': 'INVALID_TYPE',
    'SELECT Nothing FROM Account': 'INVALID_FIELD',
    "SELECT Id FROM Account WHERE Description = 'x'": 'INVALID_FIELD',
    "SELECT Id FROM Account WHERE AnnualRevenue = '1'": 'INVALID_FIELD',
    'SELECT Id FROM Account WHERE Name = 1': 'INVALID_FIELD',
    'SELECT Id FROM Account WHERE NumberOfEmployees = 2147483648': 'INVALID_FIELD',
    'SELECT Id FROM Account WHERE AnnualRevenue = 1234567890123456789': 'INVALID_FIELD',
    'SELECT Id FROM Account WHERE FoundedOn__c = 1699-12-31': 'INVALID_FIELD',
    "SELECT Id FROM Account WHERE Id = 'no id'": 'INVALID_QUERY_FILTER_OPERATOR',
    "SELECT Id FROM Account WHERE Type LIKE 'C%'": 'INVALID_QUERY_FILTER_OPERATOR',
    "SELECT Id FROM Account WHERE Name = 'a' AND Name = 'b' OR Name = 'c'": 'MALFORMED_QUERY',
    "SELECT Id FROM Account WHERE Name = 'a' AND NOT Name = 'b'": 'MALFORMED_QUERY',
    "SELECT Id FROM Account WHERE Name = '\\%'": 'MALFORMED_QUERY',
    'SELECT Id FROM Account WHERE Name IS NULL': 'MALFORMED_QUERY',
  })) {
    it(`refuses ${soql} with ${errorCode}`, async () => {
      expect(await nameOf(connection.query(soql))).to.equal(errorCode);
    });
  }

  for (const [what, body, errorCode] of [
    ['an unknown field', { Name: 'x', Nothing: 1 }, 'INVALID_FIELD'],
    ['no name', { Name: ' ' }, 'REQUIRED_FIELD_MISSING'],
    ['a read-only field', { Name: 'x', Share__c: 1 }, 'INVALID_FIELD_FOR_INSERT_UPDATE'],
    ['a value outside a restricted list', { Name: 'x', Tier__c: 'Tin' }, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST'],
    ['a text that is too long', { Name: 'x'.repeat(256) }, 'STRING_TOO_LONG'],
    ['an owner that is no id', { Name: 'x', OwnerId: 'me' }, 'MALFORMED_ID'],
    ['a number as text', { Name: 'x', NumberOfEmployees: '7' }, 'JSON_PARSER_ERROR'],
  ] as const) {
    it(`refuses an account with ${what}`, async () => {
      expect(await nameOf(connection.sobject('Account').create(body))).to.equal(errorCode);
    });
  }

  it('finds records without a value by != and NOT, as SOQL does', async () => {
    const count = async (where: string) => (await connection.query(`SELECT Id FROM Account WHERE ${where}`)).totalSize;
    const all = await count('Id != null');
    expect((await count("BillingCity = 'OSLO'")) + (await count("BillingCity != 'oslo'"))).to.equal(all);
    expect((await count("BillingCity LIKE 'O%'")) + (await count("(NOT BillingCity LIKE 'O%')"))).to.equal(all);
    expect(await count("BillingCity = ''")).to.equal(await count('BillingCity = null'));
  });

  async function refreshTwice(clientId: string) {
    const oauth2 = createOAuth2(simulator.url, clientId);
    const { refresh_token: first = '' } = await oauth2.requestToken(await approve(oauth2));
    const { refresh_token: returned } = await oauth2.refreshToken(first);
    const again = await oauth2.refreshToken(first).then(
      () => 'a token',
      (error: Error) => error.name,
    );
    return { returned, again };
  }
});

const REDIRECT_URI = 'https://app.example.com/callback';

function createOAuth2(loginUrl: string, clientId: string): jsforce.OAuth2 {
  const clientSecret = CLIENTS[clientId]?.secret ?? '';
  return new jsforce.OAuth2({ loginUrl, clientId, clientSecret, redirectUri: REDIRECT_URI, useVerifier: true });
}

async function approve(oauth2: jsforce.OAuth2): Promise<string> {
  const url = oauth2.getAuthorizationUrl({ scope: 'api refresh_token' });
  const response = await fetch(`${url}&auto=approve`, { redirect: 'manual' });
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code');
  if (code === null) throw new Error('There is no code in the redirect.');
  return code;
}

async function logIn(url: string, clientId: string): Promise<jsforce.Connection> {
  const oauth2 = createOAuth2(url, clientId);
  const connection = new jsforce.Connection({ oauth2, version: '62.0' });
  await connection.authorize(await approve(oauth2));
  return connection;
}

/** Returns the name of the error of a call, which must fail. */
async function nameOf(call: PromiseLike<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return error.name;
  }
  return 'no error';
}
