import { createHash } from 'node:crypto';
import { AppError } from '../../errors.ts';
import { showEventId } from '../event-id.ts';
import type { Accepted, DeliverySettings, FindSource, NewEvent, ReadySubscription } from '../model.ts';
import type { EngineOptions } from '../options.ts';
import { createPool } from '../pool.ts';
import { wantsType } from '../subscriptions/event-types.ts';
import type { AcceptStore, NewRow, StoredRow } from './accept-store.ts';
import { createGroupCommit, type Unit } from './group-commit.ts';
import { buildPayload } from './payload.ts';

export interface AcceptPorts {
  readonly store: AcceptStore;
  readonly findSource: FindSource;
  readonly ensureSubscription: (accountId: number, url: string) => Promise<ReadySubscription>;
  readonly settings: (accountId: number) => Promise<DeliverySettings>;
  /** UUIDs of version 7. */
  readonly newEventId: () => string;
  readonly now: () => number;
  /** Under which deliveries may be held in memory; undefined: not now. */
  readonly owner: () => string | undefined;
  readonly reserve: (receiver: Pick<Acceptance, 'accountId' | 'subscriptionId' | 'host'>, bytes: number) => boolean;
  readonly cancel: (subscriptionId: number, bytes: number) => void;
  /** Stored and ours: to be pushed from memory. Its memory is reserved. */
  readonly onLeased: (lease: Acceptance & { readonly id: number; readonly owner: string }) => void;
  /** Stored for the sweep. */
  readonly onWaiting: (acceptance: Acceptance) => void;
  readonly onStored: (state: StoredRow['state']) => void;
  readonly options: Pick<
    EngineOptions,
    'acceptBatchRows' | 'acceptBatchBytes' | 'acceptsInFlight' | 'maxPendingAccepts' | 'maxPendingAcceptBytes'
  >;
}

/** An event on its way into the database. */
export interface Acceptance extends Omit<NewRow, 'state'> {
  readonly bytes: number;
  /** Of the callback URL, see `hostOf`. */
  readonly host: string;
  readonly acceptedAtMs: number;
  /** By the account's policy: not pushed. */
  readonly isQueued: boolean;
}

interface Call extends Unit {
  readonly events: readonly (Acceptance | undefined)[];
  readonly rows: readonly Acceptance[];
  readonly settle: PromiseWithResolvers<Accepted>;
}

export interface Acceptor {
  /**
   * Takes events of one account. Resolves when all are committed: with the ids in the order given. Nothing of a call is stored when it rejects, unless the connection broke
   * while the database was committing.
   * @throws AppError PAYLOAD_TOO_LARGE, OVERLOADED
   */
  readonly accept: (events: readonly NewEvent[]) => Promise<Accepted>;
  /** Takes no more; resolves when those under way are stored or refused. */
  readonly stop: () => Promise<void>;
}

export function createAcceptor(ports: AcceptPorts): Acceptor {
  const { options } = ports;
  // Ordered events go one batch after the other: ids are given while a batch is stored, and commits may overtake each other.
  const write = (calls: readonly Call[]) => storeCalls(ports, calls);
  const { acceptBatchRows: maxRows, acceptBatchBytes: maxBytes } = options;
  const unordered = createGroupCommit<Call>({ write, maxRows, maxBytes, writesInFlight: options.acceptsInFlight });
  const ordered = createGroupCommit<Call>({ write, maxRows, maxBytes, writesInFlight: 1 });
  const pendingRows = createPool(options.maxPendingAccepts);
  const pendingBytes = createPool(options.maxPendingAcceptBytes);
  let stopped = false;

  function assertRoom(accountId: number): void {
    if (stopped) throw overloaded('This process is stopping and takes no more events.');
    if (pendingRows.room(accountId) > 0 && pendingBytes.room(accountId) > 0) return;
    throw overloaded('Too many events wait to be stored.');
  }

  async function commit(call: Call): Promise<Accepted> {
    const { accountId, rowCount, bytes } = call;
    pendingRows.take(accountId, rowCount);
    pendingBytes.take(accountId, bytes);
    try {
      (call.rows.some((row) => row.ordered) ? ordered : unordered).add(call);
      return await call.settle.promise;
    } finally {
      pendingRows.give(accountId, rowCount);
      pendingBytes.give(accountId, bytes);
    }
  }

  return {
    accept: async (events) => {
      const accountId = events[0]?.accountId;
      if (accountId === undefined) return { eventIds: [] };
      assertRoom(accountId);
      const acceptances = await Promise.all(events.map((event) => prepare(ports, event)));
      const rows = acceptances.filter((acceptance) => acceptance !== undefined);
      if (rows.length === 0) return { eventIds: acceptances.map(() => undefined) };
      assertRoom(accountId);
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
      const settle = Promise.withResolvers<Accepted>();
      return commit({ accountId, events: acceptances, rows, rowCount: rows.length, bytes, settle });
    },
    stop: async () => {
      stopped = true;
      await Promise.all([unordered.idle(), ordered.idle()]);
    },
  };
}

