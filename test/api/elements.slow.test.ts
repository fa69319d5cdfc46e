import { expect } from 'chai';
import { loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { configurationFields, exchangeOf } from '../../src/instances/configuration.ts';
import { type ApiAnswer, pluck, type StartedApp, startTestApp, useApp, useSharedApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { useTenants, withDatabase } from './support/tenants.ts';

const ownConnectors = await loadConnectors({ folders: [OWN_CONNECTORS] });

describe('elements', () => {
  const service = useSharedApp();

  it('have a picture, in every listing', async () => {
    const body = await service.get('/elements');
    for (const { key, image } of body) expect(image, key).to.match(/^data:image\/svg\+xml,%3Csvg/);
  });

  it('say what a person does who sets one up', async () => {
    const body = await service.get('/elements/bamboohr');
    expect(body.documentation[0]).to.deep.equal({
      title: 'Getting started with the API',
      url: 'https://documentation.bamboohr.com/docs/getting-started',
    });
    const [username] = body.configuration;
    expect(username.key).to.equal('username');
    expect(username.setup[1]).to.match(/^Open the menu under your name/);
  });

  it('say of OAuth how an application is registered, for its key and its secret', async () => {
    const body = await service.get('/elements/clover');
    const setupOf = Object.fromEntries(
      body.configuration.map(({ key, setup }: { key: string; setup: readonly string[] }) => [key, setup]),
    );
    expect(setupOf['oauth.api.key'][0]).to.match(/^Create an app/);
    expect(setupOf['oauth.api.secret']).to.deep.equal(setupOf['oauth.api.key']);
    expect(setupOf['oauth.scope']).to.deep.equal([]);
  });
});

describe('the flags of an element', () => {
  const service = useSharedApp();

  it('say what works, in every form of its record', async () => {
    const elements = await service.get('/elements');
    const flagsOf = ({ bulkDownloadEnabled, bulkUploadEnabled, typeOauth, useModelsForMetadata }: Flags) =>
      [bulkDownloadEnabled, bulkUploadEnabled, typeOauth, useModelsForMetadata].map(Number).join('');
    const flags = Object.fromEntries(elements.map((element: Flags) => [element.key, flagsOf(element)]));
    expect(flags).to.deep.equal({
      bamboohr: '1100',
      box: '1111',
      clover: '1110',
      concur: '1111',
      connectwise: '1101',
      dynamics: '1110',
      fortnox: '1101',
      fortnoxoauth: '1111',
      github: '1110',
      googledrive: '1111',
      hubspot: '1110',
      intercom: '1110',
      jira: '1100',
      jiraoauth: '1110',
      keap: '1111',
      notion: '1110',
      odata: '1100',
      pipedrive: '1110',
      quickbooks: '1111',
      redmine: '1101',
      requesttracker: '1101',
      salesforce: '1110',
      servicenow: '1100',
      servicenowoauth: '1110',
      shopify: '1110',
      slack: '1111',
      stripe: '1100',
      twilio: '1101',
      xero: '1111',
      zendesk: '1110',
      zohocrm: '1110',
    });
    const shop = await service.createInstance('odata', SHOP);
    const record = await service.call(`/instances/${shop.id}`);
    const [listed] = await service.get('/accounts/instances');
    expect([record.body.element, listed.element].map(({ bulkUploadEnabled }) => bulkUploadEnabled)).to.deep.equal([
      true,
      true,
    ]);
    expect(listed.element.bulkDownloadEnabled).to.equal(true);
  });

  it('say that records can be transformed where they can be listed', async () => {
    const elements = await service.get('/elements');
    for (const { key, transformationsEnabled, bulkDownloadEnabled } of elements)
      expect(transformationsEnabled, key).to.equal(bulkDownloadEnabled);
    const keap = await service.get('/elements/keap');
    expect(keap.transformationsEnabled).to.equal(true);
  });

  it('are off for what the platform does not do', async () => {
    const elements = await service.get('/elements');
    for (const { cloneable, extendable, extended, trialAccount, beta, private: isPrivate, ...element } of elements) {
      const { resources, parameters } = element;
      const all = { cloneable, extendable, extended, trialAccount, beta, isPrivate };
      expect(Object.values(all), element.key).to.deep.equal(Array(6).fill(false));
      expect([resources, parameters], element.key).to.deep.equal([[], []]);
    }
  });
});

interface Flags {
  readonly key: string;
  readonly bulkDownloadEnabled: boolean;
  readonly bulkUploadEnabled: boolean;
  readonly typeOauth: boolean;
  readonly useModelsForMetadata: boolean;
}

interface Named {
  readonly key: string;
}

const keysOf = ({ status, body }: ApiAnswer) => {
  expect(status, JSON.stringify(body)).to.equal(200);
  return pluck(body, 'key');
};

describe('the list of elements', () => {
  const service = useSharedApp();
  let all: readonly string[];

  before(async () => {
    all = keysOf(await service.call('/elements'));
  });

  const FILTERS: readonly (readonly [where: string, keys: readonly string[]])[] = [
    ["key = 'odata'", ['odata']],
    ["hub = 'helpdesk' AND NOT key LIKE 'service%'", ['redmine', 'requesttracker']],
    ["authentication.type = 'oauth2' AND name LIKE 'S%'", ['concur', 'salesforce', 'servicenowoauth']],
    ['typeOauth = FALSE AND id IN (1001, 1002)', ['bamboohr', 'odata']],
    ['active = FALSE', []],
    ["hookName IS NULL OR protocolType != 'http'", []],
  ];
  for (const [where, keys] of FILTERS) {
    it(`has those for which ${where}`, async () => {
      const found = keysOf(await service.call('/elements', { query: { where } }));
      expect(keys.length === 0 ? found : found.filter((key: string) => keys.includes(key))).to.deep.equal(keys);
      expect(found.length).to.be.below(all.length);
      expect(await service.get('/elements/keys', { query: { where } })).to.deep.equal(found);
    });
  }

  it('names a field that it does not have, with the nearest', async () => {
    const response = await service.call('/elements', { query: { where: 'actve = TRUE' } });
    expectProblem(response, 'WHERE_INVALID');
    expect(response.body.details[0]).to.include({ position: 0, nearest: 'active' });
  });

  it('can be filtered by every member that is a text, a number or a boolean', async () => {
    const body = await service.get('/elements/odata');
    const [shown] = await service.get('/elements', { query: { where: "key = 'odata'" } });
    expect(body).to.include({ key: 'odata' });
    for (const [name, value] of Object.entries(shown)) {
      if (typeof value === 'object') continue;
      const literal = typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value).toUpperCase();
      const where = `key = 'odata' AND ${name} = ${literal}`;
      expect(keysOf(await service.call('/elements', { query: { where } })), where).to.deep.equal(['odata']);
    }
  });

  for (const path of ['/elements', '/elements/keys', '/hubs']) {
    it(`comes page by page, without gap and overlap: ${path}`, async () => {
      const whole = await service.get(path);
      const pages: unknown[] = [];
      for (let nextPage: string | undefined; ; ) {
        const response = await service.call(path, { query: { pageSize: 4, nextPage } });
        expect(response.headers.get('elements-returned-count')).to.equal(String(response.body.length));
        pages.push(...response.body);
        const token = response.headers.get('elements-next-page-token');
        if (token === null) break;
        expect(response.headers.get('link')).to.contain(`nextPage=${token}`);
        nextPage = token;
      }
      expect(pages).to.deep.equal(whole);
    });
  }

  it('has a token for each of its filters, and no other list takes it', async () => {
    const { headers } = await service.call('/elements', { query: { pageSize: 1, where: 'active = TRUE' } });
    const nextPage = headers.get('elements-next-page-token') ?? '';
    expect(nextPage).to.not.equal('');
    const query = { nextPage, where: 'active = TRUE' };
    expect((await service.call('/elements', { query })).status).to.equal(200);
    expectProblem(await service.call('/elements', { query: { nextPage } }), 'REQUEST_INVALID');
    expectProblem(await service.call('/elements', { query: { ...query, hub: 'crm' } }), 'REQUEST_INVALID');
    expectProblem(await service.call('/hubs', { query: { nextPage } }), 'REQUEST_INVALID');
  });
});

describe('what an element declares', () => {
  const service = useSharedApp();
  const metadataOf = async (key: string) => await service.get(`/elements/${key}/metadata`);
  const formOf = async (key: string) => await service.get(`/elements/${key}/configuration`);

  it('tells what can be polled, and what webhooks tell of', async () => {
    const { events, ...about } = await metadataOf('keap');
    expect(about).to.include({ key: 'keap', name: 'Keap' }).and.to.have.all.keys('id', 'key', 'name', 'description');
    expect(events.methods).to.deep.equal(['polling', 'webhook']);
    expect(events.webhook.contacts).to.deep.equal({ events: ['created', 'updated', 'deleted'] });
    expect(events.polling.contacts).to.include.keys('default', 'idField', 'updatedDateField');
    expect(events.polling.contacts.events).to.include('updated');
  });

  it('says nothing of objects that each instance discovers, but for those that are polled by default', async () => {
    expect((await metadataOf('odata')).events).to.deep.equal({
      supported: true,
      methods: ['polling', 'webhook'],
      polling: {},
    });
    const { events } = await metadataOf('salesforce');
    for (const polled of Object.values(events.polling)) expect(polled).to.deep.equal({ default: true });
  });

  it('is a form in the order in which it is filled in', async () => {
    const form = await formOf('odata');
    const keys = keysOf({ status: 200, headers: new Headers(), body: form });
    expect(keys.slice(0, 4)).to.deep.equal(['base.url', 'username', 'password', 'text.binary']);
    expect(keys.indexOf('simulator')).to.be.below(keys.indexOf('event.notification.enabled'));
    expect(keys.indexOf('event.notification.enabled')).to.be.below(keys.indexOf('event.notification.callback.url'));
    expect(keys).to.not.include('filter.warning');
    const body = await service.get('/elements/odata');
    for (const field of form) expect(body.configuration).to.deep.include(field);
  });

  it('asks first for what is needed, a code that stands for a token included', async () => {
    const code = ownConnectors.flatMap((each) => exchangeOf(each)?.code ?? []);
    for (const { key } of await service.get('/elements')) {
      const form: readonly (Named & { readonly required: boolean })[] = await formOf(key);
      const isNeeded = form.map((field) => field.required || code.includes(field.key));
      expect(isNeeded.lastIndexOf(true), key).to.be.below(isNeeded.indexOf(false));
    }
  });

  it('has a name for each key, and the pattern of its value', async () => {
    const [domain, ...others] = (await formOf('bamboohr')).filter((field: Named) => field.key === 'company.name');
    expect(others).to.deep.equal([]);
    expect(domain).to.include({ name: 'Company name', required: true, secret: false, example: 'acme' });
    expect(new RegExp(`^(?:${domain.pattern})$`).test('acme')).to.equal(true);
    const names = pluck(await formOf('salesforce'), 'name');
    expect(names).to.include.members(['Client ID', 'Redirect URL', 'Event notification callback URL']);
  });

  it('is there for no element that is not', async () => {
    for (const part of ['metadata', 'configuration'])
      expectProblem(
        await service.call(`/elements/odta/${part}`),
        'NOT_FOUND',
        "There is no element 'odta'. Did you mean 'odata'?",
      );
  });
});

describe('an element that an account made inactive', () => {
  const service = useApp();
  let other: StartedApp;
  const tenants = useTenants(service);

  before('a second process on the same database', async function second() {
    this.timeout(60_000);
    other = await startTestApp({ DATABASE_URL: service.databaseUrl });
  });

  after(() => other.stop());

  afterEach(async () => {
    await service.send('PUT', '/elements/odata/active');
    await service.send('PUT', '/elements/salesforce/active');
  });

  const deactivate = (keyOrId: string) => service.send('DELETE', `/elements/${keyOrId}/active`);
  const isActive = async (at: Pick<StartedApp, 'call'>) => (await at.call('/elements/odata')).body.active;
  const NEW = { element: { key: 'odata' }, name: 'x', configuration: SHOP };
  const INACTIVE =
    "The element 'odata' is inactive in account 1, so no new instances of it can be created. Activate it with PUT /elements/odata/active.";

  it('makes no new instances, by either path, and those that are there go on', async () => {
    const { id, token } = await service.createInstance('odata', SHOP);
    const response = await deactivate('1001');
    expect(response.status).to.equal(200);
    expect(response.body).to.include({ key: 'odata', active: false });
    expectProblem(await service.send('POST', '/instances', NEW), 'CONFLICT', INACTIVE);
    const { element: _, ...body } = NEW;
    expectProblem(await service.send('POST', '/elements/odata/instances', body), 'CONFLICT', INACTIVE);
    expect((await service.call('/Orders', { token })).status).to.equal(200);
    const changed = await service.send('PATCH', `/instances/${id}`, { configuration: SHOP });
    expect(changed.status).to.equal(200);
    expect(changed.body.element).to.include({ active: false, deleted: false });
    expect(await service.get('/elements', { query: { where: 'active = FALSE' } })).to.have.lengthOf(1);
    expect((await service.change('PUT', '/elements/odata/active')).active).to.equal(true);
    expect((await service.send('POST', '/instances', NEW)).status).to.equal(200);
  });

  it('begins no authorization', async () => {
    await deactivate('salesforce');
    const query = { apiKey: 'x', callbackUrl: 'https://app.example.com/' };
    expectProblem(await service.call('/elements/salesforce/oauth/url', { query }), 'CONFLICT');
    expectProblem(await service.send('POST', '/elements/salesforce/oauth/url', query), 'CONFLICT');
  });

  it('is so on every process, and in no other account', async () => {
    expect([await isActive(service), await isActive(other)]).to.deep.equal([true, true]);
    await deactivate('odata');
    expect(await isActive(service)).to.equal(false);
    await until(async () => (await isActive(other)) === false);
    expectProblem(await other.send('POST', '/instances', NEW), 'CONFLICT');
    for (const tenant of [tenants.sibling, tenants.stranger]) {
      const body = await tenant.get('/elements/odata');
      expect(body.active).to.equal(true);
    }
    await other.send('PUT', '/elements/odata/active');
    expect(await isActive(other)).to.equal(true);
    await until(async () => (await isActive(service)) === true);
  });

  it('has one row in the audit log for each change', async () => {
    const answers = [await deactivate('odata'), await deactivate('odata')];
    const ids = answers.map(({ headers }) => headers.get('elements-request-id'));
    const rows = await withDatabase(service, (knex) =>
      knex('audit_log')
        .whereIn('request_id', ids.map(String))
        .orderBy('at')
        .select('action', 'target', 'target_id', 'changes'),
    );
    const row = { action: 'update', target: 'element', target_id: 'odata' };
    expect(rows).to.deep.equal([
      { ...row, changes: { active: { from: true, to: false } } },
      { ...row, changes: null },
    ]);
  });
});

/** Connectors from elsewhere may leave this out; ours must not. */
describe('every connector of this repository', () => {
  for (const connector of ownConnectors) {
    it(`leads to the documentation of its provider: ${connector.key}`, () => {
      expect(connector.documentation ?? []).not.to.have.lengthOf(0);
    });

    it(`says of its webhooks what they tell of: ${connector.key}`, () => {
      const { webhooks, objects } = connector;
      // Whoever discovers objects may not know any by name.
      if (webhooks !== undefined && typeof objects !== 'function')
        expect(Object.keys(webhooks.reports ?? {})).not.to.have.lengthOf(0);
    });

    it(`says how to come by each key that is required or secret: ${connector.key}`, () => {
      const silent = configurationFields(connector)
        .filter(({ required, secret }) => required === true || secret === true)
        .filter(({ setup = [] }) => setup.length === 0);
      expect(silent.map(({ key }) => key)).to.deep.equal([]);
    });
  }
});
