import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Notifier } from '../db/notifier.ts';
import type { Egress } from '../egress/index.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type Acceptance, createAcceptor } from './accept/accept.ts';
import { createAcceptStore } from './accept/accept-store.ts';
import { createEngineMetrics } from './engine-metrics.ts';
import { createEventIds } from './event-id.ts';
import type { Lease } from './lease.ts';
import type { Accepted, DeliverySettings, FindSource, NewEvent, ReadySubscription } from './model.ts';
import { DEFAULT_OPTIONS, type EngineOptions } from './options.ts';
import { createExhaustion, type ExhaustionPorts } from './outcomes/exhaustion.ts';
import { createOutcomeStore } from './outcomes/outcome-store.ts';
import { createOutcomes, type Outcome, type Outcomes } from './outcomes/outcomes.ts';
import { createAudit } from './owners/audit.ts';
import { createOwnerStore } from './owners/owner-store.ts';
import { createOwner } from './owners/owners.ts';
import { createAttempt } from './push/attempt.ts';
import { createDispatcher, type Dispatcher } from './push/dispatch.ts';
import { createPush } from './push/push.ts';
import { createAnnouncement, DUE_TOPIC, RELEASED_TOPIC } from './sweep/announcement.ts';
import { createClaimStore } from './sweep/claim-store.ts';
import { createSweep } from './sweep/sweep.ts';
import { createUnparker } from './sweep/unparker.ts';

export interface EventPorts {
  readonly knex: Knex;
  readonly egress: Pick<Egress, 'request'>;
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 to 1; spreads retries. */
  readonly random: () => number;
  /** Cryptographically random bytes. */
  readonly randomBytes: (size: number) => Buffer;
  /** From memory: it is asked for each event and each push. Undefined: there is no such instance. */
  readonly findSource: FindSource;
  readonly subscriptions: ExhaustionPorts['subscriptions'] & {
    readonly ensure: (accountId: number, url: string) => Promise<ReadySubscription>;
    readonly find: (accountId: number, id: number) => Promise<ReadySubscription | undefined>;
  };
  readonly settings: (accountId: number) => Promise<DeliverySettings>;
  /** Of what happens to deliveries and subscriptions, in the transaction in which it happens. */
  readonly notifications: ExhaustionPorts['notifications'];
  /** This process sends; one that does not stores what it accepts and tells those that do. */
  readonly delivers: boolean;
  readonly options?: Partial<EngineOptions>;
}

/** The engine of events: at least once, acknowledged = committed. */
export interface Events {
  /** Before it nothing is pushed; events may be accepted already. */
  readonly start: () => Promise<void>;
  /**
   * Takes no more events, lets pushes under way end within that time and breaks off those that do not, gives what is left to other processes
   * and stores the outcomes.
   */
  readonly stop: (timeoutMs: number) => Promise<void>;
  /**
   * Resolves when all are committed. Nothing of the call is stored when it rejects, unless the connection broke while the database was
   * committing: then it may be.
   * @throws AppError PAYLOAD_TOO_LARGE, OVERLOADED
   */
  readonly accept: (events: readonly NewEvent[]) => Promise<Accepted>;
  /** Deliveries became due, here or in another process: looks at once. */
  readonly wake: () => void;
}

