import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Clock } from '../../clock.ts';
import { takeTurns } from '../../db/transaction.ts';
import { isNodeLost } from '../../db/unavailable.ts';
import { AppError } from '../../errors.ts';
import { currentSpan, errorTypeOf, inSpan, type Span, type SpanStart } from '../../trace.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { ChooseEndpoints, FindEndpoints } from '../endpoints/choose.ts';
import type { AcceptedEvent, EngineMetrics } from '../engine-metrics.ts';
import { showEventId } from '../event-id.ts';
import { createPool } from '../fairness.ts';
import type { DeliveryLease } from '../lease.ts';
import { buildPayload } from '../message.ts';
import {
  type Accepted,
  type DeliverySettings,
  type EventReceiver,
  type EventSource,
  type FindSource,
  type NewEvent,
  type ReadySubscription,
  wantsType,
} from '../model.ts';
import type { EngineOptions } from '../options.ts';
import { printRecord, recordOf } from '../record.ts';
import type { Agenda } from '../sweep/agenda.ts';
import type { FindTriggered, Triggered } from '../triggered.ts';
import {
  type AcceptStore,
  createAcceptStore,
  type NewRow,
  type OtherDelivery,
  type StoredDelivery,
  type StoredRow,
} from './accept-store.ts';
import { createGroupCommit, type Unit } from './group-commit.ts';

export interface AcceptPorts {
  readonly findSource: FindSource;
  readonly ensureSubscription: (accountId: number, url: string) => Promise<ReadySubscription>;
  readonly settings: (accountId: number) => Promise<DeliverySettings>;
  readonly findTriggered: FindTriggered;
  /** Finds the endpoints that want an event, beside its callback URL. Undefined: the account has none. */
  readonly findEndpoints: FindEndpoints;
  /** Returns a new event id, a UUID of version 7. */
  readonly newEventId: () => string;
  readonly clock: Clock;
  /** Stores the events of several calls in one transaction. @returns the stored rows by event id */
  readonly store: (acceptances: readonly Acceptance[]) => Promise<ReadonlyMap<string, StoredRow>>;
  /** Stores events with the work that they start in one transaction. @returns the ids of the events that are new */
  readonly storeTogether: (events: readonly PreparedEvent[]) => Promise<ReadonlySet<string>>;
  readonly options: Pick<
    EngineOptions,
    | 'acceptBatchRows'
    | 'acceptBatchBytes'
    | 'acceptsInFlight'
    | 'acceptApartMs'
    | 'maxPendingAccepts'
    | 'maxPendingAcceptBytes'
  >;
}

/** An event on its way into the database. */
export interface Acceptance extends Omit<NewRow, 'state' | 'others'>, EventReceiver {
  readonly elementKey: string;
  readonly bytes: number;
  /** The other receivers of the event. */
  readonly others?: readonly EventReceiver[] | undefined;
  /** Time of acceptance, on the clock's monotonic time in milliseconds. */
  readonly acceptedAtMs: number;
  /** Whether the account's policy queues the delivery instead of pushing it. */
  readonly isQueued: boolean;
  /** Span that ends when the event is stored. */
  readonly span: Span | undefined;
}

/** An event with its delivery and the work that it starts; one of both may be absent. */
export interface PreparedEvent {
  readonly accountId: number;
  readonly eventId: string;
  readonly keyHash: Buffer | undefined;
  /** Undefined: no subscription wants the event. */
  readonly acceptance: Acceptance | undefined;
  readonly triggered: Triggered | undefined;
}

interface Call extends Unit {
  readonly events: readonly (Acceptance | undefined)[];
  readonly rows: readonly Acceptance[];
  readonly settle: PromiseWithResolvers<Accepted>;
}

