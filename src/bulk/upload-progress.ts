import type { BulkStore, Checkpoint } from './bulk-store.ts';
import { type CallCount, fenced } from './file-writer.ts';
import type { InputRow } from './input-file.ts';
import type { ClaimedJob, InputPosition, RowError } from './job.ts';
import { OUTCOME_COLUMNS, openOutcomeFile, type StoredOutcome } from './outcomes.ts';

/** Position of a row in an uploaded file. */
export type RowPosition = Pick<InputRow, 'number' | 'startByte' | 'endByte'>;

/** Writer of the outcomes of an upload's rows. It always stores them together with the position of the next row. */
export type UploadProgress = Awaited<ReturnType<typeof openProgress>>;

export async function openProgress(
  store: Pick<BulkStore, 'transaction' | 'checkpoint' | 'findChunk'>,
  job: ClaimedJob,
  calls: CallCount,
) {
  const file = await openOutcomeFile(store, job);
  let { recordCount, failedCount } = job;
  let waiting: RowError[] = [];
  let hasAdvanced = false;

  async function step(inputPosition: InputPosition): Promise<Checkpoint> {
    const { providerCalls } = calls;
    calls.providerCalls = 0;
    calls.rows = recordCount - job.recordCount;
    const isProgress = hasAdvanced;
    const chunks = await file.pack();
    const rowErrors = waiting;
    waiting = [];
    const progress = { recordCount, failedCount, byteCount: file.byteCount(), estimatedTotal: null };
    const checkpoint = { fields: OUTCOME_COLUMNS, walkKey: null, position: null, inputPosition };
    return { ...progress, ...checkpoint, chunks, rowErrors, providerCalls, isProgress };
  }

  return {
    settle: (row: RowPosition, outcome: StoredOutcome) => {
      file.add(outcome);
      recordCount++;
      hasAdvanced = true;
      if (outcome.outcome === 'failed') failedCount++;
      if (outcome.outcome === 'failed' || outcome.doubtful) waiting.push(errorOf(row, outcome));
    },
    /** Notes progress without an outcome of a row. */
    move: () => {
      hasAdvanced = true;
    },
    /** Returns whether this slice has advanced the job. */
    hasAdvanced: () => hasAdvanced,
    /**
     * Stores all outcomes since the last call. `nativeJob` is the provider's job that has the rows from now on.
     * @throws JobLost
     */
    advance: async (next: InputPosition, nativeJob?: string) => {
      const checkpoint = { ...(await step(next)), nativeJob };
      await fenced(store, (via) => store.checkpoint(via, job, checkpoint));
    },
    /** Returns the last checkpoint, for the caller to store. */
    finish: step,
  };
}

function errorOf(
  { startByte, endByte }: RowPosition,
  { row, outcome, doubtful, code, message }: StoredOutcome,
): RowError {
  return { rowNumber: row, outcome, isDoubtful: doubtful, code, message: message ?? '', startByte, endByte };
}
