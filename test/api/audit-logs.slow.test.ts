import { expect } from 'chai';
import { assert, asyncProperty, constantFrom, record, integer as wholeNumber } from 'fast-check';
import { type ApiCall, type Client, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { rowsOf } from './support/pages.ts';
import { SHOP } from './support/simulated.ts';
import { updateRows, useTenants, withDatabase } from './support/tenants.ts';

interface Entry {
  readonly id: number;
  readonly timestamp: string;
  readonly accountId: number;
  readonly userId: number;
  readonly instanceId?: number;
  readonly action: string;
  readonly target: string;
  readonly status: number;
}

const MEMBERS = [
  ...['id', 'timestamp', 'organizationId', 'accountId', 'userId', 'instanceId', 'method', 'resourceUri', 'action'],
  ...['target', 'ipAddress', 'status', 'requestId', 'changes'],
];

/** Written as they would be by changes: who, when, what. Of the other organization and the other account too. */
const WRITTEN = `
  insert into audit_log (at, request_id, organization_id, account_id, user_id, instance_id, method, resource_uri, action, target, section, target_id, status)
  select timestamptz '2021-01-31 23:00:00Z' + n / 3 * interval '1 hour', gen_random_uuid(), t.organization_id, t.account_id, 1 + n % 2,
    case when n % 4 = 0 then 100 * t.account_id + n % 8 end, 'PATCH', '/x', w.action, w.target, w.section, w.target_id, w.status
  from generate_series(0, 99) n,
    (select organization_id, id as account_id from account) t,
    lateral (values (0, 'update', 'instance', 'element-instances', null, 200), (1, 'login', 'session', 'authentication', null, 401),
      (2, 'show', 'secret', 'authentication', null, 200), (3, 'update', 'settings', 'settings', null, 200), (4, 'create', 'user', 'users', '9', 200),
      (5, 'update', 'element', 'elements', 'odata', 200), (6, 'delete', 'subscription', 'authentication', '4', 403),
      (7, 'create', 'oauth-proxy', 'elements', '3', 409), (8, 'run', 'poll', 'element-instances', 'Orders', 200),
      (9, 'update', 'element', 'elements', '7000001', 200)) w(kind, action, target, section, target_id, status)
  where w.kind = n % 10`;

describe('reading the audit log', function reading() {
  this.timeout(60_000);
  const service = useApp();
  const tenants = useTenants(service);
  let shopId: number;
  let startedAt: Date;

  before(async () => {
    startedAt = new Date();
    shopId = (await service.createInstance('odata', SHOP)).id;
    await withDatabase(service, async (knex) => {
      await knex.raw(WRITTEN);
      // Of the first account the colleague is no administrator.
      await knex('user_role').where({ account_id: 1, role: 'admin' }).update({ role: 'default-user' });
    });
  });

  async function read(query: ApiCall['query'] = {}, path = '/audit-logs', headers = {}): Promise<readonly Entry[]> {
    const body = await service.get(path, { query: { pageSize: 5000, ...query }, headers });
    return body;
  }

  const accountsOf = (entries: readonly Entry[]) => [...new Set(entries.map(({ accountId }) => accountId))].sort();

  it('shows what was changed, with the members of the contract and no others', async () => {
    const body = await service.get('/audit-logs', { query: { where: `instanceId = ${shopId}` } });
    expect(body).to.have.length(1);
    expect(Object.keys(body[0])).to.deep.equal(MEMBERS);
    expect(body[0]).to.deep.include({ organizationId: 1, accountId: 1, userId: 1, method: 'POST', status: 200 });
    expect(body[0]).to.deep.include({ action: 'create', target: 'instance', ipAddress: '127.0.0.1' });
    expect(body[0].changes.element).to.deep.equal({ to: 'odata' });
  });

  const SECTIONS: Readonly<Record<string, (entry: Entry) => boolean>> = {
    authentication: ({ action, target, status }) =>
      ['login', 'show', 'rotate'].includes(action) || target === 'secret' || [401, 403].includes(status),
    'element-instances': ({ target }) => ['instance', 'poll'].includes(target),
    elements: ({ target }) => ['element', 'oauth-proxy'].includes(target),
    users: ({ target }) => target === 'user',
    settings: ({ target, status }) => target === 'settings' && status !== 403,
  };

  it('puts each entry where it belongs: what was refused and what shows a secret under authentication', async () => {
    await service.send('PATCH', '/accounts/settings', {});
    const configuration = {
      ...SHOP,
      'event.notification.enabled': true,
      'event.notification.callback.url': 'http://127.0.0.1:9/',
    };
    await service.createInstance('odata', configuration);
    const [subscription] = await service.get('/notifications/subscriptions');
    await service.call(`/notifications/subscriptions/${subscription.id}`);
    await service.send('PATCH', `/notifications/subscriptions/${subscription.id}`, { eventTypes: ['a'] });
    await service.send('PATCH', `/notifications/subscriptions/${subscription.id}`, { rotateSecret: true });
    await service.send('POST', '/elements/oauthProxies', { name: 'x', apiKey: 'x', apiSecret: 'secret' });
    await tenants.colleague.send('PATCH', '/accounts/1/settings', {});
    const since = { from: startedAt.toISOString() };
    const told = async (path: string) =>
      (await read(since, path)).map(({ action, target, status }) => `${action} ${target} ${status}`);
    expect(await told('/audit-logs/authentication')).to.deep.equal([
      'update settings 403',
      'rotate subscription 200',
      'show subscription 200',
    ]);
    expect(await told('/audit-logs/elements')).to.deep.equal(['create oauth-proxy 200']);
    expect(await told('/audit-logs/element-instances')).to.deep.equal(['create instance 200', 'create instance 200']);
    expect(await told('/audit-logs/settings')).to.deep.equal(['update settings 200']);
    expect(await told('/audit-logs/users')).to.deep.equal([]);
    expect(await told('/audit-logs'))
      .to.include('update subscription 200')
      .and.have.length(8);
  });

  for (const [section, belongs] of Object.entries(SECTIONS)) {
    it(`has under ${section} its entries, and all of them`, async () => {
      const all = await read();
      const expected = all.filter(belongs);
      expect(expected.length).to.be.within(1, all.length - 1);
      expect(await read({}, `/audit-logs/${section}`)).to.deep.equal(expected);
    });
  }

  it('has those of an instance, also of one that is gone, and none of one that never was', async () => {
    const all = await read();
    expect(await read({}, '/audit-logs/element-instances/100')).to.deep.equal(
      all.filter(({ instanceId }) => instanceId === 100),
    );
    expect((await read({}, `/audit-logs/element-instances/${shopId}`)).length).to.equal(1);
    const early = { to: '2020-01-01T00:00:00Z' };
    expect(await read(early, `/audit-logs/element-instances/${shopId}`)).to.deep.equal([]);
    const message = 'There is no instance 98765.';
    expectProblem(await service.call('/audit-logs/element-instances/98765'), 'NOT_FOUND', message);
  });

  it('has those of an element, by its key and its id', async () => {
    const odata = await service.get('/elements/odata');
    await updateRows(service, 'audit_log', { target_id: '7000001' }, { target_id: String(odata.id) });
    const byKey = await read({}, '/audit-logs/elements/odata');
    expect(byKey.length).to.equal(40);
    expect(await read({}, `/audit-logs/elements/${odata.id}`)).to.deep.equal(byKey);
    expect(await read({}, '/audit-logs/elements/bamboohr')).to.deep.equal([]);
    expectProblem(await service.call('/audit-logs/elements/nope'), 'NOT_FOUND');
  });

  it('is filtered by time, user, account and any member', async () => {
    const all = await read();
    const [from, to] = ['2021-02-01T00:00:00Z', '2021-02-01T05:00:00Z'];
    const inTime = all.filter(
      ({ timestamp }) => timestamp >= '2021-02-01T00:00:00.000Z' && timestamp < '2021-02-01T05:00:00.000Z',
    );
    expect(inTime.length).to.be.greaterThan(0);
    expect(await read({ from, to })).to.deep.equal(inTime);
    expect(await read({ userId: 2 })).to.deep.equal(all.filter(({ userId }) => userId === 2));
    const siblings = all.filter(({ accountId }) => accountId === tenants.sibling.accountId);
    expect(siblings.length).to.equal(100);
    expect(await read({ accountId: tenants.sibling.accountId })).to.deep.equal(siblings);
    expect(await read({ accountId: 'Siblings' })).to.deep.equal(siblings);
    expect(await read({}, '/audit-logs', { 'elements-account-id': 'Siblings' })).to.deep.equal(siblings);
    expect(accountsOf(await read({}, '/audit-logs', { 'elements-account-id': '1' }))).to.deep.equal([1]);
    const where = "action = 'update' AND (status >= 400 OR target LIKE 'set%') AND instanceId IS NULL";
    const matching = all.filter(
      ({ action, status, target, instanceId }) =>
        action === 'update' && (status >= 400 || target.startsWith('set')) && instanceId === undefined,
    );
    expect(matching.length).to.be.greaterThan(0);
    expect(await read({ where })).to.deep.equal(matching);
    const message = "'to' must be after 'from'.";
    expectProblem(await service.call('/audit-logs', { query: { from: to, to: from } }), 'REQUEST_INVALID', message);
    expectProblem(await service.call('/audit-logs', { query: { where: "actoin = 'update'" } }), 'WHERE_INVALID');
  });

  it('comes the newest first, page by page, while entries come in', async () => {
    const all = await read();
    const times = all.map(({ timestamp }) => timestamp);
    expect(times).to.deep.equal(times.toSorted().toReversed());
    const written = record({
      pageSize: wholeNumber({ min: 7, max: 120 }),
      section: constantFrom('', '/users', '/authentication'),
    });
    await assert(
      asyncProperty(written, async ({ pageSize, section }) => {
        const expected = await read({}, `/audit-logs${section}`);
        const paged = await rowsOf(async (nextPage) => {
          const page = await service.call(`/audit-logs${section}`, { query: { pageSize, nextPage } });
          await service.send('PATCH', '/accounts/settings', {});
          return page;
        });
        expect(paged).to.deep.equal(expected);
      }),
      { numRuns: 6 },
    );
  });

  it('shows an account to those who may see its log, and nothing of another one', async () => {
    const { sibling, stranger } = tenants;
    const own = async (tenant: Client, query: ApiCall['query'] = {}) => {
      const body = await tenant.get('/audit-logs', { query: { pageSize: 5000, ...query } });
      return body as readonly Entry[];
    };
    expect(accountsOf(await own(sibling))).to.deep.equal([sibling.accountId]);
    expect(accountsOf(await own(stranger))).to.deep.equal([stranger.accountId]);
    expect(accountsOf(await own(sibling, { where: 'accountId > 0' }))).to.deep.equal([sibling.accountId]);
    expect(await own(sibling, { where: 'accountId = 1' })).to.deep.equal([]);
    expect(accountsOf(await own(sibling, { accountId: 'Siblings' }))).to.deep.equal([sibling.accountId]);
    expect(accountsOf(await read())).to.deep.equal([1, sibling.accountId].sort());
  });

  it('knows no account, instance or entry that is not the reader’s to see', async () => {
    const { sibling, stranger } = tenants;
    const accounts = [
      [sibling, '1'],
      [sibling, String(stranger.accountId)],
      [stranger, '1'],
      [stranger, 'Siblings'],
    ] as const;
    for (const [tenant, named] of accounts) {
      const message = `There is no account ${named === 'Siblings' ? "'Siblings'" : named}.`;
      const query = { accountId: named };
      for (const path of ['/audit-logs', '/audit-logs/users', '/audit-logs/element-instances/100'])
        expectProblem(await tenant.call(path, { query }), 'NOT_FOUND', message);
      const headers = { 'elements-account-id': named };
      expectProblem(await tenant.call('/audit-logs', { headers }), 'NOT_FOUND', message);
    }
    for (const tenant of [sibling, stranger]) {
      for (const id of [100, shopId])
        expectProblem(
          await tenant.call(`/audit-logs/element-instances/${id}`),
          'NOT_FOUND',
          `There is no instance ${id}.`,
        );
    }
  });

  it('takes a page token from nobody but who may read the same, with the same filters', async () => {
    const { sibling, stranger } = tenants;
    const first = await service.call('/audit-logs', { query: { pageSize: 3 } });
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    expect((await service.call('/audit-logs', { query: { nextPage } })).status).to.equal(200);
    for (const tenant of [sibling, stranger])
      expectProblem(await tenant.call('/audit-logs', { query: { nextPage } }), 'REQUEST_INVALID');
    for (const query of [{ userId: 1 }, { accountId: 1 }, { where: 'id > 0' }, { from: '2020-01-01T00:00:00Z' }])
      expectProblem(await service.call('/audit-logs', { query: { ...query, nextPage } }), 'REQUEST_INVALID');
    for (const path of ['/audit-logs/users', '/audit-logs/elements/odata', '/audit-logs/element-instances/100'])
      expectProblem(await service.call(path, { query: { nextPage } }), 'REQUEST_INVALID');
  });

  it('needs one of two privileges, and names them', async () => {
    for (const path of ['/audit-logs', '/audit-logs/authentication', `/audit-logs/element-instances/${shopId}`])
      expectProblem(
        await tenants.colleague.call(path),
        'FORBIDDEN',
        'This needs the privilege viewOrganizationLogs (View logs of the organization) or viewAccountLogs (View logs of the account), and none of your roles has it. Ask an administrator of the organization.',
      );
  });
});