export function createAcceptor(ports: AcceptPorts) {
  const { options } = ports;
  const write = (calls: readonly Call[]) => storeCalls(ports, calls);
  const { acceptBatchRows: maxRows, acceptBatchBytes: maxBytes } = options;
  // Ordered events go one batch after the other: ids are given while a batch is stored, and commits may overtake each other.
  const unordered = createGroupCommit<Call>({ write, maxRows, maxBytes, writesInFlight: options.acceptsInFlight });
  const ordered = createGroupCommit<Call>({ write, maxRows, maxBytes, writesInFlight: 1 });
  const pendingRows = createPool(options.maxPendingAccepts);
  const pendingBytes = createPool(options.maxPendingAcceptBytes);
  let stopped = false;

  function assertRoom(accountId: number): void {
    if (stopped) throw overloaded('This process is stopping and accepts no more events. Try again.');
    if (pendingRows.room(accountId) > 0 && pendingBytes.room(accountId) > 0) return;
    throw overloaded('Too many events are waiting to be stored. Try again later.');
  }

  async function commit(call: Call): Promise<Accepted> {
    const { accountId, rowCount, bytes } = call;
    pendingRows.take(accountId, rowCount);
    pendingBytes.take(accountId, bytes);
    try {
      (call.rows.some(isOrdered) ? ordered : unordered).add(call);
      return await call.settle.promise;
    } finally {
      pendingRows.give(accountId, rowCount);
      pendingBytes.give(accountId, bytes);
    }
  }

  async function prepareAll(
    events: readonly NewEvent[],
    begin: BeginSpan,
  ): Promise<readonly (PreparedEvent | undefined)[]> {
    const accountId = events[0]?.accountId;
    if (accountId === undefined) return [];
    assertRoom(accountId);
    const endpoints = await ports.findEndpoints(accountId);
    return Promise.all(events.map((event) => prepare(ports, event, { begin, endpoints })));
  }

  return {
    /**
     * Prepares events of one account to be stored in another transaction. Undefined for an event that nothing wants.
     * @throws AppError PAYLOAD_TOO_LARGE, OVERLOADED
     */
    // A poller finds events of many records, so each is a trace of its own.
    prepare: (events: readonly NewEvent[]) => prepareAll(events, (start) => currentSpan()?.follow(start)),
    /**
     * Accepts events of one account. Resolves when all are committed, with the ids in the given order. If it rejects, nothing is stored,
     * unless the connection broke during the commit.
     * @throws AppError PAYLOAD_TOO_LARGE, OVERLOADED
     */
    accept: async (events: readonly NewEvent[]) => {
      const accountId = events[0]?.accountId;
      if (accountId === undefined) return { eventIds: [] };
      const prepared = await prepareAll(events, (start) => currentSpan()?.child(start));
      const acceptances = prepared.map((event) => event?.acceptance);
      if (prepared.some((event) => event?.triggered !== undefined)) {
        assertRoom(accountId);
        return inSpan({ name: 'store events' }, () => acceptTogether(ports, prepared));
      }
      const rows = acceptances.filter((acceptance) => acceptance !== undefined);
      if (rows.length === 0) return { eventIds: acceptances.map(() => undefined) };
      assertRoom(accountId);
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
      const settle = Promise.withResolvers<Accepted>();
      const rowCount = rows.reduce((sum, { others }) => sum + 1 + (others?.length ?? 0), 0);
      const call = { accountId, events: acceptances, rows, rowCount, bytes, settle };
      return inSpan({ name: 'store events' }, () => commit(call));
    },
    /** Accepts no more events. Resolves when those in progress are stored or rejected. */
    stop: async () => {
      stopped = true;
      await Promise.all([unordered.idle(), ordered.idle()]);
    },
  };
}

function isOrdered({ ordered, others }: Acceptance): boolean {
  return ordered || others?.some((receiver) => receiver.ordered) === true;
}

function overloaded(message: string): AppError {
  return new AppError('OVERLOADED', message, { retryAfterSeconds: 1 });
}

/** Undefined where nothing is traced. */
type BeginSpan = (start: SpanStart) => Span | undefined;

/** Stores the events of a call together with the work that they start. An event that was seen before starts nothing. */
async function acceptTogether(
  { storeTogether }: AcceptPorts,
  prepared: readonly (PreparedEvent | undefined)[],
): Promise<Accepted> {
  const isNew = await storeTogether(prepared.filter((event) => event !== undefined));
  const shownId = (event: PreparedEvent | undefined) =>
    event !== undefined && isNew.has(event.eventId) ? showEventId(event.eventId) : undefined;
  return { eventIds: prepared.map(shownId) };
}

