import { expect } from 'chai';
import { createBulkStore } from '../../src/bulk/bulk-store.ts';
import { createClaimStore } from '../../src/events/sweep/claim-store.ts';
import { createRegistrationStore } from '../../src/events/webhooks/registration-store.ts';
import { createRunStore } from '../../src/formulas/executions/run-store.ts';
import { createAuthorizationStore } from '../../src/instances/oauth/authorization-store.ts';
import { createPollStore } from '../../src/polls/poll-store.ts';
import { createWatchStore } from '../../src/schemas/watch-store.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { useAccountDatabase } from '../support/event-rows.ts';
import { isDistributedRun } from '../support/nodes.ts';
import { until } from '../support/until.ts';
import { countWaiting, holdChanges } from '../support/waiting.ts';

const DUE = new Date('2026-01-01T00:00:00Z');
const NOW = new Date(DUE.getTime() + 1_000);
const OWNER = '0a0a0a0a-0000-4000-8000-000000000000';
const TABLES = [
  'bulk_job',
  'delivery',
  'formula_run',
  'oauth_authorization',
  'poll',
  'schema_check',
  'webhook_registration',
];

/**
 * PostgreSQL decides which rows a statement sees when it begins. So a claim may see a row as unclaimed, and lock it after another process
 * has claimed it. Here both claims begin before either locks anything: each change of a table waits for a lock of its own first. A
 * distributed database has no such triggers, and claims by conditions on the row that it changes.
 */
(isDistributedRun ? describe.skip : describe)('a claim that another one overtakes', () => {
  const database = useAccountDatabase(1);

  before(async () => {
    const { knex } = database;
    const due = DUE.toISOString();
    for (const statement of [
      `insert into poll (account_id, instance_id, resource, settings_version, interval_ms, due, kind, watermark)
       select account_id, id, 'things', settings_version, 1000, '${due}', 'window', now() from instance`,
      `insert into schema_check (account_id, instance_id, due) values (1, 1, '${due}')`,
      `insert into bulk_job (account_id, instance_id, direction, object_name, query, format, due)
       values (1, 1, 'DOWNLOAD', 'things', '{}', 'csv', '${due}')`,
      `insert into formula_run (account_id, id, execution_at, formula_instance_id, serial, due)
       values (1, 1, now(), 1, false, '${due}'), (1, 2, now(), 2, true, '${due}')`,
      `insert into webhook_registration (account_id, instance_id, due) values (1, 1, '${due}')`,
      `insert into event_owner (id) values ('${OWNER}')`,
      `insert into delivery (account_id, subscription_id, event_id, event_at, type, state, due, ordered)
       select 1, n, gen_random_uuid(), now(), 'x.created', 'waiting', '${due}', n = 2 from generate_series(1, 2) n`,
    ])
      await knex.raw(statement);
    await holdChanges(knex, TABLES, 'pg_advisory_xact_lock(7)');
  });

  /** Claims from two processes, which both began to look before either had claimed anything. @returns what each of them claimed */
  async function claimTwice<Claimed>(claim: () => Promise<Claimed>): Promise<readonly Claimed[]> {
    const { knex } = database;
    const turn = await knex.transaction();
    await turn.raw('select pg_advisory_xact_lock(7)');
    const claims = Promise.all([claim(), claim()]);
    await until(async () => (await countWaiting(knex, 'advisory')) === 2);
    await turn.commit();
    return await claims;
  }

  const lease = {
    now: NOW,
    leaseUntil: new Date(NOW.getTime() + 60_000),
    later: NOW,
    limit: 10,
    share: 10,
    except: [],
    buckets: ALL_BUCKETS.held(),
  };

  const claims: Record<string, () => Promise<readonly unknown[]>> = {
    polls: async () => (await createPollStore(database.knex).claim(lease)).claimed,
    'checks of watched objects': async () => (await createWatchStore(database.knex).claim(lease)).claimed,
    'bulk jobs': () => createBulkStore(database.knex).claim(lease),
    'registrations of webhooks': () => createRegistrationStore(database.knex).claim(lease),
    deliveries: () => {
      const share = { accountId: 1, subscriptionId: 1, isRetry: false, limit: 10 };
      return createClaimStore(database.knex).claim([share], { owner: OWNER, now: NOW });
    },
    'ordered deliveries': async () => {
      const store = createClaimStore(database.knex);
      return store.claimHeads(await store.orderedHeads(0, 10), { owner: OWNER, now: NOW });
    },
  };

  for (const [kind, claim] of Object.entries(claims)) {
    it(`has no ${kind} that the other has`, async () => {
      const numbers = (await claimTwice(claim)).map((claimed) => claimed.length);
      expect(numbers.toSorted()).to.deep.equal([0, 1]);
    });
  }

  it('has no executions of formulas that the other has, also of single-threaded instances', async () => {
    const claimed = await claimTwice(() => createRunStore(database.knex).claim(lease));
    expect(claimed.map((runs) => runs.length).toSorted()).to.deep.equal([0, 2]);
  });

  it('uses another authorization of the same user', async () => {
    const { knex } = database;
    const store = createAuthorizationStore(knex);
    const key = { accountId: 1, userId: 1, elementKey: 'x', clientId: 'x', callbackUrl: 'https://a.example' };
    const authorization = { ...key, state: null, settings: {}, seal: Buffer.alloc(32) };
    for (let count = 0; count < 3; count++) await store.insert(authorization);
    await claimTwice(() => store.use(knex, key, { state: undefined, minutes: 15 }));
    const used = await knex('oauth_authorization').orderBy('id').pluck('is_used');
    expect(used).to.deep.equal([true, true, false]);
  });
});
