import { expect } from 'chai';
import { findFreePort } from '../../embedded/free-port.ts';
import { createSessionStore } from '../../src/connect/session-store.ts';
import { type ApiAnswer, pluck, startTestApp, type TestApp, useApp, useSharedApp } from '../support/app.ts';
import { status } from '../support/misbehaving-server.ts';
import { QUICK, type Receiver, startReceiver } from './events/receiving.ts';
import { createBrowser, openPage, type PageClient, PRODUCT, registerOrigins } from './support/connect-page.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { BAMBOOHR, PRIVATE_SHOP, SHOP } from './support/simulated.ts';
import {
  authorizationOf,
  countRows,
  createUser,
  readEverything,
  updateRows,
  useTenants,
  withDatabase,
} from './support/tenants.ts';

const ADDRESS = { 'base.url': SHOP['base.url'] };
const SIMULATED = { elements: ['odata'], configuration: { simulator: true } };
const CONNECT_SHOP = { elementKey: 'odata', configuration: ADDRESS };
const ENDED = {
  completed:
    'This connect session was completed: an account is connected. A session connects one account. Create a new session.',
  failed: 'This connect session was ended. A session connects one account. Create a new session.',
  expired: 'This connect session has expired. A session connects one account. Create a new session.',
};

/** As if it had been made long before. */
const letExpire = (service: TestApp, id: number) =>
  withDatabase(service, (knex) =>
    knex('connect_session')
      .where({ id })
      .update({ expires_at: knex.raw("now() - interval '1 second'") }),
  );

