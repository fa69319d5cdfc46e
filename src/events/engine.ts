import type { Knex } from 'knex';
import { sleep } from '../clock.ts';
import type { Platform } from '../platform.ts';
import { inBackground } from '../trace.ts';
import type { Buckets } from '../work-buckets.ts';
import {
  type Acceptance,
  createAcceptor,
  type PreparedEvent,
  prepareEvents,
  storeAcceptances,
} from './accept/accept.ts';
import type { AcceptStore, StoredRow } from './accept/accept-store.ts';
import { createDispatcher } from './dispatch/dispatcher.ts';
import type { RateRequest, RateStore } from './dispatch/rate-store.ts';
import type { FindEndpoints } from './endpoints/choose.ts';
import { createEngineMetrics } from './engine-metrics.ts';
import { createEventIds } from './event-id.ts';
import type { DeliveryLease } from './lease.ts';
import type { DeliverySettings, FindSource, NewEvent, ReadySubscription } from './model.ts';
import { DEFAULT_OPTIONS, type EngineOptions } from './options.ts';
import { createOutcomeQueue, type DeliveryOutcome } from './outcomes/outcome-queue.ts';
import type { OutcomeStore } from './outcomes/outcome-store.ts';
import { type OutcomePorts, storeOutcomes } from './outcomes/store-outcomes.ts';
import { createOwner } from './owners/owner.ts';
import type { OwnerStore } from './owners/owner-store.ts';
import { createPush, release } from './push/push.ts';
import { createAgenda, type Look, type ParkedLane } from './sweep/agenda.ts';
import { createAnnouncement, DUE_TOPIC, RELEASED_TOPIC, readPayload, toPayload } from './sweep/announcement.ts';
import type { ClaimStore } from './sweep/claim-store.ts';
import { type Claimed, claimDue, claimOrdered } from './sweep/sweep.ts';
import { createAlarm, every } from './timers.ts';
import type { FindTriggered } from './triggered.ts';

/** Platform parts that the engine needs. */
export interface EnginePlatform extends Pick<Platform, 'log' | 'metrics' | 'clock' | 'random' | 'tracer'> {
  readonly egress: Pick<Platform['egress'], 'request'>;
  readonly notifier: Pick<Platform['notifier'], 'publish' | 'subscribe' | 'onGap'>;
  readonly buckets: Buckets;
}

/** The stores of the engine's tables. */
export interface EngineStores {
  readonly accepted: Pick<AcceptStore, 'insert' | 'transaction'>;
  readonly claims: ClaimStore;
  readonly outcomes: OutcomeStore;
  readonly owners: OwnerStore;
  readonly rates: RateStore;
}

export interface EngineNeighbours extends Pick<OutcomePorts, 'notifications'> {
  /** Finds the source of an event. It caches them, because each event and each push needs one. */
  readonly findSource: FindSource;
  readonly subscriptions: OutcomePorts['subscriptions'] & {
    readonly ensure: (accountId: number, url: string) => Promise<ReadySubscription>;
    readonly find: (accountId: number, id: number) => Promise<ReadySubscription | undefined>;
  };
  readonly settings: (accountId: number) => Promise<DeliverySettings>;
  /** Finds the work that an event starts, which is stored with it. */
  readonly findTriggered?: FindTriggered | undefined;
  /** Finds the endpoints that want an event. */
  readonly findEndpoints?: FindEndpoints | undefined;
  /** Called for each stored event. */
  readonly noteEvent: (accountId: number, elementKey: string) => void;
}

export interface EngineRole {
  /** Whether this process sends events. If not, it stores accepted events and notifies the processes that send. */
  readonly delivers: boolean;
  readonly options?: Partial<EngineOptions> | undefined;
}

/** The engine that delivers events at least once. An event is accepted when it is committed. */
export type Engine = ReturnType<typeof createEngine>;

/**
 * Creates the event engine. Its state in memory is three passive values: the dispatcher (deliveries to push), the queue of outcomes (results to
 * store) and the agenda (times to read the database). The engine reports everything that happens to them, and then does the work that they name.
 */
