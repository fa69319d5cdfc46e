import { randomUUID } from 'node:crypto';
import type { Clock, EndWait } from '../../clock.ts';
import type { RateLimitState } from '../../connector/contract.ts';
import type { Notifier } from '../../db/notifier.ts';
import type { Logger } from '../../log.ts';
import { inBackground } from '../../trace.ts';
import { callsBesideCallers } from '../rate-limits.ts';
import type { Budget, BudgetKey, RateBudgetOptions } from './budget.ts';
import type { BudgetStore, ChangedBudget } from './budget-store.ts';
import { type Settlement, settle } from './settle.ts';

interface RenewalPorts {
  readonly store: BudgetStore;
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: RateBudgetOptions;
  readonly measures: { readonly renewed: (outcome: 'renewed' | 'conflict' | 'failed', count: number) => void };
  /** Returns the budget of an instance, if this process has called it. */
  readonly findBudget: (key: BudgetKey) => Budget | undefined;
  /** Returns the budget of an instance. */
  readonly getBudget: (key: BudgetKey) => Budget;
}

/** The topic of messages between processes about budgets. */
const TOPIC = 'rate-budgets';
/** Maximum number of budgets in a statement. */
const MOST_RENEWED = 500;
/** Maximum number of budgets in a message. PostgreSQL limits its size. */
const MOST_TOLD = 60;
const RETRY_MS = 1_000;
const IDLE_CHECK_MS = 500;
/** How long the report of a budget is kept that no process uses, so that a process that begins to use it knows its limit. */
const KEEP_MS = 60_000;

/** News of a budget: `wake` requests holders to renew, `limit` is what is left, `refusedMs` is how long the provider requested to wait. */
interface News {
  readonly account: number;
  readonly instance: number;
  readonly wake?: true;
  readonly limit?: RateLimitState;
  readonly refusedMs?: number;
}

