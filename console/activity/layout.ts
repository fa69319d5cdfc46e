/** When a call may have run: milliseconds since the request came. */
export interface CallSpan {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Layout {
  readonly spans: readonly CallSpan[];
  /** Where the time axis ends. */
  readonly endMs: number;
  /** They took longer together than the request: some ran at the same time. */
  readonly isParallel: boolean;
}

/**
 * Where the bars stand. It is known how long each call took and in which order they ended, not when one began: they stand one after the
 * other where there is room for that, and else each as early as it can have ended.
 */
export function layOut(durationsMs: readonly number[], totalMs: number): Layout {
  const isParallel = durationsMs.reduce((sum, ms) => sum + ms, 0) > totalMs;
  const spans: CallSpan[] = [];
  for (const ms of durationsMs) {
    const before = spans.at(-1)?.endMs ?? 0;
    const endMs = isParallel ? Math.max(before, ms) : before + ms;
    spans.push({ startMs: endMs - ms, endMs });
  }
  return { spans, endMs: Math.max(totalMs, spans.at(-1)?.endMs ?? 0, Number.MIN_VALUE), isParallel };
}
