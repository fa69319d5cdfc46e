import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { openDatabase } from '../../../src/db/database.ts';
import { createKeyring } from '../../../src/db/keyring.ts';
import { openPlatformKeys } from '../../../src/db/platform-keys.ts';
import { ENCRYPTION_KEYS, ORGANIZATION_SECRET, type TestApp, USER_SECRET } from '../../support/app.ts';
import { silentLog } from '../../support/database.ts';

/** Somebody who may call the service. */
export interface Tenant {
  readonly organizationSecret: string;
  readonly userSecret: string;
  readonly accountId: number;
}

/** The tenant that `service.call` calls as. */
export const FIRST_TENANT: Tenant = {
  organizationSecret: ORGANIZATION_SECRET,
  userSecret: USER_SECRET,
  accountId: 1,
};

export interface OtherTenants {
  /** With an organization of its own. */
  readonly stranger: Tenant;
  /** In another account of the first organization. */
  readonly sibling: Tenant;
  /** In the first account. */
  readonly colleague: Tenant;
}

/** Makes three more callers in the service's database; there is no API for them yet. */
export function createTenants(service: Pick<TestApp, 'databaseUrl'>): Promise<OtherTenants> {
  return withDatabase(service, async (knex) => {
    const { lookupHash } = await openPlatformKeys({ knex, keyring: createKeyring(ENCRYPTION_KEYS) });

    async function insert(table: string, values: Readonly<Record<string, unknown>>): Promise<number> {
      const [row] = await knex(table).insert(values).returning('id');
      return Number(row.id);
    }

    async function insertUser(accountId: number, name: string, organizationSecret: string): Promise<Tenant> {
      const userSecret = `${name}-${randomBytes(12).toString('hex')}`;
      const address = `${name}@example.com`;
      await insert('app_user', {
        account_id: accountId,
        email_address: address,
        secret_hash: lookupHash(userSecret),
      });
      return { organizationSecret, userSecret, accountId };
    }

    const insertAccount = (organizationId: number, name: string) =>
      insert('account', { organization_id: organizationId, name });

    const secret = `other-organization-${randomBytes(12).toString('hex')}`;
    const organizationId = await insert('organization', { name: 'Another one', secret_hash: lookupHash(secret) });
    return {
      stranger: await insertUser(await insertAccount(organizationId, 'Strangers'), 'stranger', secret),
      sibling: await insertUser(await insertAccount(1, 'Siblings'), 'sibling', ORGANIZATION_SECRET),
      colleague: await insertUser(1, 'colleague', ORGANIZATION_SECRET),
    };
  });
}

/** The header of platform calls or, with the token of an instance, of calls on it. */
export function authorizationOf({ userSecret, organizationSecret }: Tenant, token?: string): { authorization: string } {
  const partner = token === undefined ? `Organization ${organizationSecret}` : `Element ${token}`;
  return { authorization: `User ${userSecret}, ${partner}` };
}

/** Work on the service's database with connections of its own. */
export async function withDatabase<Result>(
  { databaseUrl }: Pick<TestApp, 'databaseUrl'>,
  work: (knex: Knex) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({ url: databaseUrl, poolSize: 2, log: silentLog });
  try {
    return await work(database.knex);
  } finally {
    await database.close();
  }
}

export function countRows(service: Pick<TestApp, 'databaseUrl'>, table: string): Promise<number> {
  return withDatabase(service, async (knex) => {
    const [row] = await knex(table).count({ count: '*' });
    return Number(row?.count);
  });
}

/** Every row of every table of ours, as text. */
export function readEverything(service: Pick<TestApp, 'databaseUrl'>): Promise<string> {
  return withDatabase(service, async (knex) => {
    const tables: { readonly name: string }[] = await knex('pg_tables')
      .whereNotIn('schemaname', ['pg_catalog', 'information_schema'])
      .select({ name: knex.raw("format('%I.%I', schemaname, tablename)") });
    const texts = await Promise.all(
      tables.map(async ({ name }) => {
        const { rows } = await knex.raw(`select coalesce(string_agg(t::text, E'\\n'), '') as rows from ${name} t`);
        return `${name}\n${rows[0].rows}`;
      }),
    );
    return texts.join('\n');
  });
}
