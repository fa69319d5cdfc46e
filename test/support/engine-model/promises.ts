import { SCHEDULES } from '../../../src/events/push/schedule.ts';
import type { StoredAttempt, StoredDelivery } from './stored.ts';
import { LIMITS, POLICY_ACCOUNT, RECEIVERS, type Receipt, subscriptionIdOf, type World } from './world.ts';

const { offsetsMs, shortestIntervalMs } = SCHEDULES[5];
/**
 * Maximum milliseconds for which a due delivery waits when nothing goes wrong: a pause of the breaker and its next check. No periodic check
 * is so frequent.
 */
const MOST_LATE_MS = 61_000;
/** Milliseconds until another process has taken over the deliveries of a dead one, and has checked them. */
const RECOVERY_MS = LIMITS.silentMs + 2 * LIMITS.heartbeatMs + LIMITS.sweepBackstopMs + MOST_LATE_MS;

type Check = (world: World) => Promise<readonly string[]> | readonly string[];

/** Checks that must pass at every moment. @returns the violations */
const AT_ALL_TIMES: readonly Check[] = [
  ({ faults }) => faults,
  nothingIsLost,
  attemptsAreFenced,
  retriesKeepTheSchedule,
  waitingKeepsTheSchedule,
  queuedForAReason,
  capsAreKept,
  orderIsKept,
  duplicatesHaveACause,
  nothingLiesAround,
];

export async function brokenPromises(world: World): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const check of AT_ALL_TIMES) broken.push(...(await check(world)));
  return broken;
}

async function nothingIsLost({ database, acknowledged, receipts }: World): Promise<readonly string[]> {
  const stored = new Set((await database.deliveries()).map(({ eventId }) => eventId));
  const delivered = new Set((await database.attempts()).flatMap((one) => (one.delivered ? [one.eventId] : [])));
  const received = new Set(receipts.flatMap(({ isOk, eventId }) => (isOk ? [eventId] : [])));
  return [
    ...acknowledged
      .filter(({ eventId }) => !stored.has(eventId) && !delivered.has(eventId))
      .map(({ eventId }) => `${eventId} was acknowledged and is lost`),
    ...[...delivered]
      .filter((eventId) => !received.has(eventId))
      .map((eventId) => `${eventId} is stored as delivered and was not received`),
  ];
}

function byDelivery(attempts: readonly StoredAttempt[]): readonly (readonly StoredAttempt[])[] {
  return [...Map.groupBy(attempts, ({ deliveryId }) => deliveryId).values()];
}

/** Checks that each attempt has one outcome, and that no attempt follows the successful one. */
async function attemptsAreFenced({ database }: World): Promise<readonly string[]> {
  return byDelivery(await database.attempts()).flatMap((attempts) => {
    const isWhole = attempts.every(({ attempt }, index) => attempt === index + 1);
    const ends = attempts.findIndex(({ delivered }) => delivered);
    if (isWhole && (ends < 0 || ends === attempts.length - 1)) return [];
    return [`delivery ${attempts[0]?.deliveryId} has the outcomes ${JSON.stringify(attempts)}`];
  });
}

/** Checks the times of retries. A release begins a new schedule, so attempts before and after it are checked separately. */
async function retriesKeepTheSchedule({ database, releases }: World): Promise<readonly string[]> {
  return byDelivery(await database.attempts()).flatMap((attempts) => {
    const schedules = Map.groupBy(attempts, ({ deliveryId, attemptedAtMs }) =>
      releases.findLastIndex(({ deliveryIds, atMs }) => deliveryIds.has(deliveryId) && atMs <= attemptedAtMs),
    );
    return [...schedules.values()].flatMap((made) =>
      made.flatMap(({ attemptedAtMs, deliveryId }, retry) => {
        const [first, before] = [made[0], made[retry - 1]];
        if (first === undefined || before === undefined) return [];
        const offsetMs = offsetsMs[retry - 1];
        if (offsetMs === undefined) return [`delivery ${deliveryId} was tried ${retry + 1} times in one schedule`];
        const earliestMs = Math.max(first.attemptedAtMs + offsetMs, before.attemptedAtMs + shortestIntervalMs);
        return attemptedAtMs < earliestMs
          ? [`retry ${retry} of ${deliveryId} came ${earliestMs - attemptedAtMs} ms early`]
          : [];
      }),
    );
  });
}