interface PrepareInput {
  readonly begin: BeginSpan;
  readonly endpoints: ChooseEndpoints | undefined;
}

/** Undefined: nothing wants the event. */
async function prepare(ports: AcceptPorts, event: NewEvent, input: PrepareInput): Promise<PreparedEvent | undefined> {
  const { accountId, instanceId } = event;
  const source = await ports.findSource(accountId, instanceId);
  if (source === undefined) return undefined;
  const eventId = ports.newEventId();
  const acceptance = await prepareDelivery(ports, event, { ...input, source, eventId });
  const isTest = event.receiver !== undefined;
  const triggered = isTest ? undefined : await ports.findTriggered(event, source, showEventId(eventId));
  if (acceptance === undefined && triggered === undefined) return undefined;
  const keyHash = keyHashOf(event);
  return { accountId, eventId, keyHash, acceptance, triggered };
}

function keyHashOf({ instanceId, deduplicationKey }: NewEvent): Buffer | undefined {
  return deduplicationKey === undefined ? undefined : hashKey(instanceId, deduplicationKey);
}

interface DeliveryInput extends PrepareInput {
  readonly source: EventSource;
  readonly eventId: string;
}

/** Returns the subscription of the callback URL. Undefined: the instance wants no events, or its subscription none of this type. */
async function findSubscriber(
  ports: AcceptPorts,
  { accountId, callbackUrl, type }: NewEvent,
  source: EventSource,
): Promise<EventReceiver | undefined> {
  const url = callbackUrl ?? source.callbackUrl;
  if (url === undefined) return undefined;
  const { id: subscriptionId, host, eventTypes } = await ports.ensureSubscription(accountId, url);
  return wantsType(eventTypes, type) ? { subscriptionId, host, ordered: source.ordered } : undefined;
}

const NOBODY: readonly EventReceiver[] = [];

/** Undefined: nobody receives the event. */
async function prepareDelivery(
  ports: AcceptPorts,
  event: NewEvent,
  { source, eventId, begin, endpoints }: DeliveryInput,
): Promise<Acceptance | undefined> {
  const acceptedAtMs = ports.clock.steady();
  const { accountId, instanceId, type } = event;
  const subscriber = event.receiver ?? (await findSubscriber(ports, event, source));
  // Without endpoints, which is usual, nothing waits and no list is made.
  const wanting = endpoints === undefined || event.receiver !== undefined ? NOBODY : await endpoints(event, source);
  const first = subscriber ?? wanting[0];
  if (first === undefined) return undefined;
  const others = subscriber === undefined ? wanting.slice(1) : wanting;
  const { failurePolicy } = await ports.settings(accountId);
  const createdAt = new Date(ports.clock.now());
  const id = showEventId(eventId);
  const payload = buildPayload({ id, event, source, timestamp: event.timestamp ?? createdAt });
  const span = begin({ name: `create ${type}`, kind: 'producer' });
  span?.note(() => ({
    'messaging.system': 'causeway',
    'messaging.operation.name': 'create',
    'messaging.operation.type': 'create',
    'messaging.destination.name': type,
    'messaging.message.id': id,
    'messaging.message.body.size': payload.length,
    'causeway.account.id': accountId,
    'causeway.instance.id': instanceId,
    'causeway.element': source.elementKey,
    'causeway.subscription.id': first.subscriptionId,
  }));
  return {
    accountId,
    eventId,
    createdAt,
    instanceId,
    elementKey: source.elementKey,
    type,
    payload,
    record: printRecord(recordOf(event)),
    span,
    traceparent: span?.traceparent,
    bytes: payload.length,
    subscriptionId: first.subscriptionId,
    host: first.host,
    ordered: first.ordered,
    maxPerSecond: first.maxPerSecond,
    unfiltered: first.unfiltered,
    others: others.length === 0 ? undefined : others,
    keyHash: keyHashOf(event),
    acceptedAtMs,
    isQueued: failurePolicy === 'queue',
  };
}

function hashKey(instanceId: number, key: string): Buffer {
  return createHash('sha256').update(`${instanceId}:`).update(key).digest();
}

