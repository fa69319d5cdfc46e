import { type Argon2Parameters, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createPasswordHasher } from '../../../src/accounts/log-in/password-hash.ts';
import { createPasswords, type PasswordTry } from '../../../src/accounts/log-in/passwords.ts';
import { createSessions } from '../../../src/accounts/log-in/sessions.ts';
import type { PrincipalChanges } from '../../../src/accounts/principal-changes.ts';
import { createAccountStore, type TenantIds } from '../../../src/accounts/store.ts';
import { createKeyring } from '../../../src/db/keyring.ts';
import { openPlatformKeys, type PlatformKeys } from '../../../src/db/platform-keys.ts';
import { createPoolShares } from '../../../src/db/pool-shares.ts';
import { firstOf } from '../../../src/db/row.ts';
import { AppError } from '../../../src/errors.ts';
import { ENCRYPTION_KEYS } from '../../support/app.ts';
import { theRow, useDatabase } from '../../support/database.ts';
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const PASSWORD = 'violet anchor drifts past noon';
const WRONG = 'what somebody guesses';
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const HERE = '192.0.2.1';
/** Quick. */
const LITTLE = { memory: 32, passes: 1, parallelism: 1 };

describe('log-in', () => {
  const database = useDatabase();
  let keys: PlatformKeys;
  let clock: VirtualClock;
  let hashed: Argon2Parameters[];

  before(async () => {
    keys = await openPlatformKeys({ knex: database.knex, keyring: createKeyring(ENCRYPTION_KEYS) });
  });

  beforeEach(async () => {
    clock = createVirtualClock();
    hashed = [];
    await database.knex.raw('truncate organization, account, app_user, log_in_try restart identity cascade');
  });

  const random = { bytes: (size: number) => randomBytes(size), fraction: Math.random };

  /** What a process has. */
  function open(cost = LITTLE, beforeHash = async () => {}) {
    const { knex } = database;
    const shares = createPoolShares({ knex, poolSize: 8 });
    const platform = { knex, keys, clock, random, shares };
    const principals: Pick<PrincipalChanges, 'change'> = { change: (_, work) => knex.transaction(work) };
    const { hash, verify, isCurrent } = createPasswordHasher(platform, { cost });
    const hasher = {
      hash: async (...input: Parameters<typeof hash>) => {
        await beforeHash();
        return hash(...input);
      },
      isCurrent,
      verify: (...input: Parameters<typeof verify>) => {
        hashed.push({ ...cost, message: input[0], nonce: '', tagLength: 0 });
        return verify(...input);
      },
    };
    const getUser = async (accountId: number, userId: number) =>
      firstOf(await createAccountStore(knex).findUsers(accountId, [userId]));
    return {
      passwords: createPasswords(platform, { principals, getUser, hasher }),
      sessions: createSessions(platform, principals),
    };
  }

  /** A user of a new organization. */
  async function addUser(email: string, password?: string): Promise<TenantIds> {
    const { knex } = database;
    const { id: organizationId } = await theRow(knex('organization').insert({ name: email }).returning('id'));
    const account = { organization_id: organizationId, name: email, external_id: email };
    const { id: accountId } = await theRow(knex('account').insert(account).returning('id'));
    const user = { organization_id: organizationId, account_id: accountId, email_address: email };
    const { id: userId } = await theRow(knex('app_user').insert(user).returning('id'));
    const ids = { organizationId, accountId, userId };
    if (password !== undefined) {
      await open().passwords.set({ user: ids, network: HERE, session: undefined, password });
      hashed = [];
    }
    return ids;
  }

  /** @returns what became of it, and how many password hashes it took */
  async function attempt(input: Partial<PasswordTry>, { passwords } = open()) {
    const before = hashed.length;
    try {
      const outcome = await passwords.check({ email: 'ann@example.com', password: PASSWORD, network: HERE, ...input });
      return { outcome: outcome.kind, user: outcome.user?.userId, hashes: hashed.length - before };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code: outcome, retryAfterSeconds } = error;
      return { outcome, retryAfterSeconds, hashes: hashed.length - before };
    }
  }

  async function countStatements(work: () => Promise<unknown>): Promise<number> {
    let statements = 0;
    const count = () => void statements++;
    database.knex.on('query', count);
    await work();
    database.knex.removeListener('query', count);
    return statements;
  }

  async function guess(times: number, input: Partial<PasswordTry> = {}): Promise<void> {
    for (let at = 0; at < times; at++)
      expect(await attempt({ password: WRONG, ...input })).to.include({ outcome: 'wrong' });
  }

  describe('by password', () => {
    it('finds the user, whatever the case of the address', async () => {
      const { userId } = await addUser('ann@example.com', PASSWORD);
      expect(await attempt({})).to.include({ outcome: 'right', user: userId });
      expect(await attempt({ email: 'ANN@Example.com' })).to.include({ outcome: 'right', user: userId });
    });

    it('works as much for whoever is not there, has no password or may not call as for a wrong password', async () => {
      await addUser('ann@example.com', PASSWORD);
      await addUser('none@example.com');
      await addUser('inactive@example.com', PASSWORD);
      await database.knex('app_user').where({ email_address: 'inactive@example.com' }).update({ active: false });
      await addUser('gone@example.com', PASSWORD);
      await database.knex('account').where({ external_id: 'gone@example.com' }).update({ deleted_at: new Date() });
      const wrong = { outcome: 'wrong', hashes: 1 };
      expect(await attempt({ password: WRONG })).to.include(wrong);
      const ofWrong = await countStatements(() => attempt({ password: WRONG }));
      for (const email of ['none', 'inactive', 'gone'].map((name) => `${name}@example.com`)) {
        expect(await attempt({ email }), email)
          .to.include(wrong)
          .and.not.include({ user: undefined });
        expect(await countStatements(() => attempt({ email })), email).to.equal(ofWrong);
      }
      const email = 'nobody@example.com';
      expect(await attempt({ email })).to.deep.equal({ ...wrong, user: undefined });
      // One more, where a user has the row of the audit log.
      expect(await countStatements(() => attempt({ email }))).to.equal(ofWrong + 1);
    });

    it('takes an address of several organizations for the oldest with a password, unless one is named', async () => {
      const without = await addUser('ann@example.com');
      const older = await addUser('ann@example.com', PASSWORD);
      const newer = await addUser('ann@example.com', PASSWORD);
      expect(await attempt({})).to.include({ outcome: 'right', user: older.userId });
      const { organizationId } = newer;
      expect(await attempt({ organizationId })).to.include({ outcome: 'right', user: newer.userId });
      const ofNone = await attempt({ organizationId: without.organizationId });
      expect(ofNone).to.include({ outcome: 'wrong', user: without.userId, hashes: 1 });
      expect(await attempt({ organizationId: 99 })).to.include({ outcome: 'wrong', user: undefined, hashes: 1 });
    });

    it('stores the password anew when passwords cost more by now', async () => {
      const user = await addUser('ann@example.com', PASSWORD);
      const readHash = async () =>
        (await theRow(database.knex('user_password').where({ user_id: user.userId }).select('password_hash')))
          .password_hash;
      expect(await readHash()).to.match(/^\$argon2id\$v=19\$m=32,t=1,p=1\$/);
      expect(await attempt({}, open({ ...LITTLE, passes: 2 }))).to.include({ outcome: 'right' });
      expect(await readHash()).to.match(/^\$argon2id\$v=19\$m=32,t=2,p=1\$/);
      expect(await attempt({})).to.include({ outcome: 'right' });
    });
  });

  it('keeps a new password that was set while somebody else with the old one sets another', async () => {
    const user = await addUser('ann@example.com', PASSWORD);
    const session = await open().sessions.begin(user);
    const set = (password: string, { passwords } = open()) =>
      passwords.set({ user, network: HERE, session, currentPassword: PASSWORD, password });
    const NEW = 'quiet lantern over the harbour';
    await clock.advance(SECOND);
    const slow = open(LITTLE, async () => void (await set(NEW)));
    const refused = await set('whatever a thief has chosen', slow).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'FORBIDDEN' });
    expect(await attempt({ password: NEW })).to.include({ outcome: 'right' });
  });

  describe('after ten wrong tries in ten minutes', () => {
    beforeEach(() => addUser('ann@example.com', PASSWORD));

    it('waits until the first is ten minutes old, without a look at the password', async () => {
      await guess(1);
      await clock.advance(MINUTE);
      await guess(9);
      const refused = { outcome: 'RATE_LIMITED', hashes: 0 };
      expect(await attempt({})).to.deep.equal({ ...refused, retryAfterSeconds: 9 * 60 });
      await clock.advance(9 * MINUTE - 1);
      expect(await attempt({})).to.deep.equal({ ...refused, retryAfterSeconds: 1 });
      await clock.advance(1);
      expect(await attempt({ password: WRONG })).to.include({ outcome: 'wrong' });
      expect(await attempt({})).to.deep.equal({ ...refused, retryAfterSeconds: 60 });
    });

    it('waits for an address that is nobody’s as well', async () => {
      await guess(10, { email: 'nobody@example.com' });
      expect(await attempt({ email: 'Nobody@example.com' })).to.include({ outcome: 'RATE_LIMITED', hashes: 0 });
    });

    it('waits on every process, and however many come at the same time', async () => {
      const processes = [open(), open()];
      const tries = Array.from({ length: 30 }, (_, at) => attempt({ password: WRONG }, processes[at % 2]));
      const outcomes = (await Promise.all(tries)).map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === 'wrong')).to.have.length(10);
      expect(hashed).to.have.length(10);
    });

    it('does not wait elsewhere, nor for another address', async () => {
      await guess(10);
      expect(await attempt({ network: '198.51.100.1' })).to.include({ outcome: 'right' });
      expect(await attempt({ email: 'nobody@example.com' })).to.include({ outcome: 'wrong' });
    });

    it('counts anew after a good one', async () => {
      await guess(9);
      expect(await attempt({})).to.include({ outcome: 'right' });
      await guess(10);
      expect(await attempt({})).to.include({ outcome: 'RATE_LIMITED' });
    });

    it('does not count what could not be looked at', async () => {
      const { passwords } = open();
      await guess(9);
      const { knex } = database;
      await knex.raw('alter table user_password rename to elsewhere');
      const error = await passwords
        .check({ email: 'ann@example.com', password: PASSWORD, network: HERE })
        .catch((reason: unknown) => reason);
      await knex.raw('alter table elsewhere rename to user_password');
      expect(error).to.have.property('code', '42P01');
      expect(await attempt({})).to.include({ outcome: 'right' });
    });
  });

  it('waits after fifty wrong tries of a network for any addresses, but not for whom it was good before', async () => {
    await addUser('ann@example.com', PASSWORD);
    await addUser('bob@example.com', PASSWORD);
    expect(await attempt({})).to.include({ outcome: 'right' });
    for (let at = 0; at < 10; at++) await guess(5, { email: `spray-${at}@example.com` });
    expect(await attempt({ email: 'bob@example.com' })).to.include({ outcome: 'RATE_LIMITED' });
    expect(await attempt({})).to.include({ outcome: 'right' });
    expect(await attempt({ email: 'bob@example.com', network: 'elsewhere' })).to.include({ outcome: 'right' });
  });

  it('waits after a hundred wrong tries for an address from anywhere, but not where it was good in 30 days', async () => {
    await addUser('ann@example.com', PASSWORD);
    expect(await attempt({})).to.include({ outcome: 'right' });
    await clock.advance(30 * DAY - 10 * MINUTE);
    for (let at = 0; at < 20; at++) await guess(5, { network: `botnet-${at}` });
    expect(await attempt({ network: 'a new one' })).to.include({ outcome: 'RATE_LIMITED' });
    await guess(9);
    await clock.advance(10 * MINUTE);
    for (let at = 0; at < 20; at++) await guess(5, { network: `again-${at}` });
    expect(await attempt({})).to.include({ outcome: 'RATE_LIMITED' });
  });

  describe('a session', () => {
    it('is found by its token, as the user with all he may do', async () => {
      const user = await addUser('ann@example.com');
      const { accountId: account_id, userId: user_id } = user;
      await database.knex('user_role').insert({ account_id, user_id, role: 'default-user' });
      const { sessions } = open();
      const { token, ...begun } = await sessions.begin(user);
      const found = await sessions.find(token);
      expect(found?.session).to.deep.equal(begun);
      expect(found?.principal).to.deep.include({ ...user, homeAccountId: user.accountId, organizationVerified: true });
      expect([...(found?.principal.privileges ?? [])])
        .to.include('viewElements')
        .and.not.include('manageOrganization');
      expect(found?.expiresAt).to.deep.equal(new Date(clock.now() + 8 * HOUR));
      for (const other of ['', 'x', `${token}x`, randomBytes(32).toString('base64url')])
        expect(await sessions.find(other)).to.equal(undefined);
    });

    it('is over after 30 minutes without use, and after 8 hours', async () => {
      const user = await addUser('ann@example.com');
      const { sessions } = open();
      const { token } = await sessions.begin(user);
      for (let half = 0; half < 15; half++) {
        await clock.advance(30 * MINUTE - 1);
        expect(await sessions.find(token), `${half}`).to.not.equal(undefined);
      }
      await clock.advance(30 * MINUTE - 1);
      expect(await sessions.find(token)).to.not.equal(undefined);
      await clock.advance(MINUTE);
      expect(await sessions.find(token)).to.equal(undefined);

      const { token: idle } = await sessions.begin(user);
      await clock.advance(30 * MINUTE);
      expect(await sessions.find(idle)).to.equal(undefined);
    });

    it('is over for whoever may not call any more', async () => {
      const user = await addUser('ann@example.com');
      const { sessions } = open();
      const { token } = await sessions.begin(user);
      const rows = database.knex('app_user').where({ id: user.userId });
      await rows.clone().update({ active: false });
      expect(await sessions.find(token)).to.equal(undefined);
      await rows.clone().update({ active: true });
      expect(await sessions.find(token)).to.not.equal(undefined);
      await database.knex('account').where({ id: user.accountId }).update({ deleted_at: new Date() });
      expect(await sessions.find(token)).to.equal(undefined);
    });

    it('is not begun for a user who is deactivated while he logs in', async () => {
      const user = await addUser('ann@example.com');
      const { sessions } = open();
      const { knex } = database;
      const deactivation = await knex.transaction();
      await deactivation('app_user').where({ id: user.userId }).update({ active: false });
      const begun = sessions.begin(user).catch((error: unknown) => error);
      await deactivation.commit();
      expect(await begun).to.include({
        code: 'UNAUTHENTICATED',
        message: 'The user was deactivated or deleted while the log-in was under way.',
      });
      expect(await knex('console_session').where({ user_id: user.userId })).to.deep.equal([]);
    });

    it('is not begun with a password that is changed while the user logs in', async () => {
      const user = await addUser('ann@example.com', PASSWORD);
      const { passwords, sessions } = open();
      const tried = await passwords.check({ email: 'ann@example.com', password: PASSWORD, network: HERE });
      if (tried.kind !== 'right') throw new Error('The password is right.');
      const change = { user, network: HERE, session: undefined };
      await clock.advance(SECOND);
      await passwords.set({ ...change, password: 'another correct horse battery' });
      const begun = await sessions.begin(user, tried.user).catch((error: unknown) => error);
      expect(begun).to.include({
        code: 'UNAUTHENTICATED',
        message: 'The password was changed while the log-in was under way.',
      });
      expect(await database.knex('console_session').where({ user_id: user.userId })).to.deep.equal([]);
    });

    it('is begun with a password whose hash was renewed', async () => {
      const user = await addUser('ann@example.com', PASSWORD);
      const { passwords, sessions } = open({ ...LITTLE, passes: LITTLE.passes + 1 });
      const tried = await passwords.check({ email: 'ann@example.com', password: PASSWORD, network: HERE });
      if (tried.kind !== 'right') throw new Error('The password is right.');
      const { token } = await sessions.begin(user, tried.user);
      expect((await sessions.find(token))?.principal.userId).to.equal(user.userId);
    });

    it('is one of 20 of a user: the oldest goes', async () => {
      const user = await addUser('ann@example.com');
      const other = await addUser('bob@example.com');
      const { sessions } = open();
      const { token: ofOther } = await sessions.begin(other);
      const tokens: string[] = [];
      for (let at = 0; at < 20; at++) tokens.push((await sessions.begin(user)).token);
      await Promise.all([1, 2, 3, 4].map(async () => tokens.push((await sessions.begin(user)).token)));
      const found = await Promise.all(tokens.map(async (token) => (await sessions.find(token)) !== undefined));
      expect(found).to.deep.equal(tokens.map((_, at) => at >= 4));
      expect(await sessions.find(ofOther)).to.not.equal(undefined);
    });
  });

  it('leaves nothing behind that tells nothing any more', async () => {
    const { knex } = database;
    const user = await addUser('ann@example.com', PASSWORD);
    const { passwords, sessions } = open();
    await guess(3, { network: 'elsewhere' });
    expect(await attempt({})).to.include({ outcome: 'right' });
    await sessions.begin(user);
    const countAll = async () => {
      const tables = ['log_in_try', 'console_session', 'user_password'] as const;
      return Promise.all(tables.map(async (table) => Number((await theRow(knex(table).count({ count: '*' }))).count)));
    };
    const purge = async () => {
      await passwords.purge(new Date(clock.now()));
      await sessions.purge(new Date(clock.now()));
      return countAll();
    };
    expect(await purge()).to.deep.equal([4, 1, 1]);
    await clock.advance(10 * MINUTE);
    expect(await purge()).to.deep.equal([1, 1, 1]);
    await clock.advance(20 * MINUTE);
    expect(await purge()).to.deep.equal([1, 0, 1]);
    await clock.advance(30 * DAY);
    expect(await purge()).to.deep.equal([0, 0, 1]);
    await knex('app_user').update({ deleted_at: new Date() });
    expect(await purge()).to.deep.equal([0, 0, 0]);
  });
});
