import { toUnreadable } from '../connector/client/index.ts';
import type { IngestResult, NativeBulk, NativeEnd } from '../connector/index.ts';
import { type AppError, isAppError } from '../errors.ts';
import { createPacer } from '../pace.ts';
import type { InstanceCall } from './call.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/**
 * Returns the milliseconds before the next request for the state of a job: twice as long each time, at most 30 s.
 * @param looks number of requests so far
 */
export function waitForJobMs(looks: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(looks, 10), LONGEST_WAIT_MS);
}

/**
 * Stops a job of the provider and removes it.
 * @throws AppError as calls to the provider
 */
export async function endJob(
  call: InstanceCall,
  { end }: NonNullable<NativeBulk[keyof NativeBulk]>,
  job: NativeEnd,
): Promise<void> {
  for (const request of end(job, call.instance.config)) {
    try {
      await call.send(request);
    } catch (error) {
      // The job has already ended, or no longer exists.
      if (!isAppError(error, 'PROVIDER_REJECTED', 'NOT_FOUND', 'CONFLICT')) throw error;
    }
  }
}

/**
 * The outcome of a row in a job of the provider. `row` is the index of the row in the job; it is absent for a result that belongs to no
 * row.
 */
export type IngestedRow = { readonly row?: number } & (
  | Exclude<IngestResult, { readonly kind: 'failed' }>
  | { readonly kind: 'failed'; readonly error: AppError }
);

/**
 * Turns the results of a job into outcomes, with an error for each failed row.
 * @throws AppError PROVIDER_PROTOCOL where the connector cannot read the results
 */
export async function judgeResults(
  call: InstanceCall,
  results: Iterable<IngestResult>,
): Promise<readonly IngestedRow[]> {
  const pacer = createPacer(call.signal);
  const rows = results[Symbol.iterator]();
  const judged: IngestedRow[] = [];
  for (let next = readAs(call, () => rows.next()); !next.done; next = readAs(call, () => rows.next())) {
    if (pacer.isDue()) await pacer.pause();
    const { value } = next;
    if (value.kind !== 'failed') judged.push(value);
    else judged.push({ kind: 'failed', row: value.row, error: call.judge(value.response) });
  }
  return judged;
}

/**
 * Runs a reader of a connector.
 * @throws AppError PROVIDER_PROTOCOL where the response is not as the connector expects
 */
export function readAs<Read>(call: InstanceCall, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw toUnreadable(call.instance, error);
  }
}
