import type { OperationId } from '../../generated/operations.ts';
import { isStorable, UNSTORABLE } from '../db/storable.ts';
import { type ErrorDetail, invalidRequest, inWords, MOST_FAULTS, pointer } from '../errors.ts';
import type { Scope, ValidatedInput } from './validation.ts';

/** Their bodies may hold any text: of a query that is explained nothing is stored, and an event is stored as JSON, which escapes it. */
const ANY_TEXT: ReadonlySet<OperationId> = new Set(['explainQuery', 'sendTestEvent']);

export interface StorableInput extends Pick<ValidatedInput, 'query' | 'body'> {
  readonly id: OperationId;
  readonly scope: Scope;
  readonly method: string;
}

/**
 * Refuses texts that PostgreSQL does not keep, in all that an operation of the service may store. Records belong to the provider, which may
 * take them; what a path or the query of a GET looks for is not found.
 * @throws AppError REQUEST_INVALID that names every such text
 */
export function assertStorableInput({ id, scope, method, query, body }: StorableInput): void {
  if (scope === 'record') return;
  const parts = {
    ...(method !== 'GET' && { query }),
    ...(!ANY_TEXT.has(id) && { body }),
  };
  const faults: ErrorDetail[] = [];
  collect(parts, [], faults);
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
    // The name itself cannot stand in the answer.
    else faults.push(faultAt(at));
  }
}

function faultAt(at: readonly string[]): ErrorDetail {
  const path = pointer(...at);
  return { path, message: `${inWords(path)} ${UNSTORABLE}` };
}
