import type { Clock } from '../clock.ts';

interface Run<Value> {
  readonly value: Promise<Value>;
  keptUntilMs: number;
}

/**
 * Work that many may ask for: whoever comes while it is under way, or within `keepMs` of its end, gets the same. A failure is
 * not kept.
 */
export function createShared<Value>(
  { steady }: Clock,
  work: () => Promise<Value>,
  keepMs: number,
): () => Promise<Value> {
  let last: Run<Value> | undefined;
  return () => {
    if (last !== undefined && steady() < last.keptUntilMs) return last.value;
    const run: Run<Value> = { value: work(), keptUntilMs: Number.POSITIVE_INFINITY };
    last = run;
    run.value.then(
      () => {
        run.keptUntilMs = steady() + keepMs;
      },
      () => {
        run.keptUntilMs = Number.NEGATIVE_INFINITY;
      },
    );
    return run.value;
  };
}
