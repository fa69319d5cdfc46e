import type { Clock } from '../../clock.ts';
import { isUniqueViolation } from '../../db/violations.ts';
import type { Buckets } from '../../work-buckets.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { createRotation } from '../fairness.ts';
import { type DeliveryLease, hostOf } from '../lease.ts';
import type { EngineOptions } from '../options.ts';
import type { Agenda } from './agenda.ts';
import type { ClaimedRow, ClaimStore, DueEndpoint, OrderedHead, Share, StoredBody } from './claim-store.ts';

interface SweepPorts {
  readonly store: Omit<ClaimStore, 'unpark' | 'nextDue'>;
  /** Free capacity of the dispatcher. */
  readonly room: Pick<Dispatcher, 'sweepRoom' | 'accountRoom' | 'wantRoom' | 'hasBytes' | 'freeBytes'>;
  /** Only deliveries of these are claimed. */
  readonly buckets: Pick<Buckets, 'has' | 'held'>;
  /** Gets the times at which ordered subscriptions must be read again. */
  readonly agenda: Pick<Agenda, 'noteDue' | 'wantOrdered'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: { readonly fraction: () => number };
  readonly options: Pick<EngineOptions, 'claimRows' | 'minClaimShare' | 'fewDue' | 'visits' | 'maxVisits'>;
  /** Owner in whose name deliveries are claimed. */
  readonly owner: string;
  /** Stops claiming. */
  readonly signal: AbortSignal;
}

/** Deliveries that this process claimed. */
export interface Claimed {
  readonly leases: readonly DeliveryLease[];
  /**
   * Deliveries of accounts that already hold their maximum in memory. They are returned to the database, and their
   * bodies were not read.
   */
  readonly excess: readonly DeliveryLease[];
  /** Deliveries whose events no longer exist. */
  readonly missing: readonly DeliveryLease[];
}

/** Claims due deliveries of all subscriptions, until nothing more can be claimed. */
export async function* claimDue(ports: SweepPorts): AsyncGenerator<Claimed> {
  let claimed = 1;
  while (claimed > 0 && !ports.signal.aborted) {
    claimed = 0;
    for await (const rows of claimOnce(ports)) {
      claimed += rows.length;
      yield* readBodies(ports, rows);
    }
  }
}

async function* claimOnce(ports: SweepPorts): AsyncGenerator<readonly ClaimedRow[]> {
  const { store, buckets, clock, random, options } = ports;
  const few = await store.fewDue(options.fewDue, { now: new Date(clock.now()), buckets: buckets.held() });
  if (few !== undefined) return yield* claimFrom(ports, inTurns(few, random.fraction()));
  let afterId: number | undefined = 0;
  while (afterId !== undefined && !ports.signal.aborted) {
    const look: DueLook = await lookFrom(ports, afterId);
    yield* claimFrom(ports, look.due);
    afterId = look.lastId;
  }
}

interface DueLook {
  readonly due: readonly DueEndpoint[];
  /** Cursor for the next read; absent when there are no more subscriptions. */
  readonly lastId?: number;
}

/** Reads up to `maxVisits` subscriptions above the cursor and returns their due deliveries, with accounts in turns, and the next cursor. */
async function lookFrom(
  { store, buckets, clock, random, options, signal }: SweepPorts,
  afterId: number,
): Promise<DueLook> {
  const due: DueEndpoint[] = [];
  let lastId = afterId;
  let visited = 0;
  for (let visits = 0; visits < options.maxVisits && !signal.aborted; visits += visited) {
    const endpoints = await store.endpoints(lastId, options.visits, {
      now: new Date(clock.now()),
      buckets: buckets.held(),
    });
    due.push(...endpoints.filter(({ dueFirsts, dueRetries }) => dueFirsts || dueRetries));
    lastId = endpoints.at(-1)?.subscriptionId ?? lastId;
    visited = endpoints.length;
    if (visited < options.visits) return { due: inTurns(due, random.fraction()) };
  }
  return { due: inTurns(due, random.fraction()), lastId };
}

async function* claimFrom(ports: SweepPorts, due: readonly DueEndpoint[]): AsyncGenerator<readonly ClaimedRow[]> {
  const { store, clock, options, owner, signal } = ports;
  const limit = Math.max(options.minClaimShare, Math.floor(options.claimRows / Math.max(1, due.length)));
  const groupSize = Math.ceil(options.claimRows / limit);
  for (let at = 0; at < due.length && !signal.aborted; at += groupSize) {
    // Computed at the last moment, because earlier claims have used memory.
    const budget = createBudget(ports);
    const shares = due.slice(at, at + groupSize).flatMap((endpoint) => sharesOf(ports, endpoint, limit, budget));
    if (shares.length > 0) yield await store.claim(shares, { owner, now: new Date(clock.now()) });
  }
}

/** Returns how many of the wanted deliveries of an account a claim may load into memory. */
type Budget = (accountId: number, wanted: number) => number;

function createBudget({ room }: SweepPorts): Budget {
  const left = new Map<number, number>();
  return (accountId, wanted) => {
    const free = left.get(accountId) ?? room.accountRoom(accountId);
    const taken = Math.min(free, wanted);
    left.set(accountId, free - taken);
    if (taken < wanted) room.wantRoom(accountId);
    return taken;
  };
}

