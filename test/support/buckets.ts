import { BUCKETS, type Buckets, createWorkBuckets } from '../../src/work-buckets.ts';

/** The buckets of a process that is alone: all of them. */
export const ALL_BUCKETS: Buckets = holdAll();

function holdAll(): Buckets {
  const buckets = createWorkBuckets();
  buckets.set(new Set(Array.from({ length: BUCKETS }, (_, bucket) => bucket)));
  return buckets;
}
