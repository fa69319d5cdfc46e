import { expect } from 'chai';
import { DISTRIBUTION } from '../../src/db/distribution.ts';
import { useDatabase } from '../support/database.ts';
import { isDistributedRun } from '../support/nodes.ts';

describe('DISTRIBUTION', () => {
  const database = useDatabase();

  it('has a place for every table of the migrations, and for no other', async () => {
    const { rows } = await database.knex.raw<{ rows: { name: string }[] }>(
      `select table_name as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE'
         and table_name not in (select relname from pg_class where relispartition)`,
    );
    expect(rows.map(({ name }) => name)).to.have.members(Object.keys(DISTRIBUTION));
  });

  it('splits only tables whose keys have the account', async () => {
    const { rows } = await database.knex.raw<{ rows: { table: string; index: string }[] }>(
      `select indrelid::regclass::text as table, indexrelid::regclass::text as index from pg_index
       join pg_class on pg_class.oid = indrelid
       where relnamespace = 'public'::regnamespace and not relispartition and indisunique and not exists (
         select from pg_attribute where attrelid = indrelid and attname = 'account_id' and attnum = any(indkey))`,
    );
    expect(rows.filter(({ table }) => DISTRIBUTION[table]?.placement === 'account')).to.deep.equal([]);
  });

  it('lets no table that is copied refer to one that is split', async () => {
    const { rows } = await database.knex.raw<{ rows: { table: string; referenced: string }[] }>(
      `select conrelid::regclass::text as table, confrelid::regclass::text as referenced from pg_constraint
       where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`,
    );
    const wrong = rows.filter(
      ({ table, referenced }) =>
        DISTRIBUTION[table]?.placement !== 'account' && DISTRIBUTION[referenced]?.placement === 'account',
    );
    expect(rows).to.not.deep.equal([]);
    expect(wrong).to.deep.equal([]);
  });

  it('gives a reason for each place', () => {
    for (const { reason } of Object.values(DISTRIBUTION)) expect(reason).to.match(/^[A-Z].+\.$/);
  });

  (isDistributedRun ? it : it.skip)('is applied by a distribution', async () => {
    const { rows } = await database.knex.raw<{ rows: { name: string; placement: string }[] }>(
      `select logicalrelid::regclass::text as name,
         case when partmethod = 'h' then 'account' when repmodel = 't' then 'reference' else 'local' end as placement
       from pg_dist_partition join pg_class on pg_class.oid = logicalrelid where not relispartition`,
    );
    const wanted = Object.entries(DISTRIBUTION).filter(([, { placement }]) => placement !== 'local');
    expect(rows).to.have.deep.members(wanted.map(([name, { placement }]) => ({ name, placement })));
  });
});