/** Stores calls together. If a node of the database is lost, only the accounts on it are refused. */
async function storeCalls(ports: AcceptPorts, calls: readonly Call[]): Promise<void> {
  try {
    await storeAll(ports, calls);
  } catch (error) {
    const ofAccounts = Map.groupBy(calls, ({ accountId }) => accountId);
    if (ofAccounts.size > 1 && isNodeLost(error)) await storeApart(ports, [...ofAccounts.values()], error);
    else refuse(calls, error);
  }
}

async function storeAll(ports: AcceptPorts, calls: readonly Call[]): Promise<void> {
  const rows = calls.flatMap((call) => call.rows);
  const stored = await ports.store(withoutRepeats(rows));
  for (const { span, eventId } of rows) {
    span?.end(() => ({ attributes: { 'causeway.event.duplicate': stored.has(eventId) ? undefined : true } }));
  }
  const shownId = (event: Acceptance | undefined) =>
    event !== undefined && stored.has(event.eventId) ? showEventId(event.eventId) : undefined;
  for (const { events, settle } of calls) settle.resolve({ eventIds: events.map(shownId) });
}

/** Stores the calls of one account after the other. When the lost node took too long to fail, the rest is refused too. */
async function storeApart(
  ports: AcceptPorts,
  ofAccounts: readonly (readonly Call[])[],
  reason: unknown,
): Promise<void> {
  const { clock, options } = ports;
  const untilMs = clock.steady() + options.acceptApartMs;
  for (const calls of ofAccounts) {
    if (clock.steady() < untilMs) await storeCalls(ports, calls);
    else refuse(calls, reason);
  }
}

function refuse(calls: readonly Call[], error: unknown): void {
  for (const { span } of calls.flatMap(({ rows }) => rows)) span?.end(() => ({ errorType: errorTypeOf(error) }));
  for (const { settle } of calls) settle.reject(error);
}

