import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than any test may take: one that has timed out already must not keep the run from ending. */
const GIVE_UP_MS = 120_000;

/** Looks again and again; the test's own time-out reports it. @throws Error when it gives up */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`This did not come true: ${holds}`);
    await sleep(10);
  }
}
