import type { ActivityEntry } from '../../src/activity/entry.ts';
import { createOpenRun, type OpenRun } from '../../src/activity/runs.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';

/** Keeps the entries of runs, whose instances may be incomplete. */
export function keepRuns(records: ActivityEntry[] = []): OpenRun {
  const recorder = {
    record: (record: ActivityEntry) => void records.push(record),
    openWireLog: () => {
      throw new Error('Nothing is traced here.');
    },
  };
  const openRun = createOpenRun({ clock: SYSTEM_CLOCK }, recorder, '');
  return (subject) => ({ ...openRun(subject), attach: () => undefined });
}

/** Prepares a notification that is never sent. */
export const prepareNoNotice = async () => async () => undefined;
