import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { startApp } from '../../src/app/index.ts';
import { ConfigError, readConfig } from '../../src/config/index.ts';
import { encryptionContext } from '../../src/db/encrypted-columns.ts';
import { assertKeysHeld, encryptedColumns, readKeyUsage } from '../../src/db/key-usage.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { createTemporaryFolder, silentLog, useDatabase } from '../support/database.ts';
import { randomKey, type StoredValue, storeValues, writeCiphertext } from './encrypted-values.ts';

describe('the keys a database needs', () => {
  const database = useDatabase();
  const [first, second] = [randomKey('first'), randomKey('first2')];
  let values: readonly StoredValue[];

  beforeEach(async () => {
    values = await storeValues(database.knex, createKeyring(first), 3);
  });

  const problemsOf = async (keys: string) => {
    const error = await assertKeysHeld({ knex: database.knex, keyring: createKeyring(keys) }).catch((reason) => reason);
    return error instanceof ConfigError ? error.problems : error;
  };

  it('are told with the columns that need them', async () => {
    for (const value of values.filter(({ column }) => column === 'instance.token').slice(1)) {
      const other = createKeyring(second).encrypt('x', encryptionContext(value.column, ...value.key));
      await writeCiphertext(database.knex, value, other);
    }
    const usage = await readKeyUsage(database.knex);
    expect(usage.get('first')).to.deep.equal(encryptedColumns());
    expect(usage.get('first2')).to.deep.equal(['instance.token']);
  });

  it('must be in ENCRYPTION_KEYS', async () => {
    expect(await problemsOf(first)).to.equal(undefined);
    expect(await problemsOf(`${second},${first}`)).to.equal(undefined);
    expect(await problemsOf(second)).to.deep.equal([
      `ENCRYPTION_KEYS lacks the key 'first', which values of ${encryptedColumns().join(', ')} need; ` +
        'add it after the first key, and run `npm run rotate-keys` with both before you remove it',
    ]);
  });

  for (const column of encryptedColumns()) {
    it(`are missed when a single value of ${column} needs one`, async () => {
      const [value] = values.filter((candidate) => candidate.column === column);
      if (value === undefined) throw new Error(`Nothing is stored in ${column}`);
      await writeCiphertext(database.knex, value, createKeyring(randomKey('lost')).encrypt('x', 'y'));
      expect(await problemsOf(first)).to.deep.equal([
        `ENCRYPTION_KEYS lacks the key 'lost', which values of ${column} need; ` +
          'add it after the first key, and run `npm run rotate-keys` with both before you remove it',
      ]);
    });
  }

  it('keep the service from starting when one is missing, though the keys of the platform open', async () => {
    for (const value of values.filter(({ column }) => column === 'platform_key.ciphertext')) {
      const renewed = createKeyring(second).encrypt(value.plain, encryptionContext(value.column, ...value.key));
      await writeCiphertext(database.knex, value, renewed);
    }
    const dataDir = await createTemporaryFolder();
    const environment = { DATABASE_URL: database.url, DATA_DIR: dataDir, ENCRYPTION_KEYS: second, PORT: '0' };
    const config = readConfig(environment);
    const starting = startApp({ config, database: { url: database.url }, log: silentLog });
    const error = await starting.then(
      (app) => app.stop(),
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ConfigError);
    expect(String(error)).to.contain("lacks the key 'first', which values of instance.credentials, instance.token,");
    await rm(dataDir, { recursive: true });
  });

  it('are found by index, however many rows there are', async () => {
    const { rows } = await database.knex.raw<{ rows: { indexdef: string }[] }>(
      "select indexdef from pg_indexes where indexdef like '%split_part(%'",
    );
    const tables = rows.map(({ indexdef }) => /split_part\((\w+)/.exec(indexdef)?.[1]).sort();
    expect(tables).to.deep.equal([
      ...['configuration', 'credentials', 'request', 'response', 'secret', 'secret', 'secret', 'secrets', 'secrets'],
      ...['token', 'tokens'],
    ]);
  });

  it('are none of a value that is no ciphertext: it does not keep the service from starting', async () => {
    const [value] = values;
    if (value === undefined) throw new Error('Nothing is stored');
    await writeCiphertext(database.knex, value, 'not a ciphertext');
    expect(await problemsOf(first)).to.equal(undefined);
  });
});
