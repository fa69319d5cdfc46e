import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { type DatabaseServer, startApp } from '../../src/app/index.ts';
import { readConfig } from '../../src/config/index.ts';
import { createTemporaryFolder, createTestDatabase, silentLog } from '../support/database.ts';

const ENCRYPTION_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

const MOST_LOOKS = 100;
const LOOK_MS = 20;

describe('the server of the database that the app is handed', () => {
  let dataDir: string;
  let url: string;
  /** How many others were connected, for each time it was stopped. */
  let connected: number[];

  beforeEach(async function makeDatabase() {
    this.timeout(60_000);
    dataDir = await createTemporaryFolder();
    url = await createTestDatabase();
    connected = [];
  });

  afterEach(async () => {
    await rm(dataDir, { recursive: true });
  });

  async function stop(): Promise<void> {
    const client = new pg.Client(url);
    await client.connect();
    // A backend ends a moment after its connection.
    let count = await countOthers(client);
    for (let look = 1; count > 0 && look < MOST_LOOKS; look++) {
      await sleep(LOOK_MS);
      count = await countOthers(client);
    }
    connected.push(count);
    await client.end();
  }

  function start(database: DatabaseServer) {
    const environment = {
      DATA_DIR: dataDir,
      ENCRYPTION_KEYS,
      PORT: '0',
      DATABASE_URL: database.url,
      DATABASE_WAIT: '0',
    };
    return startApp({ config: readConfig(environment), database, log: silentLog });
  }

  it('is stopped with it, when nothing needs it any more', async () => {
    const app = await start({ url, stop });
    expect(connected).to.deep.equal([]);
    await app.stop();
    expect(connected).to.deep.equal([0]);
  });

  it('is stopped when the start fails', async () => {
    const away = new URL(url);
    away.port = '1';
    const failure = await start({ url: away.href, stop }).catch((error: Error) => error);
    expect(failure).to.have.property('message').that.includes('does not respond');
    expect(connected).to.deep.equal([0]);
  });
});

async function countOthers(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return rows[0].count;
}