function sharesOf({ room, clock }: SweepPorts, endpoint: DueEndpoint, limit: number, budget: Budget): Share[] {
  const { accountId, subscriptionId, url, dueFirsts, dueRetries } = endpoint;
  const most = room.sweepRoom({ accountId, subscriptionId, host: hostOf(url ?? '') }, clock.now());
  const grant = (isDue: boolean, count: number) => (isDue ? budget(accountId, Math.min(count, limit)) : 0);
  const retries = { accountId, subscriptionId, isRetry: true, limit: grant(dueRetries, most.retries) };
  const firsts = { accountId, subscriptionId, isRetry: false, limit: grant(dueFirsts, most.firsts) };
  return [retries, firsts].filter((share) => share.limit > 0);
}

/** Reads bodies, as many at a time as there is memory for. Add them to the lanes before the next are read. */
async function* readBodies({ store, room, owner }: SweepPorts, rows: readonly ClaimedRow[]): AsyncGenerator<Claimed> {
  let left = rows;
  while (left.length > 0) {
    const bodies = await store.payloads(left, room.freeBytes());
    const [first, ...others] = left;
    const leases = left.flatMap((row) => {
      const body = bodies.get(row.id);
      return body === undefined ? [] : [toLease(row, owner, body)];
    });
    // The first one always comes, if its event is there.
    const missing = first === undefined || bodies.has(first.id) ? [] : [toLease(first, owner, UNREAD)];
    yield { leases, missing, excess: [] };
    const unread = others.filter((row) => !bodies.has(row.id));
    const excess = new Set(unread.filter((row) => !room.hasBytes(row.accountId)));
    if (excess.size > 0)
      yield { leases: [], missing: [], excess: [...excess].map((row) => toLease(row, owner, UNREAD)) };
    left = unread.filter((row) => !excess.has(row));
  }
}

/**
 * Claims deliveries of ordered subscriptions. Only the oldest delivery of each is sent, and one that waits holds up those behind it.
 * @param ids subscriptions to read; undefined for all
 */
export async function* claimOrdered(ports: SweepPorts, ids: readonly number[] | undefined): AsyncGenerator<Claimed> {
  const { store } = ports;
  if (ids === undefined) return yield* claimAllOrdered(ports);
  const heads = await Promise.all(ids.map((id) => store.orderedHeads(id - 1, 1)));
  yield* claimHeads(ports, heads.flat());
}

async function* claimAllOrdered(ports: SweepPorts): AsyncGenerator<Claimed> {
  const { store, options, signal } = ports;
  let afterId = 0;
  let visited = options.visits;
  while (visited === options.visits && !signal.aborted) {
    const heads = await store.orderedHeads(afterId, options.visits);
    visited = heads.length;
    afterId = heads.at(-1)?.subscriptionId ?? afterId;
    yield* claimHeads(ports, heads);
  }
}

async function* claimHeads(ports: SweepPorts, heads: readonly OrderedHead[]): AsyncGenerator<Claimed> {
  const { store, buckets, agenda, clock, owner } = ports;
  const nowMs = clock.now();
  const budget = createBudget(ports);
  const waiting = heads.filter(({ state, subscriptionId }) => state === 'waiting' && buckets.has(subscriptionId));
  for (const head of waiting) if (dueAt(head) > nowMs) agenda.noteDue(dueAt(head));
  const due = waiting.filter((head) => dueAt(head) <= nowMs && budget(head.accountId, 1) > 0);
  if (due.length === 0) return;
  try {
    yield* readBodies(ports, await store.claimHeads(due, { owner, now: new Date(nowMs) }));
  } catch (error) {
    // Another process may have claimed one of the same subscription in the same instant: then the database refuses, and the next look is right.
    if (!isUniqueViolation(error)) throw error;
    for (const { subscriptionId } of due) agenda.wantOrdered(subscriptionId);
  }
}

function dueAt({ due }: OrderedHead): number {
  return due?.getTime() ?? Number.POSITIVE_INFINITY;
}

/**
 * Lists subscriptions so that accounts take turns. `start`, from 0 to 1, is where each account begins, so that no subscription is always
 * first.
 */
function inTurns(due: readonly DueEndpoint[], start: number): readonly DueEndpoint[] {
  const first = Math.floor(due.length * start);
  const turns = createRotation<DueEndpoint>();
  for (const endpoint of [...due.slice(first), ...due.slice(0, first)]) turns.push(endpoint.accountId, endpoint);
  const ordered: DueEndpoint[] = [];
  for (let next = turns.shift(); next !== undefined; next = turns.shift()) ordered.push(next);
  return ordered;
}

const UNREAD: StoredBody = { payload: '' };

function toLease(row: ClaimedRow, owner: string, { payload, traceparent }: StoredBody): DeliveryLease {
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
    maxPerSecond: row.maxPerSecond ?? undefined,
    unfiltered: row.unfiltered,
    body: Buffer.from(payload),
    acceptedAtMs: undefined,
    traceparent: traceparent ?? undefined,
  };
}
