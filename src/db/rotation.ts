import type { Knex } from 'knex';
import { decryptBound, encryptBound } from './bound-values.ts';
import type { EncryptedColumn } from './encrypted-columns.ts';
import { createEncryptedRows, type EncryptedRow, type EncryptedRows, type Renewal } from './encrypted-rows.ts';
import { encryptedColumns, type KeyUsage, readKeyUsage } from './key-usage.ts';
import { DecryptionError, type DecryptionFault, type Keyring } from './keyring.ts';

export interface RotationProgress {
  readonly column: EncryptedColumn;
  /** Number of values that were read or, in a rotation, encrypted again. */
  readonly done: number;
  readonly left: number;
}

/** Position of a value that no key decrypts. */
export interface Unreadable {
  readonly column: EncryptedColumn;
  readonly key: EncryptedRow['key'];
  readonly fault: DecryptionFault;
  readonly keyId: string | undefined;
}

export interface RotationReport {
  readonly usage: KeyUsage;
  readonly unreadable: readonly Unreadable[];
  /** Whether the first key alone decrypts every value. */
  readonly complete: boolean;
}

interface RotationPorts {
  readonly knex: Knex;
  readonly keyring: Keyring;
  readonly onProgress: (progress: RotationProgress) => void;
  /** Ends the work between two batches. Completed batches stay. */
  readonly signal?: AbortSignal;
}

const BATCH_ROWS = 500;
/**
 * Rows that change during a pass are re-encrypted in the next one. Without a limit, a service that writes with an older key would keep it
 * running for ever.
 */
const MAX_LOOKS = 5;

/**
 * Encrypts all values with the first key. It is safe beside running services and other rotations, and can be interrupted and started again
 * at any time: each batch is one statement, and replaces only ciphertexts that have not changed since they were read.
 */
export async function rotateKeys(ports: RotationPorts): Promise<RotationReport> {
  const unreadable: Unreadable[] = [];
  for (const column of encryptedColumns()) unreadable.push(...(await rotateColumn(ports, column)));
  return report(ports, unreadable);
}

/** Decrypts every value without changing anything. */
export async function checkKeys(ports: RotationPorts): Promise<RotationReport> {
  const unreadable: Unreadable[] = [];
  for (const column of encryptedColumns()) {
    const rows = createEncryptedRows(ports.knex, column);
    const look = await lookThrough({ ports, column, rows, keyIds: await rows.findKeyIds(), handle: countAll });
    unreadable.push(...look.unreadable);
  }
  return report(ports, unreadable);
}

async function report({ knex, keyring }: RotationPorts, unreadable: readonly Unreadable[]): Promise<RotationReport> {
  const usage = await readKeyUsage(knex);
  const onlyCurrent = [...usage.keys()].every((keyId) => keyId === keyring.currentKeyId);
  return { usage, unreadable, complete: onlyCurrent && unreadable.length === 0 };
}

/** Rotates a column until nothing is left to do. */
async function rotateColumn(ports: RotationPorts, column: EncryptedColumn): Promise<readonly Unreadable[]> {
  const rows = createEncryptedRows(ports.knex, column);
  for (let looks = 1; ; looks += 1) {
    const keyIds = (await rows.findKeyIds()).filter((id) => id !== ports.keyring.currentKeyId);
    const look = await lookThrough({ ports, column, rows, keyIds, handle: rows.replace });
    if (look.readable === 0 || looks === MAX_LOOKS) return look.unreadable;
  }
}

interface Look {
  readonly ports: RotationPorts;
  readonly column: EncryptedColumn;
  readonly rows: EncryptedRows;
  readonly keyIds: readonly string[];
  /** @returns how many it has done */
  readonly handle: (renewals: readonly Renewal[]) => Promise<number>;
}

interface Seen {
  readonly readable: number;
  readonly unreadable: readonly Unreadable[];
}

async function lookThrough({ ports, column, rows, keyIds, handle }: Look): Promise<Seen> {
  const total = await rows.count(keyIds);
  const unreadable: Unreadable[] = [];
  let readable = 0;
  let done = 0;
  for await (const batch of readBatches(rows, keyIds)) {
    ports.signal?.throwIfAborted();
    const { renewals, faults } = renewAll(ports.keyring, column, batch);
    unreadable.push(...faults);
    readable += renewals.length;
    done += renewals.length === 0 ? 0 : await handle(renewals);
    ports.onProgress({ column, done, left: Math.max(0, total - done) });
  }
  return { readable, unreadable };
}

async function* readBatches(rows: EncryptedRows, keyIds: readonly string[]): AsyncGenerator<readonly EncryptedRow[]> {
  for (const keyId of keyIds) {
    let batch = await rows.read(keyId, BATCH_ROWS);
    while (batch.length > 0) {
      yield batch;
      batch = await rows.read(keyId, BATCH_ROWS, batch.at(-1));
    }
  }
}

function renewAll(keyring: Keyring, column: EncryptedColumn, batch: readonly EncryptedRow[]) {
  const renewals: Renewal[] = [];
  const faults: Unreadable[] = [];
  for (const row of batch) {
    const cell = { column, ...row };
    try {
      const { plain } = decryptBound(keyring, row.ciphertext, cell);
      renewals.push({ ...row, renewed: encryptBound(keyring, plain, cell) });
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      faults.push({ column, key: row.key, fault: error.code, keyId: error.keyId });
    }
  }
  return { renewals, faults };
}

async function countAll(renewals: readonly Renewal[]): Promise<number> {
  return renewals.length;
}
