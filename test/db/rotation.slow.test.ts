import { expect } from 'chai';
import { decryptBound, encryptBound } from '../../src/db/bound-values.ts';
import { openDatabase } from '../../src/db/database.ts';
import { ENCRYPTED_COLUMNS, encryptionContext } from '../../src/db/encrypted-columns.ts';
import { createEncryptedRows } from '../../src/db/encrypted-rows.ts';
import { encryptedColumns } from '../../src/db/key-usage.ts';
import { createKeyring, type Keyring } from '../../src/db/keyring.ts';
import { checkKeys, type RotationProgress, rotateKeys } from '../../src/db/rotation.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import {
  keyIdsInUse,
  placeOf,
  randomKey,
  readCiphertext,
  readCiphertexts,
  type StoredValue,
  storeValues,
  writeCiphertext,
} from './encrypted-values.ts';

const ROWS = 12;
const ignoreProgress = () => undefined;

describe('the table of encrypted columns', () => {
  const database = useDatabase();

  it('has every column the database calls a ciphertext', async () => {
    const { rows } = await database.knex.raw<{ rows: { column: string }[] }>(
      `select c.relname || '.' || a.attname as column
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relkind in ('r', 'p') and col_description(a.attrelid, a.attnum) ilike '%ciphertext%'`,
    );
    expect(rows.map(({ column }) => column)).to.include.members(['instance.credentials', 'oauth_token.tokens']);
    for (const { column } of rows) expect(ENCRYPTED_COLUMNS).to.have.property(column);
  });

  it('keeps the contexts with which ciphertexts were released', () => {
    const hash = Buffer.alloc(32, 0xff);
    expect(encryptionContext('platform_key.ciphertext', 'lookup')).to.equal('platform_key:lookup');
    expect(encryptionContext('instance.credentials', 1, 42)).to.equal('instance:1:42:credentials');
    expect(encryptionContext('instance.token', 1, 42)).to.equal('instance:1:42:token');
    expect(encryptionContext('idempotency_record.response', 1, 2, hash)).to.equal(`idempotency:1:2:${'_'.repeat(42)}8`);
    expect(encryptionContext('oauth_token.tokens', 1, 42)).to.equal('oauth_token.tokens:1:42');
  });
});

