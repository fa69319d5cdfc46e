import { Cron } from 'croner';

/** Replaced when the branch of templates is merged. */
export function nextRun(cron: string, after: Date): Date | undefined {
  return (
    new Cron(cron, { timezone: 'UTC', alternativeWeekdays: true, sloppyRanges: true, paused: true }).nextRun(after) ??
    undefined
  );
}
