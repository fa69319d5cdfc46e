import { createHash } from 'node:crypto';
import {
  ENCRYPTED_COLUMNS,
  type EncryptedColumn,
  type EncryptedColumnSpec,
  encryptionContext,
  type KeyValue,
} from './encrypted-columns.ts';
import { DecryptionError, type Keyring } from './keyring.ts';

/** Position of a ciphertext: its column, the key of its row, and the values that it is bound to. */
export interface BoundCell {
  readonly column: EncryptedColumn;
  readonly key: readonly KeyValue[];
  /** The values of `EncryptedColumnSpec.bound`, in its order; empty where there are none. */
  readonly bound: readonly unknown[];
}

interface OpenedValue {
  readonly plain: string;
  /** Whether the ciphertext is bound to its values. A value of an earlier release is bound only to its row, until the next write. */
  readonly isBound: boolean;
}

/** Encrypts a value for its row, and binds it to further columns of the row. */
export function encryptBound(keyring: Keyring, plain: string, cell: BoundCell): string {
  return keyring.encrypt(plain, contextOf(cell));
}

/**
 * Decrypts a value of `encryptBound`, or one from before it was bound to columns. The context is authenticated too, so a bound value is
 * never accepted as an unbound one.
 * @throws DecryptionError `REFUSED`, also when a bound column was changed alone
 */
export function decryptBound(keyring: Keyring, ciphertext: string, cell: BoundCell): OpenedValue {
  try {
    return { plain: keyring.decrypt(ciphertext, contextOf(cell)), isBound: true };
  } catch (error) {
    if (!isRefused(error) || boundColumnsOf(cell.column).length === 0) throw error;
    const plain = openUnbound(keyring, ciphertext, cell);
    if (plain === undefined) throw error;
    return { plain, isBound: false };
  }
}

function isRefused(error: unknown): error is DecryptionError {
  return error instanceof DecryptionError && error.code === 'REFUSED';
}

export function boundColumnsOf(column: EncryptedColumn): readonly string[] {
  const { bound = [] }: EncryptedColumnSpec = ENCRYPTED_COLUMNS[column];
  return bound;
}

function openUnbound(keyring: Keyring, ciphertext: string, { column, key }: BoundCell): string | undefined {
  try {
    return keyring.decrypt(ciphertext, encryptionContext(column, ...key));
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

/** The bound values are part of the context as a hash, because contexts appear in messages. */
function contextOf({ column, key, bound }: BoundCell): string {
  const row = encryptionContext(column, ...key);
  if (boundColumnsOf(column).length === 0) return row;
  return `${row}:${createHash('sha256').update(canonicalJson(bound)).digest('base64url')}`;
}

/** Returns the same text for equal values, in whatever order PostgreSQL stores the members of an object. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (isObject(member) ? sortMembers(member) : member));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sortMembers(object: object): object {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)));
}
