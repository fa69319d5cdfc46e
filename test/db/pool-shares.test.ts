import { expect } from 'chai';
import type { Knex } from 'knex';
import { openDatabase } from '../../src/db/database.ts';
import { createPoolShares, type PoolShares } from '../../src/db/pool-shares.ts';
import { isAppError } from '../../src/errors.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

describe('createPoolShares', () => {
  const database = useDatabase({ migrated: false });
  const shares = (options: { poolSize?: number; listingMs?: number; waitMs?: number } = {}): PoolShares =>
    createPoolShares({ knex: database.knex, poolSize: 5, ...options });
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('ends a listing whose statement takes too long, and says what to do', async () => {
    const listing = shares({ listingMs: 50 }).list(1, (via) => via.raw('select pg_sleep(30)').then());
    const error = await failureOf(listing);
    expect(error).to.include({ code: 'OVERLOADED', status: 503 });
    expect(error).to.have.property(
      'message',
      'The listing took longer than 0.05 s and was stopped. Narrow the filter.',
    );
  });

  it('leaves the time of every other statement as it was', async () => {
    await shares().list(1, async (via) => {
      expect((await via.raw('show statement_timeout')).rows).to.deep.equal([{ statement_timeout: '5s' }]);
    });
    expect((await database.knex.raw('show statement_timeout')).rows).to.deep.equal([{ statement_timeout: '1min' }]);
  });

  it('lets a listing change nothing', async () => {
    const error = await failureOf(shares().list(1, (via) => via.raw('create table x ()').then()));
    expect(error).to.have.property('code', '25006');
  });

  it('passes on what else goes wrong', async () => {
    const error = await failureOf(shares().list(1, (via) => via.raw('select 1 / 0').then()));
    expect(error).to.have.property('code', '22012');
  });

  it('lets an account list twice at a time, 32 wait, and refuses more', async () => {
    const held = shares({ poolSize: 10 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const started: number[] = [];
    const works = Array.from({ length: 36 }, (_, index) =>
      failureOf(
        held.list(1, async () => {
          started.push(index);
          await promise;
        }),
      ),
    );
    const refused = await Promise.all([works[34], works[35]]);
    for (const error of refused) {
      expect(isAppError(error, 'RATE_LIMITED')).to.equal(true);
      expect(error).to.include({ retryAfterSeconds: 1 });
      expect(error).to.have.property(
        'message',
        'The account has 34 listings under way or waiting. Send the next request when one of them has ended.',
      );
    }
    await until(async () => started.length === 2);
    expect(await held.list(2, async () => 'listed')).to.equal('listed');
    // Two connections are opened side by side, and either may be first.
    expect(started).to.have.members([0, 1]);
    resolve();
    expect(await Promise.all(works.slice(0, 34))).to.deep.equal(Array(34).fill(undefined));
  });

  it('leaves half of the pool to others, whatever many accounts list and change', async () => {
    const opened = openDatabase({ url: database.url, poolSize: 4, log: silentLog });
    const clock = createVirtualClock();
    const held = createPoolShares({ knex: opened.knex, poolSize: 4, waitMs: 50, clock });
    const { promise, resolve } = Promise.withResolvers<void>();
    let running = 0;
    const hold = async (via: Knex) => {
      await via.raw('select 1');
      running++;
      await promise;
    };
    const works = Array.from({ length: 8 }, (_, account) => failureOf(held.list(account, hold)));
    const change = held.bulk(9, (step) => step(() => opened.knex.transaction(hold)));
    await until(async () => running === 2);
    await clock.advance(50);
    const errors = await Promise.all([...works.slice(2), failureOf(change)]);
    for (const error of errors) expect(error).to.include({ code: 'OVERLOADED', retryAfterSeconds: 1 });
    expect(running).to.equal(2);
    expect((await opened.knex.raw('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    resolve();
    expect(await Promise.all(works.slice(0, 2))).to.deep.equal([undefined, undefined]);
    await opened.close();
  });

  it('looks up a few strangers at a time, and an account beside them', async () => {
    const held = shares({ poolSize: 8 });
    const { promise, resolve } = Promise.withResolvers<void>();
    let running = 0;
    const works = Array.from({ length: 1_010 }, () =>
      failureOf(
        held.lookUp('stranger', () => {
          running++;
          return promise;
        }),
      ),
    );
    await settled();
    expect(running).to.equal(2);
    const refused = await Promise.all(works.slice(1_002));
    for (const error of refused) expect(error).to.include({ code: 'OVERLOADED', retryAfterSeconds: 1 });
    expect(await held.lookUp(1, async () => 'known')).to.equal('known');
    resolve();
    expect(await Promise.all(works.slice(0, 1_002))).to.deep.equal(Array(1_002).fill(undefined));
  });
});

describe('the locks of the pool', () => {
  const database = useDatabase({ migrated: false });

  it('are not waited for without an end, nor held by a transaction that does nothing', async () => {
    const settings = await database
      .knex('pg_settings')
      .whereIn('name', ['lock_timeout', 'idle_in_transaction_session_timeout'])
      .orderBy('name')
      .select('name', 'setting');
    expect(settings).to.deep.equal([
      { name: 'idle_in_transaction_session_timeout', setting: '60000' },
      { name: 'lock_timeout', setting: '10000' },
    ]);
  });
});
