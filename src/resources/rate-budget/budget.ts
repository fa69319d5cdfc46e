import type { Clock, EndWait } from '../../clock.ts';
import type { RateLimitState } from '../../connector/contract.ts';
import { AppError } from '../../errors.ts';
import { currentTrace } from '../../trace.ts';
import { CALLERS_SHARE, callsBesideCallers, type TimedRateLimit } from '../rate-limits.ts';
import type { Grant, Report, ShareRenewal } from './settle.ts';

/** The work that a call belongs to. Background work and formulas leave a part of the budget to callers. */
export type Work = 'caller' | 'background' | 'formula';

/** Limits of shared budgets. */
export interface RateBudgetOptions {
  /** Whether other processes share the budgets of this one. */
  readonly isShared: boolean;
  /** Milliseconds for which a process has its share. */
  readonly leaseMs: number;
  /** Milliseconds between two renewals of a budget in use, if other processes use it too, and if none does. */
  readonly renewMs: number;
  readonly aloneRenewMs: number;
  /** Milliseconds after the last call until a process returns its share. */
  readonly idleMs: number;
  /** Minimum milliseconds between two renewals of a process, and between those that others wait for. */
  readonly spacingMs: number;
  readonly urgentSpacingMs: number;
  /** Maximum milliseconds that a call of a caller waits for a share, and that another call waits. */
  readonly mostWaitMs: number;
  readonly mostBackgroundWaitMs: number;
  /** Calls that may be under way to an instance of which nothing is known yet. */
  readonly coldCalls: number;
}

export const BUDGET_OPTIONS: RateBudgetOptions = {
  isShared: true,
  leaseMs: 5_000,
  renewMs: 1_000,
  aloneRenewMs: 2_500,
  idleMs: 1_500,
  spacingMs: 50,
  urgentSpacingMs: 20,
  mostWaitMs: 5_000,
  mostBackgroundWaitMs: 20_000,
  coldCalls: 10,
};

/** The instance that a budget belongs to. */
export interface BudgetKey {
  readonly accountId: number;
  readonly id: number;
}

/** A call under way, with the counts when it was sent. */
interface SentCall {
  readonly askedAtMs: number;
  readonly taken: number;
  readonly answered: number;
}

/** Counts of calls that found no share. */
export interface BudgetMeasures {
  /** A call waited for a share. */
  readonly waited: (work: Work) => void;
  /** A call was sent before the process had a share. */
  readonly unleased: (work: Work) => void;
  /** A call was sent without a share, because waiting longer would not have helped. */
  readonly overdrawn: (work: Work) => void;
}

interface BudgetPorts {
  readonly clock: Clock;
  readonly options: RateBudgetOptions;
  readonly measures: BudgetMeasures;
  /** Requests a renewal in the background. */
  readonly renew: (budget: Budget, urgency: 'soon' | 'now') => void;
  /** Reports that the provider refused a call, and for how long it requested to wait. */
  readonly tellRefusal: (budget: Budget, waitMs: number) => void;
  /** Whether shares cannot be renewed, because the database fails. */
  readonly isFailing: () => boolean;
}

/** Times between this process and the database: its time `now` was read between `sentAtMs` and `readAtMs` of the steady clock. */
interface TimeOfDatabase {
  readonly now: number;
  readonly sentAtMs: number;
  readonly readAtMs: number;
}

interface Lease {
  left: number;
  readonly granted: number;
  readonly reserve: number;
  /** Calls of all processes, as of the renewal. */
  readonly total: number;
  readonly limit: number;
  readonly isAlone: boolean;
  readonly untilMs: number;
  readonly renewedAtMs: number;
  readonly resetAtMs: number;
}

interface OwnReport {
  readonly limit: number;
  readonly remaining: number;
  readonly askedAtMs: number;
  readonly resetAtMs: number;
  /** Whether the provider reported when the limit is renewed. */
  readonly isResetTold: boolean;
  /** Calls that had been sent when the reporting call was. */
  readonly taken: number;
  /** Whether this process received the report, so that it knows which of its calls the report includes. */
  readonly isOwn: boolean;
}

interface Waiter {
  readonly work: Work;
  readonly admit: () => void;
}

