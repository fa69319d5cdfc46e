import type { RateBudgetOptions, Work } from '../../../src/resources/rate-budget/budget.ts';
import type { BudgetStore, StoredBudget } from '../../../src/resources/rate-budget/budget-store.ts';
import { createRateBudgets } from '../../../src/resources/rate-budget/index.ts';
import { waitForCallersMs } from '../../../src/resources/rate-limits.ts';
import { createTrace, withTrace } from '../../../src/trace.ts';
import { silentLog } from '../../support/database.ts';
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

export const INSTANCE = { accountId: 1, id: 2 };
const LATENCY_MS = 2;

/** A provider with a limit of calls in windows of time, which it reports with each response. */
export function createProvider(clock: VirtualClock, { limit, windowMs, latencyMs = 20 }: Limited) {
  const windows: { startMs: number; endMs: number; calls: number; refused: number; sentBy: Map<string, number> }[] = [];
  const startMs = clock.now();
  const current = () => {
    const index = Math.floor((clock.now() - startMs) / windowMs);
    const [from, to] = [startMs + index * windowMs, startMs + (index + 1) * windowMs];
    windows[index] ??= { startMs: from, endMs: to, calls: 0, refused: 0, sentBy: new Map() };
    return { window: windows[index], resetMs: startMs + (index + 1) * windowMs - clock.now() };
  };
  return {
    /** The windows so far. */
    windows: () => windows.flatMap((window) => window ?? []),
    current: () => current().window,
    /** Calls the provider: it counts the call halfway. */
    call: (
      by: string,
      done: (state: { limit: number; remaining: number; resetSeconds: number }, ok: boolean) => void,
    ) => {
      clock.after(latencyMs / 2, () => {
        const { window, resetMs } = current();
        window.calls++;
        window.sentBy.set(by, (window.sentBy.get(by) ?? 0) + 1);
        const isRefused = window.calls > limit;
        if (isRefused) window.refused++;
        const remaining = Math.max(0, limit - window.calls);
        const state = { limit, remaining, resetSeconds: Math.ceil(resetMs / 1000) };
        clock.after(latencyMs / 2, () => done(state, !isRefused));
      });
    },
  };
}

interface Limited {
  readonly limit: number;
  readonly windowMs: number;
  readonly latencyMs?: number;
}

