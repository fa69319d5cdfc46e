import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeTables } from '../../scripts/generate/tables.ts';
import { useDatabase } from '../support/database.ts';

describe('generated/tables.ts', () => {
  const database = useDatabase();

  it('says what the migrations have made; if not: npm run generate:tables', async () => {
    const kept = readFileSync(join(import.meta.dirname, '../../generated/tables.ts'), 'utf8');
    expect(await describeTables(database.url)).to.equal(kept);
  });
});
