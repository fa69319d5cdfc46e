import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds after which waiting ends. Longer than any test may take, so that a test which has timed out does not keep the run from
 * ending.
 */
const GIVE_UP_MS = 120_000;

/**
 * Checks a condition repeatedly until it holds. The time-out of the test reports a condition that never holds. @throws Error when it gives
 * up
 */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`This did not come true: ${holds}`);
    await sleep(10);
  }
}