async function waitingKeepsTheSchedule({ database }: World): Promise<readonly string[]> {
  const waiting = (await database.deliveries()).filter(({ state }) => state === 'waiting');
  return waiting.flatMap(({ id, dueMs, retries, firstFailedAtMs }) => {
    if (dueMs === undefined) return [`delivery ${id} waits for nothing`];
    if (firstFailedAtMs === undefined) return [];
    const offsetMs = offsetsMs[retries] ?? Number.POSITIVE_INFINITY;
    return dueMs < firstFailedAtMs + offsetMs ? [`delivery ${id} is due before its retry ${retries + 1}`] : [];
  });
}

/**
 * Checks that a delivery is queued only by the policy of the account, or because nothing may be pushed to the subscription. Then its owner
 * can read the reason.
 */
async function queuedForAReason(world: World): Promise<readonly string[]> {
  const { database, told, steered } = world;
  const broken: string[] = [];
  const deliveries = await database.deliveries();
  for (const receiver of RECEIVERS) {
    const id = await subscriptionIdOf(world, receiver);
    const { state } = await database.subscription(id);
    const hasQueued = deliveries.some((one) => one.subscriptionId === id && one.state === 'queued');
    if (hasQueued && state === 'active' && receiver.accountId !== POLICY_ACCOUNT)
      broken.push(`subscription ${id} is active, and holds a queue`);
    const isTold = told.some(({ type, data }) => type === 'subscription.deactivated' && data.subscriptionId === id);
    if (state === 'deactivated' && !isTold && !steered.has(id))
      broken.push(`subscription ${id} was deactivated and nobody told`);
  }
  const attempts = Map.groupBy(await database.attempts(), ({ deliveryId }) => deliveryId);
  for (const { type, data } of told) {
    const made = attempts.get(Number(data.deliveryId))?.length ?? 0;
    if (type === 'delivery.exhausted' && made <= offsetsMs.length)
      broken.push(`${data.deliveryId} was exhausted after ${made} attempts`);
  }
  return broken;
}

function capsAreKept({ receipts }: World): readonly string[] {
  const open = receipts.filter(({ isOpen, process }) => isOpen && !process.isDead);
  const ofProcess = Map.groupBy(open, ({ process }) => process);
  return [...ofProcess.values()].flatMap((held) => {
    const lanes = [...Map.groupBy(held, ({ receiver }) => receiver).values()].map(({ length }) => length);
    const isKept = held.length <= LIMITS.concurrency && Math.max(...lanes) <= LIMITS.maxLaneConcurrency;
    return isKept ? [] : [`a process has ${held.length} pushes under way, ${lanes} of each`];
  });
}

function orderIsKept(world: World): readonly string[] {
  return RECEIVERS.filter(({ ordered }) => ordered).flatMap((receiver) => {
    const received = world.receipts.filter((receipt) => receipt.receiver === receiver);
    const open = received.filter(({ isOpen, atMs }) => isOpen && !wasDisturbed(world, atMs, world.clock.now()));
    const firstOkMs = new Map<string, number>();
    for (const { eventId, isOk, atMs } of received) if (isOk && !firstOkMs.has(eventId)) firstOkMs.set(eventId, atMs);
    const mine = world.acknowledged.filter((one) => one.receiver === receiver);
    const swapped = mine.filter((later, index) => {
      const before = mine[index - 1];
      if (before === undefined || (before.atMs > later.calledAtMs && before.calledAtMs !== later.calledAtMs))
        return false;
      const [firstMs, secondMs] = [firstOkMs.get(before.eventId), firstOkMs.get(later.eventId)];
      return secondMs !== undefined && (firstMs === undefined || firstMs > secondMs);
    });
    return [
      ...(open.length > 1 ? [`${receiver.url} has ${open.length} pushes at a time`] : []),
      ...swapped.map(({ eventId }) => `${eventId} overtook the one before it`),
    ];
  });
}

