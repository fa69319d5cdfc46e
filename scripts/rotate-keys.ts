// Encrypts what the database holds with the first key of ENCRYPTION_KEYS; with --check it only looks. See docs/how-to/keys.md.
import { parseArgs } from 'node:util';
import { ENCRYPTED_COLUMNS } from '../src/db/encrypted-columns.ts';
import {
  checkKeys,
  type RotationProgress,
  type RotationReport,
  rotateKeys,
  type Unreadable,
} from '../src/db/rotation.ts';
import { administer, explain } from './administer.ts';

const PROGRESS_EVERY_MS = 1000;
const MOST_SHOWN = 50;

const FAULTS: Readonly<Record<Unreadable['fault'], (keyId: string) => string>> = {
  UNKNOWN_KEY: (keyId) => `needs the key '${keyId}', which is not in ENCRYPTION_KEYS`,
  REFUSED: (keyId) =>
    `cannot be decrypted with the key '${keyId}': it is damaged, from another row, next to changed settings, or from another key of that name`,
  MALFORMED: () => 'does not have the form of a ciphertext',
};

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

try {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const work = values.check ? checkKeys : rotateKeys;
  const report = await administer((database) =>
    work({ ...database, onProgress: createPrinter(), signal: stop.signal }),
  );
  console.log(describe(report).join('\n'));
  process.exitCode = report.complete ? 0 : 1;
} catch (error) {
  console.error(stop.signal.aborted ? 'Stopped. The next run continues from here.' : explain(error));
  process.exitCode = 1;
}

/** Returns a function that prints the progress: one line a second, and one at the end of each column. */
function createPrinter(): (progress: RotationProgress) => void {
  let printedAtMs = 0;
  return ({ column, done, left }) => {
    if (left > 0 && performance.now() < printedAtMs + PROGRESS_EVERY_MS) return;
    printedAtMs = performance.now();
    console.log(`${column}: ${done} done, ${left} left`);
  };
}

function describe({ usage, unreadable, complete }: RotationReport): string[] {
  const inUse = [...usage].map(
    ([keyId, columns]) => `  ${keyId === '' ? '(no ciphertext)' : keyId}: ${columns.join(', ')}`,
  );
  const rows = unreadable.slice(0, MOST_SHOWN).map(describeRow);
  const more = unreadable.length - rows.length;
  return [
    'Keys in use:',
    ...inUse,
    ...(rows.length === 0 ? [] : ['Values that could not be decrypted:', ...rows]),
    ...(more > 0 ? [`  and ${more} more`] : []),
    complete ? 'The first key alone decrypts every value.' : 'The first key alone does not decrypt every value.',
  ];
}

/** Describes the position of an unreadable value, and never the value itself. */
function describeRow({ column, key, fault, keyId = '' }: Unreadable): string {
  const parts = Object.keys(ENCRYPTED_COLUMNS[column].key).map((name, at) => `${name} ${showKey(key[at])}`);
  return `  ${column} of ${parts.join(', ')} ${FAULTS[fault](keyId)}`;
}

function showKey(value: Unreadable['key'][number] | undefined): string {
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value);
}
