import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than any test may take: one that has timed out already must not keep the run from ending. */
const GIVE_UP_MS = 120_000;

/** Looks again and again; the test's own time-out reports it. @throws Error when it gives up */
export async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + GIVE_UP_MS;
  while (!(await isTrue())) {
    if (Date.now() > endMs) throw new Error('What the test waits for does not come.');
    await sleep(10);
  }
}