/** Returns whether a disturbance in this period may have lost an outcome. */
function wasDisturbed({ disturbances }: World, fromMs: number, toMs: number): boolean {
  return disturbances.some((one) => one.fromMs <= toMs && one.toMs >= fromMs);
}

function duplicatesHaveACause(world: World): readonly string[] {
  const ok = Map.groupBy(
    world.receipts.filter(({ isOk }) => isOk),
    ({ eventId }) => eventId,
  );
  return [...ok].flatMap(([eventId, receipts]) => {
    const wanted = 1 + world.redelivered.filter((one) => one === eventId).length;
    const [first, last] = [receipts[0], receipts.at(-1)];
    if (receipts.length <= wanted || first === undefined || last === undefined) return [];
    // If the event was redelivered, any two of the requests may be of the same delivery.
    return wasDisturbed(world, first.atMs, last.atMs)
      ? []
      : [`${eventId} was delivered ${receipts.length} times for nothing`];
  });
}

/**
 * Returns the hosts that failed lately. After each pause, one delivery tries such a host, while the others wait. A push can take a while
 * before it fails.
 */
async function failingHosts(world: World): Promise<ReadonlySet<string>> {
  const sinceMs = world.clock.now() - 2 * MOST_LATE_MS;
  const attempts = await world.database.attempts();
  const failed = attempts.filter(({ delivered, attemptedAtMs }) => !delivered && attemptedAtMs >= sinceMs);
  return new Set(await Promise.all(failed.map((one) => hostOf(world, one))));
}

async function hostOf(
  { database }: World,
  { subscriptionId }: Pick<StoredDelivery, 'subscriptionId'>,
): Promise<string> {
  return new URL((await database.subscription(subscriptionId)).url).host;
}

/** Checks that no delivery is late, once a working process has run for long enough without a disturbance. */
async function nothingLiesAround(world: World): Promise<readonly string[]> {
  const { clock, database, processes, outage, disturbances } = world;
  const nowMs = clock.now();
  const lastMs = Math.max(world.aliveSinceMs, ...disturbances.map(({ toMs }) => toMs));
  const works = processes.some(({ backlog }) => backlog === undefined);
  if (!works || outage !== undefined || nowMs - lastMs < RECOVERY_MS) return [];
  const deliveries = await database.deliveries();
  const failing = await failingHosts(world);
  const late: StoredDelivery[] = [];
  for (const one of deliveries) {
    if (one.state !== 'waiting' || one.ordered || nowMs - (one.dueMs ?? 0) <= MOST_LATE_MS) continue;
    if (!failing.has(await hostOf(world, one))) late.push(one);
  }
  const stuck = deliveries.filter((one) => one.state === 'delivering' && nowMs - one.updatedAtMs > RECOVERY_MS);
  return [
    ...late.map(({ id, dueMs }) => `delivery ${id} was due ${nowMs - (dueMs ?? 0)} ms ago`),
    ...stuck.map(({ id, updatedAtMs }) => `delivery ${id} is in memory for ${nowMs - updatedAtMs} ms`),
  ];
}

/**
 * Checks that everything has been delivered, after every receiver responds, every queue was released and time has passed. @returns the
 * violations
 */
export async function unfulfilled({ database, acknowledged, receipts }: World): Promise<readonly string[]> {
  const received = new Set(receipts.flatMap((receipt: Receipt) => (receipt.isOk ? [receipt.eventId] : [])));
  const left = await database.deliveries();
  return [
    ...acknowledged.filter(({ eventId }) => !received.has(eventId)).map(({ eventId }) => `${eventId} never arrived`),
    ...left.map(({ id, state }) => `delivery ${id} is ${state} still`),
  ];
}
