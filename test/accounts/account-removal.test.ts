import { expect } from 'chai';
import { createAccountRemoval, REMOVAL_TOPIC, type RemoveBatch } from '../../src/accounts/account-removal.ts';
import type { Removal } from '../../src/db/removal.ts';
import { silentLog, theRow, useDatabase } from '../support/database.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;

describe('what is left of a deleted account', () => {
  const database = useDatabase();
  before(() => database.knex('organization').insert({ name: 'Test' }));

  /** A deleted account, and processes that share a clock and their parts of the work. */
  async function setUp(...parts: readonly RemoveBatch[]) {
    const clock = createVirtualClock();
    const deletedAt = new Date(clock.now());
    await database.knex('account').update({ removal_due: null });
    const account = { organization_id: 1, name: 'Gone', external_id: 'gone' };
    const { id: accountId } = await theRow(
      database
        .knex('account')
        .insert({ ...account, deleted_at: deletedAt, removal_due: deletedAt })
        .returning('id'),
    );
    const topics: string[] = [];
    const subscribe = (topic: string) => {
      topics.push(topic);
      return () => {};
    };
    const notifier = { subscribe };
    const create = () => createAccountRemoval({ knex: database.knex, notifier, clock, log: silentLog }, parts);
    const dueInMs = async () => {
      const row = await database.knex('account').where({ id: accountId }).first('removal_due');
      return row?.removal_due === null ? null : Number(row?.removal_due.getTime()) - clock.now();
    };
    return { accountId, clock, create, dueInMs, topics };
  }

  /** Does as it is told, call by call; the last one stays. */
  function scripted(...removals: readonly Removal[]) {
    const calls: number[] = [];
    const part: RemoveBatch = async (accountId) => {
      calls.push(accountId);
      return removals[Math.min(calls.length, removals.length) - 1] ?? 'done';
    };
    return { part, calls };
  }

  it('goes batch by batch and part by part, and is looked for once more when nothing can be under way', async () => {
    const [first, second] = [scripted('more', 'more', 'done'), scripted('done')];
    const { accountId, clock, create, dueInMs } = await setUp(first.part, second.part);
    expect(await create().keep(NEVER)).to.equal(1);
    expect([first.calls, second.calls]).to.deep.equal([[accountId, accountId, accountId], [accountId]]);
    expect(await dueInMs()).to.equal(HOUR_MS);
    expect(await create().keep(NEVER)).to.equal(0);
    await clock.advance(HOUR_MS);
    expect(await create().keep(NEVER)).to.equal(1);
    expect(await dueInMs()).to.equal(null);
    await clock.advance(24 * HOUR_MS);
    expect(await create().keep(NEVER)).to.equal(0);
  });

  it('waits where something has to be waited for, and what comes after that waits as well', async () => {
    const [first, second] = [scripted('waits', 'done'), scripted('done')];
    const { clock, create, dueInMs } = await setUp(first.part, second.part);
    await create().keep(NEVER);
    expect(second.calls).to.have.length(0);
    expect(await dueInMs()).to.equal(300_000);
    await clock.advance(300_000);
    await create().keep(NEVER);
    expect(second.calls).to.have.length(1);
  });

  it('is one process’s at a time, and another’s when that one is dead', async () => {
    const batch = Promise.withResolvers<Removal>();
    const begun = Promise.withResolvers<void>();
    let calls = 0;
    const { clock, create, dueInMs } = await setUp(() => {
      begun.resolve();
      return ++calls === 1 ? batch.promise : Promise.resolve('done');
    });
    const dying = create().keep(NEVER);
    await begun.promise;
    const other = create();
    expect(await other.keep(NEVER)).to.equal(0);
    await clock.advance(119_999);
    expect(await other.keep(NEVER)).to.equal(0);
    await clock.advance(1);
    expect(await other.keep(NEVER)).to.equal(1);
    expect(calls).to.equal(2);
    expect(await dueInMs()).to.equal(HOUR_MS - 120_000);
    batch.resolve('done');
    await dying;
  });

  it('is tried again when a part fails, and others do not wait for it', async () => {
    const failing = await setUp(async () => {
      throw new Error('The database is away.');
    });
    expect(await failing.create().keep(NEVER)).to.equal(1);
    expect(await failing.dueInMs()).to.equal(300_000);
  });

  it('is left where it is by a process that stops, and begun when an account was deleted', async () => {
    const begun = Promise.withResolvers<void>();
    let isOver = false;
    const { create, dueInMs, topics } = await setUp((_, signal) => {
      begun.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isOver = true;
          reject(signal.reason);
        });
      });
    });
    const removal = create();
    removal.start();
    expect(topics).to.deep.equal([REMOVAL_TOPIC]);
    const kept = removal.keep(NEVER).catch((error: unknown) => error);
    await begun.promise;
    await removal.stop();
    expect(isOver).to.equal(true);
    expect(await kept).to.be.an('error');
    expect(await dueInMs()).to.equal(120_000);
  });
});
