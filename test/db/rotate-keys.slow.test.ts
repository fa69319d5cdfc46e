import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { encryptedColumns } from '../../src/db/key-usage.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { useDatabase } from '../support/database.ts';
import {
  keyIdsInUse,
  randomKey,
  readCiphertext,
  type StoredValue,
  storeValues,
  writeCiphertext,
} from './encrypted-values.ts';

const SCRIPT = new URL('../../scripts/rotate-keys.ts', import.meta.url).pathname;

interface Run {
  readonly code: number;
  readonly output: string;
}

describe('npm run rotate-keys', () => {
  const database = useDatabase();
  const unmigrated = useDatabase({ migrated: false });
  const [old, next] = [randomKey('old'), randomKey('next')];
  let values: readonly StoredValue[];

  beforeEach(async () => {
    values = await storeValues(database.knex, createKeyring(old), 3);
  });

  const run = (keys: string, ...options: string[]) =>
    runScript({ DATABASE_URL: database.url, ENCRYPTION_KEYS: keys }, options);

  it('rotates with progress by column, says which keys are in use, and succeeds', async () => {
    const { code, output } = await run(`${next},${old}`);
    expect(output.split('\n')).to.deep.equal([
      'platform_key.ciphertext: 2 done, 0 left',
      ...encryptedColumns()
        .slice(1)
        .map((column) => `${column}: 3 done, 0 left`),
      'Keys in use:',
      `  next: ${encryptedColumns().join(', ')}`,
      'The first key alone decrypts every value.',
      '',
    ]);
    expect(code).to.equal(0);
    expect(await keyIdsInUse(database.knex)).to.deep.equal(new Set(['next']));
  });

  it('changes nothing in a check, and fails while an older key is in use', async () => {
    const { code, output } = await run(`${next},${old}`, '--check');
    expect(output).to.contain(`  old: ${encryptedColumns().join(', ')}`);
    expect(output).to.contain('The first key alone does not decrypt every value.');
    expect(code).to.equal(1);
    expect(await keyIdsInUse(database.knex)).to.deep.equal(new Set(['old']));
    expect((await run(old, '--check')).code).to.equal(0);
  });

  it('names what does not open by table and row, shows none of it, and fails', async () => {
    const value = values.find(({ column }) => column === 'idempotency_record.response');
    if (value === undefined) throw new Error('Nothing is stored');
    const ciphertext = `${await readCiphertext(database.knex, value)}AA`;
    await writeCiphertext(database.knex, value, ciphertext);
    const { code, output } = await run(`${next},${old}`);
    expect(code).to.equal(1);
    const hash = Buffer.isBuffer(value.key[2]) ? value.key[2].toString('hex') : '';
    expect(output).to.contain(
      `  idempotency_record.response of account_id 1, user_id 1, key_hash \\x${hash} cannot be decrypted with the key 'old'`,
    );
    for (const hidden of [ciphertext, ciphertext.slice(10, 40), value.plain, old.slice(4), next.slice(5)]) {
      expect(output).to.not.contain(hidden);
    }
  });

  it('needs the keys, tables and options it knows', async () => {
    expect((await run('')).output).to.contain('ENCRYPTION_KEYS is required with DATABASE_URL');
    const { code, output } = await runScript({ DATABASE_URL: unmigrated.url, ENCRYPTION_KEYS: old }, []);
    expect(output).to.contain(
      'This database has no tables of this version. Start the service once, then run this command again.',
    );
    expect(code).to.equal(1);
    expect((await run(old, '--chekc')).output).to.contain("Unknown option '--chekc'");
  });
});

function runScript(environment: Readonly<Record<string, string>>, options: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, ...environment };
    const child = execFile(process.execPath, [SCRIPT, ...options], { env, timeout: 60_000 }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });
}
