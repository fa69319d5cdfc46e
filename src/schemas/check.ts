import type { Clock } from '../clock.ts';
import type { CallTally } from '../connector/client/index.ts';
import type { ObjectSpec, Objects } from '../connector/contract.ts';
import { AppError, isAppError } from '../errors.ts';
import type { PreparedEvents } from '../events/accept/accept.ts';
import type { NewEvent } from '../events/model.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import type { Instance } from '../instances/instance.ts';
import type { Resources } from '../resources/index.ts';
import { waitForCallersMs } from '../resources/rate-limits.ts';
import { type Breaks, breaksAnything, findBreaks } from './breaks.ts';
import { type Describe, describeOnce, findOwnName, readObject } from './children.ts';
import { compareShapes, needsConfirmation, type SchemaChange } from './compare.ts';
import { GONE, hashOfShape, SHAPE_VERSION, type Shape, shapeOf } from './shape.ts';
import { joinUses, NO_USES, type ObjectUses } from './uses.ts';
import type { ClaimedCheck, WatchKey, WatchRow, WatchStore } from './watch-store.ts';

export interface CheckPorts {
  readonly store: WatchStore;
  readonly resources: Pick<Resources, 'inspect' | 'rateLimitOf'>;
  readonly prepare: (events: readonly NewEvent[]) => Promise<PreparedEvents>;
  /** Prepares notifications for storage. */
  readonly prepareNotice: Notifications['prepare'];
  readonly findUses: (instance: Instance) => Promise<ReadonlyMap<string, ObjectUses>>;
  readonly clock: Pick<Clock, 'now'>;
  readonly options: {
    /** Milliseconds until a difference is read again that may come from an incomplete response. */
    readonly confirmMs: number;
    /** Maximum number of consecutive checks that leave the rate limit to callers. */
    readonly mostWaits: number;
    /** In a check that continues another one, objects that were read in this time are not read again, in milliseconds. */
    readonly resumeMs: number;
  };
}

/** Counts of a check. */
export interface CheckTally extends CallTally {
  changes: number;
}

interface CheckInput {
  readonly check: ClaimedCheck;
  readonly instance: Instance;
  readonly signal: AbortSignal;
  /** Returns the words of an error for users of the instance, without secrets. */
  readonly wordsOf: (error: unknown) => string;
}

/** The end of a check without an error. */
export interface CheckEnd {
  /** Milliseconds until the next check, which reads what this one left. Undefined: all was read. */
  readonly afterMs: number | undefined;
  /** Whether the check ended early, to leave the rest of the rate limit to callers. */
  readonly isWait: boolean;
}

const DONE: CheckEnd = { afterMs: undefined, isWait: false };
/** Limits are counted by the month at most, so a wait is no longer. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * Reads the watched objects of an instance and reports what changed. `tally` is up to date even if it throws. What cannot be read is never a
 * change: the known shape stays.
 * @throws AppError as calls of the provider; the first of several objects that cannot be read
 */
export async function checkInstance(ports: CheckPorts, input: CheckInput, tally: CheckTally): Promise<CheckEnd> {
  const { store, clock } = ports;
  const { check, instance, signal } = input;
  const uses = await ports.findUses(instance);
  const known = await store.list(check);
  const wanted = new Set([...uses.keys(), ...known.flatMap((row) => (row.requested ? [row.objectName] : []))]);
  if (wanted.size === 0) {
    await store.setNames(check, new Map());
    return DONE;
  }
  const wait = waitOf(ports, input);
  if (wait !== undefined) return wait;
  const { objects, ...inspection } = await ports.resources.inspect({ instance, signal, tally });
  const describe = describeOnce(inspection.describe);
  // A provider without any object is one whose response is not to be trusted.
  if (Object.keys(objects).length === 0) {
    throw new AppError('PROVIDER_PROTOCOL', `${instance.connector.name} describes no objects.`);
  }
  const faults: unknown[] = [];
  const noteFault = (error: unknown): undefined => {
    signal.throwIfAborted();
    if (isAppError(error, 'OVERLOADED', 'PROVIDER_RATE_LIMITED', 'INSTANCE_CREDENTIALS_FAILED')) throw error;
    faults.push(error);
  };
  const names = await namesOf({ objects, describe, noteFault }, known, wanted);
  await store.setNames(check, namesOfUses(names, uses));
  const rows = await store.list(check);
  const same: WatchKey[] = [];
  let isPending = false;
  let early: CheckEnd | undefined;
  for (const row of rows) {
    if (isFresh(ports, check, row)) continue;
    signal.throwIfAborted();
    early = waitOf(ports, input);
    if (early !== undefined) break;
    try {
      const shape = shapeIn(row, await readObject(objects, row.objectName, describe));
      if (shape === undefined) continue;
      const used = joinUses((names.get(row.objectName) ?? []).map((name) => uses.get(name) ?? NO_USES));
      const outcome = await judge(ports, input, { row, shape, uses: used });
      if (outcome === 'same') same.push(row);
      if (outcome === 'pending' || outcome === 'lost') isPending = true;
      if (outcome === 'changed') tally.changes++;
    } catch (error) {
      noteFault(error);
      await store.noteError(row, input.wordsOf(error));
    }
  }
  await store.noteSame(same, new Date(clock.now()));
  if (faults.length > 0) throw faults[0];
  if (early !== undefined) return early;
  return isPending ? { afterMs: ports.options.confirmMs, isWait: false } : DONE;
}