describe('a connect session', () => {
  const service = useApp({}, { engineOptions: QUICK });
  const create = (body: object, headers = {}) => service.send('POST', '/connect/sessions', body, { headers });
  const tenants = useTenants(service);

  before(async () => {
    await registerOrigins(service);
  });

  describe('is made', () => {
    it('with the URL of a page, which is answered once', async () => {
      const { status: code, body } = await create({ ...SIMULATED, name: ' Shop of Ada ', tags: [' user-7 '] });
      expect(code).to.equal(200);
      expect(body).to.deep.include({
        status: 'open',
        elements: ['odata'],
        name: 'Shop of Ada',
        tags: ['user-7'],
        isReauthentication: false,
      });
      expect(body.url).to.match(new RegExp(`^${service.app.url}/connect/[\\w-]{43}$`));
      expect(Date.parse(body.expiresDate) - Date.parse(body.createdDate)).to.equal(3_600_000);
      expect(body).to.not.have.any.keys('configuration', 'token');
      const { url: _, ...shown } = body;
      expect(await service.get(`/connect/sessions/${body.id}`)).to.deep.equal(shown);
    });

    it('for as long as it is asked for, up to a day', async () => {
      const { body } = await create({ expiresIn: 86_400 });
      expect(Date.parse(body.expiresDate) - Date.parse(body.createdDate)).to.equal(86_400_000);
      expectProblem(await create({ expiresIn: 86_401 }), 'REQUEST_INVALID');
    });

    it('once for one Idempotency-Key', async () => {
      const headers = { 'idempotency-key': 'the same session' };
      const [one, other] = [await create(SIMULATED, headers), await create(SIMULATED, headers)];
      expect(other.body).to.deep.equal(one.body);
    });
  });

  describe('is not made', () => {
    it('of elements that there are not, or that the account makes no instances of', async () => {
      expectFaults(
        await create({ elements: ['bamboohr', 'odota'] }),
        {
          'body.elements.1': "Unknown element 'odota'. Did you mean 'odata'?",
        },
        "Unknown element 'odota'. Did you mean 'odata'?",
      );
      await service.send('DELETE', '/elements/twilio/active');
      const message = "The element 'twilio' is inactive in account 1.";
      expectProblem(await create({ elements: ['twilio'] }), 'REQUEST_INVALID', message);
      await service.send('PUT', '/elements/twilio/active');
    });

    it('with keys that no element on offer knows, or values that are none of theirs', async () => {
      expectFaults(
        await create({
          elements: ['odata'],
          configuration: { 'company.name': 'acme', simulator: 'perhaps' },
        }),
        {
          'body.configuration.company.name': "Unknown configuration key 'company.name'.",
          'body.configuration.simulator': "'simulator' must be true or false.",
        },
      );
      expect(
        (await create({ elements: ['odata', 'bamboohr'], configuration: { 'company.name': 'acme' } })).status,
      ).to.equal(200);
    });

    it('with a callback URL of the caller', async () => {
      const response = await create({ configuration: { 'oauth.callback.url': 'https://app.example.com/' } });
      expectProblem(response, 'REQUEST_INVALID', /^'oauth.callback.url' cannot be fixed: providers send browsers back/);
    });

    it('to return to an origin that nobody registered', async () => {
      const message =
        'body.redirectUrl has the origin https://evil.example.com, which the organization has not registered. Register it with PUT /organizations/me/connect-origins.';
      expectProblem(await create({ redirectUrl: 'https://evil.example.com/connected' }), 'REQUEST_INVALID', message);
      expectProblem(
        await create({ redirectUrl: 'javascript:alert(1)' }),
        'REQUEST_INVALID',
        /absolute http or https URL/,
      );
      expect((await create({ redirectUrl: `${PRODUCT}/connected?user=7` })).status).to.equal(200);
    });

    it('for an instance or a proxy of somebody else', async () => {
      const { id } = await service.createInstance('odata', SHOP);
      const headers = authorizationOf(tenants.sibling);
      expectProblem(await create({ instanceId: id }, headers), 'NOT_FOUND', `There is no instance ${id}.`);
      expectProblem(await create({ proxyId: 4711 }), 'NOT_FOUND');
      const message = `body.elements leaves out 'odata', the element of instance ${id}.`;
      expectProblem(await create({ instanceId: id, elements: ['bamboohr'] }), 'REQUEST_INVALID', message);
    });

    it('with a proxy where nobody authorizes', async () => {
      const proxy = { name: 'of no use', apiKey: 'x', apiSecret: 'secret-of-the-proxy' };
      const { id } = await service.change('POST', '/elements/oauthProxies', proxy);
      const message = /^body.proxyId has no effect/;
      expectProblem(await create({ elements: ['odata'], proxyId: id }), 'REQUEST_INVALID', message);
    });
  });

  describe('is one of', () => {
    /** Open ones of an account, as a user of it would have made them. */
    const fill = (accountId: number, userId: number, count: number) =>
      withDatabase(service, (knex) =>
        knex.raw(
          `insert into connect_session (account_id, user_id, key_hash, configuration, reauthenticates, created_at, expires_at)
           select ?, ?, sha256(gen_random_uuid()::text::bytea), '', false, now(), now() + interval '1 hour'
           from generate_series(1, ?)`,
          [accountId, userId, count],
        ),
      );
    const createIn = (account: string, body: object = SIMULATED) => create(body, { 'elements-account-id': account });
    const refusal = (owner: string, most: number) =>
      `${owner} has ${most} open connect sessions, the maximum. End some with DELETE /connect/sessions/{id}, or wait until some are completed or expire; a shorter expiresIn leaves fewer open.`;

    it('1,000 that are open of a user, however many ask at the same time', async () => {
      const account = await service.change('POST', '/accounts', { externalId: 'crowded' });
      await fill(account.id, 1, 997);
      const answers = await Promise.all(Array.from({ length: 8 }, () => createIn('crowded')));
      expect(answers.filter(({ status: code }) => code === 200)).to.have.length(3);
      const refused = answers.find(({ status: code }) => code !== 200) ?? (await createIn('crowded'));
      expectProblem(refused, 'RATE_LIMITED', refusal('User 1', 1_000));
      expect(refused.headers.get('retry-after')).to.equal('60');
      const [made] = answers.filter(({ status: code }) => code === 200);
      const headers = { 'elements-account-id': 'crowded' };
      await service.call(`/connect/sessions/${made?.body.id}`, { method: 'DELETE', headers });
      const last = await createIn('crowded');
      expect(last.status).to.equal(200);
      await letExpire(service, last.body.id);
      expect((await createIn('crowded')).status).to.equal(200);
      expectProblem(await createIn('crowded'), 'RATE_LIMITED');
      // Of the same user in another account, and of another user in this one.
      expect((await create(SIMULATED)).status).to.equal(200);
      const other = await createUser(service, { accountId: account.id, name: 'other', role: 'default-user' });
      expect((await create(SIMULATED, authorizationOf(other))).status).to.equal(200);
    });

    it('2,000 that are open of an account', async () => {
      const account = await service.change('POST', '/accounts', { externalId: 'full' });
      for (const userId of [901, 902]) await fill(account.id, userId, 1_000);
      expectProblem(await createIn('full'), 'RATE_LIMITED', refusal(`Account ${account.id}`, 2_000));
    });
  });

  describe('shows its page', () => {
    it('the elements with what the user has to give, and nothing of what is fixed', async () => {
      const page = await openPage(service, {
        elements: ['bamboohr', 'salesforce'],
        redirectUrl: `${PRODUCT}/connected`,
        configuration: {
          simulator: true,
          'company.name': 'acme',
          'oauth.api.key': 'client-of-the-product',
          'oauth.api.secret': 'secret-of-the-product',
        },
      });
      const { body } = await page.call();
      expect(body).to.deep.include({ status: 'open', isReauthentication: false, returnsTo: PRODUCT });
      expect(body).to.not.have.any.keys('returnUrl', 'error');
      const [bamboohr, salesforce] = body.elements;
      expect(bamboohr).to.deep.include({ key: 'bamboohr', authentication: 'basic', authorizes: false });
      expect(pluck(bamboohr.fields, 'key')).to.deep.equal(['username']);
      expect(bamboohr.fields[0]).to.deep.include({ required: true, secret: true }).and.to.have.property('setup');
      expect(bamboohr.image).to.match(/^data:image\/svg/);
      expect(salesforce).to.deep.include({ authentication: 'oauth2', authorizes: true, fields: [] });
      for (const fixed of ['acme', 'client-of-the-product', 'secret-of-the-product', 'company.name'])
        expect(JSON.stringify(body)).not.to.include(fixed);
    });

    it('the client of an application where neither the session nor a proxy has one', async () => {
      const keysOf = async (session: object) => {
        const { body } = await (await openPage(service, session)).call();
        return pluck(body.elements[0].fields, 'key');
      };
      expect(await keysOf({ elements: ['salesforce'] })).to.deep.equal(['oauth.api.key', 'oauth.api.secret']);
      const proxy = { name: 'crm', apiKey: 'x', apiSecret: 'secret-of-the-proxy' };
      const { id } = await service.change('POST', '/elements/oauthProxies', proxy);
      expect(await keysOf({ elements: ['salesforce'], proxyId: id })).to.deep.equal([]);
    });

    it('the log-in too, where an instance may do without', async () => {
      const { body } = await (await openPage(service, SIMULATED)).call();
      const fields = body.elements[0].fields.map(({ key, required }: { key: string; required: boolean }) => [
        key,
        required,
      ]);
      expect(fields).to.deep.equal([
        ['base.url', true],
        ['username', false],
        ['password', false],
      ]);
    });

    it('all elements that the account makes instances of, where none is named', async () => {
      await service.send('DELETE', '/elements/twilio/active');
      const { body } = await (await openPage(service, {})).call();
      const keys = pluck(body.elements, 'key');
      expect(keys).to.include('bamboohr').and.not.include('twilio');
      await service.send('PUT', '/elements/twilio/active');
    });
  });

  describe('is completed', () => {
    it('by an instance that has what is fixed and what the user gave, and its token goes to the server alone', async () => {
      const page = await openPage(service, {
        ...SIMULATED,
        name: 'Shop of Ada',
        tags: ['user-7'],
        redirectUrl: `${PRODUCT}/connected?user=7`,
      });
      const { status: code, body } = await page.connect(CONNECT_SHOP);
      expect(code, JSON.stringify(body)).to.equal(200);
      const { id: sessionId } = page.session;
      const { instanceId } = body;
      const returnUrl = `${PRODUCT}/connected?user=7&instanceId=${instanceId}&sessionId=${sessionId}`;
      expect(body).to.deep.equal({ status: 'completed', instanceId, returnUrl });
      const session = await page.read();
      expect(session).to.deep.include({ status: 'completed', instanceId, elementKey: 'odata' });
      const instance = await service.get(`/instances/${instanceId}`);
      expect(instance).to.deep.include({ name: 'Shop of Ada', tags: ['user-7'], token: session.token });
      expect(instance.configuration).to.deep.equal({ ...SHOP, ...instance.configuration });
      expect((await service.call('/Orders', { token: session.token })).status).to.equal(200);
      const shown = (await page.call()).body;
      expect(shown).to.deep.include({ status: 'completed', elementKey: 'odata', returnUrl, elements: [] });
      expect(JSON.stringify([body, shown])).not.to.include(session.token);
      const listed = await service.get('/connect/sessions', { query: { where: `id = ${sessionId}` } });
      expect(listed).to.have.length(1);
      expect(listed[0]).to.not.have.any.keys('token', 'url');
    });

    it('under the name that the user gave, or that of the element, where none is fixed', async () => {
      const named = await (await openPage(service, SIMULATED)).connect({ ...CONNECT_SHOP, name: ' My shop ' });
      const unnamed = await (await openPage(service, SIMULATED)).connect(CONNECT_SHOP);
      const nameOf = async (id: number) => (await service.get(`/instances/${id}`)).name;
      expect(await nameOf(named.body.instanceId)).to.equal('My shop');
      expect(await nameOf(unnamed.body.instanceId)).to.equal('OData');
      const fixed = await openPage(service, { ...SIMULATED, name: 'Fixed' });
      const message = 'body.name is fixed by the session. Leave it out.';
      expectProblem(await fixed.connect({ ...CONNECT_SHOP, name: 'Mine' }), 'REQUEST_INVALID', message);
    });

    it('once, however many ask at the same time, also of several processes', async () => {
      const other = await startTestApp({ DATABASE_URL: service.databaseUrl });
      try {
        const page = await openPage(service, SIMULATED);
        const headers = { authorization: `Connect ${page.key}` };
        const before = await countRows(service, 'instance');
        const answers = await Promise.all(
          [service, other, service, other].map((one) =>
            one.send('POST', '/connect/session/instance', CONNECT_SHOP, { headers }),
          ),
        );
        expect(answers.map((response) => response.status).toSorted()).to.deep.equal([200, 409, 409, 409]);
        for (const answer of answers.filter((each) => each.status === 409))
          expectProblem(answer, 'CONFLICT', ENDED.completed);
        expect(await countRows(service, 'instance')).to.equal(before + 1);
        const told = await service.call('/notifications', {
          query: { where: "type = 'instance.connected'", pageSize: 1000 },
        });
        const ofSession = told.body.filter(
          ({ data }: { data: { sessionId: number } }) => data.sessionId === page.session.id,
        );
        expect(ofSession).to.have.length(1);
      } finally {
        await other.stop();
      }
    });

    it('or not at all: where the end cannot be stored there is no instance, and the user tries again', async () => {
      const page = await openPage(service, SIMULATED);
      const before = await countRows(service, 'instance');
      const refuseEnds = (sql: string) => withDatabase(service, (knex) => knex.raw(sql));
      await refuseEnds(`alter table connect_session add constraint never check (status <> 'completed') not valid`);
      expectProblem(await page.connect(CONNECT_SHOP), 'INTERNAL');
      expect(await countRows(service, 'instance')).to.equal(before);
      expect(await page.read()).to.deep.include({ status: 'open' });
      await refuseEnds('alter table connect_session drop constraint never');
      expect((await page.connect(CONNECT_SHOP)).status).to.equal(200);
    });

    it('after a failure, whose words the page and the server see', async () => {
      const page = await openPage(service, { elements: ['bamboohr'], configuration: { simulator: true } });
      const refused = await page.connect({
        elementKey: 'bamboohr',
        configuration: { ...BAMBOOHR, username: 'a-wrong-key-of-the-user', simulator: undefined },
      });
      expectProblem(refused, 'PROVIDER_CREDENTIALS_INVALID');
      const { message, code } = refused.body;
      for (const shown of [await page.read(), (await page.call()).body])
        expect(shown)
          .to.deep.include({ status: 'open' })
          .and.to.have.property('error')
          .that.deep.includes({ message, code });
      expect(JSON.stringify(await page.read())).not.to.include('a-wrong-key');
      const { username, 'company.name': company } = BAMBOOHR;
      const configuration = { username, 'company.name': company };
      expect((await page.connect({ elementKey: 'bamboohr', configuration })).status).to.equal(200);
      expect(await page.read())
        .to.deep.include({ status: 'completed' })
        .and.to.not.have.property('error');
    });

    it('with the instance of before, which keeps its id and token', async () => {
      const { id, token, name } = await service.createInstance('odata', PRIVATE_SHOP, { tags: ['kept'] });
      const page = await openPage(service, { instanceId: id });
      const { body } = await page.call();
      expect(body).to.deep.include({ isReauthentication: true });
      expect(pluck(body.elements, 'key')).to.deep.equal(['odata']);
      const [address, username, password] = body.elements[0].fields;
      expect([address.default, username.default]).to.deep.equal([PRIVATE_SHOP['base.url'], PRIVATE_SHOP.username]);
      expect(password).to.not.have.property('default');
      const { simulator: _, ...configuration } = PRIVATE_SHOP;
      expectProblem(
        await page.connect({ elementKey: 'odata', configuration: { ...configuration, password: 'not this one' } }),
        'PROVIDER_CREDENTIALS_INVALID',
      );
      expect((await page.connect({ elementKey: 'odata', configuration })).body.instanceId).to.equal(id);
      expect(await page.read()).to.deep.include({ status: 'completed', instanceId: id, token });
      expect(await service.get(`/instances/${id}`)).to.deep.include({ name, tags: ['kept'], token });
    });
  });

  describe('takes from the user', () => {
    it('what it asks for and nothing else', async () => {
      const page = await openPage(service, { elements: ['odata'], configuration: { 'base.url': SHOP['base.url'] } });
      expectFaults(
        await page.connect({
          elementKey: 'odata',
          configuration: {
            simulator: true,
            'base.url': 'https://evil.example.com/',
            'event.notification.callback.url': 'https://evil.example.com/',
            passwort: 'x',
          },
        }),
        {
          'body.configuration.simulator': "Unknown configuration key 'simulator'.",
          'body.configuration.base.url': "Unknown configuration key 'base.url'.",
          'body.configuration.event.notification.callback.url':
            "Unknown configuration key 'event.notification.callback.url'.",
          'body.configuration.passwort': "Unknown configuration key 'passwort'. Did you mean 'password'?",
        },
      );
    });

    it('everything that is required', async () => {
      const response = await (await openPage(service, SIMULATED)).connect({ elementKey: 'odata', configuration: {} });
      expectProblem(response, 'REQUEST_INVALID', /'base.url' is required/);
    });

    it('an element that it offers', async () => {
      const page = await openPage(service, SIMULATED);
      expectProblem(
        await page.connect({ elementKey: 'bamboohr', configuration: BAMBOOHR }),
        'REQUEST_INVALID',
        "The element 'bamboohr' is not offered by this session.",
      );
      expectProblem(
        await (await openPage(service, { elements: ['salesforce'] })).connect({
          elementKey: 'salesforce',
          configuration: { 'oauth.api.key': 'x', 'oauth.api.secret': 'y' },
        }),
        'REQUEST_INVALID',
        'To connect an account of Salesforce, authorize there. POST /connect/session/authorization returns the URL.',
      );
    });
  });

  describe('ends', () => {
    const GONE = 'This key belongs to no open connect session. Create a new session with POST /connect/sessions.';

    it('when the server says so', async () => {
      const page = await openPage(service, SIMULATED);
      const at = `/connect/sessions/${page.session.id}`;
      const { body } = await service.send('DELETE', at);
      expect(body).to.deep.include({ status: 'failed' });
      expect(body.error).to.deep.equal({
        code: 'CANCELLED',
        message: 'The connect session was ended before an account was connected.',
      });
      expectProblem(await page.connect(CONNECT_SHOP), 'CONFLICT', ENDED.failed);
      expectProblem(await service.send('DELETE', at), 'CONFLICT', ENDED.failed);
      expect((await page.call()).body).to.deep.include({ status: 'failed', elements: [] });
    });

    it('when the user gives up, and tells the product', async () => {
      const page = await openPage(service, { ...SIMULATED, redirectUrl: `${PRODUCT}/connected` });
      const { body } = await page.call('', { method: 'DELETE' });
      const returnUrl = `${PRODUCT}/connected?error=cancelled&sessionId=${page.session.id}`;
      expect(body).to.deep.equal({ status: 'failed', returnUrl });
      expect(await page.read()).to.deep.include({ status: 'failed' });
      expectProblem(await page.call('', { method: 'DELETE' }), 'CONFLICT', ENDED.failed);
    });

    it('when its time is over', async () => {
      const page = await openPage(service, { ...SIMULATED, redirectUrl: `${PRODUCT}/connected` });
      const { id } = page.session;
      await letExpire(service, id);
      expectProblem(await page.connect(CONNECT_SHOP), 'CONFLICT', ENDED.expired);
      expectProblem(await page.call('', { method: 'DELETE' }), 'CONFLICT', ENDED.expired);
      const returnUrl = `${PRODUCT}/connected?error=expired&sessionId=${id}`;
      expect((await page.call()).body).to.deep.include({ status: 'expired', returnUrl });
      const body = await service.get('/connect/sessions', {
        query: { where: `status = 'expired' AND id = ${id}` },
      });
      expect(body).to.have.length(1);
      expect(await page.read()).to.deep.include({ status: 'expired', endedDate: body[0].expiresDate });
      expectProblem(await service.send('DELETE', `/connect/sessions/${id}`), 'CONFLICT', ENDED.expired);
    });

    it('with the user who made it: nobody connects for those who may not call', async () => {
      const page = await openPage(service, SIMULATED, authorizationOf(tenants.colleague));
      const setActive = (active: boolean) =>
        updateRows(service, 'app_user', { email_address: 'colleague@example.com' }, { active });
      await setActive(false);
      expectProblem(await page.connect(CONNECT_SHOP), 'UNAUTHENTICATED', GONE);
      await setActive(true);
      const { instanceId } = (await page.connect(CONNECT_SHOP)).body;
      expect((await service.get(`/instances/${instanceId}`)).user.emailAddress).to.equal('colleague@example.com');
    });

    it('while the user who made it may make no instances, as the rights are those of the moment', async () => {
      const page = await openPage(service, SIMULATED, authorizationOf(tenants.colleague));
      const role = `/users/colleague@example.com/roles/admin`;
      expect((await service.send('DELETE', role)).status).to.equal(200);
      const before = await countRows(service, 'instance');
      expectProblem(await page.call(), 'UNAUTHENTICATED', GONE);
      expectProblem(await page.connect(CONNECT_SHOP), 'UNAUTHENTICATED', GONE);
      expectProblem(await page.call('', { method: 'DELETE' }), 'UNAUTHENTICATED', GONE);
      expect(await countRows(service, 'instance')).to.equal(before);
      expect((await service.send('PUT', role)).status).to.equal(200);
      expect((await page.connect(CONNECT_SHOP)).status).to.equal(200);
    });

    it('while the user who made it may not work in its account', async () => {
      await service.send('POST', '/accounts', { externalId: 'managed' });
      const named = { 'elements-account-id': 'managed' };
      const manager = await createUser(service, { accountId: 1, name: 'manager', role: 'org-admin' });
      const page = await openPage(service, SIMULATED, { ...authorizationOf(manager), ...named });
      expect((await page.call()).status).to.equal(200);
      // Still one who makes instances, but in the own account only.
      for (const [role, method] of [
        ['admin', 'PUT'],
        ['org-admin', 'DELETE'],
      ] as const)
        expect((await service.send(method, `/users/manager@example.com/roles/${role}`)).status).to.equal(200);
      expectProblem(await page.connect(CONNECT_SHOP), 'UNAUTHENTICATED', GONE);
    });
  });

  describe('is out of reach', () => {
    it('of whoever has no key, or a wrong one, and the key opens nothing else', async () => {
      const page = await openPage(service, SIMULATED);
      const wrong = { authorization: `Connect ${page.key.slice(0, -1)}${page.key.endsWith('A') ? 'B' : 'A'}` };
      expectProblem(await service.call('/connect/session', { headers: wrong }), 'UNAUTHENTICATED');
      expectProblem(await service.call('/connect/session', { headers: { authorization: '' } }), 'UNAUTHENTICATED');
      expectProblem(await service.call('/connect/session'), 'NOT_FOUND');
      const headers = { authorization: `Connect ${page.key}` };
      for (const path of ['/instances', '/connect/sessions', '/organizations/me'])
        expectProblem(await service.call(path, { headers }), 'NOT_FOUND');
    });

    it('of a page that asks too often', async () => {
      const page = await openPage(service, SIMULATED);
      let refused: ApiAnswer | undefined;
      // What a slow machine sends is allowed again while it sends.
      for (let wave = 0; refused === undefined && wave < 40; wave++) {
        const answers = await Promise.all(Array.from({ length: 100 }, () => page.call()));
        refused = answers.find((response) => response.status === 429);
      }
      expect(refused).to.not.equal(undefined);
      if (refused !== undefined)
        expectProblem(refused, 'RATE_LIMITED', /^Too many requests of this connect session: the limit is 300 a minute/);
    });
  });

  it('is listed page by page, and filtered', async () => {
    const mine = await openPage(service, { ...SIMULATED, name: 'listed' });
    await openPage(service, { ...SIMULATED, name: 'listed' });
    const query = { where: "name = 'listed' AND status = 'open'", pageSize: 1 };
    const first = await service.call('/connect/sessions', { query });
    expect(first.body).to.have.length(1);
    expect(first.body[0]).to.deep.include({ id: mine.session.id });
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    const second = await service.call('/connect/sessions', { query: { ...query, nextPage } });
    expect(second.body).to.have.length(1);
    expect(second.body[0].id).to.be.above(mine.session.id);
    expectProblem(await service.call('/connect/sessions', { query: { pageSize: 1, nextPage } }), 'REQUEST_INVALID');
  });

  it('is gone some time after its end, and not before', async () => {
    const page = await openPage(service, SIMULATED);
    await page.connect(CONNECT_SHOP);
    const other = await openPage(service, SIMULATED);
    const { endedDate } = await page.read();
    const purge = (before: number) => withDatabase(service, (knex) => createSessionStore(knex).purge(new Date(before)));
    await purge(Date.parse(endedDate));
    expect(await page.read()).to.deep.include({ status: 'completed' });
    await purge(Date.parse(endedDate) + 1);
    expect(await other.read()).to.deep.include({ status: 'open' });
    expectProblem(await service.call(`/connect/sessions/${page.session.id}`), 'NOT_FOUND');
  });

  it('leaves its key, what is fixed and the token in no table, no line of the log, and no answer to others', async () => {
    const fixed = 'canary-fixed-password-3141592653';
    const page = await openPage(service, {
      elements: ['odata'],
      configuration: { simulator: true, 'base.url': PRIVATE_SHOP['base.url'], password: fixed },
    });
    await createBrowser().open(page.session.url);
    await createBrowser().open(`${page.session.url}/more?x=${page.key}`);
    await fetch(page.session.url, { method: 'POST' });
    await page.call();
    await page.connect({ elementKey: 'odata', configuration: { username: 'nobody' } });
    const good = await openPage(service, SIMULATED);
    await good.connect(CONNECT_SHOP);
    const { token } = await good.read();
    await service.call('/activity', { query: { pageSize: 1000 } });
    const everything = `${await readEverything(service)}\n${service.logged.join('\n')}`;
    expect(everything).to.include('/connect/');
    for (const secret of [page.key, fixed, good.key, token])
      expect(everything.includes(secret), secret).to.equal(false);
    for (const path of ['/audit-logs', '/activity', '/notifications', '/connect/sessions']) {
      const body = await service.get(path, { query: { pageSize: 1000 } });
      const text = JSON.stringify(body);
      for (const secret of [page.key, fixed, good.key, token]) expect(text.includes(secret), path).to.equal(false);
    }
  });
});

