import { expect } from 'chai';
import bamboohr from '../../connectors/bamboohr/index.ts';
import { ENCRYPTED_COLUMNS } from '../../src/db/encrypted-columns.ts';
import { createPolled, pollOf, startThingsProvider, THINGS, type ThingsProvider, untilRun } from '../polls/things.ts';
import { type ApiAnswer, type ApiCall, clientOf, type StartedApp, startTestApp } from '../support/app.ts';
import { theRow } from '../support/database.ts';
import { hang } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { QUICK, type Receiver, sendEvent, startReceiver } from './events/receiving.ts';
import { expectProblem } from './support/expect-problem.ts';
import { BAMBOOHR } from './support/simulated.ts';
import { authorizationOf, createTenants, createUser, withDatabase } from './support/tenants.ts';

/** What stays of an account: its users as names of what they made, and what was until it is old enough. */
const HISTORY = [
  ...['app_user', 'user_role', 'audit_log', 'event', 'event_key', 'delivery_attempt', 'notification'],
  ...['activity', 'activity_wire', 'usage_minute', 'usage_hour', 'usage_day'],
];

describe('accounts over two processes', function overProcesses() {
  this.timeout(120_000);
  let one: StartedApp;
  let other: StartedApp;
  let provider: ThingsProvider;
  let receiver: Receiver;
  let both: readonly StartedApp[];

  before(async () => {
    const overrides = { connectors: [THINGS, bamboohr], pollerOptions: { lookMs: 50 }, engineOptions: QUICK };
    [provider, receiver] = await Promise.all([startThingsProvider(), startReceiver()]);
    one = await startTestApp({}, overrides);
    const environment = { DATABASE_URL: one.databaseUrl, SIMULATORS_PORT: 'off' };
    other = await startTestApp(environment, { ...overrides, simulatorsUrl: one.app.simulatorsUrl });
    both = [one, other];
  });
  after(async () => {
    await other?.stop();
    await one?.stop();
    await Promise.all([provider?.close(), receiver?.close()]);
  });

  const create = async (externalId: string) => await one.change('POST', '/accounts', { externalId });
  /** The service as it is for calls in an account. */
  const within = (service: StartedApp, account: string): StartedApp => {
    const headers = { 'elements-account-id': account };
    const call = (path: string, given: ApiCall = {}) =>
      service.call(path, { ...given, headers: { ...headers, ...given.headers } });
    return { ...service, ...clientOf(call) };
  };

  describe('a secret that is rotated', () => {
    it('refuses nobody who has one of before or the new one, and one that has ended has ended everywhere', async () => {
      const { stranger } = await createTenants(one);
      const as = (service: StartedApp, organizationSecret: string, path: string, call: ApiCall = {}) =>
        service.call(path, { ...call, headers: authorizationOf({ ...stranger, organizationSecret }) });
      const look = (service: StartedApp, secret: string) => as(service, secret, '/organizations/me');
      const rotate = async (service: StartedApp, secret: string, overlapSeconds: number): Promise<string> => {
        const call = { method: 'POST', body: { overlapSeconds } };
        return (await as(service, secret, '/organizations/me/secrets', call)).body.secret;
      };
      let last = stranger.organizationSecret;
      const secrets = [last];
      const statuses: number[] = [];
      let isOver = false;
      const hammer = async (offset: number) => {
        for (let round = offset; !isOver; round++) {
          const secret = secrets[round % secrets.length] ?? last;
          statuses.push((await look(both[round % 2] ?? one, secret)).status);
        }
      };
      const callers = [0, 1, 2, 3].map(hammer);
      for (let round = 0; round < 6; round++) {
        last = await rotate(both[round % 2] ?? one, last, 3600);
        secrets.push(last);
        const enough = statuses.length + 40;
        await until(() => statuses.length >= enough);
      }
      isOver = true;
      await Promise.all(callers);
      expect(statuses.filter((status) => status !== 200)).to.deep.equal([]);
      const final = await rotate(other, last, 0);
      for (const service of both) {
        expect((await look(service, final)).status).to.equal(200);
        for (const secret of secrets) expectProblem(await look(service, secret), 'UNAUTHENTICATED');
      }
    });
  });

  describe('an account that is not active', () => {
    const setActive = (service: StartedApp, account: string, active: boolean) =>
      service.send('PATCH', `/accounts/${account}`, { active });
    const poll = (account: string, id: number) => pollOf(within(one, account), id);
    const isStopped = async (account: string, id: number) => (await poll(account, id)).state === 'stopped';

    async function createResting(account: string) {
      await create(account);
      const inside = within(one, account);
      const url = receiver.open(account);
      const instance = await createPolled(inside, { provider, url });
      await until(async () => (await pollOf(inside, instance.id)) !== undefined);
      await untilRun(inside, instance.id);
      return { ...instance, inside, url };
    }

    const eventsAt = (url: string) => receiver.at(url).map(({ body }) => [body.type, body.data.objectId]);

    it('is not polled by any process, and goes on without losing an event', async () => {
      const { id, inside, token, url } = await createResting('resting');
      const { watermark } = await poll('resting', id);
      expect((await setActive(one, 'resting', false)).body).to.include({ active: false, status: 'inactive' });
      for (const service of both) {
        const run = await within(service, 'resting').call(`/instances/${id}/polls/things/run`, { method: 'POST' });
        const { id: accountId } = await one.get('/accounts/resting');
        expectProblem(run, 'CONFLICT', `The poll 'things' is stopped: account ${accountId} is not active.`);
      }
      provider.add('resting-1');
      // As if its time had come.
      await withDatabase(one, (knex) => knex('poll').where({ instance_id: id }).update({ due: knex.fn.now() }));
      await until(async () => {
        const [row] = await withDatabase(one, (knex) => knex('poll').where({ instance_id: id }).select('due'));
        return row?.due === null;
      });
      expect(await poll('resting', id)).to.include({ watermark, runs: 1, state: 'stopped' });
      // Callers work as before.
      expect((await inside.call('/things', { token })).status).to.equal(200);
      await setActive(other, 'resting', true);
      await receiver.waitFor(url, 1);
      expect(eventsAt(url)).to.deep.equal([['things.created', 'resting-1']]);
    });

    it('has no run that goes on, and nothing comes of what was under way', async () => {
      const { id, inside, url } = await createResting('under-way');
      const before = await poll('under-way', id);
      provider.add('under-way-1');
      provider.answerNext(hang);
      await inside.call(`/instances/${id}/polls/things/run`, { method: 'POST' });
      await until(async () => (await poll('under-way', id)).state === 'running');
      await setActive(other, 'under-way', false);
      await until(() => isStopped('under-way', id));
      const { watermark, runs } = before;
      expect(await poll('under-way', id)).to.include({ watermark, runs, failures: 0 });
      await setActive(one, 'under-way', true);
      await receiver.waitFor(url, 1);
      expect(eventsAt(url)).to.deep.equal([['things.created', 'under-way-1']]);
    });
  });

  describe('an account that is deleted', () => {
    const webhooksOf = async ({ token }: ApiAnswer['body']) =>
      (await one.get('/passthrough/api/v1/webhooks', { token })).webhooks;
    /** Each process has a port of its own. */
    const pathsOf = async (instance: ApiAnswer['body']) =>
      (await webhooksOf(instance)).map(({ url }: { readonly url: string }) => new URL(url).pathname);

    it('is dead at once on every process, and nothing of it stays but its history', async () => {
      const { id: accountId } = await create('doomed');
      const inside = within(one, 'doomed');
      const user = await createUser(one, { accountId, name: 'doomed', role: 'admin' });
      const [url, failing] = [receiver.open('doomed'), receiver.open('doomed-later')];
      const things = await createPolled(inside, { provider, url });
      await until(async () => (await pollOf(inside, things.id)) !== undefined);
      // Whoever looks on keeps the simulator within reach when the instance is gone.
      const watch = await one.createInstance('bamboohr', BAMBOOHR);
      const source = await inside.createInstance('bamboohr', {
        ...BAMBOOHR,
        'event.vendor.type': 'webhook',
        'event.notification.enabled': true,
        'event.notification.callback.url': failing,
      });
      const eventPath = new URL(source.eventUrl).pathname;
      await until(async () => (await pathsOf(watch)).includes(eventPath));
      const client = { name: 'doomed-client', apiKey: 'doomed-key', apiSecret: 'doomed-secret' };
      const proxy = await inside.change('POST', '/elements/oauthProxies', client);
      const settings = { 'notification.webhook.retry.count': 9 };
      const keyed = { headers: { 'idempotency-key': 'doomed' } };
      await inside.send('POST', '/accounts/doomed/settings', settings, keyed);
      await inside.send('DELETE', '/elements/bamboohr/active');
      const { token } = things;
      const download = () =>
        inside.send('POST', '/bulk/query', { objectName: 'things' }, { token }).then(({ body }) => body.id);
      const statusOf = async (id: number) => (await inside.get(`/bulk/${id}/status`, { token })).status;
      const ended = await download();
      await until(async () => (await statusOf(ended)) === 'COMPLETED');
      provider.answerNext(hang);
      const running = await download();
      await until(async () => (await statusOf(running)) === 'RUNNING');
      await sendEvent(inside, things.id);
      await receiver.waitFor(url, 1);
      // It waits for its retry, which comes after the end of the account.
      receiver.fail(failing);
      await sendEvent(inside, source.id);
      await receiver.waitFor(failing, 1);

      const body = await other.change('DELETE', '/accounts/doomed');
      expect(body).to.deep.equal({ id: accountId });
      for (const service of both) {
        const asUser = (token?: string) => user.call('/instances', { token });
        expectProblem(await asUser(), 'UNAUTHENTICATED');
        expectProblem(await asUser(things.token), 'UNAUTHENTICATED');
        for (const [name, shown] of [
          ['doomed', "'doomed'"],
          [String(accountId), accountId],
        ] as const)
          expectProblem(await within(service, name).call('/instances'), 'NOT_FOUND', `There is no account ${shown}.`);
        expect((await fetch(service.app.url + eventPath, { method: 'POST', body: '{}' })).status).to.equal(404);
        const proxyPath = `${new URL(proxy.proxyUrl).pathname}?state=https://app.example.com/`;
        expect((await fetch(service.app.url + proxyPath, { redirect: 'manual' })).status).to.equal(400);
        expectProblem(await service.call(`/elements/oauthProxies/${proxy.id}`), 'NOT_FOUND');
      }
      expect((await one.send('POST', '/accounts', { externalId: 'doomed' })).status).to.equal(200);

      await until(async () => !(await pathsOf(watch)).includes(eventPath));
      receiver.recover(failing);
      await until(async () => (await leftOf(accountId)).every(({ table }) => table !== 'delivery'));
      await lookAgain(accountId);
      await until(async () => (await leftOf(accountId)).length === 0);
      for (const column of Object.keys(ENCRYPTED_COLUMNS)) {
        const [table = ''] = column.split('.');
        expect(await countOf(table, accountId), table).to.equal(0);
      }
      const { removal_due: due, deleted_at: deletedAt } = await accountRow(accountId);
      expect(Number(due) - Number(deletedAt)).to.equal(3_600_000);
      expect(await countOf('event', accountId)).to.be.above(1);
    });

    it('takes no events of providers from then on, whenever it is removed', async () => {
      // Nobody here removes anything.
      const api = await startTestApp({ ROLE: 'api' }, { connectors: [bamboohr] });
      try {
        await api.send('POST', '/accounts', { externalId: 'doomed' });
        const { eventUrl } = await within(api, 'doomed').createInstance('bamboohr', BAMBOOHR);
        const post = async () => (await fetch(eventUrl, { method: 'POST', body: '{}' })).status;
        expect(await post()).to.equal(401);
        await api.send('DELETE', '/accounts/doomed');
        expect(await post()).to.equal(404);
      } finally {
        await api.stop();
      }
    });

    const accountRow = (id: number) =>
      withDatabase(one, (knex) => theRow(knex('account').where({ id }).select('deleted_at', 'removal_due')));

    /** As if it were time, where something is waited for. */
    const lookAgain = (id: number) =>
      withDatabase(one, async (knex) => {
        await knex('account').where({ id }).update({ removal_due: knex.fn.now() });
        await knex.raw('select pg_notify(?, ?)', ['causeway', JSON.stringify(['account-removal', ''])]);
      });

    const countOf = (table: string, accountId: number): Promise<number> =>
      withDatabase(one, async (knex) => {
        if (!(await knex.schema.hasColumn(table, 'account_id'))) return 0;
        const [row] = await knex(table).where({ account_id: accountId }).count({ count: '*' });
        return Number(row?.count);
      });

    /** Every table that has rows of accounts, but for those of the history: a table that is new is one of them until it is told. */
    const leftOf = (accountId: number) =>
      withDatabase(one, async (knex) => {
        const tables: { readonly name: string }[] = await knex('information_schema.columns')
          .where({ column_name: 'account_id', table_schema: 'public' })
          .whereNotIn('table_name', (query) => query.from('pg_inherits').select(knex.raw('inhrelid::regclass::text')))
          .whereNotIn('table_name', HISTORY)
          .select({ name: 'table_name' });
        const counts = await Promise.all(
          tables.map(async ({ name }) => {
            const [row] = await knex(name).where({ account_id: accountId }).count({ count: '*' });
            return { table: name, count: Number(row?.count) };
          }),
        );
        expect(counts.length).to.be.above(10);
        return counts.filter(({ count }) => count > 0);
      });
  });
});
