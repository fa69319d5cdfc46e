import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type StartedApp, startTestApp } from '../support/app.ts';
import { LIMITED, type LimitedProvider, startLimitedProvider } from '../support/limited-provider.ts';
import { until } from '../support/until.ts';
import { withDatabase } from './support/tenants.ts';

const LIMIT = 24;
const WINDOW_MS = 3_000;
const CALLS_OF_CALLERS = 30;
const CALLERS_EACH_MS = 600;
/** A call that a busy machine delays past the end of its window counts in the next one. Processes that share nothing are refused often. */
const MOST_LATE = 2;

describe('the rate limit of a provider over two processes', function overProcesses() {
  this.timeout(120_000);
  let provider: LimitedProvider;
  let one: StartedApp;
  let other: StartedApp;

  before(async () => {
    provider = await startLimitedProvider({ calls: LIMIT, windowMs: WINDOW_MS });
    const overrides = { connectors: [LIMITED], bulkOptions: { lookMs: 50 } };
    one = await startTestApp({ SIMULATORS_PORT: 'off' }, overrides);
    other = await startTestApp({ SIMULATORS_PORT: 'off', DATABASE_URL: one.databaseUrl }, overrides);
  });
  after(async () => {
    await other?.stop();
    await one?.stop();
    await provider?.close();
  });

  it('is kept by both together, while they run bulk jobs and serve callers', async () => {
    const { id, token } = await one.createInstance('limited', { 'base.url': provider.url });
    const jobs = await Promise.all(
      [one, other, one, other].map(async (service) => {
        const body = await service.change('POST', '/bulk/query', { objectName: 'rows' }, { token });
        return body.id;
      }),
    );
    const statuses: Promise<number>[] = [];
    for (let call = 0; call < CALLS_OF_CALLERS; call++) {
      const service = call % 2 === 0 ? one : other;
      statuses.push(service.call(`/rows/${call}`, { token }).then(({ status }) => status));
      await sleep(CALLERS_EACH_MS);
    }
    expect(new Set(await Promise.all(statuses))).to.deep.equal(new Set([200]));
    for (const job of jobs) {
      const status = async () => await one.get(`/bulk/${job}/status`, { token });
      await until(async () => (await status()).bulkFinishTime !== undefined);
      expect(await status()).to.include({ status: 'COMPLETED', recordsCount: 300 });
    }
    expect(provider.counts.refused).to.be.at.most(MOST_LATE);
    expect(provider.counts.calls).to.be.greaterThan(CALLS_OF_CALLERS);
    await withDatabase(one, async (knex) => {
      expect(await knex('rate_budget').select('account_id', 'instance_id')).to.deep.equal([
        { account_id: 1, instance_id: id },
      ]);
    });
  });
});
