import type { Knex } from 'knex';
import { ConfigError } from '../config/index.ts';
import { ENCRYPTED_COLUMNS, type EncryptedColumn } from './encrypted-columns.ts';
import { createEncryptedRows } from './encrypted-rows.ts';
import type { Keyring } from './keyring.ts';

/** Columns with values under each key in use. An empty id stands for values that are not ciphertexts. */
export type KeyUsage = ReadonlyMap<string, readonly EncryptedColumn[]>;

export function encryptedColumns(): EncryptedColumn[] {
  return Object.keys(ENCRYPTED_COLUMNS).filter(isEncryptedColumn);
}

/** Reads which keys stored values need. It is cheap however many rows there are, so that every start can call it. */
export async function readKeyUsage(knex: Knex): Promise<KeyUsage> {
  const usage = new Map<string, EncryptedColumn[]>();
  for (const column of encryptedColumns()) {
    for (const keyId of await createEncryptedRows(knex, column).findKeyIds()) {
      usage.set(keyId, [...(usage.get(keyId) ?? []), column]);
    }
  }
  return usage;
}

/**
 * Asserts that ENCRYPTION_KEYS has every key that stored values need.
 * @throws ConfigError
 */
export async function assertKeysHeld(ports: { readonly knex: Knex; readonly keyring: Keyring }): Promise<void> {
  const usage = await readKeyUsage(ports.knex);
  // No key can open a value that is no ciphertext. It is reported where it is read, and by a check of the keys.
  const missing = [...usage].filter(([keyId]) => keyId !== '' && !ports.keyring.keyIds.includes(keyId));
  if (missing.length > 0) throw new ConfigError(missing.map(([keyId, columns]) => explain(keyId, columns)));
}

function explain(keyId: string, columns: readonly EncryptedColumn[]): string {
  return (
    `ENCRYPTION_KEYS lacks the key '${keyId}', which values of ${columns.join(', ')} need; ` +
    'add it after the first key, and run `npm run rotate-keys` with both before you remove it'
  );
}

function isEncryptedColumn(name: string): name is EncryptedColumn {
  return Object.hasOwn(ENCRYPTED_COLUMNS, name);
}
