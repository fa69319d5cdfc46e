import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { ASIDE } from '../../src/db/database.ts';
import { type ApiAnswer, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, useTenants } from './support/tenants.ts';

const COUNTS = '/notifications/subscriptions/deliveries/counts';

/** The pool has ten connections. What is locked here is waited for by every statement that reads the table, as by a slow one. */
describe('what one tenant may have of the database', () => {
  // Without work in the background, which reads what is locked as well.
  const service = useApp({ ROLE: 'api' });
  const tenants = useTenants(service);
  let strangers: { readonly id: number; readonly token: string };
  let locker: pg.Client;

  const repeat = <Result>(count: number, make: (index: number) => Result) =>
    Array.from({ length: count }, (_, index) => make(index));
  const statusesOf = (answers: readonly ApiAnswer[]) => [...new Set(answers.map(({ status }) => status))].sort();

  before(async () => {
    strangers = await tenants.stranger.createInstance('odata', SHOP);
  });
  beforeEach(async () => {
    locker = new pg.Client(service.databaseUrl);
    await locker.connect();
  });
  afterEach(() => locker.end());

  async function lock(table: string): Promise<void> {
    await locker.query(`begin; lock table ${table} in access exclusive mode`);
  }

  async function countWaiting(): Promise<number> {
    // In a transaction, PostgreSQL keeps the list of sessions that it read first. A session that began later would not be found.
    await locker.query('select pg_stat_clear_snapshot()');
    // What is written behind the answers waits as well, whenever it comes.
    const { rows } = await locker.query(
      `select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
       where not granted and datname = current_database() and application_name <> $1`,
      [ASIDE],
    );
    return rows[0].count;
  }

  /** Until as many statements wait as will: whoever was sent has had the time to come to the database. */
  async function untilHeld(atLeast: number): Promise<number> {
    await until(async () => (await countWaiting()) >= atLeast);
    await sleep(300);
    return countWaiting();
  }

  it('is two counts at a time, while others list and change what is theirs', async () => {
    await lock('delivery_attempt');
    const refused: ApiAnswer[] = [];
    const counts = repeat(36, async () => {
      const response = await service.call(COUNTS);
      if (response.status === 429) refused.push(response);
      return response;
    });
    expect(await untilHeld(2)).to.equal(2);
    const [listed, renamed] = [
      await tenants.stranger.call('/instances'),
      await tenants.stranger.send('PATCH', `/instances/${strangers.id}`, { name: 'Renamed' }),
    ];
    expect(listed.body).to.have.length(1);
    expect(renamed.body).to.include({ name: 'Renamed' });
    await until(async () => refused.length === 2);
    for (const answer of refused) {
      const message =
        'The account has 34 listings under way or waiting. Send the next request when one of them has ended.';
      expectProblem(answer, 'RATE_LIMITED', message);
      expect(answer.headers.get('retry-after')).to.equal('1');
    }
    await locker.query('rollback');
    // On a machine that is slow the time of the two may be over.
    expect([200, 429, 503]).to.include.members(statusesOf(await Promise.all(counts)));
  });

  it('is one query for all calls with one token that is not in memory', async () => {
    await tenants.stranger.call('/elements');
    const { token } = await service.createInstance('odata', SHOP);
    await lock('instance');
    const calls = repeat(100, () => service.call('/objects', { token }));
    expect(await untilHeld(1)).to.equal(1);
    expect((await tenants.stranger.call('/accounts/2/settings')).status).to.equal(200);
    await locker.query('rollback');
    expect(statusesOf(await Promise.all(calls))).to.deep.equal([200]);
  });

  it('is a quarter of the connections for tokens that are wrong', async () => {
    await service.call('/elements');
    await tenants.stranger.call('/elements');
    await lock('instance');
    const calls = repeat(40, (index) => service.call('/objects', { token: `wrong-${index}` }));
    expect(await untilHeld(2)).to.equal(2);
    expect((await tenants.stranger.call('/accounts/2/settings')).status).to.equal(200);
    await locker.query('rollback');
    expect(statusesOf(await Promise.all(calls))).to.deep.equal([401]);
  });

  it('is a quarter of the connections for all who guess secrets, and none of it for who is known', async () => {
    await tenants.stranger.call('/elements');
    await service.call('/elements');
    await lock('app_user');
    const guesses = repeat(40, (index) => {
      const headers = authorizationOf({ ...service, userSecret: `guess-${index}` });
      return service.call('/elements', { headers });
    });
    expect(await untilHeld(2)).to.equal(2);
    expect((await tenants.stranger.call('/accounts/2/settings')).status).to.equal(200);
    expect((await service.call(COUNTS)).status).to.equal(200);
    await locker.query('rollback');
    expect(statusesOf(await Promise.all(guesses))).to.deep.equal([401]);
  });

  it('is one bulk change at a time', async () => {
    await lock('delivery');
    const where = `channel = 'webhook' AND status = 'queued'`;
    const period = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    const changes = repeat(6, (index) =>
      index % 2 === 0
        ? service.call('/notifications/subscriptions/deliveries', { method: 'PUT', query: { where } })
        : service.send('POST', '/notifications/subscriptions/redeliveries', period),
    );
    expect(await untilHeld(1)).to.equal(1);
    expect((await tenants.stranger.call('/instances')).status).to.equal(200);
    await locker.query('rollback');
    expect(statusesOf(await Promise.all(changes))).to.deep.equal([200, 429]);
  });

  it('is not the owners of its instances one by one', async () => {
    const { rows } = await locker.query(
      `insert into app_user (organization_id, account_id, email_address)
       select 1, 1, 'owner-' || n from generate_series(1, 50) n returning id`,
    );
    for (const { id } of rows) {
      const { id: instanceId } = await service.createInstance('odata', SHOP);
      await locker.query('update instance set user_id = $1 where id = $2', [id, instanceId]);
    }
    await lock('app_user');
    const listing = service.call('/instances', { query: { pageSize: 5000 } });
    expect(await untilHeld(1)).to.equal(1);
    await locker.query('rollback');
    const owners: readonly number[] = (await listing).body.map(({ user }: { user: { id: number } }) => user.id);
    expect(owners).to.include.members(rows.map(({ id }) => Number(id)));
  });
});
