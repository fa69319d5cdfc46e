import type { Logger } from '../../log.ts';
import { hostOf, type Lease } from '../lease.ts';
import type { EngineOptions } from '../options.ts';
import type { Dispatcher } from '../push/dispatch.ts';
import { createRotation } from '../rotation.ts';
import { type Budget, createBudget } from './budget.ts';
import type { ClaimedRow, ClaimStore, DueEndpoint, Share } from './claim-store.ts';
import { createOrderedSweep } from './ordered-sweep.ts';

export interface SweepPorts {
  readonly store: ClaimStore;
  readonly dispatcher: Pick<
    Dispatcher,
    'enqueue' | 'sweepRoom' | 'accountRoom' | 'wantRoom' | 'hasBytes' | 'freeBytes'
  >;
  readonly owner: () => string | undefined;
  readonly now: () => number;
  /** From 0 to 1: where a look begins, so that nobody is the first to be asked each time. */
  readonly random: () => number;
  readonly log: Logger;
  /** In memory from here on. */
  readonly onClaimed: (lease: Lease) => void;
  readonly release: (lease: Lease) => void;
  /** The event of a delivery is not there any more. */
  readonly onMissing: (lease: Lease) => void;
  readonly options: Pick<
    EngineOptions,
    'claimRows' | 'minClaimShare' | 'visits' | 'maxVisits' | 'sweepBackstopMs' | 'storeRetryMs'
  >;
}

/** Brings due deliveries into memory. */
export interface Sweep {
  readonly start: () => void;
  /** Looks now. */
  readonly wake: () => void;
  /** Looks at one ordered subscription now. */
  readonly wakeOrdered: (subscriptionId: number) => void;
  /** A delivery was stored that becomes due then. */
  readonly noteDue: (dueAtMs: number) => void;
  /** Claims nothing more from here on. */
  readonly stop: () => Promise<void>;
}

