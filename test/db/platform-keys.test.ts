import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { ConfigError } from '../../src/config/index.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { openPlatformKeys } from '../../src/db/platform-keys.ts';
import { silentLog, theRow, useDatabase } from '../support/database.ts';

const randomKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

describe('openPlatformKeys', () => {
  const database = useDatabase();
  const key = randomKey('k1');

  beforeEach(() => database.knex('platform_key').delete());

  const open = (keys: string) => openPlatformKeys({ knex: database.knex, keyring: createKeyring(keys) });

  async function problemOf(keys: string): Promise<unknown> {
    const error = await open(keys).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ConfigError ? error.problems : error;
  }

  async function waitingForLocks(): Promise<number> {
    const { rows } = await database.knex.raw('select count(*) as waiting from pg_locks where not granted');
    return rows[0].waiting;
  }

  it('keeps the hash of a secret over starts', async () => {
    const hash = (await open(key)).lookupHash('a secret');
    expect(hash).to.have.length(32);
    expect((await open(key)).lookupHash('a secret')).to.deep.equal(hash);
    expect((await open(key)).lookupHash('another secret')).to.not.deep.equal(hash);
  });

  it('hashes with a key of this database alone', async () => {
    const hash = (await open(key)).lookupHash('a secret');
    await database.knex('platform_key').delete();
    expect((await open(key)).lookupHash('a secret')).to.not.deep.equal(hash);
  });

  it('makes processes that start together agree', async () => {
    const pools = Array.from({ length: 5 }, () => openDatabase({ url: database.url, poolSize: 1, log: silentLog }));
    const gate = await database.knex.transaction();
    // Reads pass and inserts wait: all find no key, and all go on to make one.
    await gate.raw('lock table platform_key in exclusive mode');
    const opening = pools.map(({ knex }) => openPlatformKeys({ knex, keyring: createKeyring(key) }));
    while ((await waitingForLocks()) < pools.length);
    await gate.commit();
    const hashes = (await Promise.all(opening)).map(({ lookupHash }) => lookupHash('a secret').toString('hex'));
    expect(new Set(hashes)).to.have.property('size', 1);
    await Promise.all(pools.map((pool) => pool.close()));
  });

  it('keeps the keys out of the database in clear', async () => {
    await open(key);
    const rows = await database.knex('platform_key').orderBy('name');
    expect(rows.map(({ name }) => name)).to.deep.equal(['digest', 'lookup', 'page-token']);
    for (const { ciphertext } of rows) expect(ciphertext).to.match(/^v1\.k1\./);
  });

  it('does not start with keys of which none is the one the database was encrypted with', async () => {
    await open(key);
    expect(await problemOf(randomKey('k2'))).to.deep.equal([
      "ENCRYPTION_KEYS lacks the key 'k1', with which this database is encrypted",
    ]);
  });

  it('does not start with another key under the same name', async () => {
    await open(key);
    expect(await problemOf(randomKey('k1'))).to.deep.equal([
      "ENCRYPTION_KEYS has another key under the id 'k1' than the one with which this database is encrypted",
    ]);
  });

  it('does not start when a key was put in the place of another', async () => {
    await open(key);
    const { ciphertext } = await theRow(database.knex('platform_key').where({ name: 'lookup' }));
    await database.knex('platform_key').where({ name: 'page-token' }).update({ ciphertext });
    expect(await problemOf(key))
      .to.be.an('array')
      .with.length(1);
  });

  it('lets go of the old key once a new one encrypts, and keeps the hashes', async () => {
    const next = randomKey('k2');
    const hash = (await open(key)).lookupHash('a secret');
    await open(`${next},${key}`);
    expect((await open(next)).lookupHash('a secret')).to.deep.equal(hash);
  });

  it('opens what it sealed, for the same context only', async () => {
    const { seal, open: unseal } = await open(key);
    const sealed = seal('{"page":2}', 'page:1:42');
    expect(sealed).to.match(/^[A-Za-z0-9_-]+$/);
    expect(unseal(sealed, 'page:1:42')).to.equal('{"page":2}');
    expect(unseal(sealed, 'page:1:43')).to.equal(undefined);
    expect((await open(key)).open(sealed, 'page:1:42')).to.equal('{"page":2}');
  });

  it('does not open what it has not sealed', async () => {
    const { seal, open: unseal } = await open(key);
    const sealed = seal('a', 'page');
    for (const forged of ['', 'x', '%', `A${sealed}`, sealed.slice(0, -1), sealed.slice(4), 'A'.repeat(60)]) {
      expect(unseal(forged, 'page')).to.equal(undefined);
    }
  });

  it('opens one spelling only of what it sealed', async () => {
    const { seal, open: unseal } = await open(key);
    // Of each length that the encoding has.
    for (const plain of ['a', 'ab', 'abc']) {
      const sealed = seal(plain, 'page');
      const added = [...'A=!. \n'].map((character) => sealed + character);
      const within = [`${sealed.slice(0, 9)}.${sealed.slice(9)}`, sealed.replaceAll('-', '+').replaceAll('_', '/')];
      const ended = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map(
        (last) => sealed.slice(0, -1) + last,
      );
      for (const spelling of [...added, ...within, ...ended].filter((one) => one !== sealed))
        expect(unseal(spelling, 'page'), spelling).to.equal(undefined);
      expect(unseal(sealed, 'page')).to.equal(plain);
    }
  });
});
