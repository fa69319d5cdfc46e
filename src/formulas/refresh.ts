import { type Derived, derive, nextDueOf } from './derived.ts';
import type { createFormulaInstanceStore, StoredInstance } from './formula-instances-store.ts';
import type { Formula } from './model.ts';

/** Number of instances that are read at a time. */
const PART = 1_000;

interface FormulaRefresh {
  readonly before: Formula;
  readonly after: Formula;
  /** Minimum time between two firings of a schedule, in milliseconds. */
  readonly leastScheduleMs: number;
  readonly now: Date;
}

/** Updates what follows from a changed formula in all its instances: their schedules, and the element instances that they name. */
export async function refreshInstances(
  store: Pick<ReturnType<typeof createFormulaInstanceStore>, 'lockOfFormula' | 'refresh'>,
  change: FormulaRefresh,
): Promise<void> {
  if (!mayMatter(change)) return;
  for (let afterId = 0; ; ) {
    const instances = await store.lockOfFormula(change.after, { afterId, limit: PART });
    const changes = instances.flatMap((instance) => refreshed(instance, change) ?? []);
    if (changes.length > 0) await store.refresh(changes);
    const last = instances.at(-1);
    if (last === undefined || instances.length < PART) return;
    afterId = last.id;
  }
}

function mayMatter({ before, after }: FormulaRefresh): boolean {
  const partOf = ({ active, triggers, configuration }: Formula) =>
    JSON.stringify([active, triggers, configuration.map(({ key, type }) => [key, type])]);
  return partOf(before) !== partOf(after);
}

function refreshed(instance: StoredInstance, { before, after, leastScheduleMs, now }: FormulaRefresh) {
  const [was, is] = [before, after].map((formula): Derived => derive(formula, instance, leastScheduleMs));
  if (was === undefined || is === undefined) return undefined;
  const isRunning = instance.active && after.active;
  const isSame = was.cron === is.cron && instance.nextDue !== null && isRunning;
  const nextDue = isSame ? instance.nextDue : nextDueOf(is.cron, isRunning, now);
  const fault = is.cronFault === was.cronFault ? instance.warning : scheduleWarning(is);
  const { accountId, id } = instance;
  const { elementInstanceIds } = is;
  const isUnchanged =
    nextDue?.getTime() === instance.nextDue?.getTime() &&
    fault === instance.warning &&
    JSON.stringify(elementInstanceIds) === JSON.stringify(instance.elementInstanceIds);
  return isUnchanged ? undefined : { accountId, id, elementInstanceIds, nextDue, warning: fault };
}

/** Returns why the schedule of an instance never starts it. Null: it does, or there is none. */
export function scheduleWarning({ cronFault }: Derived): string | null {
  return cronFault === undefined ? null : `The cron expression of the trigger cannot be used: it ${cronFault}`;
}
