import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { writeEntry } from '../../src/db/audit-row.ts';
import { type ChangeNote, change, differences, onCommit } from '../../src/db/change.ts';
import { createRedactor, NO_SECRETS } from '../../src/redaction.ts';
import { type AuditEntry, withTrace } from '../../src/trace.ts';
import { useDatabase } from '../support/database.ts';

const AT = new Date('2026-03-02T12:00:00.123Z');

function entryOf(more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: AT,
    requestId: randomUUID(),
    organizationId: 1,
    accountId: 1,
    userId: 1,
    method: 'PATCH',
    resourceUri: '/things/1',
    action: 'update',
    target: 'instance',
    ipAddress: '127.0.0.1',
    redactor: NO_SECRETS,
    isWritten: false,
    ...more,
  };
}

describe('a change', () => {
  const database = useDatabase();

  beforeEach(async () => {
    await database.knex.raw('drop table if exists thing');
    await database.knex.raw('create table thing (name text)');
  });

  const asCaller = <Result>(audit: AuditEntry, work: () => Promise<Result>) =>
    withTrace(
      { trace: { requestId: audit.requestId, providerCalls: 0, calls: [], callCount: 0, audit }, span: undefined },
      work,
    );
  const add = (name: string, note?: () => ChangeNote) =>
    change(database.knex, (via) => via.raw('insert into thing values (?)', [name]), note);
  const rowsOf = ({ requestId }: AuditEntry) => database.knex('audit_log').where({ request_id: requestId });
  const names = () => database.knex('thing').orderBy('name').pluck('name');

  it('that no caller asked for has no row', async () => {
    const before = await database.knex('audit_log').count();
    await add('a', () => ({ changes: { name: 'a' } }));
    expect(await names()).to.deep.equal(['a']);
    expect(await database.knex('audit_log').count()).to.deep.equal(before);
  });

  it('of several steps has one row, to which each adds what it did', async () => {
    const entry = entryOf();
    await asCaller(entry, async () => {
      await add('a', () => ({ changes: { released: 1 } }));
      expect((await rowsOf(entry)).map(({ changes }) => changes)).to.deep.equal([{ released: 1 }]);
      await add('b');
      await add('c', () => ({ changes: { released: 3 }, targetId: '7', action: 'rotate' }));
    });
    const rows = await rowsOf(entry);
    expect(rows).to.have.length(1);
    expect(rows[0]).to.deep.include({ status: 200, changes: { released: 3 }, target_id: '7', action: 'rotate' });
    expect(entry.isWritten).to.equal(true);
  });

  it('is told as far as it came when a later step fails', async () => {
    const entry = entryOf();
    await asCaller(entry, async () => {
      await add('a', () => ({ changes: { released: 1 } }));
      const failing = change(
        database.knex,
        async (via) => {
          await via.raw("insert into thing values ('b')");
          throw new Error('The second step fails.');
        },
        () => ({ changes: { released: 2 } }),
      );
      await failing.catch(() => {});
      await writeEntry(database.knex, entry, 503);
    });
    expect(await names()).to.deep.equal(['a']);
    expect((await rowsOf(entry)).map(({ status, changes }) => ({ status, changes }))).to.deep.equal([
      { status: 503, changes: { released: 1 } },
    ]);
  });

  it('that is rolled back at its end is not told, not even in the row of the failure', async () => {
    const entry = entryOf();
    await database.knex.raw('create table thing_key (name text primary key)');
    await database.knex.raw('create table late (name text references thing_key (name) deferrable initially deferred)');
    const failing = asCaller(entry, () =>
      change(
        database.knex,
        (via) => via.raw("insert into late values ('nobody')"),
        () => ({ changes: { name: 'nobody' } }),
      ),
    );
    expect(await failing.then(() => 'done').catch((error: Error) => error.message)).to.include('foreign key');
    expect(await rowsOf(entry)).to.deep.equal([]);
    expect(entry).to.deep.include({ isWritten: false }).and.not.to.have.property('changes');
    await database.knex.raw('drop table late, thing_key');
  });

  it('is repeated after a deadlock, and has one entry in the audit log', async () => {
    await database.knex.raw("insert into thing values ('a'), ('b')");
    const entries = [entryOf(), entryOf()];
    const bothBegan = createMeeting(2);
    let runs = 0;
    const touch = (via: Knex, name: string) => via.raw('update thing set name = name where name = ?', [name]);
    const touchBoth = (first: string, second: string) =>
      change(
        database.knex,
        async (via) => {
          runs += 1;
          await via.raw("set local deadlock_timeout = '50ms'");
          await touch(via, first);
          await bothBegan();
          await touch(via, second);
          await via.raw('insert into thing values (?)', [`${first}${second}`]);
        },
        () => ({ targetId: `${first}${second}` }),
      );
    await Promise.all([
      asCaller(entries[0] ?? entryOf(), () => touchBoth('a', 'b')),
      asCaller(entries[1] ?? entryOf(), () => touchBoth('b', 'a')),
    ]);
    expect(runs).to.equal(3);
    expect(await names()).to.deep.equal(['a', 'ab', 'b', 'ba']);
    const rows = await Promise.all(entries.map(rowsOf));
    expect(rows.flat().map(({ target_id }) => target_id)).to.deep.equal(['ab', 'ba']);
  });

  for (const { code, expected } of [
    { code: '40P01', expected: 6 },
    { code: '40001', expected: 6 },
    { code: '23505', expected: 1 },
  ]) {
    it(`that always ends with ${code} fails after ${expected} of its runs`, async () => {
      let runs = 0;
      const failing = change(database.knex, async (via) => {
        runs += 1;
        await via.raw("insert into thing values ('never')");
        await via.raw(`do $$ begin raise exception 'ended' using errcode = '${code}'; end $$`);
      });
      expect(await failing.catch((error: Error) => error)).to.have.property('code', code);
      expect(runs).to.equal(expected);
      expect(await names()).to.deep.equal([]);
    });
  }

  it('is told without the secrets of the request, in whatever text they stand, and JSON stays JSON', async () => {
    const secret = 'quoted "secret\\';
    const entry = entryOf({
      redactor: createRedactor([secret]),
      resourceUri: `/things/${encodeURIComponent(secret)}`,
      targetId: `x${secret}`,
    });
    const changes = {
      name: { from: secret, to: `${secret}"` },
      [secret]: [secret, { deep: `begins with ${secret}` }],
      count: 3,
      at: AT,
    };
    await asCaller(entry, () => add('a', () => ({ changes })));
    const [row] = await rowsOf(entry);
    expect(row).to.deep.include({ resource_uri: '/things/[redacted]', target_id: 'x[redacted]' });
    expect(row?.changes).to.deep.equal({
      name: { from: '[redacted]', to: '[redacted]"' },
      '[redacted]': ['[redacted]', { deep: 'begins with [redacted]' }],
      count: 3,
      at: AT.toISOString(),
    });
  });

  it('is told within a bound that shows, and with every character that a text may have', async () => {
    const entry = entryOf({ resourceUri: `/${'u'.repeat(60_000)}`, targetId: `a\0b${'t'.repeat(60_000)}` });
    const long = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`member ${index}`, 'x'.repeat(5_000)]));
    await asCaller(entry, () => add('a', () => ({ changes: { ...long, half: '\ud800\0' } })));
    const [row] = await rowsOf(entry);
    const told = JSON.stringify(row?.changes);
    expect(told.length).to.be.below(17_000);
    expect(row?.changes).to.deep.include({
      'member 0': `${'x'.repeat(1_000)}…`,
      half: '\ufffd\ufffd',
      '…': '24 more, too long to be kept',
    });
    expect(row?.resource_uri).to.have.length(2_049);
    expect(row?.target_id)
      .to.have.length(101)
      .and.match(/^a\ufffdb/);
  });

  describe('with something to do when it commits', () => {
    const run = (work: (via: Knex.Transaction, done: string[]) => Promise<unknown>) => {
      const done: string[] = [];
      const end = (how: string) => () => void done.push(how);
      return change(database.knex, (via) => work(via, done))
        .then(end('committed'), end('failed'))
        .then(() => done);
    };

    it('does it before its caller continues', async () => {
      const done = await run(async (via, steps) => {
        onCommit(via, () => steps.push('reaction'));
        await via.raw('insert into thing values (?)', ['a']);
        steps.push('work');
      });
      expect(done).to.deep.equal(['work', 'reaction', 'committed']);
    });

    it('does nothing after a rollback', async () => {
      const done = await run(async (via, steps) => {
        onCommit(via, () => steps.push('reaction'));
        await via.raw('select 1 / 0');
      });
      expect(done).to.deep.equal(['failed']);
    });

    it('does it at once without a transaction', () => {
      const done: string[] = [];
      onCommit(database.knex, () => done.push('with a connection'));
      onCommit(undefined, () => done.push('with none'));
      expect(done).to.deep.equal(['with a connection', 'with none']);
    });
  });
});

/** Returns a function whose first calls wait for each other, and whose later ones do not wait. */
function createMeeting(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let came = 0;
  return () => {
    came += 1;
    if (came === size) resolve();
    return promise;
  };
}

describe('the differences of two states', () => {
  it('are members that came, went and changed, and no others', () => {
    const before = { name: 'a', same: [1], gone: true, undefined: undefined };
    const after = { name: 'b', same: [1], fresh: null };
    expect(differences(before, after)).to.deep.equal({
      name: { from: 'a', to: 'b' },
      gone: { from: true },
      fresh: { to: null },
    });
  });

  it('compare what they do not show', () => {
    const show = (name: string, value: unknown) => (name === 'secret' ? '********' : value);
    const changed = differences({ secret: 'a', name: 'a' }, { secret: 'b', name: 'a' }, show);
    expect(changed).to.deep.equal({ secret: { from: '********', to: '********' } });
    expect(differences({ secret: 'a' }, { secret: 'a' }, show)).to.deep.equal({});
  });
});
