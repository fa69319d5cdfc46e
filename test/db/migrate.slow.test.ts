import { expect } from 'chai';
import pg from 'pg';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { StartError } from '../../src/errors.ts';
import { createTestDatabase, silentLog, useDatabase } from '../support/database.ts';

const ALL = [
  ...['0001-foundation', '0002-oauth', '0003-events', '0004-delivery-events', '0005-authorizations'],
  ...['0006-subscription-filters', '0007-polls', '0008-webhooks', '0009-poll-patience', '0010-administration'],
  ...['0011-activity', '0012-trace-context', '0013-accounts', '0015-console', '0016-audit', '0017-account-elements'],
  ...['0020-bulk', '0022-bulk-usage', '0023-connect', '0024-account-roles', '0028-oauth-codes', '0044-job-users'],
  ...['0045-shared-proxies', '0046-branding-invitations', '0047-background-runs', '0048-last-calls', '0049-told-apart'],
  ...['0050-mappings', '0051-missing-mappings', '0052-script-notes'],
  ...['0060-formulas', '0061-formula-usage', '0064-formula-outcomes', '0065-shared-formula-resources'],
  ...['0066-instances-by-id', '0070-endpoints', '0074-schema-watches'],
  ...['0077-access-keys', '0078-activity-keys', '0079-endpoint-rates', '0080-account-keys'],
  ...['0081-rate-budgets', '0082-feed-tokens'],
];

describe('migrateDatabase', () => {
  let url: string;
  let client: pg.Client;

  beforeEach(async () => {
    url = await createTestDatabase({ migrated: false });
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });

  afterEach(async () => {
    await client.end();
  });

  it('migrates an empty database and then has nothing left to do', async () => {
    expect(await migrateDatabase({ url, log: silentLog })).to.deep.equal(ALL);
    expect(await migrateDatabase({ url, log: silentLog })).to.deep.equal([]);
  });

  it('runs each migration once when two processes start together', async () => {
    const ran = await Promise.all([1, 2, 3].map(() => migrateDatabase({ url, log: silentLog })));
    expect(ran.flat()).to.deep.equal(ALL);
  });

  it('is not kept off by the lock row that a killed process left', async () => {
    await migrateDatabase({ url, log: silentLog });
    await client.query('update schema_migration_lock set is_locked = 1');
    await client.query('delete from schema_migration');
    await dropTables(client);
    expect(await migrateDatabase({ url, log: silentLog })).to.deep.equal(ALL);
  });

  it('leaves a database alone that a newer release has migrated, and says so', async () => {
    await migrateDatabase({ url, log: silentLog });
    await client.query("insert into schema_migration (name, batch, migration_time) values ('9999-newer', 2, now())");
    const error = await migrateDatabase({ url, log: silentLog }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(StartError);
    expect(error).to.have.property(
      'message',
      'A newer release has changed the database (9999-newer); start that release, or restore the backup from before it',
    );
  });

  it('waits for the process that migrates', async () => {
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('select pg_advisory_lock(7205001)');
    const migrated = migrateDatabase({ url, log: silentLog });
    await waitFor(async () => {
      const { rows } = await client.query(
        "select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted",
      );
      return rows[0].waiting === 1;
    });
    expect(await tableCount(client)).to.equal(0);
    await other.end();
    expect(await migrated).to.deep.equal(ALL);
  });
});

describe('the schema', () => {
  const database = useDatabase();

  it('says of every table what it is for', async () => {
    const { rows } = await database.knex.raw(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and relname not like 'schema_migration%' and obj_description(oid) is null`,
    );
    expect(rows).to.deep.equal([]);
  });

  it('has the account in the primary key of every tenant table', async () => {
    const { rows } = await database.knex.raw(
      `select table_name from information_schema.columns c where table_schema = 'public' and column_name = 'account_id'
       and not exists (select from information_schema.key_column_usage k join information_schema.table_constraints t
         using (constraint_schema, constraint_name) where t.constraint_type = 'PRIMARY KEY'
         and k.table_name = c.table_name and k.column_name = 'account_id')`,
    );
    expect(rows).to.deep.equal([]);
  });
});

async function tableCount(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select count(*)::int as tables from pg_tables where schemaname = 'public'");
  return rows[0].tables;
}

/** All but those that say what was migrated. */
async function dropTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select string_agg(format('%I', tablename), ', ') as names from pg_tables
     where schemaname = 'public' and tablename not like 'schema_migration%'`,
  );
  await client.query(`drop table ${rows[0].names} cascade`);
}

async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue()));
}
