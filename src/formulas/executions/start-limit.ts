import type { Clock } from '../../clock.ts';
import { LIMITS } from '../model.ts';

interface StartLimitPorts {
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
  /** Starts of this process shortly before, which may not have been stored yet. */
  readonly earlier: readonly { readonly atMs: number; readonly count: number }[];
  /** Starts of this process since then. */
  own: number;
}

const MINUTE_MS = 60_000;
/** Milliseconds between two looks at an instance that has reached its limit. */
const LOOK_MS = 1_000;
/** Starts of this process after which it looks what other processes have started. Each process can exceed the limit by this number. */
const OWN_STARTS = 50;
/** Milliseconds after which a start is stored. Many can be counted before the first of them is. */
const STORED_MS = 10_000;
const MOST_INSTANCES = 10_000;

export type StartLimit = ReturnType<typeof createStartLimit>;

/** Bounds the starts of each instance over all processes, without a query for most starts (formulas.md, 18). */
export function createStartLimit({ countStarts, clock, perMinute = LIMITS.startsPerMinute }: StartLimitPorts) {
  const instances = new Map<string, Known>();
  const looks = new Map<string, Promise<void>>();

  async function look(key: string, instance: LimitedInstance): Promise<void> {
    const nowMs = clock.now();
    const stored = await countStarts(instance, new Date(nowMs - MINUTE_MS), perMinute);
    const { own = 0, earlier = [] } = instances.get(key) ?? {};
    const recent = [...earlier, { atMs: nowMs, count: own }].filter(({ atMs }) => atMs > nowMs - STORED_MS);
    if (instances.size >= MOST_INSTANCES) instances.clear();
    instances.set(key, { stored, lookedAtMs: nowMs, earlier: recent, own: 0 });
  }

  /** Looks once for all that wait for it. */
  function lookTogether(key: string, instance: LimitedInstance): Promise<void> {
    const running = looks.get(key) ?? look(key, instance).finally(() => looks.delete(key));
    looks.set(key, running);
    return running;
  }

  return {
    /** Counts starts of an instance. @returns why they are refused; undefined: they are not */
    take: async ({ accountId, id }: LimitedInstance, count = 1): Promise<string | undefined> => {
      const key = `${accountId}:${id}`;
      // Others may start executions during a look, so its result is judged anew.
      for (let hasLooked = false; ; hasLooked = true) {
        const known = instances.get(key) ?? { stored: 0, lookedAtMs: Number.NEGATIVE_INFINITY, earlier: [], own: 0 };
        const unstored = known.earlier.reduce((sum, starts) => sum + starts.count, 0);
        const isOver = Math.max(known.stored, unstored) + known.own + count > perMinute;
        const isOld = clock.now() - known.lookedAtMs >= LOOK_MS;
        const isUsedUp = known.own + count > Math.min(OWN_STARTS, perMinute) && (known.own > 0 || !hasLooked);
        if (isUsedUp || (isOver && isOld && !hasLooked)) {
          await lookTogether(key, { accountId, id });
          continue;
        }
        if (isOver) return `Formula instance ${id} was started more than ${perMinute} times within a minute.`;
        instances.set(key, known);
        known.own += count;
        return undefined;
      }
    },
  };
}
