import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findRunningPostmaster, type Postmaster, signalProcess } from '../../embedded/postmaster.ts';
import { ensureServerUser, type ServerUser } from '../../embedded/server-user.ts';
import { isRoot } from '../../src/db/data-dir.ts';
import { createLogger } from '../../src/log.ts';
import { createSharedDatabase, findNodes, inDatabase, query } from '../../test/support/nodes.ts';
import type { LoadNode, LoadServer } from './postgres.ts';

const run = promisify(execFile);
const START_MS = 30_000;
const AGAIN_MS = 100;

/** Creates a database on the cluster that `.ci/with-citus` started for this command. Undefined: there is none. */
export async function openClusterServer(): Promise<LoadServer | undefined> {
  const { CITUS_BIN: bin, CITUS_DATA: data, TEST_DATABASE_URL: given } = process.env;
  if (!bin || !data || !given) return undefined;
  const nodes = await findNodes(given);
  const name = `load_${randomBytes(4).toString('hex')}`;
  await createSharedDatabase(nodes, name);
  const user = isRoot() ? await ensureServerUser(createLogger({ level: 'fatal' })) : undefined;
  return {
    url: inDatabase(nodes[0], name),
    isDistributed: true,
    nodes: nodes.map((url) => createNode({ url, bin, data, user })),
    stop: async () => {
      for (const url of nodes) await query(url, `drop database ${name} with (force)`);
    },
  };
}

interface NodeOptions {
  readonly url: string;
  readonly bin: string;
  readonly data: string;
  readonly user: ServerUser | undefined;
}

function createNode({ url, bin, data, user }: NodeOptions): LoadNode {
  const { port } = new URL(url);
  const directory = join(data, port);

  async function findServer(): Promise<Postmaster> {
    const server = await findRunningPostmaster(directory);
    if (server === undefined) throw new Error(`No PostgreSQL runs on port ${port}`);
    return server;
  }

  async function start(): Promise<void> {
    const arguments_ = ['-D', directory, '-w', '-l', join(data, `log.${port}`), 'start'];
    const deadline = Date.now() + START_MS;
    for (;;) {
      try {
        return void (await run(join(bin, 'pg_ctl'), arguments_, { ...user, env: { ...process.env, HOME: data } }));
      } catch (error) {
        // Processes of the killed server hold its shared memory until they notice.
        if (Date.now() > deadline) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  return {
    url,
    pid: async () => (await findServer()).pid,
    crash: async (downMs = 0) => {
      signalProcess((await findServer()).pid, 'SIGKILL');
      await sleep(downMs);
      await start();
    },
  };
}
