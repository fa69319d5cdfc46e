import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, type EncryptionKey, parseEncryptionKeys } from '../config/index.ts';
import { ensureDataDir } from './data-dir.ts';
import { createFileOnce } from './files.ts';

export interface Keyring {
  /**
   * Encrypts a text under the first key. `context` names the place of the ciphertext: tenant, row and column, e.g.
   * `instance:1:42:credentials`. It does not decrypt elsewhere.
   * @returns `v1.<key id>.<base64url>`
   */
  readonly encrypt: (plain: string, context: string) => string;
  /**
   * Decrypts a ciphertext.
   * @throws DecryptionError
   */
  readonly decrypt: (ciphertext: string, context: string) => string;
  /** Id of the key that `encrypt` uses. */
  readonly currentKeyId: string;
  /** Ids of all keys that `decrypt` has, the current one first. */
  readonly keyIds: readonly string[];
}

export type DecryptionFault = 'MALFORMED' | 'UNKNOWN_KEY' | 'REFUSED';

/** The error of a ciphertext that cannot be decrypted. It contains neither the plain text nor the ciphertext. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
  readonly code: DecryptionFault;
  /** Id of the key; absent when the ciphertext is malformed. */
  readonly keyId: string | undefined;

  constructor(code: DecryptionFault, message: string, options: ErrorOptions & { readonly keyId?: string } = {}) {
    super(message, options);
    this.code = code;
    this.keyId = options.keyId;
  }
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHERTEXT = /^v1\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]+)$/;
const DEVELOPMENT_KEYS_FILE = 'encryption-keys';

/**
 * Creates a keyring.
 * @param keys `id:base64 of 32 bytes,…`: the first one encrypts, all decrypt
 * @throws ConfigError
 */
export function createKeyring(keys: string): Keyring {
  const parsed = parseEncryptionKeys(keys);
  if (parsed === undefined) throw new ConfigError(['ENCRYPTION_KEYS does not have the form id:base64 of 32 bytes,…']);
  const [current] = parsed;
  const keysById = new Map(parsed.map((key) => [key.id, key]));
  return {
    currentKeyId: current.id,
    keyIds: parsed.map(({ id }) => id),
    encrypt: (plain, context) =>
      `v1.${current.id}.${sealBytes(current.key, plain, contextOf(current, context)).toString('base64url')}`,
    decrypt: (ciphertext, context) => decryptWith(keysById, ciphertext, context),
  };
}

/** Returns the keys for the embedded database. They are created once and stored in DATA_DIR, readable only by the owner. */
export async function createDevelopmentKeys(dataDir: string): Promise<string> {
  await ensureDataDir(dataDir);
  const file = join(dataDir, DEVELOPMENT_KEYS_FILE);
  await createFileOnce(file, `development:${randomBytes(KEY_BYTES).toString('base64')}\n`);
  return (await readFile(file, 'utf8')).trim();
}

/**
 * @internal Encrypts a text by AES-256-GCM with a random 96-bit iv. The result has iv, tag and ciphertext. The key is an object because
 * Node.js needs four times as long to set up a cipher from bytes, and page tokens are sealed on the hot path.
 */
export function sealBytes(key: KeyObject, plain: string, context: string): Buffer {
  const iv = takeIv();
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(context));
  const body = cipher.update(plain, 'utf8');
  const end = cipher.final();
  return Buffer.concat([iv, cipher.getAuthTag(), body, end]);
}

const IVS_AT_A_TIME = 256;
let ivs = Buffer.alloc(0);

/** The IVs are requested many at a time, because a request for each takes longer than the encryption. */
function takeIv(): Buffer {
  if (ivs.length === 0) ivs = randomBytes(IVS_AT_A_TIME * IV_BYTES);
  const iv = ivs.subarray(0, IV_BYTES);
  ivs = ivs.subarray(IV_BYTES);
  return iv;
}

/** @internal Decrypts what `sealBytes` returned. It throws if the key, the context or a single bit differs. */
export function openBytes(key: KeyObject, sealed: Buffer, context: string): string {
  if (sealed.length < IV_BYTES + TAG_BYTES) throw new RangeError('A sealed value is too short');
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}

function decryptWith(keysById: ReadonlyMap<string, EncryptionKey>, ciphertext: string, context: string): string {
  const [, keyId, body] = CIPHERTEXT.exec(ciphertext) ?? [];
  if (keyId === undefined || body === undefined) {
    throw new DecryptionError(
      'MALFORMED',
      `The ciphertext of ${context} does not have the form v1.<key id>.<base64url>`,
    );
  }
  const key = keysById.get(keyId);
  if (key === undefined) {
    throw new DecryptionError(
      'UNKNOWN_KEY',
      `The ciphertext of ${context} needs the key '${keyId}', which is not in ENCRYPTION_KEYS`,
      { keyId },
    );
  }
  try {
    return openBytes(key.key, Buffer.from(body, 'base64url'), contextOf(key, context));
  } catch (cause) {
    throw new DecryptionError(
      'REFUSED',
      `The key '${keyId}' does not decrypt the ciphertext of ${context}: the ciphertext is damaged, from another row, or from another key of that name`,
      { keyId, cause },
    );
  }
}

/** The header is authenticated too, so that a ciphertext cannot be passed off as one of another version or key. */
function contextOf(key: EncryptionKey, context: string): string {
  return `v1.${key.id}.${context}`;
}
