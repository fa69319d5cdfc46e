import type { Clock, EndWait } from '../clock.ts';
import { inBackground } from '../trace.ts';

/** Maximum delay of a timer. A longer one would end at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Creates an alarm that combines several waits: it calls once, at the earliest of their times. */
export function createAlarm(clock: Clock, call: () => void) {
  let ringsAtMs = Number.POSITIVE_INFINITY;
  let endWait: EndWait | undefined;

  function ring(): void {
    ringsAtMs = Number.POSITIVE_INFINITY;
    // It does not belong to the request that happened to start it.
    inBackground(call);
  }

  return {
    ringIn: (ms: number): void => {
      const atMs = clock.steady() + Math.max(0, ms);
      if (atMs >= ringsAtMs) return;
      endWait?.();
      ringsAtMs = atMs;
      endWait = clock.after(Math.min(Math.ceil(Math.max(0, ms)), LONGEST_WAIT_MS), ring);
    },
    end: (): void => {
      ringsAtMs = Number.NEGATIVE_INFINITY;
      endWait?.();
    },
  };
}

/**
 * Runs a task after an interval, and again after each end. `task` must not reject.
 * @returns a function that ends it, and resolves when the task no longer runs
 */
export function every(clock: Clock, ms: number, task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let hasEnded = false;
  let endWait: EndWait | undefined;

  function plan(): void {
    if (hasEnded) return;
    endWait = clock.after(ms, () => {
      running = task();
      void running.then(plan);
    });
  }

  plan();
  return async () => {
    hasEnded = true;
    endWait?.();
    await running;
  };
}

interface DueLooksPorts {
  readonly clock: Clock;
  /** Aborts when no more work may begin. */
  readonly signal: AbortSignal;
  readonly options: {
    /** Minimum time in milliseconds between two looks. Calls in between cause one look. */
    readonly gatherMs: number;
    /** Maximum time in milliseconds between two looks. */
    readonly lookMs: number;
  };
  /**
   * Claims due work and begins it. Calls `noteQuery` before each query, which finds what is due until then.
   * @returns whether more may be due already
   */
  readonly takeDue: (noteQuery: () => void) => Promise<boolean>;
  /** Returns when the next work is due that nobody has. `claimed` is the time of the last query. */
  readonly nextDue: (claimed: Date) => Promise<Date | undefined>;
  /** Called when `takeDue` or `nextDue` fails. The next look comes after `lookMs`. */
  readonly noteFailure: (error: unknown) => void;
}

/** Looks for due work one query at a time: when it is due, when somebody wakes it, and at least every `lookMs`. */
export function createDueLooks({ clock, signal, options, takeDue, nextDue, noteFailure }: DueLooksPorts) {
  const { gatherMs, lookMs } = options;
  const alarm = createAlarm(clock, look);
  let hasStarted = false;
  let looking: Promise<void> | undefined;
  let mustLookAgain = false;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  /** The time of the last query. What became due later is not claimed yet. */
  let claimedUntilMs = 0;
  const noteQuery = () => {
    lookedAtMs = clock.steady();
    claimedUntilMs = clock.now();
  };

  function look(): void {
    if (!hasStarted || signal.aborted) return;
    // The next query sees what became due meanwhile.
    mustLookAgain = looking !== undefined;
    // A look does not belong to the request that happened to start it.
    looking ??= inBackground(takeAll).finally(() => {
      looking = undefined;
      if (mustLookAgain) lookAgain();
    });
  }

  function lookAgain(): void {
    const waitMs = lookedAtMs + gatherMs - clock.steady();
    if (waitMs > 0) alarm.ringIn(waitMs);
    else look();
  }

  async function takeAll(): Promise<void> {
    try {
      let isMoreDue: boolean;
      do isMoreDue = await takeDue(noteQuery);
      while (isMoreDue && gatherMs === 0 && !signal.aborted);
      alarm.ringIn(isMoreDue ? gatherMs : await untilDueMs());
    } catch (error) {
      noteFailure(error);
      alarm.ringIn(lookMs);
    }
  }

  async function untilDueMs(): Promise<number> {
    const due = await nextDue(new Date(claimedUntilMs));
    const inMs = due === undefined ? lookMs : due.getTime() - clock.now();
    return Math.max(gatherMs, Math.min(inMs, lookMs));
  }

  return {
    start: (): void => {
      hasStarted = true;
      look();
    },
    /** Looks now, or soon if a look is in progress. */
    look,
    /** Looks soon. Calls that come together cause one look. */
    wake: (): void => {
      if (!signal.aborted) alarm.ringIn(lookedAtMs + gatherMs - clock.steady());
    },
    /** Looks after this time at the latest. */
    lookIn: (ms: number): void => alarm.ringIn(ms),
    /** Ends the alarm. Resolves when no look is in progress. Call it after the abort of the signal. */
    end: async (): Promise<void> => {
      alarm.end();
      await looking;
    },
  };
}