describe('a connect session over HTTPS', () => {
  it('knows a browser by a cookie that no other host of the domain can set', async () => {
    const PORT = String(await findFreePort());
    const publicUrl = 'https://connect.example.com';
    const service = await startTestApp({ PORT, PUBLIC_URL: publicUrl });
    try {
      const here = (url: string) => url.replace(publicUrl, `http://127.0.0.1:${PORT}`);
      const call: TestApp['call'] = async (path, { method = 'GET', headers = {}, body } = {}) => {
        const authorization = `User ${service.userSecret}, Organization ${service.organizationSecret}`;
        const response = await fetch(here(service.app.baseUrl + path), {
          method,
          headers: { authorization, ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return { status: response.status, headers: response.headers, body: await response.json() };
      };
      const configuration = { simulator: true, 'oauth.api.key': 'demo-client', 'oauth.api.secret': 'demo-secret' };
      const page = await openPage({ ...service, call }, { elements: ['salesforce'], configuration });
      expect(page.session.url.startsWith(`${publicUrl}/connect/`)).to.equal(true);
      const given = { elementKey: 'salesforce', configuration: {} };
      const { body } = await page.call('/authorization', { method: 'POST', body: given });
      const { status: code, headers } = await createBrowser().open(here(body.url));
      expect(code).to.equal(302);
      expect(headers.get('set-cookie')).to.match(
        /^__Host-causeway-connect-\d+=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900; Secure$/,
      );
      expect(new URL(headers.get('location') ?? '').searchParams.get('redirect_uri')).to.equal(
        `${publicUrl}/oauth/callback`,
      );
    } finally {
      await service.stop();
    }
  });
});

describe('what is connected', () => {
  const service = useSharedApp({}, { engineOptions: QUICK });
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  it('comes to the operational callback URL with the token, which is stored with no event', async () => {
    const url = receiver.open('connected');
    const settings = { 'notification.operational.callback.url': url };
    await service.send('POST', '/accounts/settings', settings);
    receiver.server.answer('/connected', status(500));
    const page = await openPage(service, { ...SIMULATED, name: 'Shop' });
    const { instanceId } = (await page.connect(CONNECT_SHOP)).body;
    const [first, second] = await receiver.waitFor(url, 2);
    const { token } = await page.read();
    const data = { sessionId: page.session.id, instanceId, elementKey: 'odata', name: 'Shop', reauthenticated: false };
    for (const event of [first, second])
      expect(event?.body).to.deep.include({
        type: 'instance.connected',
        data: { ...data, accountId: service.accountId, token },
      });
    const told = await service.call('/notifications', { query: { where: "type = 'instance.connected'" } });
    expect(told.body[0].data).to.deep.equal(data);
    expect((await readEverything(service)).includes(token)).to.equal(false);
    expect(service.logged.join('\n').includes(token)).to.equal(false);
  });
});

describe('the origins of an organization', () => {
  const service = useApp();
  const PATH = '/organizations/me/connect-origins';
  const set = (origins: readonly string[], headers = {}) => service.send('PUT', PATH, { origins }, { headers });
  const tenants = useTenants(service);

  it('are none at first, and then those that were set, as browsers write them', async () => {
    expect(await service.get(PATH)).to.deep.equal({ origins: [] });
    const { body } = await set([
      'https://App.Example.com:443',
      'http://localhost:3000/',
      'http://[::1]:8080',
      'https://app.example.com',
    ]);
    expect(body).to.deep.equal({ origins: ['http://[::1]:8080', 'http://localhost:3000', 'https://app.example.com'] });
    expect(await service.get(PATH)).to.deep.equal(body);
  });

  for (const origin of [
    ...['https://app.example.com/connect', 'https://app.example.com?x', 'https://app.example.com#x'],
    ...['https://ada@app.example.com', 'http://app.example.com', 'https://*.example.com'],
    ...["https://a.example.com;script-src'none'", 'https://a.example.com, https://b.example.com', 'app.example.com'],
    ...['javascript:alert(1)', 'null', '*'],
  ]) {
    it(`take no ${origin}`, async () => {
      const response = await set([PRODUCT, origin]);
      const message = /^body\.origins\.1 must be an origin such as https:\/\/app\.example\.com/;
      expectProblem(response, 'REQUEST_INVALID', message);
      expect(Object.keys(faultsOf(response))).to.deep.equal(['body.origins.1']);
    });
  }

  it('are 50 at most', async () => {
    const many = Array.from({ length: 51 }, (_, at) => `https://app-${at}.example.com`);
    expectProblem(await set(many), 'REQUEST_INVALID');
    expect((await set(many.slice(1))).body.origins).to.have.length(50);
  });

  it('may show its pages in a frame, and no others, whatever other organizations have', async () => {
    await set([PRODUCT, 'http://localhost:3000']);
    const policyOf = async (headers = {}) => {
      const { session } = await openPage(service, SIMULATED, headers);
      const { status: code, headers: answered, text } = await createBrowser().open(session.url);
      expect(code).to.equal(200);
      expect(text).to.include('<div id="page"></div>').and.not.include('<script>');
      expect(answered.get('cache-control')).to.equal('no-store');
      expect(answered.get('referrer-policy')).to.equal('no-referrer');
      expect(answered.has('x-frame-options')).to.equal(false);
      return answered.get('content-security-policy');
    };
    const policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ";
    expect(await policyOf()).to.equal(`${policy}http://localhost:3000 ${PRODUCT}`);
    expect(await policyOf(authorizationOf(tenants.stranger))).to.equal(`${policy}'none'`);
  });

  describe('where another page shows the page of a session', () => {
    before(() => set([PRODUCT]));
    const EVIL = 'https://evil.example';
    const FRAME = { 'sec-fetch-dest': 'iframe' };
    const show = async ({ session }: PageClient, query: string, headers = {}) =>
      createBrowser().open(session.url + query, headers);

    it('have it say so, in a page that any page may show and that knows nothing of the session', async () => {
      const client = await openPage(service, { ...SIMULATED, name: 'Shop of Ada' });
      const { status: code, headers, text } = await show(client, `?from=${EVIL}`);
      expect(code).to.equal(403);
      expect(headers.get('content-security-policy'))
        .to.match(/frame-ancestors \*$/)
        .and.to.include("default-src 'none'");
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(text).to.include(`data-origin="${encodeURIComponent(EVIL)}"`);
      for (const word of [client.key, 'Ada', 'odata', PRODUCT]) expect(text).to.not.include(word);
      const { problem, status: state } = await client.read();
      expect(state).to.equal('open');
      const { date, ...told } = problem;
      expect(Date.parse(date)).to.be.closeTo(Date.now(), 60_000);
      expect(told).to.deep.equal({
        code: 'ORIGIN_NOT_REGISTERED',
        origin: EVIL,
        message: `A page of ${EVIL} tried to show the page of this session, but its origin is not registered. If that page is yours, register its origin with PUT /organizations/me/connect-origins.`,
      });
    });

    it('believe the browser where the page says nothing, and look at frames alone', async () => {
      const client = await openPage(service, SIMULATED);
      const referer = { referer: `${EVIL}/shop?secret=1` };
      expect((await show(client, '', referer)).status).to.equal(200);
      expect((await show(client, '', FRAME)).status).to.equal(200);
      expect(await client.read()).to.not.have.property('problem');
      expect((await show(client, '', { ...FRAME, ...referer })).status).to.equal(403);
      expect((await client.read()).problem.origin).to.equal(EVIL);
      expect((await show(client, '', { ...FRAME, referer: `${PRODUCT}/` })).status).to.equal(200);
    });

    it('keep the last one, escaped and short, and nothing that is no origin', async () => {
      const client = await openPage(service, SIMULATED);
      for (const claim of [
        'javascript:alert(1)',
        '"><script>',
        `https://${'a'.repeat(300)}.example`,
        'ftp://x.example',
      ])
        expect((await show(client, `?from=${encodeURIComponent(claim)}`)).status).to.equal(200);
      expect(await client.read()).to.not.have.property('problem');
      const odd = 'https://a"><b>.example';
      expect((await show(client, `?from=${encodeURIComponent(odd)}`)).text).to.not.include('<b>');
      await show(client, '?from=null');
      expect((await client.read()).problem).to.include({ origin: 'null' });
      await show(client, '?from=http://shop.example/path');
      const { origin, message } = (await client.read()).problem;
      expect(origin).to.equal('http://shop.example');
      expect(message).to.match(
        /That cannot be registered as a connect origin: serve the page over https, or from localhost\.$/,
      );
      const [listed] = await service.get(`/connect/sessions?where=id%20%3D%20${client.session.id}`);
      expect(listed.problem.origin).to.equal('http://shop.example');
    });

    it('are asked of all pages around it, as browsers want them all', async () => {
      const client = await openPage(service, SIMULATED);
      expect((await show(client, `?from=${PRODUCT}&from=${PRODUCT}`)).status).to.equal(200);
      expect((await show(client, `?from=${PRODUCT}&from=${EVIL}`)).status).to.equal(403);
      expect((await client.read()).problem.origin).to.equal(EVIL);
    });

    it('have no problem once it is registered', async () => {
      const client = await openPage(service, SIMULATED);
      await show(client, `?from=${EVIL}`);
      await set([PRODUCT, EVIL]);
      expect(await client.read()).to.not.have.property('problem');
      expect((await show(client, `?from=${EVIL}`)).headers.get('content-security-policy')).to.include(EVIL);
    });
  });

  it('have nothing to do with a page that is not there', async () => {
    for (const key of ['x', 'A'.repeat(43)]) {
      const { status: code, headers, text } = await createBrowser().open(`${service.app.url}/connect/${key}`);
      expect(code).to.equal(404);
      expect(text).to.include('This page does not exist');
      expect(headers.get('content-security-policy')).to.include("frame-ancestors 'none'");
      const inFrame = await createBrowser().open(`${service.app.url}/connect/${key}?from=${PRODUCT}`);
      expect(inFrame.status).to.equal(404);
      expect(inFrame.headers.get('content-security-policy')).to.include('frame-ancestors *');
      expect(inFrame.text).to.not.include('data-origin');
    }
  });

  for (const [asked, language, title] of [
    ['de-AT,de;q=0.9,en;q=0.8', 'de', 'Diese Seite gibt es nicht'],
    ['ja, fr-CA;q=0.5', 'fr', 'Cette page n’existe pas'],
    ['es', 'es', 'Esta página no existe'],
    ['ja', 'en', 'This page does not exist'],
  ] as const)
    it(`have a page that is not there say so to a browser that asks for ${asked}`, async () => {
      const headers = { 'accept-language': asked };
      const { text } = await createBrowser().open(`${service.app.url}/connect/${'A'.repeat(43)}`, headers);
      expect(text).to.include(`<html lang="${language}">`).and.include(`<h1>${title}</h1>`);
    });

  it('are the same on every process, and taken back at once', async () => {
    const other = await startTestApp({ DATABASE_URL: service.databaseUrl });
    try {
      await set([PRODUCT]);
      const page = await openPage(service, { ...SIMULATED, redirectUrl: `${PRODUCT}/back` });
      const read = async (one: Pick<TestApp, 'call'>) => (await one.call(PATH)).body.origins;
      expect([await read(service), await read(other)]).to.deep.equal([[PRODUCT], [PRODUCT]]);
      await set([]);
      expect([await read(service), await read(other)]).to.deep.equal([[], []]);
      expect((await page.connect(CONNECT_SHOP)).body).to.not.have.property('returnUrl');
    } finally {
      await other.stop();
    }
  });
});

const PNG = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1').toString('base64')}`;

describe('the branding of the connect page', () => {
  const service = useApp();
  const PATH = '/organizations/me/connect-branding';
  const set = (body: object, headers = {}) => service.send('PUT', PATH, body, { headers });
  const tenants = useTenants(service);
  before(() => registerOrigins(service));

  it('is nothing at first, then what was set, and seen in the audit log without the image', async () => {
    expect(await service.get(PATH)).to.deep.equal({});
    const { body } = await set({ name: ' Acme ', logoUrl: PNG, color: '#7A1FA2', language: 'de' });
    expect(body).to.deep.equal({ name: 'Acme', logoUrl: PNG, color: '#7A1FA2', language: 'de' });
    expect(await service.get(PATH)).to.deep.equal(body);
    expect(await tenants.stranger.get(PATH)).to.deep.equal({});
    const entries = await service.get('/audit-logs?pageSize=200');
    const { changes } = entries.find(({ resourceUri = '' }) => resourceUri.endsWith(PATH));
    expect(changes.connectBranding.to).to.deep.equal({ ...body, logoUrl: 'data:image/png;base64' });
  });

  it('is that of the organization, member by member after that of the session', async () => {
    await set({ name: 'Acme', color: '#7a1fa2', language: 'de' });
    const plain = await openPage(service, SIMULATED);
    expect((await plain.call()).body.branding).to.deep.equal({ name: 'Acme', color: '#7a1fa2', language: 'de' });
    const branding = { name: 'Acme Books', language: 'fr' };
    const own = await openPage(service, { ...SIMULATED, branding });
    expect((await own.call()).body.branding).to.deep.equal({ ...branding, color: '#7a1fa2' });
    expect((await own.read()).branding).to.deep.equal(branding);
    const [listed] = await service.get(`/connect/sessions?where=id%20%3D%20${own.session.id}`);
    expect(listed).to.not.have.property('branding');
    const shown = async ({ session }: PageClient) => (await createBrowser().open(session.url)).text;
    expect(await shown(own)).to.include('data-language="fr"');
    expect(await shown(plain)).to.include('data-language="de"');
    await set({});
    expect(await shown(plain)).to.not.include('data-language');
  });

  it('lets the page load the logo from its origin alone, while that is registered', async () => {
    const logoUrl = `${PRODUCT}/logo.png?v=2`;
    const page = await openPage(service, { ...SIMULATED, branding: { logoUrl } });
    const policy = async () => (await createBrowser().open(page.session.url)).headers.get('content-security-policy');
    expect(await policy()).to.include(`img-src 'self' data: ${PRODUCT};`);
    expect((await page.call()).body.branding).to.deep.equal({ logoUrl });
    await registerOrigins(service, []);
    try {
      expect(await policy()).to.include("img-src 'self' data:;");
      expect((await page.call()).body).to.not.have.property('branding');
    } finally {
      await registerOrigins(service);
    }
  });

  const KINDS = 'data:image/png, image/jpeg, image/webp or image/svg+xml in base64';
  const ADDRESS = `must be an address of 2048 characters at most, such as https://app.example.com/logo.png, or ${KINDS}.`;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const FAULTS: readonly (readonly [branding: object, member: string, fault: string | RegExp])[] = [
    [{ color: 'red' }, 'color', 'must match pattern "^#[0-9A-Fa-f]{6}$"'],
    [{ language: 'xx' }, 'language', /must be equal to one of the allowed values: en, de, fr, es/],
    [{ name: ' ' }, 'name', /must match pattern/],
    [{ name: 'x'.repeat(81) }, 'name', /80/],
    [{ logoUrl: 'logo.png' }, 'logoUrl', ADDRESS],
    [{ logoUrl: 'https://ada:secret@app.example.com/logo.png' }, 'logoUrl', ADDRESS],
    [{ logoUrl: `${PRODUCT}/${'x'.repeat(2048)}` }, 'logoUrl', ADDRESS],
    [
      { logoUrl: 'https://cdn.example.net/logo.png' },
      'logoUrl',
      /has the origin https:\/\/cdn\.example\.net, which the organization has not registered/,
    ],
    [{ logoUrl: 'javascript:alert(1)' }, 'logoUrl', /has the origin null, which the organization has not registered/],
    [{ logoUrl: `data:text/html;base64,${base64('<svg>')}` }, 'logoUrl', `must be ${KINDS}.`],
    [{ logoUrl: 'data:image/svg+xml,<svg/>' }, 'logoUrl', `must be ${KINDS}.`],
    [
      { logoUrl: `data:image/png;base64,${base64('<svg>')}` },
      'logoUrl',
      'declares image/png, but its content has another type.',
    ],
    [{ logoUrl: `data:image/png;base64,${'A'.repeat(32_768)}` }, 'logoUrl', /32768/],
  ];
  for (const [branding, member, fault] of FAULTS)
    it(`takes no ${JSON.stringify(branding).slice(0, 60)}`, async () => {
      const places = [
        [await set(branding), `body.${member}`],
        [await service.send('POST', '/connect/sessions', { branding }), `body.branding.${member}`],
      ] as const;
      for (const [response, place] of places) {
        expectProblem(response, 'REQUEST_INVALID');
        const said = faultsOf(response)[place] ?? expect.fail(JSON.stringify(response.body));
        if (typeof fault === 'string') expect(said.replace(`${place} `, '')).to.equal(fault);
        else expect(said).to.match(fault);
      }
    });
});
