import { expect } from 'chai';
import { findFreePort } from '../../embedded/free-port.ts';
import { type ApiAnswer, type StartedApp, startTestApp, type TestApp, useApp } from '../support/app.ts';
import { createTestDatabase, theRow } from '../support/database.ts';
import { until } from '../support/until.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, createTenants, createUser, readEverything, withDatabase } from './support/tenants.ts';

const EMAIL = 'admin@localhost';
const PASSWORD = 'violet anchor drifts past noon';
const WRONG_LOG_IN =
  'The e-mail address or the password is wrong. If you are a user of several organizations, send the organizationId too.';
const NO_CSRF_TOKEN = 'The session of the console needs its csrfToken in the header X-CSRF-Token of this request.';
const ENDED = 'There is no open session of the console. Log in again.';

const OF_OTHER_PAGES: readonly Readonly<Record<string, string>>[] = [
  { origin: 'https://evil.example.com' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
];

interface BrowserCall {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request as a browser sends it: without the secrets. */
async function browse({ app }: Pick<TestApp, 'app'>, path: string, call: BrowserCall = {}): Promise<ApiAnswer> {
  const { method = 'GET', body, headers = {} } = call;
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(app.baseUrl + path, {
    method,
    headers: { ...type, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const logIn = (service: Pick<TestApp, 'app'>, body: unknown = {}, headers: BrowserCall['headers'] = {}) =>
  browse(service, '/console/session', {
    method: 'POST',
    body: { email: EMAIL, password: PASSWORD, ...Object(body) },
    headers,
  });

const setPassword = (service: TestApp, password = PASSWORD, headers = {}) =>
  service.send('PUT', '/users/me/password', { password }, { headers });

function cookieOf({ status, headers }: ApiAnswer): string {
  expect(status).to.equal(200);
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  return cookie;
}

/** What a page of the console sends. */
async function openSession(service: Pick<TestApp, 'app'>) {
  const response = await logIn(service);
  const cookie = cookieOf(response);
  return { cookie, headers: { cookie, 'x-csrf-token': String(response.body.csrfToken) }, answer: response };
}

const readAudit = (service: TestApp) =>
  withDatabase(service, (knex) =>
    knex('audit_log').where({ target: 'session' }).orWhere({ target: 'secret' }).orderBy('id'),
  );

describe('the console', () => {
  const service = useApp({ TRUST_PROXY: '127.0.0.1' });
  before(() => setPassword(service));

  describe('log-in', () => {
    it('by e-mail address and password sets a cookie that pages cannot read, and tells who it is', async () => {
      const response = await logIn(service);
      expect(response.status).to.equal(200);
      expect(response.headers.get('set-cookie')).to.match(
        /^causeway-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
      );
      const { csrfToken, createdDate, expiresDate, privileges, ...rest } = response.body;
      expect(csrfToken).to.match(/^[\w-]{43}$/);
      expect(Date.parse(expiresDate) - Date.parse(createdDate)).to.equal(8 * 60 * 60_000);
      expect(privileges).to.include('manageOrganization');
      expect(rest).to.deep.equal({
        organization: { id: 1, name: 'First organization' },
        account: { id: 1, name: 'First account' },
        user: { id: 1, email: EMAIL, firstName: 'First', lastName: 'User', hasPassword: true },
        roles: ['org-admin'],
      });
      const user = await withDatabase(service, (knex) => theRow(knex('app_user').where({ id: 1 })));
      expect(user.last_login_at).to.deep.equal(new Date(createdDate));
    });

    it('can be prepared without credentials: nothing is told but the own session, and that passwords exist', async () => {
      const { headers, answer: response } = await openSession(service);
      const ways = (more: BrowserCall['headers'] = {}) => browse(service, '/console/log-in', { headers: more });
      const { status, body } = await ways({ cookie: headers.cookie });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ passwordsExist: true, session: response.body });
      for (const cookie of ['', `causeway-session=${'x'.repeat(43)}`, 'causeway-session=short'])
        expect((await ways({ cookie })).body).to.deep.equal({ passwordsExist: true });
      for (const other of OF_OTHER_PAGES) expectProblem(await ways({ cookie: headers.cookie, ...other }), 'FORBIDDEN');
      expectProblem(await ways({ authorization: 'User wrong, Organization wrong' }), 'UNAUTHENTICATED');
    });

    it('by the secrets needs no body, and means the user’s own account', async () => {
      const { sibling } = await createTenants(service);
      const headers = { ...authorizationOf(sibling), 'content-type': 'application/json' };
      const response = await browse(service, '/console/session', { method: 'POST', headers });
      const { body } = await browse(service, '/console/session', { headers: { cookie: cookieOf(response) } });
      expect(body.user).to.include({ email: 'sibling@example.com', hasPassword: false });
      expect(body.account).to.deep.equal({ id: sibling.accountId, name: 'Siblings' });
      expect(body.roles).to.deep.equal(['admin']);
    });

    it('gives another session each time, whatever cookie the browser has', async () => {
      const { cookie } = await openSession(service);
      const again = cookieOf(await logIn(service, {}, { cookie }));
      expect(again).to.not.equal(cookie);
      const chosen = `causeway-session=${'x'.repeat(43)}`;
      expect(cookieOf(await logIn(service, {}, { cookie: chosen }))).to.not.equal(chosen);
      expectProblem(await browse(service, '/elements', { headers: { cookie: chosen } }), 'UNAUTHENTICATED', ENDED);
    });

    it('says the same of whatever is wrong', async () => {
      const from = { 'x-forwarded-for': '192.0.2.7' };
      for (const body of [{ password: 'another one' }, { email: 'nobody@example.com' }, { organizationId: 2 }]) {
        const response = await logIn(service, body, from);
        expectProblem(response, 'UNAUTHENTICATED', WRONG_LOG_IN);
        expect(response.headers.get('set-cookie')).to.equal(null);
      }
    });

    it('refuses what is no log-in', async () => {
      const message = 'Send a body with email and password, or your secrets in the Authorization header.';
      for (const body of [undefined, {}, { email: EMAIL }, { password: PASSWORD }]) {
        const response = await browse(service, '/console/session', { method: 'POST', body });
        expectProblem(response, 'REQUEST_INVALID', message);
      }
      const unknown = await logIn(service, { remember: true });
      expectProblem(unknown, 'REQUEST_INVALID');
      expect(Object.keys(faultsOf(unknown))).to.deep.equal(['body.remember']);
      const headers = { authorization: `User ${service.userSecret}` };
      expectProblem(await browse(service, '/console/session', { method: 'POST', headers }), 'UNAUTHENTICATED');
    });

    it('is refused to other pages', async () => {
      for (const headers of OF_OTHER_PAGES) {
        const response = await logIn(service, {}, headers);
        expectProblem(response, 'FORBIDDEN', `Only pages of ${service.app.url} may use a session of the console.`);
      }
      expect((await logIn(service, {}, { origin: service.app.url, 'sec-fetch-site': 'same-origin' })).status).to.equal(
        200,
      );
    });

    it('makes the eleventh wrong try of a network wait, and nobody elsewhere', async () => {
      const from = { 'x-forwarded-for': '2001:db8:0:1::7' };
      for (let at = 0; at < 10; at++)
        expectProblem(await logIn(service, { password: `guess ${at}` }, from), 'UNAUTHENTICATED');
      const waiting = await logIn(service, {}, { 'x-forwarded-for': '2001:db8:0:1:ffff::8' });
      expectProblem(waiting, 'RATE_LIMITED', /^Too many wrong passwords\. Try again in \d+ s\.$/);
      expect(Number(waiting.headers.get('retry-after'))).to.be.within(500, 600);
      expect(waiting.headers.get('ratelimit-limit')).to.equal('10');
      expect((await logIn(service, {}, { 'x-forwarded-for': '2001:db8:0:2::7' })).status).to.equal(200);
      const bySecrets = { ...authorizationOf(service), ...from };
      expect((await browse(service, '/console/session', { method: 'POST', headers: bySecrets })).status).to.equal(200);
    });
  });

  describe('a session', () => {
    it('is a caller of the platform, with the rights of its user', async () => {
      const { headers } = await openSession(service);
      expect((await browse(service, '/elements', { headers })).status).to.equal(200);
      const body = { element: { key: 'odata' }, name: 'Made in the console', configuration: SHOP };
      const { status, body: made } = await browse(service, '/instances', { method: 'POST', headers, body });
      expect(status, JSON.stringify(made)).to.equal(200);
      const shown = await browse(service, '/console/session', { headers });
      expect(shown.body.user.id).to.equal(1);
      expect(shown.headers.get('set-cookie')).to.equal(null);
    });

    it('reaches an instance by its id, in the account that the call is about', async () => {
      const { headers, cookie } = await openSession(service);
      const { id, token } = await service.createInstance('odata', SHOP);
      const on = (named: unknown) => ({ ...headers, 'elements-element-instance-id': String(named) });
      const listed = await browse(service, '/Orders?pageSize=2', { headers: on(id) });
      expect(listed.status, JSON.stringify(listed.body)).to.equal(200);
      expect(listed.headers.get('elements-element-instance-id')).to.equal(String(id));
      expect(listed.body).to.deep.equal(await service.get('/Orders?pageSize=2', { token }));

      const explain = { method: 'POST', body: { objectName: 'Orders' } };
      expect((await browse(service, '/query/explain', { ...explain, headers: on(id) })).status).to.equal(200);
      const without = { cookie, 'elements-element-instance-id': String(id) };
      expectProblem(
        await browse(service, '/query/explain', { ...explain, headers: without }),
        'FORBIDDEN',
        NO_CSRF_TOKEN,
      );
      expect((await browse(service, `/instances/${id}`, { headers: on(id) })).body.id).to.equal(id);

      expect((await browse(service, '/Orders', { headers: on(987654) })).status).to.equal(404);
      await withDatabase(service, (knex) =>
        knex('account').insert({ organization_id: 1, name: 'Elsewhere', external_id: 'elsewhere' }),
      );
      const elsewhere = { ...on(id), 'elements-account-id': 'elsewhere' };
      expect((await browse(service, '/Orders', { headers: elsewhere })).status).to.equal(404);
      const message = 'The header Elements-Element-Instance-Id must be the id of an instance, a whole number.';
      for (const wrong of ['', '0', '-1', '1.5', '1e3', 'x', '9'.repeat(16)])
        expectProblem(await browse(service, '/Orders', { headers: on(wrong) }), 'REQUEST_INVALID', message);
    });

    it('reaches no instance without its id', async () => {
      const { headers } = await openSession(service);
      const message =
        'This path needs an instance. Add `Element <token>` to the Authorization header; in a session of the console, send the header Elements-Element-Instance-Id.';
      expectProblem(await browse(service, '/objects', { headers }), 'UNAUTHENTICATED', message);
    });

    it('names no instance beside an Authorization header', async () => {
      const { id } = await service.createInstance('odata', SHOP);
      const response = await service.call('/objects', { headers: { 'elements-element-instance-id': String(id) } });
      expect(response.status).to.equal(401);
    });

    it('needs its token for every method that may change something', async () => {
      const { cookie, headers } = await openSession(service);
      const another = await openSession(service);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const token of ['', 'x', another.headers['x-csrf-token'], cookie.slice('causeway-session='.length)]) {
          const call = { method, headers: { cookie, ...(token !== '' && { 'x-csrf-token': token }) } };
          expectProblem(await browse(service, '/instances', call), 'FORBIDDEN', NO_CSRF_TOKEN);
        }
      }
      const head = await fetch(`${service.app.baseUrl}/elements`, { method: 'HEAD', headers: { cookie } });
      expect(head.status).to.equal(200);
      expect((await browse(service, '/console/session', { method: 'DELETE', headers })).status).to.equal(200);
    });

    it('is refused to other pages, even to look', async () => {
      const { headers } = await openSession(service);
      for (const other of OF_OTHER_PAGES) {
        const response = await browse(service, '/elements', { headers: { ...headers, ...other } });
        expectProblem(response, 'FORBIDDEN', `Only pages of ${service.app.url} may use a session of the console.`);
      }
      const own = { origin: service.app.url, 'sec-fetch-site': 'same-origin' };
      expect((await browse(service, '/elements', { headers: { ...headers, ...own } })).status).to.equal(200);
    });

    it('means nothing beside an Authorization header', async () => {
      const { headers } = await openSession(service);
      const wrong = { ...headers, authorization: 'User wrong, Organization wrong' };
      const message = /secret in the Authorization header is not valid/;
      expectProblem(await browse(service, '/elements', { headers: wrong }), 'UNAUTHENTICATED', message);
      const right = { cookie: headers.cookie, ...authorizationOf(service), origin: 'https://evil.example.com' };
      const noSession = 'There is no session: this request was sent with secrets, not with the cookie of the console.';
      expectProblem(await browse(service, '/console/session', { headers: right }), 'NOT_FOUND', noSession);
      const end = { method: 'DELETE', headers: right };
      expectProblem(await browse(service, '/console/session', end), 'NOT_FOUND', noSession);
      expect((await browse(service, '/elements', { headers })).status).to.equal(200);
    });

    it('is found among other cookies, but not among two of its name', async () => {
      const { cookie } = await openSession(service);
      const ask = (value: string) => browse(service, '/elements', { headers: { cookie: value } });
      expect((await ask(`a=b; ${cookie};c=d`)).status).to.equal(200);
      for (const value of [`${cookie}; causeway-session=x`, `x${cookie}`, 'causeway-session', 'a=b'])
        expectProblem(await ask(value), 'UNAUTHENTICATED', /^The Authorization header is missing/);
      expectProblem(await ask('causeway-session='), 'UNAUTHENTICATED', ENDED);
    });

    it('works in another account of the organization by the header, and is its user’s all the same', async () => {
      const { headers } = await openSession(service);
      const { id } = await withDatabase(service, (knex) =>
        theRow(knex('account').insert({ organization_id: 1, name: 'Other', external_id: 'other' }).returning('id')),
      );
      const there = { ...headers, 'elements-account-id': 'other' };
      expect((await browse(service, '/instances', { headers: there })).body).to.deep.equal([]);
      const { body } = await browse(service, '/console/session', { headers: there });
      expect(body.account.id).to.equal(1);
      expect(id).to.be.greaterThan(1);
    });

    it('costs no statement while it is warm', async () => {
      const { headers } = await openSession(service);
      const readUse = () =>
        withDatabase(service, (knex) => theRow(knex('console_session').orderBy('id', 'desc').limit(1)));
      await browse(service, '/elements', { headers });
      const { used_at: usedAt } = await readUse();
      for (let at = 0; at < 5; at++) await browse(service, '/elements', { headers });
      expect((await readUse()).used_at).to.deep.equal(usedAt);
    });

    it('ends for good with the deactivation of its user, whose secret is valid again when he is active', async () => {
      const ann = await createUser(service, { accountId: 1, name: 'ann', role: 'admin' });
      const headers = authorizationOf(ann);
      const cookie = cookieOf(await browse(service, '/console/session', { method: 'POST', headers }));
      const isKnown = async (by: Readonly<Record<string, string>>) =>
        (await browse(service, '/users/me', { headers: by })).status;
      expect([await isKnown({ cookie }), await isKnown(headers)]).to.deep.equal([200, 200]);
      for (const [active, ofSecret] of [
        [false, 401],
        [true, 200],
      ]) {
        expect((await service.send('PATCH', `/users/${ann.id}`, { active })).status).to.equal(200);
        expectProblem(await browse(service, '/users/me', { headers: { cookie } }), 'UNAUTHENTICATED', ENDED);
        expect(await isKnown(headers)).to.equal(ofSecret);
      }
      expect(cookieOf(await browse(service, '/console/session', { method: 'POST', headers }))).to.not.equal(cookie);
    });

    it('ends with the log-out, and takes the cookie with it', async () => {
      const { headers } = await openSession(service);
      const another = await openSession(service);
      const response = await browse(service, '/console/session', { method: 'DELETE', headers });
      expect([response.status, response.body]).to.deep.equal([200, {}]);
      expect(response.headers.get('set-cookie')).to.equal(
        'causeway-session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
      );
      expectProblem(await browse(service, '/elements', { headers }), 'UNAUTHENTICATED', ENDED);
      expect((await browse(service, '/elements', { headers: another.headers })).status).to.equal(200);
    });
  });

  describe('a password', () => {
    const put = (headers: BrowserCall['headers'] = {}, body: object = {}) =>
      browse(service, '/users/me/password', { method: 'PUT', headers, body: { password: PASSWORD, ...body } });

    it('is refused where others would guess it', async () => {
      for (const [password, message] of Object.entries({
        'too short': 'The password has 9 characters; it needs 12 to 256.',
        'first-user-2026':
          'The password contains your e-mail address or name, which is easy to guess. Choose another one.',
      })) {
        expectFaults(await setPassword(service, password), { 'body.password': message }, message);
      }
      expectProblem(await setPassword(service, 'password2026'), 'REQUEST_INVALID', /^The password is a common one/);
    });

    it('is changed in a session with the one of now, which ends all other sessions', async () => {
      const { headers } = await openSession(service);
      const another = await openSession(service);
      const next = 'seven lanterns over quiet water';
      const missing = 'The user already has a password. Send it as currentPassword.';
      expectFaults(await put(headers, { password: next }), { 'body.currentPassword': missing }, missing);
      const wrong = await put(headers, { password: next, currentPassword: 'not the one' });
      expectProblem(wrong, 'FORBIDDEN', 'The current password is wrong.');
      expect((await browse(service, '/elements', { headers: another.headers })).status).to.equal(200);

      const { status, body } = await put(headers, { password: next, currentPassword: PASSWORD });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.endedSessions).to.be.greaterThan(0);
      expect((await browse(service, '/elements', { headers })).status).to.equal(200);
      expectProblem(await browse(service, '/elements', { headers: another.headers }), 'UNAUTHENTICATED', ENDED);
      expectProblem(await logIn(service), 'UNAUTHENTICATED', WRONG_LOG_IN);
      expect((await logIn(service, { password: next })).status).to.equal(200);
      // The secret is worth more than the password of now.
      expect((await setPassword(service)).status).to.equal(200);
      expectProblem(await browse(service, '/elements', { headers }), 'UNAUTHENTICATED', ENDED);
    });

    it('of now cannot be guessed by whoever has found a session', async () => {
      const { headers } = await openSession(service);
      const from = { ...headers, 'x-forwarded-for': '192.0.2.44' };
      for (let at = 0; at < 10; at++)
        expectProblem(await put(from, { currentPassword: `guess number ${at}` }), 'FORBIDDEN');
      expectProblem(await put(from, { currentPassword: PASSWORD }), 'RATE_LIMITED');
    });
  });

  it('has every log-in, failure and log-out in the audit log, with the address that it came from', async () => {
    await withDatabase(service, (knex) => knex('audit_log').delete());
    const from = { 'x-forwarded-for': '192.0.2.55' };
    const { headers } = await openSession(service);
    await logIn(service, { password: 'a wrong one' }, from);
    const logged = service.logged.length;
    await logIn(service, { email: 'nobody@example.com' }, from);
    await browse(service, '/console/session', { method: 'DELETE', headers });
    await setPassword(service);
    const rows = (await readAudit(service)).map(
      ({ action, target, status, user_id, account_id, ip_address, ...row }) => {
        expect([user_id, account_id, row.organization_id]).to.deep.equal([1, 1, 1]);
        return { action, target, status, ip_address };
      },
    );
    const here = '127.0.0.1';
    expect(rows).to.deep.equal([
      { action: 'login', target: 'session', status: 200, ip_address: here },
      { action: 'login', target: 'session', status: 401, ip_address: '192.0.2.55' },
      { action: 'logout', target: 'session', status: 200, ip_address: here },
      { action: 'update', target: 'secret', status: 200, ip_address: here },
    ]);
    const line = service.logged
      .slice(logged)
      .find((each) => each.includes('somebody tried to log in as an unknown user'));
    expect(JSON.parse(line ?? '{}')).to.include({ address: '192.0.2.55' });
  });

  it('keeps no password, token or address that was typed in the clear', async () => {
    const { cookie, headers } = await openSession(service);
    const typed = 'whatever-was-typed@example.com';
    await logIn(service, { email: typed, password: 'a wrong password' });
    await browse(service, `/elements/${cookie.slice(17)}`, { headers });
    const places = { database: await readEverything(service), log: service.logged.join('\n') };
    for (const [place, text] of Object.entries(places)) {
      for (const secret of [PASSWORD, 'a wrong password', typed, cookie.slice('causeway-session='.length)])
        expect(text.includes(secret), `${secret} in the ${place}`).to.equal(false);
    }
  });
});

describe('the console over HTTPS', () => {
  let service: StartedApp;
  before(async function start() {
    this.timeout(60_000);
    const PORT = String(await findFreePort());
    const started = await startTestApp({ PORT, PUBLIC_URL: 'https://causeway.example.com' });
    // As the proxy in front of it sees it.
    service = { ...started, app: { ...started.app, baseUrl: `http://127.0.0.1:${PORT}/elements/api-v2` } };
    const headers = authorizationOf(service);
    await browse(service, '/users/me/password', { method: 'PUT', headers, body: { password: PASSWORD } });
  });
  after(() => service.stop());

  it('has a cookie that browsers take from this host and over HTTPS only', async () => {
    const response = await logIn(service, {}, { origin: 'https://causeway.example.com' });
    expect(response.headers.get('set-cookie')).to.match(
      /^__Host-causeway-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const cookie = cookieOf(response);
    expect((await browse(service, '/elements', { headers: { cookie } })).status).to.equal(200);
    const bare = { cookie: cookie.slice('__Host-'.length) };
    expectProblem(await browse(service, '/elements', { headers: bare }), 'UNAUTHENTICATED');
  });

  it('takes no other scheme for its own', async () => {
    expectProblem(await logIn(service, {}, { origin: 'http://causeway.example.com' }), 'FORBIDDEN');
  });
});

describe('the console on two processes', () => {
  const services: StartedApp[] = [];
  before(async function start() {
    this.timeout(60_000);
    const databaseUrl = await createTestDatabase();
    for (const _ of [1, 2]) services.push(await startTestApp({ DATABASE_URL: databaseUrl, TRUST_PROXY: '127.0.0.1' }));
  });
  after(async () => {
    for (const service of services) await service.stop();
  });

  function both(): readonly [StartedApp, StartedApp] {
    const [one, other] = services;
    if (one === undefined || other === undefined) throw new Error('The services have not started.');
    return [one, other];
  }

  it('knows a session on both, until it ends on either', async () => {
    const [one, other] = both();
    await setPassword(one);
    const { headers } = await openSession(one);
    for (const service of [other, one, other])
      expect((await browse(service, '/elements', { headers })).status).to.equal(200);
    expect((await browse(other, '/console/session', { method: 'DELETE', headers })).status).to.equal(200);
    for (const service of [one, other])
      expectProblem(await browse(service, '/elements', { headers }), 'UNAUTHENTICATED', ENDED);
  });

  it('ends the others on both when the password changes', async () => {
    const [one, other] = both();
    const { headers } = await openSession(one);
    expect((await browse(other, '/elements', { headers })).status).to.equal(200);
    await setPassword(one);
    expectProblem(await browse(other, '/elements', { headers }), 'UNAUTHENTICATED', ENDED);
  });

  it('calls an instance that the other process changed, as it is now', async () => {
    const [one, other] = both();
    await setPassword(one);
    const { headers } = await openSession(other);
    const { id } = await one.createInstance('odata', SHOP);
    const path = `/instances/${id}/enabled`;
    const call = async () => {
      const on = { ...headers, 'elements-element-instance-id': String(id) };
      return (await browse(other, '/Products?pageSize=1', { headers: on })).status;
    };
    expect(await call()).to.equal(200);
    // At once in the process that changes it.
    expect((await browse(other, path, { method: 'DELETE', headers })).status).to.equal(200);
    expect(await call()).to.equal(403);
    expect((await one.send('PUT', path)).status).to.equal(200);
    await until(async () => (await call()) === 200);
    await one.send('DELETE', `/instances/${id}`);
    await until(async () => (await call()) === 404);
  });

  it('counts wrong tries together', async () => {
    const from = { 'x-forwarded-for': '192.0.2.9' };
    const tries = Array.from({ length: 14 }, (_, at) =>
      logIn(both()[at % 2 === 0 ? 0 : 1], { password: `guess ${at}` }, from),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).to.have.length(10);
    expect(statuses.filter((status) => status === 429)).to.have.length(4);
  });
});
