/**
 * A program with an embedded database, for tests that kill it: `node embedded-process.ts <dataDir>`. It prints the
 * database's URL, and stops the way the service does at SIGTERM, with exit code 7; at `exit` on its input it ends at
 * once without stopping anything, with exit code 8.
 */
import { startEmbeddedPostgres } from '../../embedded/index.ts';
import { createLogger } from '../../src/log.ts';

const [, , dataDir = ''] = process.argv;
const log = createLogger({ level: 'silent' });
const { url, stop } = await startEmbeddedPostgres({ dataDir, log, durable: false });

process.on('SIGTERM', () => {
  stop().then(() => process.exit(7));
});
process.stdin.on('data', () => process.exit(8));
process.stdout.write(`${url}\n`);
