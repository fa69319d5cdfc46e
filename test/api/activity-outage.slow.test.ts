import { expect } from 'chai';
import { type ApiAnswer, type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { query } from '../support/nodes.ts';
import { until } from '../support/until.ts';
import { BAMBOOHR } from './support/simulated.ts';
import { countRows, withDatabase } from './support/tenants.ts';

const ROOM = 40;
const requestIdOf = ({ headers }: ApiAnswer) => headers.get('elements-request-id') ?? '';

describe('activity while the database', function outages() {
  this.timeout(60_000);
  const service = useApp(
    {},
    { recorderOptions: { flushMs: 20, mostRows: ROOM, batchRows: 10, retryMs: { shortest: 20, longest: 50 } } },
  );
  let token: string;

  before(async () => {
    ({ token } = await service.createInstance('bamboohr', BAMBOOHR));
  });

  async function ask(times: number): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let call = 0; call < times; call++) {
      const response = await service.call('/employees?pageSize=1', { token });
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      ids.push(requestIdOf(response));
    }
    return ids;
  }

  async function measured(name: string): Promise<number> {
    const text = await (await fetch(`${service.app.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  }

  const found = (ids: readonly string[]) =>
    withDatabase(service, async (knex) => (await knex('activity').whereIn('request_id', ids)).length);
  const untilWritten = () => until(async () => (await measured('causeway_activity_waiting')) === 0);

  for (const [what, during] of Object.entries({
    'is slow': (work: () => Promise<void>) =>
      withDatabase(service, (knex) =>
        knex.transaction(async (trx) => {
          // Whoever writes activity waits from here on.
          await trx.raw('lock table activity in access exclusive mode');
          await work();
        }),
      ),
    'is away': async (work: () => Promise<void>) => {
      const { pathname } = new URL(service.databaseUrl);
      const name = pathname.slice(1);
      const server = new URL('/postgres', service.databaseUrl).href;
      await query(server, `alter database ${name} with allow_connections false`);
      await query(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      try {
        await work();
      } finally {
        await query(server, `alter database ${name} with allow_connections true`);
      }
    },
  })) {
    it(`${what}: answers come all the same, what there is no room for is counted, and the rest arrives later`, async () => {
      const earlier = await ask(3);
      await until(async () => (await found(earlier)) === 3);
      const before = await measured('causeway_activity_dropped_total');
      let ids: readonly string[] = [];
      await during(async () => {
        ids = await ask(ROOM + 20);
      });
      await until(async () => (await measured('causeway_activity_dropped_total')) - before === 20);
      await untilWritten();
      expect(await found(ids)).to.equal(ROOM);
      expect(await found(ids.slice(0, ROOM))).to.equal(ROOM);
      const after = await ask(1);
      await until(async () => (await found(after)) === 1);
    });
  }

  it('has it counted once over two processes, both of which write', async () => {
    const second: StartedApp = await startTestApp({ DATABASE_URL: service.databaseUrl });
    const count = async () => {
      const body = await service.get('/metrics/hub-api', { query: { interval: 'day' } });
      return Number(body[0]?.count);
    };
    await untilWritten();
    const [before, rows] = [await count(), await countRows(service, 'activity')];
    await Promise.all([ask(15), ...Array.from({ length: 15 }, () => second.call('/employees?pageSize=1', { token }))]);
    await second.stop();
    await until(async () => (await count()) - before === 30);
    expect((await countRows(service, 'activity')) - rows).to.be.at.least(30);
  });

  it('stops: what waits is written before', async () => {
    const second: StartedApp = await startTestApp(
      { DATABASE_URL: service.databaseUrl },
      { recorderOptions: { flushMs: 60_000 } },
    );
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => requestIdOf(await second.call('/employees?pageSize=1', { token }))),
    );
    expect(await found(ids)).to.equal(0);
    await second.stop();
    expect(await found(ids)).to.equal(5);
  });
});
