import { setTimeout as sleep } from 'node:timers/promises';

/** Looks again and again; the test's own time-out ends it. */
export async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(10);
}