/** Several processes over one database in memory. */
export function createCluster() {
  const clock = createVirtualClock();
  const rows = new Map<string, StoredBudget>();
  const handlers = new Set<(payload: string) => void>();
  let isDown = false;
  let statements = 0;
  let started = 0;
  const extras: { atMs: number; process: number }[] = [];
  const noteExtra = (process: number) => void extras.push({ atMs: clock.now(), process });
  const later = <Result>(work: () => Result): Promise<Result> =>
    new Promise((resolve, reject) => {
      clock.after(LATENCY_MS / 2, () => {
        let result: Result;
        try {
          statements++;
          if (isDown) throw new Error('The database is down');
          result = work();
        } catch (error) {
          return void clock.after(LATENCY_MS / 2, () => reject(error));
        }
        clock.after(LATENCY_MS / 2, () => resolve(result));
      });
    });
  const nameOf = ({ accountId, id }: { readonly accountId: number; readonly id: number }) => `${accountId}:${id}`;
  const store: BudgetStore = {
    read: (keys) =>
      later(() => ({
        now: clock.now() + 7,
        budgets: keys.flatMap((key) => structuredClone(rows.get(nameOf(key))) ?? []),
      })),
    write: (changed) =>
      later(() =>
        changed.filter(({ expiresAt: _, ...budget }) => {
          const known = rows.get(nameOf(budget))?.version;
          if (known !== undefined && known !== budget.version - 1) return false;
          rows.set(nameOf(budget), structuredClone(budget));
          return true;
        }),
      ),
  };

  function start(options: Partial<RateBudgetOptions> = {}) {
    const id = started++;
    const own = new Set<(payload: string) => void>();
    const counts = {
      waited: 0,
      unleased: 0,
      overdrawn: { caller: 0, background: 0, formula: 0 },
      renewed: 0,
      conflict: 0,
      failed: 0,
    };
    let isFrozen = false;
    const late: (() => void)[] = [];
    const budgets = createRateBudgets({
      // A frozen process does nothing: its timers end when it continues.
      clock: { ...clock, after: (ms, call) => clock.after(ms, () => (isFrozen ? void late.push(call) : call())) },
      sharing: {
        store,
        log: silentLog,
        options,
        notifier: {
          publish: (_, payload) =>
            later(() => {
              for (const handle of handlers) clock.after(1, () => handle(payload));
            }),
          subscribe: (_, handler) => {
            const hear = (payload: string) => !isFrozen && handler(payload);
            handlers.add(hear);
            own.add(hear);
            return () => handlers.delete(hear);
          },
        },
      },
      counts: {
        waited: () => void counts.waited++,
        unleased: () => {
          counts.unleased++;
          noteExtra(id);
        },
        overdrawn: (work) => {
          counts.overdrawn[work]++;
          noteExtra(id);
        },
        renewed: (outcome, count) => {
          counts[outcome] += count;
        },
      },
    });
    const gate = budgets.gateOf(INSTANCE);
    return {
      budgets,
      gate,
      counts,
      freeze: () => {
        isFrozen = true;
      },
      thaw: () => {
        isFrozen = false;
        for (const call of late.splice(0)) call();
      },
      /** Ends the process without a word. */
      kill: () => {
        isFrozen = true;
        for (const handler of own) handlers.delete(handler);
      },
      /** Sends a call as soon as there is a share of the limit. */
      call: (
        provider: ReturnType<typeof createProvider>,
        work: Work,
        by: string = work,
        done: (ok: boolean) => void = () => undefined,
      ) => {
        if (isFrozen) return;
        const send = () => {
          if (isFrozen) return;
          const sent = gate.sent();
          provider.call(by, (state, ok) => {
            if (isFrozen) return;
            gate.heard(sent, state);
            if (!ok) gate.refused(sent, state.resetSeconds * 1000);
            gate.ended();
            done(ok);
          });
        };
        const trace = createTrace('test');
        if (work !== 'caller') trace.work = work;
        const waiting = withTrace({ trace, span: undefined }, () => gate.take(new AbortController().signal));
        if (waiting === undefined) send();
        // The error of background work that finds no share says how long to wait.
        else
          waiting.then(
            send,
            ({ retryAfterSeconds = 1 }) => void clock.after(retryAfterSeconds * 1000, () => done(false)),
          );
      },
      isEnded: () => isFrozen,
    };
  }

  return {
    clock,
    start,
    /** Lets a process work as polls and bulk jobs do: call after call, unless the rest of the limit belongs to callers. */
    work: (process: Process, provider: ReturnType<typeof createProvider>, work: Work = 'background') => {
      const next = (): void => {
        if (process.isEnded()) return;
        const waitMs = waitForCallersMs(process.budgets.find(INSTANCE));
        if (waitMs === undefined) process.call(provider, work, work, next);
        else clock.after(waitMs, next);
      };
      next();
    },
    /** The calls that were sent without a share: before there was one, or in spite of it. */
    extras,
    /** The rows of the table. */
    rows,
    statements: () => statements,
    fail: (down: boolean) => {
      isDown = down;
    },
  };
}

/** The part of a process that works. */
export interface Process {
  readonly budgets: { readonly find: ReturnType<typeof createRateBudgets>['find'] };
  readonly isEnded: () => boolean;
  readonly call: (
    provider: ReturnType<typeof createProvider>,
    work: Work,
    by?: string,
    done?: (ok: boolean) => void,
  ) => void;
}
