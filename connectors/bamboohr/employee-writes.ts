import { type Json, json, rejected } from '#connector';
import type { EmployeeField } from './employee-fields.ts';

interface Change {
  readonly written: Json;
  readonly before: Json;
  readonly after: Json;
}

/**
 * Asserts that BambooHR stored every written value.
 * @param done what BambooHR did, for the message
 * @throws rejected when BambooHR ignored a value
 */
export function assertStored(columns: ReadonlyMap<string, EmployeeField>, done: string, change: Change): void {
  const ignored = findIgnored(change).map((native) => `'${columns.get(native)?.name ?? native}'`);
  if (ignored.length === 0) return;
  throw rejected(
    `BambooHR ${done}, but did not store ${ignored.join(', ')}. The owner of the API key may not change these fields, or the change waits for an approval. BambooHR stored the rest of the request.`,
  );
}

/**
 * Returns the native names of the values that BambooHR did not store: fields that are missing afterwards, or that kept their old value. A
 * value that BambooHR stores in another spelling counts as stored.
 */
export function findIgnored({ written, before, after }: Change): readonly string[] {
  return Object.keys(written).filter((native) => {
    const stored = toComparable(after[native]);
    if (stored === toComparable(written[native])) return false;
    return !Object.hasOwn(after, native) || stored === toComparable(before[native]);
  });
}

const NOTHING: ReadonlySet<string> = new Set(['', '0000-00-00', 'no', 'false', '0']);
const AMOUNT = /^(-?\d+(?:\.\d+)?)(?: [a-z]{3})?$/;

/**
 * Returns the same text for all spellings of a value. A missing value equals an unchecked box, `12.50` equals `12.5 USD`, and case and
 * blanks do not matter.
 */
function toComparable(value: unknown): string {
  const text = String((json.isObject(value) ? value.value : value) ?? '')
    .trim()
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
  if (NOTHING.has(text)) return '';
  const amount = AMOUNT.exec(text)?.[1];
  return amount === undefined ? text : amount.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}
