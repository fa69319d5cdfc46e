import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createAuditLog } from '../../src/accounts/audit-log.ts';
import { createPoolShares } from '../../src/db/pool-shares.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

describe('the months of the audit log', () => {
  const database = useDatabase();

  function openAt(day: string, retentionDays = 365) {
    const { knex } = database;
    const clock = createVirtualClock(Date.parse(`${day}T12:00:00Z`));
    return createAuditLog(
      { knex, clock, log: silentLog, shares: createPoolShares({ knex, poolSize: 2 }) },
      { retentionDays },
    );
  }

  async function write(at: string): Promise<{ readonly id: number; readonly home: string }> {
    const requestId = randomUUID();
    await database.knex.raw(
      `insert into audit_log (at, request_id, organization_id, account_id, method, resource_uri, action, target, status)
       values (?, ?, 1, 1, 'PATCH', '/x', 'update', 'instance', 200)`,
      [at, requestId],
    );
    const { rows } = await database.knex.raw(
      'select id, tableoid::regclass::text as home from audit_log where request_id = ?',
      [requestId],
    );
    const [{ id, home }] = rows;
    // On a distributed database the name has the number of a shard behind it.
    return { id, home: /^audit_log_(?:default|\d{6})/.exec(home)?.[0] ?? home };
  }

  it('have a partition each, to which what came before it moves, and ids that go on', async () => {
    const early = await write('2026-03-05T00:00:00Z');
    expect(early.home).to.equal('audit_log_default');
    await openAt('2026-03-10').ensure();
    const later = await write('2026-03-06T00:00:00Z');
    expect(later.home).to.equal('audit_log_202603');
    expect(later.id).to.be.greaterThan(early.id);
    expect(await database.knex('audit_log_default')).to.deep.equal([]);
    const { entries } = await openAt('2026-03-10').list(1, { organizationId: 1 }, { limit: 10 });
    expect(entries.map(({ id }) => id)).to.deep.equal([later.id, early.id]);
  });

  it('go when all of one is older than the retention', async () => {
    const monthOf = async (day: string) => {
      await openAt(day).keep();
      return database.knex('pg_class').where({ relname: 'audit_log_202603' }).pluck('relname');
    };
    expect(await monthOf('2027-03-31')).to.deep.equal(['audit_log_202603']);
    expect(await monthOf('2027-04-01')).to.deep.equal([]);
    const { entries } = await openAt('2027-04-01').list(1, { organizationId: 1 }, { limit: 10 });
    expect(entries).to.deep.equal([]);
  });
});
