import { quantile } from '../bench/measure.ts';

/** Returns the microseconds of the machine's monotonic clock, which all processes share. */
export function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Latencies of a run in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface LatencyRecorder {
  readonly note: (micros: number) => void;
  readonly take: () => Latency;
  /** Moves all values to another recorder and leaves this one empty. Without a target, the values are dropped. */
  readonly drainInto: (target: LatencyRecorder | undefined) => void;
}

/** Creates a recorder that keeps every value, because runs are short and percentiles should be exact. */
export function createLatencyRecorder(): LatencyRecorder {
  let values: number[] = [];
  return {
    note: (micros) => void values.push(micros),
    drainInto: (target) => {
      if (target !== undefined) for (const value of values) target.note(value);
      values = [];
    },
    take: () => {
      const taken = values;
      values = [];
      const at = (share: number) => (taken.length === 0 ? 0 : quantile(taken, share) / 1000);
      return { count: taken.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
    },
  };
}
