import type { Schemas } from '../api.ts';
import { Badge, type Tone } from '../parts/badge.tsx';

export type ExecutionStatus = Schemas['FormulaExecutionStatus'];

const TONES: Readonly<Record<ExecutionStatus, Tone>> = {
  pending: 'busy',
  queued: 'quiet',
  success: 'good',
  failed: 'bad',
  retry: 'warn',
  cancelled: 'quiet',
  unknown: 'quiet',
};

const MEANINGS: Readonly<Record<ExecutionStatus, string>> = {
  pending: 'The execution runs, or begins in a moment.',
  queued: 'The execution waits for another one of the same instance.',
  success: 'No step failed.',
  failed: 'A step failed.',
  retry: 'The execution ended, and another run is planned.',
  cancelled: 'A user cancelled the execution.',
  unknown: 'The outcome of the execution is unknown.',
};

/** Interval between two requests for executions in progress. */
export const POLL_MS = 1_000;

export function isUnderWay(status: ExecutionStatus): boolean {
  return status === 'pending' || status === 'queued';
}

export function ExecutionState({ status }: { readonly status: ExecutionStatus }) {
  return (
    <Badge tone={TONES[status]} title={MEANINGS[status]}>
      {status}
    </Badge>
  );
}
