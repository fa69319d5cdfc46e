import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { ConfigError } from '../config/index.ts';
import { encryptionContext } from './encrypted-columns.ts';
import { DecryptionError, type Keyring, openBytes, sealBytes } from './keyring.ts';

/** Keys of this database, whatever ENCRYPTION_KEYS holds at the time. */
export interface PlatformKeys {
  /** Returns an HMAC-SHA256 that finds a secret that is not stored. It does not change when encryption keys rotate. */
  readonly lookupHash: (secret: string) => Buffer;
  /**
   * Returns an HMAC-SHA256. It shows whether a text is the same, without revealing one that can be guessed, or serves as a secret that need
   * not be stored. `context` is its purpose; digests of different contexts are unrelated.
   */
  readonly digest: (text: string, context: string) => Buffer;
  /**
   * Encrypts and authenticates a text, so that a caller can send it back but neither read nor change it.
   * @returns base64url
   */
  readonly seal: (plain: string, context: string) => string;
  /** Returns undefined for any text that `seal` did not return for the same context. */
  readonly open: (sealed: string, context: string) => string | undefined;
}

type KeyName = 'lookup' | 'page-token' | 'digest';

/**
 * Reads the keys, and creates them at the very first start.
 * @throws ConfigError when ENCRYPTION_KEYS cannot decrypt the keys of this database
 */
export async function openPlatformKeys({
  knex,
  keyring,
}: {
  readonly knex: Knex;
  readonly keyring: Keyring;
}): Promise<PlatformKeys> {
  const lookupKey = await openKey(knex, keyring, 'lookup');
  const pageTokenKey = await openKey(knex, keyring, 'page-token');
  const digestKey = await openKey(knex, keyring, 'digest');
  return {
    lookupHash: (secret) => createHmac('sha256', lookupKey).update(secret).digest(),
    digest: (text, context) => createHmac('sha256', digestKey).update(`${context}\0`).update(text).digest(),
    seal: (plain, context) => sealBytes(pageTokenKey, plain, context).toString('base64url'),
    open: (sealed, context) => openSealed(pageTokenKey, sealed, context),
  };
}

/** Opens a token. Undefined for a forged or foreign token, which is an ordinary input: the caller responds with a 400. */
function openSealed(key: KeyObject, sealed: string, context: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  // The decoder skips what it does not know, and bits that mean nothing: other texts may decode to the same bytes.
  if (bytes.toString('base64url') !== sealed) return undefined;
  try {
    return openBytes(key, bytes, context);
  } catch {
    return undefined;
  }
}

async function openKey(knex: Knex, keyring: Keyring, name: KeyName): Promise<KeyObject> {
  const stored = (await findCiphertext(knex, name)) ?? (await createKey(knex, keyring, name));
  const plain = unwrap(keyring, stored, name);
  if (!stored.startsWith(`v1.${keyring.currentKeyId}.`)) await rewrap({ knex, keyring, name, stored, plain });
  return createSecretKey(Buffer.from(plain, 'base64'));
}

async function findCiphertext(knex: Knex, name: KeyName): Promise<string | undefined> {
  const row = await knex('platform_key').where({ name }).first('ciphertext');
  return row?.ciphertext;
}

/** If several processes start together, one inserts the key, and all read it. */
async function createKey(knex: Knex, keyring: Keyring, name: KeyName): Promise<string> {
  const ciphertext = keyring.encrypt(randomBytes(32).toString('base64'), contextOf(name));
  await knex('platform_key').insert({ name, ciphertext }).onConflict('name').ignore();
  const stored = await findCiphertext(knex, name);
  if (stored === undefined) throw new Error(`The platform key ${name} was deleted while it was made`);
  return stored;
}

/** Lets go of the old key once a new one encrypts. Guarded by the old text: another process may have done it. */
async function rewrap({
  knex,
  keyring,
  name,
  stored,
  plain,
}: {
  readonly knex: Knex;
  readonly keyring: Keyring;
  readonly name: KeyName;
  readonly stored: string;
  readonly plain: string;
}): Promise<void> {
  const ciphertext = keyring.encrypt(plain, contextOf(name));
  await knex('platform_key').where({ name, ciphertext: stored }).update({ ciphertext });
}

function unwrap(keyring: Keyring, ciphertext: string, name: KeyName): string {
  try {
    return keyring.decrypt(ciphertext, contextOf(name));
  } catch (error) {
    if (error instanceof DecryptionError) throw new ConfigError([explain(error)], { cause: error });
    throw error;
  }
}

function explain({ code, keyId }: DecryptionError): string {
  switch (code) {
    case 'UNKNOWN_KEY':
      return `ENCRYPTION_KEYS lacks the key '${keyId}', with which this database is encrypted`;
    case 'REFUSED':
      return `ENCRYPTION_KEYS has another key under the id '${keyId}' than the one with which this database is encrypted`;
    case 'MALFORMED':
      return 'The table platform_key of this database is damaged';
  }
}

function contextOf(name: KeyName): string {
  return encryptionContext('platform_key.ciphertext', name);
}
