/** A database of its own for many instances: DATABASE_URL, or an embedded PostgreSQL in a temporary folder. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../embedded/index.ts';
import { migrateDatabase } from '../../src/db/migrate.ts';
import { firstOf } from '../../src/db/row.ts';
import type { InstanceKey } from '../../src/instances/instance.ts';
import { createLogger } from '../../src/log.ts';

export const ENCRYPTION_KEYS = `chaos:${randomBytes(32).toString('base64')}`;

export interface TokenDatabase {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function openTokenDatabase(): Promise<TokenDatabase> {
  const log = createLogger({ level: 'silent' });
  const server = await openServer();
  const name = `causeway_tokens_${randomBytes(4).toString('hex')}`;
  await execute(server.url, `create database ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  await migrateDatabase({ url: url.href, log });
  await execute(
    url.href,
    'create table refusal (instance_id bigint, generation bigint, reason text, primary key (instance_id, generation))',
  );
  return {
    url: url.href,
    close: async () => {
      await execute(server.url, `drop database ${name} with (force)`);
      await server.close();
    },
  };

  async function openServer(): Promise<TokenDatabase> {
    const given = process.env.DATABASE_URL;
    if (given) return { url: given, close: async () => {} };
    const dataDir = await mkdtemp(join(tmpdir(), 'causeway-chaos-'));
    // The server's user passes through when root runs this.
    await chmod(dataDir, 0o711);
    const embedded = await startEmbeddedPostgres({ dataDir, log });
    return {
      url: embedded.url,
      close: async () => {
        await embedded.stop();
        await rm(dataDir, { recursive: true });
      },
    };
  }
}

/** Instances of one account. */
export async function insertInstances(knex: Knex, count: number): Promise<InstanceKey[]> {
  const hash = () => randomBytes(32);
  const organizations = await knex('organization').insert({ name: 'Chaos' }).returning('id');
  const organizationId = firstOf(organizations).id;
  const accounts = await knex('account')
    .insert({ organization_id: organizationId, name: 'Chaos', external_id: 'Chaos' })
    .returning('id');
  const accountId = firstOf(accounts).id;
  const user = { organization_id: organizationId, account_id: accountId, email_address: 'chaos@example.com' };
  const { id: userId } = firstOf(await knex('app_user').insert(user).returning('id'));
  const rows = Array.from({ length: count }, (_, index) => ({
    account_id: accountId,
    user_id: userId,
    name: `Instance ${index}`,
    element_key: 'strict',
    credentials: 'none',
    token: 'none',
    token_hash: hash(),
  }));
  const inserted: { id: number }[] = await knex('instance').insert(rows).returning('id');
  return inserted.map(({ id }) => ({ accountId, id }));
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
