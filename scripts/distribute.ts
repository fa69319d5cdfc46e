// Splits the tables by account over the nodes of a PostgreSQL with Citus. See docs/how-to/deployment.md.
import { distributeDatabase } from '../src/db/distribute.ts';
import { migrateDatabase } from '../src/db/migrate.ts';
import { StartError } from '../src/errors.ts';
import { administer, explain } from './administer.ts';

try {
  const placed = await administer(async ({ config: { databaseUrl: url }, log }) => {
    if (url === undefined) throw new StartError('Set DATABASE_URL: the embedded database cannot be distributed');
    await migrateDatabase({ url, log });
    return distributeDatabase({ url, log });
  });
  console.log(placed.length === 0 ? 'All tables are distributed already.' : `Distributed: ${placed.join(', ')}`);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
