/**
 * A program with an embedded database, for tests that kill it: `node embedded-process.ts <dataDir>`. It prints the
 * database's URL, and stops the way the service does at SIGTERM and SIGINT, with exit code 7; at `exit` on its input it ends at
 * once without stopping anything, with exit code 8.
 */
import { startEmbeddedPostgres } from '../../embedded/index.ts';
import { listenForStop } from '../../src/app/stop-signals.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createLogger } from '../../src/log.ts';

const [, , dataDir = ''] = process.argv;
const log = createLogger({ level: 'silent' });
const signal = listenForStop({ process, clock: SYSTEM_CLOCK });
const { url, stop } = await startEmbeddedPostgres({ dataDir, log, durable: false, signal });

signal.addEventListener('abort', () => {
  stop().then(() => process.exit(7));
});
process.stdin.on('data', () => process.exit(8));
process.stdout.write(`${url}\n`);
