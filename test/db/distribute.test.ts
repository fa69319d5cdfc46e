import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { createKnex } from '../../src/db/database.ts';
import { distributeDatabase, runOnDistributedSchema } from '../../src/db/distribute.ts';
import { isDistributed } from '../../src/db/distributed.ts';
import { DISTRIBUTION } from '../../src/db/distribution.ts';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { DatabaseUnavailableError } from '../../src/db/unavailable.ts';
import { StartError } from '../../src/errors.ts';
import { silentLog, theRow, useDatabase } from '../support/database.ts';
import { anyFailureOf } from '../support/failures.ts';
import { createSharedDatabase, findNodes, inDatabase, isDistributedRun } from '../support/nodes.ts';

const onCluster = isDistributedRun ? describe : describe.skip;
const onPlain = isDistributedRun ? describe.skip : describe;

onPlain('a distribution of a plain PostgreSQL', () => {
  const database = useDatabase();

  it('says what is missing, and changes nothing', async () => {
    const error = await distributeDatabase({ url: database.url, log: silentLog }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StartError);
    expect(error).to.have.property(
      'message',
      'The database of DATABASE_URL does not have the extension citus, which distributes its tables; ' +
        'run `create extension citus` on every node, and add the workers on the coordinator with citus_add_node',
    );
    expect(await isDistributed(database.knex)).to.equal(false);
  });
});

onCluster('a distribution', () => {
  let url: string;
  let knex: Knex;

  /** Without those of shards, which the coordinator has, too. */
  const foreignKeys = async () => {
    const { rows } = await knex.raw<{ rows: { table: string; definition: string }[] }>(
      `select conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition from pg_constraint
       where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace order by 1, 2`,
    );
    return rows.filter(({ table }) => DISTRIBUTION[table] !== undefined);
  };

  before(async function createEmpty() {
    this.timeout(60_000);
    const name = `${process.env.TEST_DATABASE_TEMPLATE}_${randomBytes(4).toString('hex')}`;
    const [coordinator, ...workers] = await findNodes(String(process.env.TEST_DATABASE_URL));
    await createSharedDatabase([coordinator, ...workers], name);
    url = inDatabase(coordinator, name);
    knex = createKnex({ url, poolSize: 2, log: silentLog });
    await migrateDatabase({ url, log: silentLog });
  });

  after(() => knex.destroy());

  it('keeps rows and foreign keys, and can be repeated', async () => {
    const [organization] = await knex('organization').insert({ name: 'Acme' }).returning('id');
    const [account] = await knex('account')
      .insert({ organization_id: Number(organization?.id), name: 'Acme', external_id: 'acme' })
      .returning('id');
    const accountId = Number(account?.id);
    await knex('notification').insert([1, 2, 3].map((n) => ({ account_id: accountId, type: `t${n}`, data: '{}' })));
    const before = await foreignKeys();

    const placed = await distributeDatabase({ url, log: silentLog });
    const wanted = Object.entries(DISTRIBUTION).filter(([, { placement }]) => placement !== 'local');
    expect(placed).to.have.members(wanted.map(([table]) => table));
    expect(await foreignKeys()).to.deep.equal(before);
    expect(await knex('notification').orderBy('id').pluck('type')).to.deep.equal(['t1', 't2', 't3']);
    await knex('notification').insert({ account_id: accountId, type: 'later', data: '{}' });
    expect(await distributeDatabase({ url, log: silentLog })).to.deep.equal([]);
    expect(await migrateDatabase({ url, log: silentLog })).to.deep.equal([]);
  });

  it('tells a node that was lost in a commit from a query that failed', async () => {
    const account = await theRow(knex('account').select('id').limit(1));
    await knex.raw(
      "create function lose() returns trigger language plpgsql as 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'",
    );
    const trigger =
      'create constraint trigger lost after insert on %s deferrable initially deferred for each row execute function lose()';
    const { rows } = await knex.raw('select success from run_command_on_placements(?, ?)', ['notification', trigger]);
    expect(rows.map(({ success }: { readonly success: boolean }) => success))
      .to.include(true)
      .and.not.include(false);
    const lost = await anyFailureOf(
      knex.transaction((via) => via('notification').insert({ account_id: account.id, type: 'lost', data: '{}' })),
    );
    expect(lost).to.be.instanceOf(DatabaseUnavailableError);
    expect(lost).to.have.nested.property('cause.code', 'XX000');
    await knex.raw('select run_command_on_placements(?, ?)', ['notification', 'drop trigger lost on %s']);
    await knex.raw('drop function lose');
    expect(await knex('notification').where({ type: 'lost' }).pluck('type')).to.deep.equal([]);
  });

  it('is completed by a migration that creates a table', async () => {
    await knex.raw('drop table oauth_token');
    await knex.transaction((trx) =>
      runOnDistributedSchema(trx, [
        'create table oauth_token (account_id bigint not null, instance_id bigint not null, primary key (account_id, instance_id))',
        'alter table oauth_token add foreign key (account_id, instance_id) references instance (account_id, id) on delete cascade',
      ]),
    );
    const { rows } = await knex.raw(
      `select from pg_dist_partition where logicalrelid = 'oauth_token'::regclass and partmethod = 'h'`,
    );
    expect(rows).to.have.length(1);
  });

  it('is completed by another one', async () => {
    await knex.raw('drop table oauth_token');
    await knex.raw('create table oauth_token (account_id bigint not null primary key)');
    expect(await distributeDatabase({ url, log: silentLog })).to.deep.equal(['oauth_token']);
  });
});
