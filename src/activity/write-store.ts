import type { Knex } from 'knex';
import { createActivityStore } from './activity-store.ts';
import { createLastCallStore } from './last-call-store.ts';
import type { WriteActivity } from './recorder.ts';
import { LONGEST_FIRST } from './tallies.ts';
import { createUsageStore } from './usage-store.ts';

/** Creates the writer of activity. It writes rows and counts in one transaction, on a connection that requests do not use. */
export function createWriteActivity({ behind }: { readonly behind: Knex }): WriteActivity {
  return async ({ rows, wires, tallies }, isRetry) => {
    const [first] = rows;
    // The connection may have broken after the commit. Counts without a row are then added twice, which cannot be detected.
    if (isRetry && first !== undefined && (await createActivityStore(behind).has(first))) return;
    await behind.transaction(async (via) => {
      const activity = createActivityStore(via);
      const usage = createUsageStore(via);
      if (rows.length > 0) await activity.insert(rows);
      await createLastCallStore(via).note(rows);
      if (wires.length > 0) await activity.insertWire(wires);
      for (const interval of LONGEST_FIRST) await usage.add(interval, tallies.of(interval));
    });
  };
}
