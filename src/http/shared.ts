import type { Clock } from '../clock.ts';

interface Run<Value> {
  readonly value: Promise<Value>;
  keptUntilMs: number;
}

interface Keeping {
  readonly clock: Pick<Clock, 'steady'>;
  readonly ms: number;
}

/**
 * Shares work among callers. A caller during the work, or within `keep.ms` of its end, receives the same result. Without `keep`, the result
 * is kept for ever. A failure is not kept.
 */
export function createShared<Value>(work: () => Promise<Value>, keep?: Keeping): () => Promise<Value> {
  let last: Run<Value> | undefined;
  const isKept = ({ keptUntilMs }: Run<Value>) => keep === undefined || keep.clock.steady() < keptUntilMs;
  return () => {
    if (last !== undefined && isKept(last)) return last.value;
    const run: Run<Value> = { value: work(), keptUntilMs: Number.POSITIVE_INFINITY };
    last = run;
    run.value.then(
      () => {
        if (keep !== undefined) run.keptUntilMs = keep.clock.steady() + keep.ms;
      },
      () => {
        if (last === run) last = undefined;
      },
    );
    return run.value;
  };
}