/** Renews the shares of this process in the background, all of them by one statement to read and one to write. */
export function createRenewals(ports: RenewalPorts) {
  const { store, notifier, clock, log, options, measures } = ports;
  const holder: string = randomUUID();
  const due = new Set<Budget>();
  const held = new Set<Budget>();
  let news: News[] = [];
  let isRunning = false;
  let isFailing = false;
  let hasEnded = false;
  let lastRunMs = Number.NEGATIVE_INFINITY;
  let runsAtMs = Number.POSITIVE_INFINITY;
  let endRun: EndWait | undefined;
  let endIdleCheck: EndWait | undefined;
  let running: Promise<void> = Promise.resolve();

  function renew(budget: Budget, urgency: 'soon' | 'now'): void {
    if (hasEnded) return;
    due.add(budget);
    runIn(urgency);
  }

  function runIn(urgency: 'soon' | 'now'): void {
    const spacingMs = isFailing ? RETRY_MS : urgency === 'now' ? options.urgentSpacingMs : options.spacingMs;
    const atMs = Math.max(clock.steady(), lastRunMs + spacingMs);
    if (isRunning || hasEnded || atMs >= runsAtMs) return;
    endRun?.();
    runsAtMs = atMs;
    // It does not belong to the request that happened to start it.
    inBackground(() => {
      endRun = clock.after(Math.max(0, Math.ceil(atMs - clock.steady())), start);
    });
  }

  function start(): void {
    runsAtMs = Number.POSITIVE_INFINITY;
    if (isRunning || hasEnded) return;
    isRunning = true;
    running = inBackground(run).finally(() => {
      isRunning = false;
      if (due.size > 0 || news.length > 0) runIn([...due].some((budget) => budget.isWaitedFor()) ? 'now' : 'soon');
    });
  }

  async function run(): Promise<void> {
    lastRunMs = clock.steady();
    const batch = [...due].slice(0, MOST_RENEWED);
    for (const budget of batch) due.delete(budget);
    try {
      if (batch.length > 0) await renewAll(batch, false);
      await tellNews();
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ err: error }, 'could not renew the shares of the rate limits of providers; calls go on');
      isFailing = true;
      measures.renewed('failed', batch.length);
      for (const budget of batch) {
        budget.noteUnknown();
        if (budget.isHeld() || budget.isWaitedFor()) due.add(budget);
      }
    }
    checkIdleLater();
  }

  async function renewAll(batch: readonly Budget[], isLast: boolean): Promise<void> {
    const sentAtMs = clock.steady();
    const { now, budgets } = await store.read(batch.map(({ key }) => key));
    const database = { now, sentAtMs, readAtMs: clock.steady() };
    const stored = new Map(budgets.map((budget) => [nameOf(budget), budget]));
    const settled: {
      budget: Budget;
      settlement: Settlement;
      taken: number;
      leaves: boolean;
      changed: ChangedBudget;
    }[] = [];
    for (const budget of batch) {
      const before = stored.get(nameOf(budget.key));
      const leaves = isLast || budget.isIdle();
      const renewal = budget.request(holder, database, leaves);
      const settlement = settle(before?.state, renewal);
      if (settlement === undefined) {
        budget.noteUnknown();
        continue;
      }
      const { state, grant } = settlement;
      budget.reduce(grant, renewal.taken);
      const version = (before?.version ?? 0) + 1;
      const changed = { ...budget.key, version, state, expiresAt: now + options.leaseMs + KEEP_MS };
      settled.push({ budget, settlement, taken: renewal.taken, leaves, changed });
    }
    if (settled.length === 0) return;
    const written = await store.write(settled.map(({ changed }) => changed));
    const names = new Set(written.map(nameOf));
    measures.renewed('renewed', names.size);
    measures.renewed('conflict', settled.length - names.size);
    for (const { budget, settlement, taken, leaves } of settled) {
      if (!names.has(nameOf(budget.key))) due.add(budget);
      else if (leaves) {
        budget.release();
        held.delete(budget);
        noteNews(budget, settlement);
        // Calls may have come meanwhile.
        if (budget.isWaitedFor()) due.add(budget);
      } else {
        budget.grant(settlement.grant, taken, database);
        held.add(budget);
        noteNews(budget, settlement);
      }
    }
  }

  /** Notes what other processes need to know of a settlement. */
  function noteNews({ key, find }: Budget, { grant, wakesOthers }: Settlement): void {
    const { total, report, isAlone } = grant;
    const isLow = !isAlone && callsBesideCallers({ limit: report.limit, remaining: total }) <= 0;
    const known = isLow ? find() : undefined;
    const limit = known && { limit: report.limit, remaining: total, resetSeconds: known.resetSeconds };
    if (!wakesOthers && limit === undefined) return;
    news.push({ ...named(key), ...(wakesOthers && { wake: true }), ...(limit && { limit }) });
  }

  async function tellNews(): Promise<void> {
    while (news.length > 0) {
      const part = news.slice(0, MOST_TOLD);
      news = news.slice(MOST_TOLD);
      await notifier.publish(TOPIC, JSON.stringify({ from: holder, news: part }));
    }
  }

  function hear(message: string): void {
    const { from, news: told }: { readonly from: string; readonly news: readonly News[] } = JSON.parse(message);
    if (from === holder || hasEnded) return;
    for (const { account, instance, wake, limit, refusedMs } of told) {
      const key = { accountId: account, id: instance };
      if (limit !== undefined) ports.getBudget(key).learn(limit);
      if (refusedMs !== undefined) ports.getBudget(key).learnRefusal(refusedMs);
      const budget = wake && ports.findBudget(key);
      if (budget !== undefined && (budget.isHeld() || budget.isWaitedFor())) renew(budget, 'now');
    }
  }

  /** Returns the shares of budgets that are no longer used. */
  function checkIdleLater(): void {
    if (held.size === 0 || endIdleCheck !== undefined || hasEnded) return;
    endIdleCheck = clock.after(IDLE_CHECK_MS, () => {
      endIdleCheck = undefined;
      for (const budget of held) {
        if (!budget.isHeld()) held.delete(budget);
        // Nobody waits for the share of a process that is alone, and a process that joins wakes this one.
        else if (budget.isIdle() && !budget.isAlone()) renew(budget, 'soon');
      }
      checkIdleLater();
    });
  }

  const endSubscription = notifier.subscribe(TOPIC, hear);
  return {
    renew,
    isFailing: () => isFailing,
    tellRefusal: ({ key }: Budget, waitMs: number): void => {
      news.push({ ...named(key), refusedMs: Math.ceil(waitMs) });
      runIn('now');
    },
    /** Returns the number of budgets of which this process has a share, those that other processes use too, and those it uses alone. */
    countHeld: () => {
      const now = [...held].filter((budget) => budget.isHeld());
      const alone = now.filter((budget) => budget.isAlone()).length;
      return { shared: now.length - alone, alone };
    },
    /** Ends renewals, and returns all shares. */
    stop: async (): Promise<void> => {
      hasEnded = true;
      endSubscription();
      endRun?.();
      endIdleCheck?.();
      await running;
      const rest = [...held].filter((budget) => budget.isHeld());
      try {
        for (let from = 0; from < rest.length; from += MOST_RENEWED) {
          await renewAll(rest.slice(from, from + MOST_RENEWED), true);
        }
        await tellNews();
      } catch (error) {
        log.debug({ err: error }, 'could not return the shares of rate limits; they end by themselves');
      }
    },
  };
}

function nameOf({ accountId, id }: BudgetKey): string {
  return `${accountId}:${id}`;
}

function named({ accountId, id }: BudgetKey): Pick<News, 'account' | 'instance'> {
  return { account: accountId, instance: id };
}