/** Returns how a check ends that must leave the rest of the rate limit to callers. Undefined: it need not. */
function waitOf({ resources, options }: CheckPorts, { check, instance }: CheckInput): CheckEnd | undefined {
  if (check.waits >= options.mostWaits) return undefined;
  const waitMs = waitForCallersMs(resources.rateLimitOf(instance));
  return waitMs === undefined ? undefined : { afterMs: Math.min(waitMs, LONGEST_WAIT_MS), isWait: true };
}

/** A check that continues another one skips what that one has read. */
function isFresh({ clock, options }: CheckPorts, { isPartial }: ClaimedCheck, row: WatchRow): boolean {
  const { checkedAt, pendingHash, lastError } = row;
  if (!isPartial || pendingHash !== null || lastError !== null || checkedAt === null) return false;
  return checkedAt.getTime() > clock.now() - options.resumeMs;
}

interface NameParts {
  readonly objects: Objects;
  readonly describe: Describe;
  /** Called with the error of a description. It throws an error that ends the check. */
  readonly noteFault: (error: unknown) => undefined;
}

/**
 * Returns the names by which each object is used, by its own name. An object that is unknown to the provider is watched only if it was
 * before: it disappeared.
 */
async function namesOf(
  { objects, describe, noteFault }: NameParts,
  known: readonly WatchRow[],
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const before = new Map(known.flatMap((row) => row.names.map((name) => [name, row.objectName] as const)));
  const names = new Map<string, string[]>();
  for (const name of wanted) {
    // A child keeps its name until the description of its object can be read again.
    const found = await findOwnName(objects, name, describe).catch(noteFault);
    const own = found ?? before.get(name);
    if (own === undefined) continue;
    names.set(own, [...(names.get(own) ?? []), name]);
  }
  return names;
}

/** Leaves out the names that only callers request, so that a watch ends with its request. */
function namesOfUses(names: ReadonlyMap<string, readonly string[]>, uses: ReadonlyMap<string, unknown>) {
  return new Map([...names].map(([own, given]) => [own, given.filter((name) => uses.has(name))] as const));
}

/** Returns the shape of an object as it is now. Undefined: the object was never there. */
function shapeIn({ objectName, hash }: WatchRow, object: ObjectSpec | undefined): Shape | undefined {
  if (object === undefined) return hash === null ? undefined : GONE;
  const shape = shapeOf(object);
  if (Object.keys(shape.fields).length === 0) {
    throw new AppError('PROVIDER_PROTOCOL', `The provider describes no fields of '${objectName}'.`);
  }
  return shape;
}

interface Reading {
  readonly row: WatchRow;
  readonly shape: Shape;
  readonly uses: ObjectUses;
}

/** Compares the shape of an object with the known one, and stores and reports the difference. */
async function judge(
  ports: CheckPorts,
  input: CheckInput,
  { row, shape, uses }: Reading,
): Promise<'same' | 'stored' | 'pending' | 'changed' | 'lost'> {
  const { store, clock } = ports;
  const hash = hashOfShape(shape);
  if (row.hash?.equals(hash) === true) return 'same';
  const now = new Date(clock.now());
  const before = row.hash === null ? undefined : await store.findShape(row);
  const change = before === undefined || before.v !== SHAPE_VERSION ? undefined : compareShapes(before, shape);
  if (row.hash === null || before === undefined || change === undefined) {
    await store.setShape(row, { hash, shape, now });
    return 'stored';
  }
  if (needsConfirmation(before, change) && row.pendingHash?.equals(hash) !== true) {
    await store.notePending(row, hash);
    return 'pending';
  }
  const drift = { key: row, settingsVersion: input.instance.settingsVersion, hashBefore: row.hash, hash, shape, now };
  const isOurs = await report(ports, input, { drift, change, breaks: findBreaks(before, change, uses) });
  return isOurs ? 'changed' : 'lost';
}

interface Report {
  readonly drift: Parameters<WatchStore['drift']>[1];
  readonly change: SchemaChange;
  readonly breaks: Breaks;
}

/**
 * Stores the new shape together with the change, its event and its notification, or nothing.
 * @returns false if another process was faster, or the instance has other settings by now
 */
async function report(
  ports: CheckPorts,
  { instance }: CheckInput,
  { drift, change, breaks }: Report,
): Promise<boolean> {
  const { store } = ports;
  const { accountId, id: instanceId, name, connector } = instance;
  const { objectName } = drift.key;
  const event = {
    accountId,
    instanceId,
    type: 'schema.changed',
    objectName,
    object: { objectName, ...change },
  } as const;
  const [events, publish] = await Promise.all([ports.prepare([event]), ports.prepareNotice(accountId)]);
  const isStored = await store.transaction(async (via) => {
    if (!(await store.drift(via, drift))) return false;
    await store.insertChange(via, drift.key, { change, breaks, now: drift.now });
    await events.insert(via);
    if (breaksAnything(breaks)) {
      const data = { instanceId, name, elementKey: connector.key, objectName, ...change, breaks };
      await publish(via, 'schema.broken', data);
    }
    return true;
  });
  if (isStored) events.committed();
  return isStored;
}