/** The seconds until a rate limit is renewed, where the provider does not report them. */
const UNTOLD_RESET_SECONDS = 60;
/** A process without a lease may send this part of what it knows to remain, in the time of one lease. */
const UNLEASED_PART = 1 / 32;
/** Background work tries again after this time at the latest. */
const LONGEST_RETRY_SECONDS = 3_600;
/** A refusal is reported to other processes if it ends this much later than the last one. */
const LEAST_NEWS_MS = 1_000;
/** Renewals of one budget are at least this far apart, unless others wait for it. */
const LEAST_RENEWAL_MS = 200;

export type Budget = ReturnType<typeof createBudget>;

/** Creates the budget of an instance, as one process sees it. Sending a call needs no statement: renewals run in the background. */
export function createBudget({ clock, options, measures, renew, tellRefusal, isFailing }: BudgetPorts, key: BudgetKey) {
  const { leaseMs } = options;
  let taken = 0;
  let answered = 0;
  let told: (RateLimitState & { readonly resetAtMs: number }) | undefined;
  let report: OwnReport | undefined;
  /** Calls that the last report to this process surely includes. */
  let base = 0;
  let blockedUntilMs = Number.NEGATIVE_INFINITY;
  let lease: Lease | undefined;
  /** Whether the provider or the database has responded, so that what is not known now is not known at all. */
  let isAsked = false;
  let lastUsedMs = Number.NEGATIVE_INFINITY;
  const unleased = { sinceMs: Number.NEGATIVE_INFINITY, calls: 0 };
  const asked = { caller: 0, background: 0, sinceMs: clock.steady() };
  const expected = { callers: 0, background: 0 };
  let waiters: Waiter[] = [];
  let endReset: EndWait | undefined;
  let endRetry: EndWait | undefined;

  const held = (nowMs: number): Lease | undefined => (lease !== undefined && nowMs < lease.untilMs ? lease : undefined);

  function find(): TimedRateLimit | undefined {
    const nowMs = clock.steady();
    if (nowMs < blockedUntilMs) {
      return { limit: told?.limit ?? 1, remaining: 0, resetSeconds: Math.ceil((blockedUntilMs - nowMs) / 1000) };
    }
    if (told === undefined) return undefined;
    const { resetAtMs, ...said } = told;
    const leftMs = resetAtMs - nowMs;
    return leftMs > 0 ? { ...said, resetSeconds: Math.ceil(leftMs / 1000) } : undefined;
  }

  /** Returns what is known to remain. After the reset that the provider reported, it is the whole limit. */
  function current(nowMs: number): OwnReport | undefined {
    if (report === undefined || nowMs < report.resetAtMs) return report;
    return report.isResetTold ? { ...report, remaining: report.limit } : undefined;
  }

  const allowanceOf = ({ remaining }: OwnReport) => Math.max(1, Math.floor(remaining * UNLEASED_PART));

  function unleasedCalls(nowMs: number): number {
    if (nowMs - unleased.sinceMs >= leaseMs) Object.assign(unleased, { sinceMs: nowMs, calls: 0 });
    return unleased.calls;
  }

  function admits(work: Work, nowMs: number): boolean {
    const own = held(nowMs);
    if (own === undefined && options.isShared) return admitsUnleased(work, nowMs);
    if (own === undefined || own.isAlone) return work !== 'formula' || callsBesideCallers(find()) > 0;
    return work === 'caller' ? own.left >= 1 : own.left - 1 >= own.reserve;
  }

  /** A process without a lease has a small part of what it knows, per lease. While the database fails, it has that part of each report. */
  function admitsUnleased(work: Work, nowMs: number): boolean {
    const known = current(nowMs);
    if (known === undefined) return isAsked || taken - answered < options.coldCalls;
    const { limit, remaining } = known;
    const since = taken - known.taken;
    if (work !== 'caller' && callsBesideCallers({ limit, remaining: remaining - since }) <= 0) return false;
    const allowance = allowanceOf(known);
    return since < allowance && (isFailing() || unleasedCalls(nowMs) < allowance);
  }

  function count(work: Work, nowMs: number): void {
    taken++;
    const own = held(nowMs);
    if (own === undefined) {
      if (!options.isShared || (isAsked && current(nowMs) === undefined)) return;
      unleased.calls = unleasedCalls(nowMs) + 1;
      measures.unleased(work);
    } else if (--own.left < 0 && !own.isAlone) measures.overdrawn(work);
  }

  /** Requests a renewal where the share ends soon, by time or by calls. */
  function considerRenewal(nowMs: number): void {
    if (!options.isShared) return;
    const own = held(nowMs);
    if (own === undefined) {
      const known = current(nowMs);
      if (known !== undefined && unleasedCalls(nowMs) * 2 >= allowanceOf(known)) renew(budget, 'soon');
      return;
    }
    const ageMs = nowMs - own.renewedAtMs;
    if (ageMs >= (own.isAlone ? options.aloneRenewMs : options.renewMs)) renew(budget, 'soon');
    else if (!own.isAlone && own.total >= 1 && own.left * 2 < own.granted && ageMs >= LEAST_RENEWAL_MS)
      renew(budget, 'soon');
  }

  /** Whether waiting is in vain: no process has anything left for this work, and the limit is renewed too late. */
  function isSpent(work: Work, nowMs: number): boolean {
    const own = held(nowMs);
    if (own === undefined || own.isAlone) return false;
    const total = work === 'caller' ? own.total : own.total - own.limit * CALLERS_SHARE;
    return total < 1 && own.resetAtMs - nowMs > longestWaitMs(work);
  }

  function longestWaitMs(work: Work): number {
    return work === 'caller' ? options.mostWaitMs : options.mostBackgroundWaitMs;
  }

  /** Background work can do without the call for now. */
  function reserved(): AppError {
    const { resetSeconds = 1 } = find() ?? {};
    return new AppError(
      'OVERLOADED',
      'The rest of the rate limit of the provider is for callers and for other processes. Try again later.',
      { retryAfterSeconds: Math.min(resetSeconds, LONGEST_RETRY_SECONDS) },
    );
  }

  /** @throws AppError OVERLOADED for background work that finds no share; the reason of the signal */
  async function wait(work: Work, signal: AbortSignal): Promise<void> {
    measures.waited(work);
    if (work === 'background' && isSpent(work, clock.steady())) throw reserved();
    return new Promise((resolve, reject) => {
      const leave = () => {
        endWait();
        signal.removeEventListener('abort', abort);
        waiters = waiters.filter((one) => one !== waiter);
      };
      const admit = () => {
        leave();
        count(work, clock.steady());
        resolve();
      };
      const abort = () => {
        leave();
        reject(signal.reason);
      };
      const waiter: Waiter = { work, admit };
      const endWait = clock.after(longestWaitMs(work), () => {
        if (work === 'background') {
          leave();
          return reject(reserved());
        }
        // A lease counts the call as overdrawn itself.
        if (held(clock.steady()) === undefined) measures.overdrawn(work);
        admit();
      });
      signal.addEventListener('abort', abort, { once: true });
      waiters.push(waiter);
      renewForWaiters();
      wakeAtReset();
    });
  }

  /** Sends the calls that now may be sent, those of callers first. */
  function pump(): void {
    if (waiters.length === 0) return;
    const nowMs = clock.steady();
    const inOrder = [...waiters.filter(isOfCaller), ...waiters.filter((one) => !isOfCaller(one))];
    for (const { work, admit } of inOrder) {
      if (admits(work, nowMs) || (work === 'caller' && isSpent(work, nowMs))) admit();
    }
    if (waiters.length === 0) return;
    renewForWaiters();
    wakeAtReset();
  }

  /** Requests a renewal for the calls that wait: at once, or a while after the last one. Other processes report when they return something. */
  function renewForWaiters(): void {
    if (!options.isShared || endRetry !== undefined) return;
    const nowMs = clock.steady();
    const own = held(nowMs);
    if (own === undefined) {
      renew(budget, 'now');
      return;
    }
    const forBackground = own.total - own.limit * CALLERS_SHARE;
    const isUseful = (waiters.some(isOfCaller) ? own.total : forBackground) >= 1;
    const spacingMs = isUseful ? LEAST_RENEWAL_MS : options.renewMs;
    endRetry = clock.after(Math.max(0, Math.ceil(own.renewedAtMs + spacingMs - nowMs)), () => {
      endRetry = undefined;
      if (waiters.length > 0) renew(budget, 'now');
    });
  }

  function wakeAtReset(): void {
    const resetAtMs = held(clock.steady())?.resetAtMs ?? current(clock.steady())?.resetAtMs;
    const inMs = resetAtMs === undefined ? Number.POSITIVE_INFINITY : resetAtMs - clock.steady();
    if (endReset !== undefined || inMs > options.mostBackgroundWaitMs || inMs <= 0) return;
    endReset = clock.after(Math.ceil(inMs), () => {
      endReset = undefined;
      renew(budget, 'now');
      pump();
    });
  }

  const budget = {
    key,
    /** Returns the rate limit as it was last reported, until it is renewed. */
    find,
    isHeld: () => held(clock.steady()) !== undefined,
    isAlone: () => held(clock.steady())?.isAlone === true,
    isWaitedFor: () => waiters.length > 0,
    /** Whether the process has a share, and has sent no call for a while. */
    isIdle: () =>
      waiters.length === 0 && taken === answered && budget.isHeld() && clock.steady() - lastUsedMs >= options.idleMs,

    /**
     * Counts a call of the current work that is about to be sent.
     * @returns undefined if it can be sent now. Otherwise a promise that resolves when it can, or after the longest wait; it rejects with
     * OVERLOADED for background work that finds no share, and with the reason of the signal
     */
    take: (signal: AbortSignal): Promise<void> | undefined => {
      const work: Work = currentTrace()?.work ?? 'caller';
      const nowMs = clock.steady();
      lastUsedMs = nowMs;
      asked[work === 'caller' ? 'caller' : 'background']++;
      // Most providers report no limit, so there is nothing to share, and nothing to renew.
      if (options.isShared && lease === undefined && report === undefined && isAsked) {
        taken++;
        return undefined;
      }
      if (!admits(work, nowMs) && !(work === 'caller' && isSpent(work, nowMs))) return wait(work, signal);
      count(work, nowMs);
      considerRenewal(nowMs);
      return undefined;
    },

    /** Returns the counts for a call that is sent now. */
    sent: (): SentCall => ({ askedAtMs: clock.steady(), taken, answered }),

    /** Notes the rate limit that the response to a call reported. */
    heard: (call: SentCall, state: RateLimitState): void => {
      const { limit, remaining, resetSeconds } = state;
      const resetAtMs = clock.steady() + (resetSeconds ?? UNTOLD_RESET_SECONDS) * 1000;
      told = { ...state, resetAtMs };
      if (limit === undefined || remaining === undefined || call.askedAtMs < (report?.askedAtMs ?? 0)) return;
      const isResetTold = resetSeconds !== undefined;
      const { askedAtMs, taken } = call;
      report = { limit, remaining, askedAtMs, resetAtMs, isResetTold, taken, isOwn: true };
      base = call.answered + 1;
    },

    /** Notes that the provider refused a call because of its rate limit, and for how long it requested to wait. */
    refused: (call: SentCall, waitMs: number | undefined): void => {
      const nowMs = clock.steady();
      const limit = told?.limit ?? report?.limit;
      const isNews = waitMs !== undefined && nowMs + waitMs > blockedUntilMs + LEAST_NEWS_MS;
      if (waitMs !== undefined) blockedUntilMs = Math.max(blockedUntilMs, nowMs + waitMs);
      if (limit !== undefined && waitMs !== undefined) {
        const { askedAtMs, taken } = call;
        report = { limit, remaining: 0, askedAtMs, resetAtMs: nowMs + waitMs, isResetTold: true, taken, isOwn: true };
        base = call.answered + 1;
        const own = held(nowMs);
        if (own !== undefined && !own.isAlone) own.left = Math.min(own.left, 0);
      }
      if (!options.isShared) return;
      // Where the limit is spent, each of many calls may be refused.
      if (isNews) tellRefusal(budget, waitMs);
      const own = held(nowMs);
      if (own !== undefined && !own.isAlone && nowMs - own.renewedAtMs >= LEAST_RENEWAL_MS) renew(budget, 'soon');
    },

    /** Counts the end of a call, with or without a response. */
    ended: (): void => {
      answered++;
      isAsked = true;
      if (waiters.length === 0) return;
      pump();
      if (waiters.length > 0 && held(clock.steady()) === undefined) renewForWaiters();
    },

    /** Takes over what another process reported. */
    learn: (state: RateLimitState): void => {
      const nowMs = clock.steady();
      const { limit, remaining, resetSeconds = UNTOLD_RESET_SECONDS } = state;
      const resetAtMs = nowMs + resetSeconds * 1000;
      told = { ...state, resetAtMs };
      if (limit === undefined || remaining === undefined || held(nowMs) !== undefined) return;
      report = { limit, remaining, askedAtMs: nowMs, resetAtMs, isResetTold: true, taken, isOwn: false };
    },

    /** Takes over that the provider refused a call of another process. */
    learnRefusal: (waitMs: number): void => {
      blockedUntilMs = Math.max(blockedUntilMs, clock.steady() + waitMs);
    },

    /** Returns the request for a share. */
    request: (holder: string, database: TimeOfDatabase, leaves: boolean): ShareRenewal => {
      const nowMs = clock.steady();
      const elapsedMs = Math.max(LEAST_RENEWAL_MS, nowMs - asked.sinceMs);
      const perLease = leaseMs / elapsedMs;
      expected.callers = (expected.callers + asked.caller * perLease) / 2;
      expected.background = (expected.background + asked.background * perLease) / 2;
      Object.assign(asked, { caller: 0, background: 0, sinceMs: nowMs });
      const waitingCallers = waiters.filter(isOfCaller).length;
      return {
        holder,
        now: database.now,
        leaseMs,
        taken,
        answered,
        base,
        report: report?.isOwn === true ? toReport(report, database) : undefined,
        callers: Math.ceil(expected.callers) + waitingCallers,
        background: Math.ceil(expected.background) + waiters.length - waitingCallers,
        waitingCallers,
        waitingBackground: waiters.length - waitingCallers,
        leaves,
      };
    },

    /** Reduces the share to what will be left of it, before others can get the rest. */
    reduce: ({ left }: Grant, takenBefore: number): void => {
      if (lease !== undefined) lease.left = Math.min(lease.left, left - (taken - takenBefore));
    },

    /** Takes the share. `takenBefore` is the number of calls in its request. */
    grant: (grant: Grant, takenBefore: number, { now, sentAtMs, readAtMs }: TimeOfDatabase): void => {
      const nowMs = clock.steady();
      const { isAlone, total, reserve } = grant;
      const { limit, resetsAt } = grant.report;
      const resetAtMs = grant.isRenewed ? Number.POSITIVE_INFINITY : readAtMs + resetsAt - now;
      const since = taken - takenBefore;
      lease = {
        left: grant.left - since,
        granted: grant.left,
        reserve,
        total,
        limit,
        isAlone,
        untilMs: sentAtMs + leaseMs,
        renewedAtMs: nowMs,
        resetAtMs,
      };
      if (!isAlone || told === undefined) {
        const untilMs = grant.isRenewed ? nowMs + UNTOLD_RESET_SECONDS * 1000 : resetAtMs;
        told = { limit, remaining: Math.max(0, total - since), resetAtMs: untilMs };
      }
      isAsked = true;
      pump();
    },

    /** Notes that no process knows a limit, or that it cannot be found out. */
    noteUnknown: (): void => {
      isAsked = true;
      pump();
    },

    /** Notes that the share is returned. */
    release: (): void => {
      lease = undefined;
    },

    /** Ends all timers. */
    close: (): void => {
      endReset?.();
      endRetry?.();
    },
  };
  return budget;
}

function isOfCaller({ work }: Waiter): boolean {
  return work === 'caller';
}

/**
 * Returns a report by the database's clock. The process knows only that the database read its clock between two moments, so the call counts as
 * earlier and the reset as later than they may have been.
 */
function toReport(own: OwnReport, { now, sentAtMs, readAtMs }: TimeOfDatabase): Report {
  const { limit, remaining, askedAtMs, resetAtMs } = own;
  return { limit, remaining, at: now - (readAtMs - askedAtMs), resetsAt: now + resetAtMs - sentAtMs };
}
