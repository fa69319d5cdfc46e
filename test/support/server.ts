import { rm } from 'node:fs/promises';
import { createTemporaryFolder, startTestServer } from './database.ts';

/**
 * Starts one PostgreSQL server and one folder of temporary files for all processes of a run. Mocha calls these functions in the first
 * process, and the others inherit its environment. An interrupted run stops the server too, because the exit of the process stops an
 * embedded one.
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
