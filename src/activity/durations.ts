/**
 * Counts of durations in buckets. Each bucket ends a tenth higher than the one before, so that a percentile is off by at most 5 %. Bucket 0
 * has durations below a tenth of a millisecond, and bucket n those below 0.1 ms times 1.1 to the power of n. The last bucket has everything
 * above ten minutes.
 */
type Durations = readonly number[];

const FIRST_US = 100;
const GROWTH = 1.1;
const BUCKETS = 165;
const LOG_GROWTH = Math.log(GROWTH);

export function bucketOf(us: number): number {
  if (us < FIRST_US) return 0;
  return Math.min(BUCKETS - 1, Math.floor(Math.log(us / FIRST_US) / LOG_GROWTH) + 1);
}

/** Counts a duration. The array is only as long as its last used bucket. */
export function countDuration(durations: number[], us: number): void {
  const bucket = bucketOf(us);
  while (durations.length <= bucket) durations.push(0);
  durations[bucket] = (durations[bucket] ?? 0) + 1;
}

export function addDurations(sum: number[], other: Durations): void {
  for (const [bucket, count] of other.entries()) sum[bucket] = (sum[bucket] ?? 0) + count;
}

/** Returns the shortest duration that `share` of the calls do not exceed, in microseconds and within 5 %; 0 without a call. */
export function percentile(durations: Durations, share: number): number {
  const count = durations.reduce((sum, one) => sum + one, 0);
  const rank = Math.max(1, Math.ceil(count * share));
  let below = 0;
  for (const [bucket, held] of durations.entries()) {
    below += held;
    if (below >= rank) return middleOf(bucket);
  }
  return 0;
}

/** Returns the duration whose ratio to both ends of the bucket is the same. */
function middleOf(bucket: number): number {
  if (bucket === 0) return FIRST_US / 2;
  return ((2 * GROWTH) / (GROWTH + 1)) * FIRST_US * GROWTH ** (bucket - 1);
}
