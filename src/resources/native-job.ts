import { toUnreadable } from '../connector/client/index.ts';
import type { IngestResult, NativeBulk, NativeEnd } from '../connector/index.ts';
import { type AppError, isAppError } from '../errors.ts';
import { createPacer } from '../pace.ts';
import type { InstanceCall } from './call.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** How long a job of a provider is left alone before its next look: twice as long each time. @param looks so far */
export function waitForJobMs(looks: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(looks, 10), LONGEST_WAIT_MS);
}

/** Stops a job of a provider and removes it. @throws what calls of the provider do */
export async function endJob(
  call: InstanceCall,
  { end }: NonNullable<NativeBulk[keyof NativeBulk]>,
  job: NativeEnd,
): Promise<void> {
  for (const request of end(job, call.instance.config)) {
    try {
      await call.send(request);
    } catch (error) {
      // It has ended already, or is not there any more.
      if (!isAppError(error, 'PROVIDER_REJECTED', 'NOT_FOUND', 'CONFLICT')) throw error;
    }
  }
}

/** What a job of a provider made of a row. `row` is its place among those that the job had; absent for one that is none of them. */
export type IngestedRow = { readonly row?: number } & (
  | Exclude<IngestResult, { readonly kind: 'failed' }>
  | { readonly kind: 'failed'; readonly error: AppError }
);

/** @throws AppError PROVIDER_PROTOCOL where the connector cannot read the results */
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
    else judged.push({ kind: 'failed', row: value.row, error: call.judge(value.answer) });
  }
  return judged;
}

/** @throws AppError PROVIDER_PROTOCOL where the answer is not what the connector says of it */
export function readAs<Read>(call: InstanceCall, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw toUnreadable(call.instance, error);
  }
}
