import type { Schemas } from '../api.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { sayNumber } from '../parts/number.ts';

export type Job = Schemas['BulkJob'];

const TONES: Readonly<Record<Schemas['BulkJobStatus'], Tone>> = {
  CREATED: 'quiet',
  RUNNING: 'busy',
  COMPLETED: 'good',
  FAILED: 'bad',
  CANCELLED: 'warn',
};

/** Interval between two status requests for running jobs. */
export const POLL_MS = 1_000;

export function isUnderWay({ status }: Pick<Job, 'status'>): boolean {
  return status === 'CREATED' || status === 'RUNNING';
}

export function JobState({ job: { status, recordsFailedCount } }: { readonly job: Job }) {
  return (
    <span class="row">
      <Badge tone={TONES[status]}>{status.toLowerCase()}</Badge>
      {recordsFailedCount > 0 && <Badge tone="bad">{sayNumber(recordsFailedCount)} failed</Badge>}
    </span>
  );
}

/** Shows the progress of a job. The bar of a running job is full at the estimated total, if there is an estimate. */
export function JobProgress({ job }: { readonly job: Job }) {
  const { recordsCount, progress } = job;
  const total = progress?.estimatedTotal;
  const isOpen = isUnderWay(job);
  return (
    <span class="stack tight">
      <span>
        {sayNumber(recordsCount)}
        {isOpen && total !== undefined && <span class="soft"> of about {sayNumber(total)}</span>}
      </span>
      {isOpen && (
        <progress
          aria-label={`Rows of job ${job.id}`}
          {...(total !== undefined && { max: Math.max(1, total), value: Math.min(recordsCount, total) })}
        />
      )}
    </span>
  );
}
