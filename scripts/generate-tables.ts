/**
 * Generates `generated/tables.ts` from the tables that the migrations create on a temporary embedded database. A test fails when the file
 * is not up to date.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../embedded/index.ts';
import { migrateDatabase } from '../src/db/migrate.ts';
import { createLogger } from '../src/log.ts';
import { writeFiles } from './generate/output.ts';
import { describeTables } from './generate/tables.ts';

const log = createLogger({ level: 'silent' });
const dataDir = await mkdtemp(join(tmpdir(), 'causeway-tables-'));
const server = await startEmbeddedPostgres({ dataDir, log, durable: false });
try {
  await migrateDatabase({ url: server.url, log });
  await writeFiles({ 'tables.ts': await describeTables(server.url) }, join(import.meta.dirname, '../generated'));
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true });
}
