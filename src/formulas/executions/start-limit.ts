import type { Clock } from '../../clock.ts';
import { LIMITS } from '../model.ts';

export interface StartLimitPorts {
  /** Counts the executions of an instance that were started since a time, up to a maximum. */
  readonly countStarts: (instance: LimitedInstance, since: Date, most: number) => Promise<number>;
  readonly clock: Pick<Clock, 'now'>;
  /** Starts of one instance per minute. */
  readonly perMinute?: number | undefined;
}

interface LimitedInstance {
  readonly accountId: number;
  readonly id: number;
}

/** The known starts of an instance. */
interface Known {
  /** Starts in the minute before the last look at the database. */
  readonly stored: number;
  readonly lookedAtMs: number;
  /** Starts of this process since then. */
  own: number;
}

const MINUTE_MS = 60_000;
/** Milliseconds between two looks at an instance that has reached its limit. */
const LOOK_MS = 1_000;
/** Starts of this process after which it looks what other processes have started. Each process can exceed the limit by this number. */
const OWN_STARTS = 50;
const MOST_INSTANCES = 10_000;

export type StartLimit = ReturnType<typeof createStartLimit>;

/** Bounds the starts of each instance over all processes, without a query for most starts (formulas.md, 18). */
export function createStartLimit({ countStarts, clock, perMinute = LIMITS.startsPerMinute }: StartLimitPorts) {
  const instances = new Map<string, Known>();

  async function look(key: string, instance: LimitedInstance): Promise<Known> {
    const nowMs = clock.now();
    const stored = await countStarts(instance, new Date(nowMs - MINUTE_MS), perMinute);
    const known = { stored, lookedAtMs: nowMs, own: 0 };
    if (instances.size >= MOST_INSTANCES) instances.clear();
    instances.set(key, known);
    return known;
  }

  return {
    /** Counts starts of an instance. @returns why they are refused; undefined: they are not */
    take: async ({ accountId, id }: LimitedInstance, count = 1): Promise<string | undefined> => {
      const key = `${accountId}:${id}`;
      let known = instances.get(key) ?? { stored: 0, lookedAtMs: Number.NEGATIVE_INFINITY, own: 0 };
      const isOld = clock.now() - known.lookedAtMs >= LOOK_MS;
      const isOver = ({ stored, own }: Known) => stored + own + count > perMinute;
      if (known.own + count > Math.min(OWN_STARTS, perMinute) || (isOver(known) && isOld))
        known = await look(key, { accountId, id });
      instances.set(key, known);
      if (isOver(known)) return `Formula instance ${id} was started more than ${perMinute} times within a minute.`;
      known.own += count;
      return undefined;
    },
  };
}
