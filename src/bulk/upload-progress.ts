import type { BulkStore, Checkpoint } from './bulk-store.ts';
import { type CallCount, fenced } from './file-writer.ts';
import type { InputRow } from './input-file.ts';
import type { ClaimedJob, InputPosition, RowError } from './job.ts';
import { OUTCOME_COLUMNS, openOutcomeFile, type StoredOutcome } from './outcomes.ts';

/** Position of a row in an uploaded file. */
export type RowPosition = Pick<InputRow, 'number' | 'startByte' | 'endByte'>;

/** Writer of the outcomes of an upload's rows. It always stores them together with the position of the next row. */
export interface UploadProgress {
  readonly settle: (row: RowPosition, outcome: StoredOutcome) => void;
  /** Notes progress without an outcome of a row. */
  readonly move: () => void;
  /** Returns whether this slice has advanced the job. */
  readonly hasAdvanced: () => boolean;
  /**
   * Stores all outcomes since the last call. `nativeJob` is the provider's job that has the rows from now on.
   * @throws JobLost
   */
  readonly advance: (next: InputPosition, nativeJob?: string) => Promise<void>;
  /** Returns the last checkpoint, for the caller to store. */
  readonly finish: (end: InputPosition) => Promise<Checkpoint>;
}

export async function openProgress(
  store: Pick<BulkStore, 'transaction' | 'checkpoint' | 'findChunk'>,
  job: ClaimedJob,
  calls: CallCount,
): Promise<UploadProgress> {
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
    settle: (row, outcome) => {
      file.add(outcome);
      recordCount++;
      hasAdvanced = true;
      if (outcome.outcome === 'failed') failedCount++;
      if (outcome.outcome === 'failed' || outcome.doubtful) waiting.push(errorOf(row, outcome));
    },
    move: () => {
      hasAdvanced = true;
    },
    hasAdvanced: () => hasAdvanced,
    advance: async (next, nativeJob) => {
      const checkpoint = { ...(await step(next)), nativeJob };
      await fenced(store, (via) => store.checkpoint(via, job, checkpoint));
    },
    finish: step,
  };
}

function errorOf(
  { startByte, endByte }: RowPosition,
  { row, outcome, doubtful, code, message }: StoredOutcome,
): RowError {
  return { rowNumber: row, outcome, isDoubtful: doubtful, code, message: message ?? '', startByte, endByte };
}
