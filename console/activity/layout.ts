/** The time in which a call may have run, in milliseconds since the request arrived. */
export interface CallSpan {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Layout {
  readonly spans: readonly CallSpan[];
  /** The end of the time axis, in milliseconds since the request arrived. */
  readonly endMs: number;
  /** Whether the calls together took longer than the request, so that some of them ran at the same time. */
  readonly isParallel: boolean;
}

/**
 * Returns where the bar of each call begins and ends. The duration of each call and the order of their ends are known, but not when a call
 * began. Bars follow one another where there is room for that. Otherwise each one begins as early as the call can have ended.
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
