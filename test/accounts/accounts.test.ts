import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { ALL_PRIVILEGES } from '../../src/accounts/privileges.ts';
import { createSecretStore, type SecretStore } from '../../src/accounts/secret-store.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createKeyring, type Keyring } from '../../src/db/keyring.ts';
import { openPlatformKeys, type PlatformKeys } from '../../src/db/platform-keys.ts';
import { isAppError } from '../../src/errors.ts';
import { silentLog, theRow, useDatabase } from '../support/database.ts';
import { createLocalNotifier } from '../support/notifier.ts';

describe('createAccounts', () => {
  const database = useDatabase();
  let keys: PlatformKeys;
  let keyring: Keyring;
  let secrets: SecretStore;

  before(async () => {
    keyring = createKeyring(`test:${randomBytes(32).toString('base64')}`);
    keys = await openPlatformKeys({ knex: database.knex, keyring });
    secrets = createSecretStore({ keyring, keys });
  });

  beforeEach(() => database.knex.raw('truncate organization, account, app_user restart identity cascade'));

  const random = { bytes: (size: number) => randomBytes(size), fraction: Math.random };
  const notifier = createLocalNotifier();
  const create = (knex = database.knex) => createAccounts({ knex, keyring, keys, random, notifier });

  /** The first tenant, which every test but those about its making needs. */
  async function bootstrap() {
    const accounts = create();
    const created = await accounts.bootstrap({});
    if (created === undefined) throw new Error('There was a tenant');
    return { accounts, created };
  }

  /** A user of another organization. */
  async function insertStranger(secret: string, organizationSecret: string): Promise<void> {
    const { knex } = database;
    const organization = await theRow(knex('organization').insert({ name: 'Other' }).returning('id'));
    const account = await theRow(
      knex('account').insert({ organization_id: organization.id, name: 'Other', external_id: 'Other' }).returning('id'),
    );
    const user = { organization_id: organization.id, account_id: account.id, email_address: 'other@example.com' };
    const { id: userId } = await theRow(knex('app_user').insert(user).returning('id'));
    await secrets.add(knex, { organizationId: organization.id }, organizationSecret);
    await secrets.add(knex, { accountId: account.id, userId }, secret);
  }

  describe('bootstrap', () => {
    it('makes the first organization, account and user, with random secrets', async () => {
      const { created } = await bootstrap();
      expect(created).to.include({ organizationId: 1, accountId: 1, userId: 1 });
      for (const secret of [created.organizationSecret, created.userSecret]) expect(secret).to.match(/^[\w-]{43}$/);
      expect(created.organizationSecret).to.not.equal(created.userSecret);
    });

    it('uses the secrets that are pinned', async () => {
      const secrets = { organizationSecret: 'pinned-organization', userSecret: 'pinned-user-secret' };
      expect(await create().bootstrap(secrets)).to.include(secrets);
      expect((await create().findPrincipal(secrets))?.principal).to.include({ organizationVerified: true });
    });

    it('does nothing when there is an organization, and leaves the secrets as they are', async () => {
      const { accounts, created } = await bootstrap();
      expect(
        await accounts.bootstrap({ organizationSecret: 'another-organization', userSecret: 'another-user' }),
      ).to.equal(undefined);
      expect(await accounts.findPrincipal({ userSecret: 'another-user' })).to.equal(undefined);
      expect((await accounts.findPrincipal(created))?.principal).to.include({ userId: created.userId });
      expect(await database.knex('organization').count({ count: '*' }).first()).to.deep.equal({ count: 1 });
    });

    it('makes one tenant when several processes start together', async () => {
      const pools = [1, 2, 3, 4].map(() => openDatabase({ url: database.url, poolSize: 2, log: silentLog }));
      const results = await Promise.all(pools.map(({ knex }) => create(knex).bootstrap({})));
      expect(results.filter((created) => created !== undefined)).to.have.length(1);
      expect(await database.knex('app_user').count({ count: '*' }).first()).to.deep.equal({ count: 1 });
      await Promise.all(pools.map((pool) => pool.close()));
    });

    it('keeps no tenant whose secrets could not be put away', async () => {
      const failure = new Error('disk full');
      const error = await create()
        .bootstrap({ beforeCommit: () => Promise.reject(failure) })
        .catch((reason: unknown) => reason);
      expect(error).to.equal(failure);
      expect(await create().bootstrap({})).to.not.equal(undefined);
    });

    it('shows the secrets before anybody can use them', async () => {
      const seen: unknown[] = [];
      const accounts = create();
      const created = await accounts.bootstrap({
        beforeCommit: async (credentials) => {
          seen.push(credentials, await accounts.findPrincipal(credentials));
        },
      });
      expect(seen).to.deep.equal([created, undefined]);
    });

    it('puts no secret into the database', async () => {
      const { created } = await bootstrap();
      const tables = await Promise.all(['organization', 'account', 'app_user'].map((table) => database.knex(table)));
      const stored = JSON.stringify(tables, (_key, value) =>
        value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
      );
      expect(stored)
        .to.contain('First organization')
        .and.not.contain(created.userSecret)
        .and.not.contain(created.organizationSecret);
    });
  });

  describe('findPrincipal', () => {
    it('finds the user of a secret, without an organization', async () => {
      const { accounts, created } = await bootstrap();
      expect(await accounts.findPrincipal({ userSecret: created.userSecret })).to.deep.equal({
        principal: {
          organizationId: 1,
          accountId: 1,
          homeAccountId: 1,
          userId: 1,
          roles: ['org-admin'],
          privileges: new Set(ALL_PRIVILEGES),
          organizationVerified: false,
        },
        expiresAt: undefined,
      });
    });

    it('confirms the organization when its secret is given too', async () => {
      const { accounts, created } = await bootstrap();
      expect((await accounts.findPrincipal(created))?.principal).to.include({ userId: 1, organizationVerified: true });
    });

    it('finds nobody for an unknown secret, the secret of an organization, or none', async () => {
      const { accounts, created } = await bootstrap();
      for (const userSecret of ['unknown', '', created.organizationSecret, `${created.userSecret} `]) {
        expect(await accounts.findPrincipal({ userSecret })).to.equal(undefined);
      }
    });

    it('finds nobody when the organization is not that of the user', async () => {
      const { accounts, created } = await bootstrap();
      await insertStranger('stranger', 'organization of the stranger');
      for (const organizationSecret of ['unknown', '', 'organization of the stranger']) {
        expect(await accounts.findPrincipal({ userSecret: created.userSecret, organizationSecret })).to.equal(
          undefined,
        );
      }
      expect((await accounts.findPrincipal({ userSecret: 'stranger' }))?.principal).to.include({
        organizationId: 2,
        accountId: 2,
      });
    });
  });

  describe('getUser', () => {
    it('answers the user', async () => {
      const { accounts } = await bootstrap();
      expect(await accounts.getUser(1, 1)).to.deep.equal({
        id: 1,
        emailAddress: 'admin@localhost',
        firstName: 'First',
        lastName: 'User',
      });
    });

    it('does not find a user of another account', async () => {
      const { accounts } = await bootstrap();
      await insertStranger('stranger', 'organization of the stranger');
      const error = await accounts.getUser(1, 2).catch((reason: unknown) => reason);
      expect(isAppError(error, 'NOT_FOUND')).to.equal(true);
      expect(error).to.have.property('message', 'There is no user 2.');
    });
  });

  describe('findUsers', () => {
    it('answers those of the account by their ids, with one query', async () => {
      const { accounts } = await bootstrap();
      await insertStranger('stranger', 'organization of the stranger');
      let queries = 0;
      const count = () => void queries++;
      database.knex.on('query', count);
      const users = await accounts.findUsers(1, [1, 2, 3]);
      database.knex.removeListener('query', count);
      expect([...users.keys()]).to.deep.equal([1]);
      expect(users.get(1)).to.deep.equal(await accounts.getUser(1, 1));
      expect(queries).to.equal(1);
    });
  });
});