/** Keeps the first of rows with the same key. */
function withoutRepeats(rows: readonly Acceptance[]): readonly Acceptance[] {
  if (rows.every(({ keyHash }) => keyHash === undefined)) return rows;
  const seen = new Set<string>();
  return rows.filter(({ accountId, keyHash }) => {
    if (keyHash === undefined) return true;
    const key = `${accountId}:${keyHash.toString('base64')}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

interface AcceptancePorts {
  readonly store: Pick<AcceptStore, 'insert'>;
  readonly dispatcher: Pick<Dispatcher, 'reserve' | 'cancel' | 'enqueue' | 'accountRoom' | 'sweepRoom'>;
  readonly agenda: Pick<Agenda, 'isOurs' | 'wantOf' | 'wantOrdered'>;
  readonly measures: Pick<EngineMetrics, 'accepted'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Events that are stored in the transaction of other data. */
export interface PreparedEvents {
  readonly insert: (via: Knex) => Promise<void>;
  /** Starts the delivery. Call it after the commit. */
  readonly committed: () => void;
}

/**
 * Prepares events for another transaction. The sweep delivers them later, so that nothing of them is in memory if the transaction fails.
 */
export function prepareEvents(
  { agenda, measures, ...ports }: Omit<AcceptancePorts, 'store'>,
  events: readonly PreparedEvent[],
) {
  const acceptances = events.flatMap(({ acceptance }) => acceptance ?? []);
  const others = events.filter(({ acceptance }) => acceptance === undefined);
  let onCommit: (() => void)[] = [];
  const later = {
    ...ports,
    agenda: {
      isOurs: agenda.isOurs,
      wantOf: (id: number) => void onCommit.push(() => agenda.wantOf(id)),
      wantOrdered: (id: number) => void onCommit.push(() => agenda.wantOrdered(id)),
    },
    measures: { accepted: (event: AcceptedEvent) => void onCommit.push(() => measures.accepted(event)) },
  };
  return {
    /** @returns the ids of the events that are new */
    insert: async (via: Knex): Promise<ReadonlySet<string>> => {
      onCommit = [];
      if (events.length === 0) return new Set();
      const store = createAcceptStore(via);
      const unkept = others.length === 0 ? [] : await store.insertKeys(others);
      const stored =
        acceptances.length === 0 ? [] : (await storeAcceptances({ ...later, store }, acceptances, undefined)).keys();
      const isNew = new Set([...unkept, ...stored]);
      const started = events.flatMap(({ eventId, triggered }) => (isNew.has(eventId) ? (triggered ?? []) : []));
      await takeTurns(
        via,
        'new executions of a formula instance',
        started.flatMap(({ turns }) => turns),
      );
      for (const { insert, committed } of started) {
        await insert(via);
        onCommit.push(committed);
      }
      return isNew;
    },
    /** Call this after the commit. From then on the events can be delivered. */
    committed: () => {
      for (const notify of onCommit) notify();
      for (const { span } of acceptances) span?.end();
    },
  };
}

/**
 * Stores events. Deliveries that fit into memory are leased to this process and pushed from there; the sweep loads the others.
 * @param owner the name of this process for leases; undefined if it cannot hold deliveries now
 */
export async function storeAcceptances(
  { store, dispatcher, agenda, measures, clock }: AcceptancePorts,
  acceptances: readonly Acceptance[],
  owner: string | undefined,
): Promise<ReadonlyMap<string, StoredRow>> {
  const nowMs = clock.now();
  const rows = acceptances.map((acceptance) => ({
    ...acceptance,
    state: wantedState(acceptance, acceptance),
    others: acceptance.others?.map((receiver) => ({ ...receiver, state: wantedState(acceptance, receiver) })),
  }));
  try {
    const stored = await store.insert(rows, owner, new Date(nowMs));
    for (const row of rows) noteAll(row, stored.get(row.eventId));
    return stored;
  } catch (error) {
    for (const row of rows) {
      cancel(row, row);
      for (const other of row.others ?? []) cancel(row, other);
    }
    throw error;
  }

  function wantedState({ accountId, bytes, isQueued }: Acceptance, receiver: EventReceiver): NewRow['state'] {
    if (isQueued) return 'queued';
    if (receiver.ordered || owner === undefined) return 'waiting';
    return dispatcher.reserve({ ...receiver, accountId }, bytes, nowMs) ? 'delivering' : 'waiting';
  }

  function cancel({ bytes }: Acceptance, { state, subscriptionId }: OtherDelivery): void {
    if (state === 'delivering') dispatcher.cancel(subscriptionId, bytes);
  }

  function noteAll(row: AcceptedRow, result: StoredRow | undefined): void {
    note(row, row, result);
    for (const other of row.others ?? []) note(row, other, result?.others?.get(other.subscriptionId));
    if (result !== undefined) measures.accepted({ ...row, state: result.state });
  }

  function note(row: Acceptance, receiver: EventReceiver & OtherDelivery, result: StoredDelivery | undefined): void {
    if (result?.state !== 'delivering') cancel(row, receiver);
    if (result === undefined) return;
    if (result.state === 'delivering' && owner !== undefined) {
      dispatcher.enqueue(toLease(row, receiver, { id: result.deliveryId, owner }), clock.now());
    }
    if (result.state === 'waiting') noteWaiting({ ...receiver, accountId: row.accountId });
  }

  /**
   * Notes deliveries that have no owner or no memory now. Those of other processes are announced; ours are read when there is room. A
   * receiver that is to be tried again has room at once.
   */
  function noteWaiting(receiver: EventReceiver & { readonly accountId: number }): void {
    const { accountId, subscriptionId, ordered } = receiver;
    const hasRoom = () => dispatcher.accountRoom(accountId) > 0 && dispatcher.sweepRoom(receiver, nowMs).firsts > 0;
    if (ordered) agenda.wantOrdered(subscriptionId);
    else if (owner === undefined || !agenda.isOurs(subscriptionId) || hasRoom()) agenda.wantOf(subscriptionId);
  }
}

type AcceptedRow = Acceptance & { readonly others?: readonly (EventReceiver & OtherDelivery)[] | undefined } & NewRow;

function toLease(
  { accountId, eventId, instanceId, payload, acceptedAtMs, traceparent }: Acceptance,
  { subscriptionId, host, ordered, maxPerSecond, unfiltered }: EventReceiver,
  { id, owner }: { readonly id: number; readonly owner: string },
): DeliveryLease {
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
    maxPerSecond,
    unfiltered,
    body: payload,
    acceptedAtMs,
    traceparent,
  };
}
