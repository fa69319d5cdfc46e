import { isReference } from './check-step.ts';
import type { Formula, FormulaInstance } from './model.ts';
import { findCronFault, nextRun } from './schedule.ts';
import { readInstanceId, resolveVariables, triggerInstanceId } from './variables.ts';

/** Values that follow from a formula and the values of one of its instances. */
export interface Derived {
  /** The element instances that its variables and its trigger name. */
  readonly elementInstanceIds: readonly number[];
  /** The cron expression that starts it. Undefined: none does. */
  readonly cron: string | undefined;
  /** Why its schedule never starts it. */
  readonly cronFault: string | undefined;
}

type Configured = Pick<FormulaInstance, 'configuration'>;

export function derive(
  { configuration: variables, triggers }: Pick<Formula, 'configuration' | 'triggers'>,
  { configuration }: Configured,
  leastScheduleMs: number,
): Derived {
  const [trigger] = triggers;
  const named = variables
    .filter(({ type, key }) => type === 'elementInstance' && Object.hasOwn(configuration, key))
    .map(({ key }) => readInstanceId(configuration[key] ?? ''));
  const ids = [...named, triggerInstanceId(trigger, configuration)].filter((id) => id !== undefined);
  const cron = cronOf(trigger, configuration);
  // Without variables it was checked with the trigger.
  const cronFault = cron === undefined ? undefined : findCronFault(cron, leastScheduleMs);
  return { elementInstanceIds: [...new Set(ids)], cron: cronFault === undefined ? cron : undefined, cronFault };
}

/** Returns the cron expression of a trigger. Undefined: no schedule starts the formula. */
export function cronOf(trigger: Formula['triggers'][number] | undefined, values: Configured['configuration']) {
  if (trigger?.type !== 'scheduled') return undefined;
  const { cron } = trigger.properties;
  if (typeof cron !== 'string' || cron === '') return undefined;
  return isReference(cron) ? resolveVariables(cron, values) : cron;
}

/** Returns when a schedule starts a formula instance next. Null: it does not. */
export function nextDueOf(cron: string | undefined, isRunning: boolean, now: Date): Date | null {
  return cron === undefined || !isRunning ? null : (nextRun(cron, now) ?? null);
}
