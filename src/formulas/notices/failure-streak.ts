/** Failures in a row at which the owner of a formula instance is warned (formulas.md, 18). */
export const WARNED_AT = 50;
/** Failures in a row that a formula instance may have before it is deactivated. */
export const MOST_FAILURES = 100;

interface Streak {
  readonly failures: number;
  readonly isWarned: boolean;
  readonly isDeactivated: boolean;
}

/** Counts failures in a row over the ends of executions, in their order. Each limit is reported where it is passed. */
export function countFailures(before: number, ends: readonly ('failed' | 'recovered')[]): Streak {
  let failures = before;
  let isWarned = false;
  let isDeactivated = false;
  for (const end of ends) {
    failures = end === 'failed' ? failures + 1 : 0;
    isWarned ||= failures === WARNED_AT;
    isDeactivated ||= failures === MOST_FAILURES + 1;
  }
  return { failures, isWarned, isDeactivated };
}