function overloaded(message: string): AppError {
  return new AppError('OVERLOADED', message, { retryAfterSeconds: 1 });
}

/** Undefined: the instance wants no events, or its subscription none of this type. */
async function prepare(ports: AcceptPorts, event: NewEvent): Promise<Acceptance | undefined> {
  const acceptedAtMs = performance.now();
  const { accountId, instanceId, type } = event;
  const source = await ports.findSource(accountId, instanceId);
  if (source?.callbackUrl === undefined) return undefined;
  const subscription = await ports.ensureSubscription(accountId, source.callbackUrl);
  if (!wantsType(subscription.eventTypes, type)) return undefined;
  const { failurePolicy } = await ports.settings(accountId);
  const eventId = ports.newEventId();
  const createdAt = new Date(ports.now());
  const id = showEventId(eventId);
  const payload = buildPayload({ id, event, source, timestamp: event.timestamp ?? createdAt });
  return {
    accountId,
    eventId,
    createdAt,
    instanceId,
    type,
    payload,
    bytes: payload.length,
    subscriptionId: subscription.id,
    host: subscription.host,
    ordered: source.ordered,
    keyHash: event.deduplicationKey === undefined ? undefined : hashKey(instanceId, event.deduplicationKey),
    acceptedAtMs,
    isQueued: failurePolicy === 'queue',
  };
}

function hashKey(instanceId: number, key: string): Buffer {
  return createHash('sha256').update(`${instanceId}:`).update(key).digest();
}

async function storeCalls(ports: AcceptPorts, calls: readonly Call[]): Promise<void> {
  const owner = ports.owner();
  const unique = withoutRepeats(calls.flatMap(({ rows }) => rows));
  const rows = unique.map((acceptance) => ({ ...acceptance, state: wantedState(ports, acceptance, owner) }));
  const cancel = (row: (typeof rows)[number]) => {
    if (row.state === 'delivering') ports.cancel(row.subscriptionId, row.bytes);
  };
  try {
    const stored = await ports.store.insert(rows, owner, new Date(ports.now()));
    for (const row of rows) {
      const result = stored.get(row.eventId);
      if (result?.state !== 'delivering') cancel(row);
      if (result === undefined) continue;
      ports.onStored(result.state);
      if (result.state === 'delivering' && owner !== undefined)
        ports.onLeased({ ...row, id: result.deliveryId, owner });
      if (result.state === 'waiting') ports.onWaiting(row);
    }
    for (const { events, settle } of calls) {
      settle.resolve({
        eventIds: events.map((event) =>
          event !== undefined && stored.has(event.eventId) ? showEventId(event.eventId) : undefined,
        ),
      });
    }
  } catch (error) {
    rows.forEach(cancel);
    for (const { settle } of calls) settle.reject(error);
  }
}

/** Of rows with the same key the first. */
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

function wantedState(ports: AcceptPorts, row: Acceptance, owner: string | undefined): NewRow['state'] {
  if (row.isQueued) return 'queued';
  if (row.ordered || owner === undefined) return 'waiting';
  return ports.reserve(row, row.bytes) ? 'delivering' : 'waiting';
}
