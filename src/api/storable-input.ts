import { isStorable, UNSTORABLE } from '../db/storable.ts';
import { type ErrorDetail, invalidRequest, inWords, MOST_FAULTS, pointer } from '../errors.ts';

/**
 * Asserts that PostgreSQL can store all texts that an operation may store.
 * @throws AppError REQUEST_INVALID that names every other text
 */
export function assertStorableInput<Part extends string>(
  stored: readonly Part[],
  input: Readonly<Record<Part, unknown>>,
): void {
  const faults: ErrorDetail[] = [];
  for (const part of stored) collect(input[part], [part], faults);
  if (faults.length > 0) throw invalidRequest(faults);
}

/** The depth of a body is bounded where it is read. */
function collect(value: unknown, at: readonly string[], faults: ErrorDetail[]): void {
  if (faults.length > MOST_FAULTS) return;
  if (typeof value === 'string') {
    if (!isStorable(value)) faults.push(faultAt(at));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (isStorable(name)) collect(member, [...at, name], faults);
    // The response must not contain the name itself.
    else faults.push(faultAt(at));
  }
}

function faultAt(at: readonly string[]): ErrorDetail {
  const path = pointer(...at);
  return { path, message: `${inWords(path)} ${UNSTORABLE}` };
}
