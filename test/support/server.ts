import { rm } from 'node:fs/promises';
import { createTemporaryFolder, startTestServer } from './database.ts';

/**
 * One PostgreSQL and one folder of temporary files for all the processes of a run: mocha calls these in the first one, and the others
 * inherit its environment. A run that is broken off takes the server with it, since ending by `exit` stops what is embedded.
 */
let stop: (() => Promise<void>) | undefined;

export async function mochaGlobalSetup(): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const folder = await createTemporaryFolder();
  process.env.TMPDIR = folder;
  const server = await startTestServer();
  process.env.TEST_DATABASE_URL = server.url;
  process.env.TEST_DATABASE_TEMPLATE = server.template;
  stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

export async function mochaGlobalTeardown(): Promise<void> {
  await stop?.();
}