export function createSweep(ports: SweepPorts): Sweep {
  const { store, dispatcher, log, options } = ports;
  const budgetOf = () => createBudget(dispatcher);
  const ordered = createOrderedSweep({ ...ports, budgetOf, takeIn });
  let started = false;
  let stopped = false;
  let wanted = false;
  /** When the next delivery becomes due that is known of. */
  let soonestMs = Number.POSITIVE_INFINITY;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function wake(): void {
    wanted = true;
    start();
  }

  function start(): void {
    if (!started || stopped || running !== undefined) return;
    clearTimeout(timer);
    running = sweep().then((nextMs) => {
      running = undefined;
      if (stopped) return;
      if (wanted || ordered.isWanted()) start();
      else timer = setTimeout(wake, nextMs);
    });
  }

  /** @returns how long to wait */
  async function sweep(): Promise<number> {
    const all = wanted;
    wanted = false;
    try {
      const owner = ports.owner();
      if (owner === undefined) return options.storeRetryMs.longest;
      await ordered.sweepWanted(owner);
      if (all) {
        soonestMs = Number.POSITIVE_INFINITY;
        await ordered.sweepAll(owner);
        while (!stopped && (await sweepOnce(owner)) > 0);
        noteDue((await store.nextDue(new Date(ports.now())))?.getTime());
      }
      return waitMs();
    } catch (error) {
      log.warn({ err: error }, 'could not look for due deliveries; trying again');
      wanted = true;
      await pause(options.storeRetryMs.longest);
      return 0;
    }
  }

  /** Past every subscription that has something waiting. @returns how many deliveries it claimed */
  async function sweepOnce(owner: string): Promise<number> {
    let claimed = 0;
    let afterId: number | undefined = 0;
    while (afterId !== undefined && !stopped) {
      const look = await lookFrom(afterId);
      claimed += await claimFrom(look.due, owner);
      afterId = look.lastId;
    }
    return claimed;
  }

  /** Up to `maxVisits` subscriptions above the cursor: what of them is due, accounts in turns, and where to go on. */
  async function lookFrom(afterId: number): Promise<Look> {
    const due: DueEndpoint[] = [];
    let lastId = afterId;
    let visited = 0;
    for (let visits = 0; visits < options.maxVisits && !stopped; visits += visited) {
      const endpoints = await store.endpoints(lastId, options.visits, new Date(ports.now()));
      due.push(...endpoints.filter(({ dueFirsts, dueRetries }) => dueFirsts || dueRetries));
      lastId = endpoints.at(-1)?.subscriptionId ?? lastId;
      visited = endpoints.length;
      if (visited < options.visits) return { due: inTurns(due, ports.random()) };
    }
    return { due: inTurns(due, ports.random()), lastId };
  }

  async function claimFrom(due: readonly DueEndpoint[], owner: string): Promise<number> {
    const limit = Math.max(options.minClaimShare, Math.floor(options.claimRows / Math.max(1, due.length)));
    const groupSize = Math.ceil(options.claimRows / limit);
    let claimed = 0;
    for (let at = 0; at < due.length && !stopped; at += groupSize) {
      // Asked for at the last moment: what was claimed before has taken room.
      const budget = budgetOf();
      const shares = due.slice(at, at + groupSize).flatMap((endpoint) => sharesOf(endpoint, limit, budget));
      if (shares.length === 0) continue;
      const rows = await store.claim(shares, { owner, now: new Date(ports.now()) });
      await takeIn(rows, owner);
      claimed += rows.length;
    }
    return claimed;
  }

  function sharesOf(endpoint: DueEndpoint, limit: number, budget: Budget): Share[] {
    const { accountId, subscriptionId, url, dueFirsts, dueRetries } = endpoint;
    const room = dispatcher.sweepRoom({ accountId, subscriptionId, host: hostOf(url ?? '') });
    const grant = (isDue: boolean, most: number) => (isDue ? budget.take(accountId, Math.min(most, limit)) : 0);
    const retries = { subscriptionId, isRetry: true, limit: grant(dueRetries, room.retries) };
    const firsts = { subscriptionId, isRetry: false, limit: grant(dueFirsts, room.firsts) };
    return [retries, firsts].filter((share) => share.limit > 0);
  }

  async function takeIn(rows: readonly ClaimedRow[], owner: string): Promise<void> {
    let left = rows;
    while (left.length > 0) {
      const payloads = await store.payloads(left, dispatcher.freeBytes());
      for (const row of left) {
        const payload = payloads.get(row.id);
        if (payload !== undefined) take(toLease(row, owner, payload));
      }
      const [first, ...others] = left;
      // The first one always comes, if its event is there.
      if (first !== undefined && !payloads.has(first.id)) ports.onMissing(toLease(first, owner, ''));
      left = others.filter((row) => !payloads.has(row.id) && !releaseExcess(toLease(row, owner, '')));
    }
  }

  /** True: its account has in memory what it may. */
  function releaseExcess(lease: Lease): boolean {
    if (dispatcher.hasBytes(lease.accountId)) return false;
    dispatcher.wantRoom(lease.accountId);
    ports.release(lease);
    return true;
  }

  function take(lease: Lease): void {
    if (releaseExcess(lease)) return;
    ports.onClaimed(lease);
    dispatcher.enqueue(lease, false);
  }

  function noteDue(dueAtMs = Number.POSITIVE_INFINITY): void {
    soonestMs = Math.min(soonestMs, dueAtMs);
  }

  function waitMs(): number {
    const dueMs = Math.min(soonestMs, ordered.nextDueMs());
    return Math.max(1, Math.min(dueMs - ports.now(), options.sweepBackstopMs));
  }

  let endPause: (() => void) | undefined;

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const over = setTimeout(resolve, stopped ? 0 : ms);
      endPause = () => {
        clearTimeout(over);
        resolve();
      };
    });
  }

  return {
    start: () => {
      started = true;
      wake();
    },
    wake,
    wakeOrdered: (subscriptionId) => {
      ordered.want(subscriptionId);
      start();
    },
    noteDue: (dueAtMs) => {
      if (!started || dueAtMs >= soonestMs) return;
      noteDue(dueAtMs);
      if (running !== undefined || stopped) return;
      clearTimeout(timer);
      timer = setTimeout(wake, waitMs());
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      endPause?.();
      await running;
    },
  };
}

interface Look {
  readonly due: readonly DueEndpoint[];
  /** Absent: there are no more. */
  readonly lastId?: number;
}

/** Of each account in turn; `start`, from 0 to 1, is where each begins. */
function inTurns(due: readonly DueEndpoint[], start: number): readonly DueEndpoint[] {
  const first = Math.floor(due.length * start);
  const turns = createRotation<DueEndpoint>();
  for (const endpoint of [...due.slice(first), ...due.slice(0, first)]) turns.push(endpoint.accountId, endpoint);
  const ordered: DueEndpoint[] = [];
  for (let next = turns.shift(); next !== undefined; next = turns.shift()) ordered.push(next);
  return ordered;
}

function toLease(row: ClaimedRow, owner: string, payload: string): Lease {
  return {
    accountId: row.accountId,
    id: row.id,
    subscriptionId: row.subscriptionId,
    host: hostOf(row.url ?? ''),
    owner,
    attempts: row.attempts,
    retries: row.retries,
    firstFailedAtMs: row.firstFailedAt?.getTime(),
    eventId: row.eventId,
    instanceId: row.instanceId ?? undefined,
    ordered: row.ordered,
    body: Buffer.from(payload),
    acceptedAtMs: undefined,
  };
}
