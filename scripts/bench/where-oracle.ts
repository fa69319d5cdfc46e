/**
 * Compares PostgreSQL, the residual evaluator and the reference evaluator on random filters.
 * `node scripts/bench/where-oracle.ts [filters, default 20000] [--rows 300] [--seed n]`: ends with 1 on a difference.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { startEmbeddedPostgres } from '../../embedded/index.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createLogger } from '../../src/log.ts';
import { createOracleTable, oracleFilters } from '../../test/where/postgres-table.ts';

const { values, positionals } = parseArgs({
  options: { rows: { type: 'string', default: '300' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const filters = Number(positionals[0] ?? 20_000);
const rowCount = Number(values.rows);
const seed = Number(values.seed ?? Date.now() % 1_000_000);

const log = createLogger({ level: 'silent' });
const dataDir = await mkdtemp(join(tmpdir(), 'causeway-oracle-'));
// When root runs this, the server's user is another.
await chmod(dataDir, 0o711);
const server = await startEmbeddedPostgres({ dataDir, log, durable: false });
const database = openDatabase({ url: server.url, poolSize: 1, log });

try {
  process.exitCode = await compare();
} finally {
  await database.close();
  await server.stop();
  await rm(dataDir, { recursive: true });
}

async function compare(): Promise<number> {
  const table = await createOracleTable(database.knex, { rowCount, seed });
  const counts = { none: 0, some: 0, all: 0 };
  const startedAt = performance.now();
  const property = fc.asyncProperty(oracleFilters, async (filter) => {
    const matched = await table.assertAgreement(filter);
    counts[matched === 0 ? 'none' : matched === rowCount ? 'all' : 'some']++;
  });
  const run = await fc.check(property, { seed, numRuns: filters });
  if (run.failed) {
    console.error(`Seed ${seed}, after ${run.numRuns} filters:`, run.errorInstance);
    return 1;
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(
    `Seed ${seed}: PostgreSQL, the residual and the reference agree on ${filters} filters over ${rowCount} rows ` +
      `(${counts.some} match some, ${counts.none} none, ${counts.all} all of them) in ${seconds} s`,
  );
  return 0;
}