describe('a rotation of the keys', () => {
  const database = useDatabase();
  const [old, next] = [randomKey('old'), randomKey('next')];
  const both = createKeyring(`${next},${old}`);
  const onlyNext = createKeyring(next);
  let values: readonly StoredValue[];

  beforeEach(async () => {
    values = await storeValues(database.knex, createKeyring(old), ROWS);
  });

  const rotate = (keyring: Keyring = both, onProgress: (progress: RotationProgress) => void = ignoreProgress) =>
    rotateKeys({ knex: database.knex, keyring, onProgress });

  const read = async (value: StoredValue, keyring: Keyring) =>
    decryptBound(keyring, await readCiphertext(database.knex, value), placeOf(value)).plain;

  const valueIn = (column: StoredValue['column']) => {
    const value = values.find((candidate) => candidate.column === column);
    if (value === undefined) throw new Error(`Nothing is stored in ${column}`);
    return value;
  };

  it('encrypts every column with the first key, and loses nothing', async () => {
    expect(new Set(values.map(({ column }) => column))).to.have.property('size', encryptedColumns().length);
    const report = await rotate();
    expect(report.complete).to.equal(true);
    expect([...report.usage]).to.deep.equal([['next', encryptedColumns()]]);
    for (const value of values) expect(await read(value, onlyNext)).to.equal(value.plain);
  });

  it('binds what an earlier release stored to what stands beside it', async () => {
    const credentials = valueIn('instance.credentials');
    const place = placeOf(credentials);
    const { column, key, plain } = credentials;
    const unbound = createKeyring(old).encrypt(plain, encryptionContext(column, ...key));
    await writeCiphertext(database.knex, credentials, unbound);
    expect(decryptBound(both, unbound, place)).to.deep.equal({ plain, isBound: false });
    expect((await rotate()).complete).to.equal(true);
    const bound = await readCiphertext(database.knex, credentials);
    expect(decryptBound(onlyNext, bound, place)).to.deep.equal({ plain, isBound: true });
    expect(() => onlyNext.decrypt(bound, encryptionContext(column, ...key))).to.throw(/does not decrypt/);
  });

  it('names a value whose row was changed beside it, and leaves it closed', async () => {
    const credentials = valueIn('instance.credentials');
    const { column, key } = credentials;
    const before = await readCiphertext(database.knex, credentials);
    await database
      .knex('instance')
      .where({ account_id: 1, id: Number(key[1]) })
      .update({ configuration: { 'base.url': 'https://evil.example' } });
    const report = await rotate();
    expect(report.unreadable).to.deep.equal([{ column, key, fault: 'REFUSED', keyId: 'old' }]);
    expect(await readCiphertext(database.knex, credentials)).to.equal(before);
  });

  it('never binds a value to what changed after it was read', async () => {
    const credentials = valueIn('instance.credentials');
    const place = placeOf(credentials);
    const rows = createEncryptedRows(database.knex, credentials.column);
    const [row] = await rows.read('old', 1);
    if (row === undefined) throw new Error('No row was read');
    expect(row.bound).to.deep.equal(place.bound);
    const renewal = { ...row, renewed: encryptBound(both, 'stale', place) };
    await database
      .knex('instance')
      .where({ account_id: 1, id: Number(row.key[1]) })
      .update({ configuration: {} });
    expect(await rows.replace([renewal])).to.equal(0);
  });

  it('leaves what is encrypted with the first key as it is', async () => {
    await rotate();
    const before = await readCiphertexts(database.knex);
    await rotate();
    expect(await readCiphertexts(database.knex)).to.deep.equal(before);
  });

  it('goes over more rows than one batch', async () => {
    const value = valueIn('oauth_proxy.api_secret');
    await database.knex.raw(
      `insert into subscription (account_id, id, url, secrets)
      overriding system value
      select 1, 1000 + n, 'https://example.com/more/' || n, 'v1.old.x' from generate_series(1, 1200) as n`,
    );
    const keyring: Keyring = {
      ...both,
      decrypt: (text, context) => (text === 'v1.old.x' ? 'x' : both.decrypt(text, context)),
    };
    const seen: RotationProgress[] = [];
    await rotate(keyring, (progress) => seen.push(progress));
    expect(await keyIdsInUse(database.knex)).to.deep.equal(new Set(['next']));
    expect(await read(value, onlyNext)).to.equal(value.plain);
    const ofColumn = seen.filter(({ column }) => column === 'subscription.secrets');
    expect(ofColumn.map(({ done, left }) => [done, left])).to.deep.equal([
      [500, 712],
      [1000, 212],
      [1212, 0],
    ]);
  });

  it('never overwrites a value that changed after it was read', async () => {
    const value = valueIn('oauth_token.tokens');
    const context = encryptionContext(value.column, ...value.key);
    const refreshed = createKeyring(old).encrypt('refreshed meanwhile', context);
    const rows = createEncryptedRows(database.knex, value.column);
    const [row] = await rows.read('old', 1);
    if (row === undefined) throw new Error('No row was read');
    await writeCiphertext(database.knex, value, refreshed);
    expect(await rows.replace([{ ...row, renewed: both.encrypt('stale', context) }])).to.equal(0);
    expect(await read(value, both)).to.equal('refreshed meanwhile');
  });

  it('passes by a row that somebody is changing, and takes what came of it in the next look', async () => {
    const value = valueIn('oauth_token.tokens');
    const context = encryptionContext(value.column, ...value.key);
    const refresh = await database.knex.transaction();
    await refresh('oauth_token')
      .where({ account_id: 1, instance_id: Number(value.key[1]) })
      .update({ tokens: createKeyring(old).encrypt('refreshed', context), generation: 2 });
    let left = 0;
    await rotate(both, (progress) => {
      // The column was looked through without waiting; only now the refresh commits.
      if (progress.column === 'oauth_token.tokens' && left === 0) {
        left = progress.left;
        void refresh.commit();
      }
    });
    expect(left).to.equal(1);
    await rotate();
    expect(await read(value, onlyNext)).to.equal('refreshed');
    expect(await database.knex('oauth_token').where({ generation: 2 })).to.have.length(1);
  });

  it('goes on where another was cut off', async () => {
    const stop = new AbortController();
    const onProgress = ({ column }: RotationProgress) => {
      if (column === 'instance.token') stop.abort(new Error('cut off'));
    };
    const cut = rotateKeys({ knex: database.knex, keyring: both, onProgress, signal: stop.signal });
    expect(await cut.catch((error: Error) => error.message)).to.equal('cut off');
    expect(await keyIdsInUse(database.knex)).to.deep.equal(new Set(['next', 'old']));
    for (const value of values) expect(await read(value, both)).to.equal(value.plain);
    expect((await rotate()).complete).to.equal(true);
  });

  it('lets every read succeed with both keys while two rotations run', async () => {
    const pools = [1, 2].map(() => openDatabase({ url: database.url, poolSize: 1, log: silentLog }));
    const rotations = pools.map(({ knex }) => rotateKeys({ knex, keyring: both, onProgress: ignoreProgress }));
    let running = true;
    const ended = Promise.all(rotations).finally(() => {
      running = false;
    });
    let reads = 0;
    for (; running || reads < values.length; reads++) {
      const value = values[reads % values.length];
      if (value !== undefined) expect(await read(value, both)).to.equal(value.plain);
    }
    for (const report of await ended) expect(report.complete).to.equal(true);
    await Promise.all(pools.map((pool) => pool.close()));
  });

  it('names what it cannot open by its place, rotates the rest, and is not complete', async () => {
    const damaged = valueIn('instance.credentials');
    const foreign = valueIn('idempotency_record.response');
    const text = valueIn('subscription.secrets');
    await writeCiphertext(database.knex, damaged, `${await readCiphertext(database.knex, damaged)}AA`);
    await writeCiphertext(database.knex, foreign, createKeyring(randomKey('lost')).encrypt('x', 'anywhere'));
    await writeCiphertext(database.knex, text, 'not a ciphertext');
    const report = await rotate();
    expect(report.complete).to.equal(false);
    expect(report.unreadable).to.deep.equal([
      { column: damaged.column, key: damaged.key, fault: 'REFUSED', keyId: 'old' },
      { column: foreign.column, key: foreign.key, fault: 'UNKNOWN_KEY', keyId: 'lost' },
      { column: text.column, key: text.key, fault: 'MALFORMED', keyId: undefined },
    ]);
    const others = values.filter((value) => ![damaged, foreign, text].includes(value));
    for (const value of others) expect(await read(value, onlyNext)).to.equal(value.plain);
  });

  it('only looks when it is a check, at what has the first key too', async () => {
    await rotate();
    const damaged = valueIn('instance.token');
    await writeCiphertext(database.knex, damaged, `${await readCiphertext(database.knex, damaged)}AA`);
    const before = await readCiphertexts(database.knex);
    const report = await checkKeys({ knex: database.knex, keyring: both, onProgress: ignoreProgress });
    expect(await readCiphertexts(database.knex)).to.deep.equal(before);
    expect(report.unreadable).to.deep.equal([
      { column: damaged.column, key: damaged.key, fault: 'REFUSED', keyId: 'next' },
    ]);
    expect(report.complete).to.equal(false);
  });

  it('is not complete in a check while an older key is in use', async () => {
    const check = () => checkKeys({ knex: database.knex, keyring: both, onProgress: ignoreProgress });
    expect(await check()).to.deep.include({ complete: false, unreadable: [] });
    await rotate();
    expect(await check()).to.deep.include({ complete: true, unreadable: [] });
  });
});