export function createEngine(
  platform: EnginePlatform,
  stores: EngineStores,
  neighbours: EngineNeighbours,
  { delivers, options: given }: EngineRole,
) {
  const { clock, log, notifier, buckets } = platform;
  const { findSource, findTriggered = async () => undefined, subscriptions, settings } = neighbours;
  const { findEndpoints = async () => undefined } = neighbours;
  const options: EngineOptions = { ...DEFAULT_OPTIONS, ...given };
  const agenda = createAgenda(buckets);
  const outcomes = createOutcomeQueue(options);
  const dispatcher = createDispatcher(agenda, outcomes, options);
  const owner = createOwner({ store: stores.owners, clock, log, options });
  const measures = createEngineMetrics(platform.metrics, clock, {
    dispatch: () => dispatcher.figures(clock.now()),
    noteEvent: neighbours.noteEvent,
  });
  const breakOff = new AbortController();
  const { signal } = breakOff;
  const push = createPush({
    ...platform,
    findSource,
    findSubscription: subscriptions.find,
    settings,
    measures,
    options,
    signal,
  });
  const acceptor = createAcceptor({
    findSource,
    ensureSubscription: subscriptions.ensure,
    settings,
    findTriggered,
    findEndpoints,
    newEventId: createEventIds(platform),
    clock,
    store,
    storeTogether,
    options,
  });
  const announcement = createAnnouncement(
    platform,
    () => notifier.publish(DUE_TOPIC, toPayload(agenda.takeNews())),
    options.announceMs,
  );
  const alarm = createAlarm(clock, () => {
    outcomes.ripen(clock.steady());
    turn();
  });
  const stopping = new AbortController();
  let hasStarted = false;
  let looking: Promise<void> | undefined;
  let callingBack = false;
  let reserving = false;
  /** Condition that a stop waits for. */
  let awaited: { readonly holds: () => boolean; readonly resolve: () => void } | undefined;

  /** Starts pushes. They run in the background, because they belong to other requests than the one that starts them. */
  function turn(): void {
    inBackground(takeTurn);
  }

  function takeTurn(): void {
    const nowMs = clock.now();
    if (owner.current() !== undefined) startPushes(nowMs);
    const requests = reserving ? [] : dispatcher.takeRateRequests();
    if (requests.length > 0) void reserve(requests);
    for (let batch = outcomes.take(); batch !== undefined; batch = outcomes.take()) void storeEnded(batch);
    const parked = callingBack ? [] : agenda.takeParked();
    if (parked.length > 0) void callBack(parked);
    const look = mayLook() ? agenda.take(nowMs) : undefined;
    if (look !== undefined) startLook(look);
    if (agenda.hasNews()) announcement.announce();
    if (awaited?.holds()) awaited.resolve();
    const steadyMs = clock.steady();
    alarm.ringIn(outcomes.nextAtMs(steadyMs) - steadyMs);
    alarm.ringIn(dispatcher.restsUntilMs() - nowMs);
    if (mayLook()) alarm.ringIn(agenda.nextAtMs() - nowMs);
  }

  /** An owner that may have been declared dead pushes nothing, because others may own its deliveries now. The next heartbeat decides. */
  function startPushes(nowMs: number): void {
    for (let lease = dispatcher.next(nowMs); lease !== undefined; lease = dispatcher.next(nowMs))
      void run(lease, nowMs);
  }

  async function run(lease: DeliveryLease, startedMs: number): Promise<void> {
    // A statement that ended late leased it under a name that this process has lost since, so others may own it.
    const isLost = lease.owner !== owner.current();
    const outcome = await (isLost ? release(lease, startedMs) : push(lease));
    outcomes.add(outcome);
    dispatcher.end(outcome, startedMs, clock.now());
    turn();
  }

  async function store(acceptances: readonly Acceptance[]): Promise<ReadonlyMap<string, StoredRow>> {
    const ports = { store: stores.accepted, dispatcher, agenda, measures, clock };
    const stored = await storeAcceptances(ports, acceptances, owner.current());
    turn();
    return stored;
  }

  function prepareToStore(events: readonly PreparedEvent[]) {
    const prepared = prepareEvents({ dispatcher, agenda, measures, clock }, events);
    return {
      ...prepared,
      committed: () => {
        prepared.committed();
        turn();
      },
    };
  }

  async function storeTogether(events: readonly PreparedEvent[]): Promise<ReadonlySet<string>> {
    const prepared = prepareToStore(events);
    const isNew = await stores.accepted.transaction(prepared.insert);
    prepared.committed();
    return isNew;
  }

  async function storeEnded(batch: readonly DeliveryOutcome[]): Promise<void> {
    const unstored: DeliveryOutcome[] = [];
    for await (const part of storeOutcomes({ ...neighbours, store: stores.outcomes, log }, batch)) {
      if (part.kind === 'unstored') unstored.push(...part.outcomes);
      else noteEnded(part.outcomes);
      if (part.kind === 'stored') measures.written(part.written, part.outcomes.length);
      turn();
    }
    outcomes.settle(batch, unstored, clock.steady());
    turn();
  }

  function noteEnded(ended: readonly DeliveryOutcome[]): void {
    dispatcher.settle(ended);
    for (const outcome of ended) {
      agenda.noteStored(outcome);
      if (outcome.kind === 'exhausted') measures.exhausted();
    }
  }

  /** Makes the deliveries of parked lanes due again, with one statement at a time, however many receivers recover at once. */
  async function callBack(lanes: readonly ParkedLane[]): Promise<void> {
    callingBack = true;
    try {
      await stores.claims.unpark(lanes, new Date(clock.now()));
      for (const { subscriptionId } of lanes) agenda.wantOf(subscriptionId);
    } catch (error) {
      // They come by themselves when their pause is over.
      log.warn({ err: error }, 'could not recall parked deliveries');
    }
    callingBack = false;
    turn();
  }

  /** Reserves times for pushes to endpoints with a rate, with one statement at a time. */
  async function reserve(requests: readonly RateRequest[]): Promise<void> {
    reserving = true;
    try {
      const reserved = await stores.rates.reserve(requests);
      dispatcher.setReserved(requests, reserved, clock.now());
    } catch (error) {
      log.warn({ err: error }, 'could not reserve times for deliveries; trying again');
      // It rejects only when the engine stops.
      await sleep(clock, options.storeRetryMs.longest, stopping.signal).catch(() => undefined);
      dispatcher.setReserved(requests, undefined, clock.now());
    }
    reserving = false;
    turn();
  }

  function mayLook(): boolean {
    return looking === undefined && hasStarted && !stopping.signal.aborted;
  }

  function startLook(look: Look): void {
    looking = lookAtDatabase(look).then(() => {
      looking = undefined;
      turn();
    });
  }

  async function lookAtDatabase(look: Look): Promise<void> {
    try {
      const name = owner.current();
      if (name !== undefined) return await claim(look, name);
    } catch (error) {
      log.warn({ err: error }, 'could not look for due deliveries; trying again');
    }
    agenda.want();
    // It rejects only when the engine stops.
    await sleep(clock, options.storeRetryMs.longest, stopping.signal).catch(() => undefined);
  }

  async function claim({ all, orderedIds }: Look, name: string): Promise<void> {
    const held = buckets.held();
    if (held.length === 0) return;
    const store = stores.claims;
    const ports = { ...platform, store, room: dispatcher, agenda, options, owner: name, signal: stopping.signal };
    await takeIn(claimOrdered(ports, all ? undefined : orderedIds));
    if (!all) return;
    // A delivery that becomes due during the read may be missed by it.
    const lookedAt = new Date(clock.now());
    await takeIn(claimDue(ports));
    const next = await store.nextDue(lookedAt, held);
    if (next !== undefined) agenda.noteDue(next.getTime());
  }

  async function takeIn(claims: AsyncIterable<Claimed>): Promise<void> {
    for await (const { leases, excess, missing } of claims) {
      const nowMs = clock.now();
      for (const lease of leases) dispatcher.takeIn(lease, nowMs);
      for (const lease of excess) dispatcher.turnAway(lease, nowMs);
      for (const lease of missing) outcomes.add(giveUp(lease, nowMs));
      turn();
    }
  }

  /** Ends a delivery whose event is missing, because its partition was dropped. Upkeep does not do this while deliveries need it. */
  function giveUp(lease: DeliveryLease, nowMs: number): DeliveryOutcome {
    log.error({ deliveryId: lease.id, accountId: lease.accountId }, 'the event of a delivery is missing');
    const { retries, firstFailedAtMs } = lease;
    const firstFailedAt = firstFailedAtMs === undefined ? undefined : new Date(firstFailedAtMs);
    const error = 'missing: The service has deleted the event.';
    const attempt = { attemptedAt: new Date(nowMs), durationMs: 0, statusCode: undefined, error, answer: undefined };
    const next = { state: 'queued', dueAt: undefined, retries, firstFailedAt } as const;
    return { kind: 'failed', lease, attempt, next, isHard: false };
  }

  async function beat(): Promise<void> {
    try {
      const lost = await owner.renew();
      if (lost !== undefined) {
        dispatcher.forget(lost);
        await owner.enter();
      }
      turn();
      noteTakenOver(await owner.takeOver());
    } catch (error) {
      owner.noteFailure();
      log.warn({ err: error }, 'a heartbeat failed');
    }
  }

  async function audit(): Promise<void> {
    try {
      noteTakenOver(await owner.giveBackForgotten(dispatcher.holds));
    } catch (error) {
      log.warn({ err: error }, 'could not compare deliveries with memory');
    }
  }

  function noteTakenOver(deliveries: number): void {
    if (deliveries === 0) return;
    measures.takenOver(deliveries);
    agenda.wantAll();
    turn();
  }

  function wake(): void {
    agenda.want();
    turn();
  }

  function noteAnnounced(payload: string): void {
    if (payload === '') agenda.want();
    else for (const { bucket, atMs } of readPayload(payload)) if (buckets.has(bucket)) agenda.noteDue(atMs);
    turn();
  }

  /**
   * Waits until the condition holds.
   * @returns false if the time was over first
   */
  async function isTrueWithin(timeoutMs: number, holds: () => boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const endWait = clock.after(timeoutMs, resolve);
    awaited = { holds, resolve };
    turn();
    await promise;
    endWait();
    awaited = undefined;
    return holds();
  }

  const isIdle = () => dispatcher.inFlight() === 0;
  let endings: readonly (() => void | Promise<void>)[] = [];
  let endBeats: () => Promise<void> = async () => undefined;

  return {
    /** Starts to push. Events can be accepted before. */
    start: async () => {
      // A process without the name of an owner holds no deliveries: what it accepts waits for one that sends.
      if (!delivers) return;
      if (await stores.outcomes.isPerAccount()) outcomes.storePerAccount();
      await owner.enter();
      noteTakenOver(await owner.takeOver());
      endBeats = every(clock, options.heartbeatMs, beat);
      endings = [
        notifier.subscribe(RELEASED_TOPIC, (subscriptionId) => dispatcher.pardon(Number(subscriptionId))),
        notifier.subscribe(DUE_TOPIC, noteAnnounced),
        notifier.onGap(wake),
        every(clock, options.auditMs, audit),
        every(clock, options.sweepBackstopMs, async () => wake()),
      ];
      hasStarted = true;
      buckets.onGained(wake);
      wake();
    },

    /**
     * Accepts no more events. It lets pushes in flight end within that time and aborts the others. It releases the remaining deliveries to
     * other processes and stores the outcomes.
     */
    stop: async (timeoutMs: number) => {
      const ended = endings.map((end) => end());
      await acceptor.stop();
      stopping.abort();
      await Promise.all([...ended, looking]);
      dispatcher.close(clock.now());
      if (!(await isTrueWithin(timeoutMs, isIdle))) {
        breakOff.abort();
        await isTrueWithin(options.abortMs, isIdle);
        dispatcher.abandon(clock.now());
      }
      outcomes.hurry();
      if (!(await isTrueWithin(options.outcomeDrainMs, outcomes.isEmpty))) {
        log.error('could not store outcomes of deliveries; another process will attempt them again');
      }
      alarm.end();
      await endBeats();
      await owner.leave();
      await announcement.stop();
      await notifier.publish(DUE_TOPIC, '');
    },

    /**
     * Accepts events. Resolves when all are committed. If it rejects, nothing is stored, unless the connection broke during the commit.
     * @throws AppError PAYLOAD_TOO_LARGE, OVERLOADED
     */
    accept: acceptor.accept,

    /**
     * Prepares events to be stored in another transaction.
     * @throws AppError PAYLOAD_TOO_LARGE, OVERLOADED
     */
    prepare: async (events: readonly NewEvent[]) => {
      const wanted = (await acceptor.prepare(events)).filter((event) => event !== undefined);
      const { insert, committed } = prepareToStore(wanted);
      return { insert: async (via: Knex) => void (await insert(via)), committed };
    },
  };
}
