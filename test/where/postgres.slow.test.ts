import { expect } from 'chai';
import fc from 'fast-check';
import { useDatabase } from '../support/database.ts';
import { createOracleTable, type OracleTable, oracleFilters } from './postgres-table.ts';

describe('PostgreSQL, the residual and the reference', function agreement() {
  this.timeout(120_000);
  const database = useDatabase({ migrated: false });
  let table: OracleTable;

  before(async () => {
    table = await createOracleTable(database.knex, { rowCount: 200, seed: 14 });
  });

  it('find the same rows for any filter', async () => {
    const matches: number[] = [];
    await fc.assert(
      fc.asyncProperty(oracleFilters, async (filter) => {
        matches.push(await table.assertAgreement(filter));
      }),
      { seed: 15, numRuns: 1200 },
    );
    const telling = matches.filter((count) => count > 0 && count < table.rows.length);
    expect(telling.length).to.be.greaterThan(600);
  });
});
