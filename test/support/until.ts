import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds after which waiting ends. It is longer than most tests may take, so that a test which has timed out does not keep the run from
 * ending, and shorter than a slow test may take, because its time-out would not say what did not come true.
 */
const GIVE_UP_MS = 110_000;

/**
 * Checks a condition repeatedly until it holds. The time-out of a quick test reports a condition that never holds.
 * @throws Error that shows the condition when it gives up
 */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`This did not come true: ${holds}`);
    await sleep(10);
  }
}
