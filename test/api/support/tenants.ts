import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { RoleKey } from '../../../src/accounts/privileges.ts';
import { createSecretStore } from '../../../src/accounts/secret-store.ts';
import type { TenantIds } from '../../../src/accounts/store.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { createKeyring } from '../../../src/db/keyring.ts';
import { openPlatformKeys } from '../../../src/db/platform-keys.ts';
import { type Client, clientOf, ENCRYPTION_KEYS, type TestApp } from '../../support/app.ts';
import { silentLog } from '../../support/database.ts';
import { useStarted } from '../../support/started.ts';

/** Somebody who may call the service. */
export interface Tenant {
  readonly organizationSecret: string;
  readonly userSecret: string;
  readonly accountId: number;
}

/** Somebody with the ways in which he calls the service. */
export type Caller = Tenant & Client;

export interface OtherTenants {
  /** With an organization of its own. */
  readonly stranger: Caller;
  /** In another account of the service's organization. */
  readonly sibling: Caller;
  /** In the service's account. */
  readonly colleague: Caller;
}

/** Rows as no API makes them, in the service's database. */
interface TenantMaker {
  /** @returns what its callers are made of; `secret` is the organization's */
  readonly organization: (name: string) => Promise<{ readonly organizationId: number; readonly secret: string }>;
  /** The first one of an organization is its default account. `more` has other columns. */
  readonly account: (organizationId: number, name: string, isDefault: boolean, more?: object) => Promise<number>;
  readonly user: (
    account: Pick<TenantIds, 'organizationId' | 'accountId'>,
    name: string,
    role?: RoleKey,
    more?: object,
  ) => Promise<{ readonly id: number; readonly userSecret: string; readonly accountId: number }>;
}

export function makeTenants<Made>(
  service: Pick<TestApp, 'databaseUrl'>,
  work: (make: TenantMaker) => Promise<Made>,
): Promise<Made> {
  return withDatabase(service, async (knex) => {
    const keyring = createKeyring(ENCRYPTION_KEYS);
    const secrets = createSecretStore({ keyring, keys: await openPlatformKeys({ knex, keyring }) });

    async function insert(table: string, values: Readonly<Record<string, unknown>>): Promise<number> {
      const [row] = await knex(table).insert(values).returning('id');
      return Number(row.id);
    }

    return work({
      organization: async (name) => {
        const secret = `${name.toLowerCase().replaceAll(' ', '-')}-${randomBytes(12).toString('hex')}`;
        const organizationId = await insert('organization', { name });
        await secrets.add(knex, { organizationId }, secret);
        return { organizationId, secret };
      },
      account: (organization_id, name, isDefault, more) =>
        insert('account', { organization_id, name, external_id: name, default_account: isDefault, ...more }),
      user: async ({ organizationId, accountId }, name, role, more) => {
        const userSecret = `${name}-${randomBytes(12).toString('hex')}`;
        const user = { organization_id: organizationId, account_id: accountId, email_address: `${name}@example.com` };
        const id = await insert('app_user', { ...user, ...more });
        if (role !== undefined) await knex('user_role').insert({ account_id: accountId, user_id: id, role });
        await secrets.add(knex, { accountId, userId: id }, userSecret);
        return { id, userSecret, accountId };
      },
    });
  });
}

/** Makes three more callers beside the service's own; the two in its organization are administrators of their accounts. */
export function createTenants(service: TestApp): Promise<OtherTenants> {
  const { organizationSecret } = service;
  const as = (tenant: Tenant) => callerOf(service, tenant);
  return makeTenants(service, async (make) => {
    const { organizationId, secret } = await make.organization('Another one');
    const strangers = { organizationId, accountId: await make.account(organizationId, 'Strangers', true) };
    const siblings = {
      organizationId: service.organizationId,
      accountId: await make.account(service.organizationId, 'Siblings', false),
    };
    return {
      stranger: as({ organizationSecret: secret, ...(await make.user(strangers, 'stranger', 'org-admin')) }),
      sibling: as({ organizationSecret, ...(await make.user(siblings, 'sibling', 'admin')) }),
      colleague: as({ organizationSecret, ...(await make.user(service, 'colleague', 'admin')) }),
    };
  });
}

/** The other tenants, made before the tests of the suite that calls this. */
export function useTenants(service: TestApp): OtherTenants {
  return useStarted(() => createTenants(service));
}

/** Makes a caller in an account of the service's organization. */
export function createUser(
  service: TestApp,
  { accountId, name, role }: { readonly accountId: number; readonly name: string; readonly role?: RoleKey },
): Promise<Caller & { readonly id: number }> {
  const { organizationId, organizationSecret } = service;
  return makeTenants(service, async (make) => {
    const user = await make.user({ organizationId, accountId }, name, role);
    return callerOf(service, { organizationSecret, ...user });
  });
}

/** Calls as somebody, also on an instance where the call has its token. */
export function callerOf<Made extends Tenant>(service: Pick<TestApp, 'call'>, tenant: Made): Made & Client {
  const client = clientOf((path, { token, headers, ...call } = {}) =>
    service.call(path, { ...call, headers: { ...authorizationOf(tenant, token), ...headers } }),
  );
  return { ...tenant, ...client };
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

/** Changes rows as no API does. @returns how many */
export function updateRows(
  service: Pick<TestApp, 'databaseUrl'>,
  table: string,
  where: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
): Promise<number> {
  return withDatabase(service, (knex) => knex(table).where(where).update(values));
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
