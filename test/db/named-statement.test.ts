import { expect } from 'chai';
import { runNamed } from '../../src/db/named-statement.ts';
import { useDatabase } from '../support/database.ts';

describe('a named statement', () => {
  const database = useDatabase();

  it('is parsed once by a connection, and takes other values each time', async () => {
    const statement = { name: 'double', sql: 'select ?::int * 2 as doubled' };
    await database.knex.transaction(async (trx) => {
      for (const value of [1, 2, 3]) {
        const { rows } = await runNamed(trx, statement, [value]);
        expect(rows).to.deep.equal([{ doubled: value * 2 }]);
      }
      const { rows } = await trx.raw(
        `select name, generic_plans + custom_plans as runs from pg_prepared_statements where name = 'double'`,
      );
      expect(rows).to.deep.equal([{ name: 'double', runs: 3 }]);
    });
  });
});
