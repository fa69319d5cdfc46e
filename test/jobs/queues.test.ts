import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createQueues, type Maintenance } from '../../src/jobs/queues.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;

/** How long each queue leaves what it deletes in the end. */
const PURGES = {
  'idempotency.purge': { work: 'purgeIdempotencyRecords', keepMs: 24 * HOUR_MS, schedule: '7 * * * *' },
  'accounts.purge-log-ins': { work: 'purgeLogIns', keepMs: 0, schedule: '37 * * * *' },
  'connect.purge-sessions': { work: 'purgeConnectSessions', keepMs: 720 * HOUR_MS, schedule: '3 * * * *' },
  'connect.purge-departures': { work: 'purgeConnectDepartures', keepMs: HOUR_MS / 4, schedule: '*/15 * * * *' },
  'schemas.purge': { work: 'purgeSchemaChanges', keepMs: 8760 * HOUR_MS, schedule: '33 * * * *' },
  'rate-budgets.purge': { work: 'purgeRateBudgets', keepMs: HOUR_MS, schedule: '23 * * * *' },
  'oauth.purge-proxy-targets': { work: 'purgeProxyTargets', keepMs: 24 * HOUR_MS, schedule: '17 * * * *' },
  'oauth.purge-authorizations': { work: 'purgeAuthorizations', keepMs: HOUR_MS / 4, schedule: '*/15 * * * *' },
} as const;

const NOW = new Date('2026-03-02T12:00:00Z');

const clock = createVirtualClock(NOW.getTime());

const nothing: Maintenance = {
  purgeIdempotencyRecords: async () => 0,
  purgeProxyTargets: async () => 0,
  purgeAuthorizations: async () => 0,
  purgeLogIns: async () => 0,
  purgeConnectSessions: async () => 0,
  purgeConnectDepartures: async () => 0,
  refreshTokens: async () => 0,
  keepEvents: async () => {},
  keepAuditLog: async () => {},
  keepActivity: async () => {},
  keepPolls: async () => 0,
  keepSchemas: async () => 0,
  purgeSchemaChanges: async () => 0,
  purgeRateBudgets: async () => 0,
  keepFormulas: async () => {},
  keepBulk: async () => {},
  keepWebhooks: async () => 0,
  removeAccounts: async () => 0,
};

for (const name of Object.keys(PURGES) as (keyof typeof PURGES)[]) {
  describe(`the queue ${name}`, () => {
    const { work, keepMs, schedule } = PURGES[name];

    it(`deletes at ${schedule} what is older than ${keepMs / HOUR_MS} hours`, async () => {
      const calls: Date[] = [];
      const queue = createQueues(clock, { ...nothing, [work]: async (before: Date) => calls.push(before) })[name];
      expect(queue.schedule).to.equal(schedule);
      expect(await queue.handle()).to.deep.equal({ kind: 'done' });
      expect(calls).to.deep.equal([new Date(NOW.getTime() - keepMs)]);
    });
  });
}

for (const [queue, work, what] of [
  ['oauth.refresh', 'refreshTokens', 'refreshes what is due, until it is told to stop'],
  ['polls.keep', 'keepPolls', 'makes up for messages that pollers have missed'],
  ['schemas.keep', 'keepSchemas', 'chooses the watched objects of instances for which messages were missed'],
] as const) {
  describe(`the queue ${queue}`, () => {
    it(`${what}, each minute`, async () => {
      const { signal } = new AbortController();
      const signals: AbortSignal[] = [];
      const queues = createQueues(clock, { ...nothing, [work]: async (given: AbortSignal) => signals.push(given) });
      expect(queues[queue].schedule).to.equal('* * * * *');
      expect(await queues[queue].handle({ signal })).to.deep.equal({ kind: 'done' });
      expect(signals).to.deep.equal([signal]);
    });
  });
}

describe('the table of queues', () => {
  it('has as many as docs/explanation/engines.md says', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/explanation/engines.md'), 'utf8');
    const { length } = Object.keys(createQueues(clock, nothing));
    expect(page).to.include(`pg-boss runs maintenance: ${length} queues`);
  });
});