export function createEvents(ports: EventPorts): Events {
  const { knex, log, now, notifier, subscriptions } = ports;
  const options: EngineOptions = { ...DEFAULT_OPTIONS, ...ports.options };
  const claims = createClaimStore(knex);
  const ownerStore = createOwnerStore(knex);
  const outcomeStore = createOutcomeStore(knex);
  /** Deliveries in memory, from the statement that leased them to the one that stored their outcome. */
  const held = new Set<number>();
  const breakOff = new AbortController();
  const announcement = createAnnouncement(() => notifier.publish(DUE_TOPIC, ''), options.announceMs, log);
  const exhaustion = createExhaustion({ ...ports, store: outcomeStore });

  const owner = createOwner({
    store: ownerStore,
    newId: randomUUID,
    now,
    log,
    onLost: (id) => {
      for (const lease of dispatcher.forget(id)) held.delete(lease.id);
    },
    onTakenOver: (deliveries) => {
      measures.takenOver(deliveries);
      sweep.wake();
    },
    options,
  });

  const outcomes: Outcomes = createOutcomes({
    write: outcomeStore.write,
    exhaust: exhaustion.exhaust,
    onEnded: (ended) => ended.forEach(noteEnded),
    onWritten: (written) => measures.written(written),
    onRoom: () => dispatcher.pump(),
    log,
    options,
  });

  const push = createPush({
    attempt: createAttempt({
      egress: ports.egress,
      now,
      timeoutMs: options.attemptTimeoutMs,
      maxAnswerBytes: options.maxAnswerBytes,
      signal: breakOff.signal,
    }),
    findSubscription: subscriptions.find,
    findSource: ports.findSource,
    settings: ports.settings,
    hand: outcomes.push,
    onAttempt: (report, acceptedAtMs) => measures.attempted(report, acceptedAtMs),
    now,
    random: ports.random,
    log,
    options,
  });

  const dispatcher: Dispatcher = createDispatcher({
    push,
    release: (lease, dueAtMs) => outcomes.push({ kind: 'released', lease, dueAt: new Date(dueAtMs) }),
    abort: () => breakOff.abort(),
    canStart: outcomes.hasRoom,
    onRoom: wake,
    onClosed: (lanes) => unparker.add(lanes),
    now,
    options,
  });

  const unparker = createUnparker({ unpark: claims.unpark, onUnparked: wake, now, log });

  const sweep = createSweep({
    store: claims,
    dispatcher,
    owner: owner.current,
    now,
    random: ports.random,
    log,
    onClaimed: ({ id }) => void held.add(id),
    release: (lease) => outcomes.push({ kind: 'released', lease, dueAt: new Date(now()) }),
    onMissing: giveUp,
    options,
  });

  const acceptor = createAcceptor({
    store: createAcceptStore(knex),
    findSource: ports.findSource,
    ensureSubscription: subscriptions.ensure,
    settings: ports.settings,
    newEventId: createEventIds(ports),
    now,
    owner: owner.current,
    reserve: dispatcher.reserve,
    cancel: dispatcher.cancel,
    onLeased: (accepted) => {
      held.add(accepted.id);
      dispatcher.enqueue(toLease(accepted), true);
    },
    onWaiting: ({ ordered, subscriptionId }) => {
      if (!ports.delivers) announcement.announce();
      else if (ordered) sweep.wakeOrdered(subscriptionId);
    },
    onStored: (state) => measures.accepted(state),
    options,
  });

  const audit = createAudit({
    store: ownerStore,
    owner: owner.current,
    isHeld: (id) => held.has(id),
    onFound: (deliveries) => {
      measures.takenOver(deliveries);
      wake();
    },
    now,
    log,
    options,
  });

  const measures = createEngineMetrics({
    metrics: ports.metrics,
    figures: dispatcher.figures,
    oldestDueSeconds: () => claims.oldestDueSeconds(new Date(now())),
  });

  function wake(): void {
    if (ports.delivers) sweep.wake();
    else announcement.announce();
  }

  function noteEnded(outcome: Outcome): void {
    const { lease } = outcome;
    held.delete(lease.id);
    const dueAt =
      outcome.kind === 'failed' ? outcome.next.dueAt : outcome.kind === 'released' ? outcome.dueAt : undefined;
    if (lease.ordered) sweep.wakeOrdered(lease.subscriptionId);
    else if (dueAt !== undefined) sweep.noteDue(dueAt.getTime());
    if (outcome.kind === 'exhausted') measures.exhausted();
  }

  /** Its day was dropped, which upkeep does not do while deliveries need it. */
  function giveUp(lease: Lease): void {
    log.error({ deliveryId: lease.id, accountId: lease.accountId }, 'the event of a delivery is missing');
    const { retries, firstFailedAtMs } = lease;
    const firstFailedAt = firstFailedAtMs === undefined ? undefined : new Date(firstFailedAtMs);
    outcomes.push({
      kind: 'failed',
      lease,
      attempt: {
        attemptedAt: new Date(now()),
        durationMs: 0,
        statusCode: undefined,
        error: 'missing: The event is not stored any more.',
        answer: undefined,
      },
      next: { state: 'queued', dueAt: undefined, retries, firstFailedAt },
    });
  }

  let unsubscribe: readonly (() => void)[] = [];

  return {
    start: async () => {
      // A process without the name of an owner holds no deliveries: what it accepts waits for one that sends.
      if (!ports.delivers) return;
      await owner.start();
      audit.start();
      unsubscribe = [
        notifier.subscribe(RELEASED_TOPIC, (subscriptionId) => dispatcher.pardon(Number(subscriptionId))),
        notifier.subscribe(DUE_TOPIC, sweep.wake),
        notifier.onGap(sweep.wake),
      ];
      sweep.start();
    },

    stop: async (timeoutMs) => {
      for (const end of unsubscribe) end();
      await acceptor.stop();
      await sweep.stop();
      await audit.stop();
      await dispatcher.drain(timeoutMs);
      if (!(await outcomes.drain(options.outcomeDrainMs))) {
        log.error('outcomes of deliveries could not be stored; they will be made again elsewhere');
      }
      await owner.stop();
      await announcement.stop();
      await notifier.publish(DUE_TOPIC, '');
    },

    accept: acceptor.accept,
    wake,
  };
}

function toLease(accepted: Acceptance & { readonly id: number; readonly owner: string }): Lease {
  const { accountId, id, subscriptionId, host, owner, eventId, instanceId, ordered, payload, acceptedAtMs } = accepted;
  return {
    accountId,
    id,
    subscriptionId,
    host,
    owner,
    attempts: 0,
    retries: 0,
    firstFailedAtMs: undefined,
    eventId,
    instanceId,
    ordered,
    body: payload,
    acceptedAtMs,
  };
}
