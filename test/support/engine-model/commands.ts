import fc from 'fast-check';
import { DUE_TOPIC, RELEASED_TOPIC } from '../../../src/events/sweep/announcement.ts';
import {
  BEHAVIOURS,
  type BehaviourName,
  type ModelProcess,
  type Outage,
  POLICY_ACCOUNT,
  RECEIVERS,
  subscriptionIdOf,
  type World,
} from './world.ts';

/** An event in the life of the service. A number that picks something is taken modulo the number of choices. */
export type Command =
  | { readonly kind: 'accept'; readonly process: number; readonly receiver: number; readonly count: number }
  | { readonly kind: 'behave'; readonly receiver: number; readonly behaviour: BehaviourName }
  | { readonly kind: 'crash' | 'stop'; readonly process: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'freeze'; readonly process: number; readonly ms: number }
  | { readonly kind: 'outage'; readonly outage: Outage; readonly ms: number }
  | { readonly kind: 'suspend' | 'release' | 'rotate'; readonly receiver: number }
  | { readonly kind: 'redeliver'; readonly nth: number }
  | { readonly kind: 'policy'; readonly policy: 'retry' | 'queue' }
  | { readonly kind: 'pass'; readonly ms: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Maximum number of processes. More would only be slower. */
const MOST_PROCESSES = 3;
/** Longer than the time limit of a push, so that a stop breaks nothing off. */
const STOP_MS = 20_000;

const which = fc.nat({ max: 59 });
const names = Object.keys(BEHAVIOURS).filter((name): name is BehaviourName => name in BEHAVIOURS);
const anyMs = fc.oneof(
  fc.integer({ min: 1, max: 50 }),
  fc.integer({ min: 50, max: 20_000 }),
  fc.integer({ min: 20_000, max: 10 * MINUTE_MS }),
);

export interface Happenings {
  /** Whether there are connections that break after the statement was executed. */
  readonly withLostAnswers: boolean;
  readonly withHours: boolean;
}

export function anyCommand({ withLostAnswers, withHours }: Happenings): fc.Arbitrary<Command> {
  const outages: readonly Outage[] = withLostAnswers ? ['down', 'deaf'] : ['down'];
  return fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant('accept'),
        process: which,
        receiver: which,
        count: fc.integer({ min: 1, max: 9 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('behave'), receiver: which, behaviour: fc.constantFrom(...names) }),
    },
    { weight: 10, arbitrary: fc.record({ kind: fc.constant('pass'), ms: anyMs }) },
    {
      weight: withHours ? 1 : 0,
      arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.integer({ min: 10 * MINUTE_MS, max: 10 * HOUR_MS }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash'), process: which }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop'), process: which }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'start' }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('freeze'), process: which, ms: anyMs }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('outage'), outage: fc.constantFrom(...outages), ms: anyMs }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('suspend'), receiver: which }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('release'), receiver: which }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate'), receiver: which }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('redeliver'), nth: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('policy'), policy: fc.constantFrom('retry', 'queue') }) },
  );
}

const pick = <Item>(items: readonly Item[], at: number): Item | undefined => items[at % Math.max(1, items.length)];

/** Executes a command and lets one millisecond pass. */
export async function perform(world: World, command: Command): Promise<void> {
  await happen(world, command);
  await world.pass(1);
}

async function happen(world: World, command: Command): Promise<void> {
  switch (command.kind) {
    case 'accept': {
      const [process, receiver] = [pick(world.processes, command.process), pick(RECEIVERS, command.receiver)];
      if (process !== undefined && receiver !== undefined) world.accept(process, receiver, command.count);
      return;
    }
    case 'behave': {
      const receiver = pick(RECEIVERS, command.receiver);
      if (receiver !== undefined) world.behaviours.set(receiver, command.behaviour);
      return;
    }
    case 'pass':
      return world.pass(command.ms);
    case 'start':
      return world.processes.length < MOST_PROCESSES ? world.start() : undefined;
    case 'policy':
      world.policies.set(POLICY_ACCOUNT, command.policy);
      return;
    case 'crash':
      return crash(world, pick(world.processes, command.process));
    case 'stop':
      return stop(world, pick(world.processes, command.process));
    case 'freeze':
      return freeze(world, pick(world.processes, command.process), command.ms);
    case 'outage':
      return fail(world, command.outage, command.ms);
    case 'redeliver':
      return redeliver(world, command.nth);
    case 'suspend':
    case 'release':
    case 'rotate':
      return steer(world, command.kind, command.receiver);
  }
}

export function crash(world: World, process: ModelProcess | undefined): void {
  if (process === undefined) return;
  const nowMs = world.clock.now();
  process.isDead = true;
  world.processes.splice(world.processes.indexOf(process), 1);
  world.handOut();
  world.disturbances.push({ fromMs: nowMs, toMs: nowMs });
}

/** Stops a process. It accepts no more events, and ends while other commands run. */
function stop(world: World, process: ModelProcess | undefined): void {
  if (process === undefined || process.backlog !== undefined) return;
  world.processes.splice(world.processes.indexOf(process), 1);
  world.handOut();
  process.engine.stop(STOP_MS).then(
    () => {
      process.isDead = true;
    },
    // Without the database, a stop fails and is treated as a crash.
    () => crash(world, process),
  );
}

function freeze(world: World, process: ModelProcess | undefined, ms: number): void {
  if (process === undefined || process.backlog !== undefined) return;
  const { clock, disturbances } = world;
  process.backlog = [];
  world.handOut();
  disturbances.push({ fromMs: clock.now(), toMs: clock.now() + ms });
  clock.after(ms, () => {
    const calls = process.backlog ?? [];
    process.backlog = undefined;
    for (const call of calls) process.hear(call);
    world.handOut();
  });
}

function fail(world: World, outage: Outage, ms: number): void {
  if (world.outage !== undefined) return;
  const { clock, disturbances } = world;
  world.outage = outage;
  disturbances.push({ fromMs: clock.now(), toMs: clock.now() + ms });
  clock.after(ms, () => {
    world.outage = undefined;
  });
}

/** Redelivers an event. Ordered subscriptions are excluded, because a redelivery is sent as soon as it can be. */
async function redeliver(world: World, nth: number): Promise<void> {
  const { database, redelivered } = world;
  const all = [...(await database.deliveries()), ...(await database.attempts()).filter(({ delivered }) => delivered)];
  const orderedIds = new Set(
    await Promise.all(RECEIVERS.filter(({ ordered }) => ordered).map((receiver) => subscriptionIdOf(world, receiver))),
  );
  const one = pick(
    all.filter(({ subscriptionId }) => !orderedIds.has(subscriptionId)),
    nth,
  );
  if (one === undefined) return;
  redelivered.push(one.eventId);
  await database.redeliver('id' in one ? one.id : one.deliveryId);
  world.publish(DUE_TOPIC, '');
}

async function steer(world: World, kind: 'suspend' | 'release' | 'rotate', nth: number): Promise<void> {
  const receiver = pick(RECEIVERS, nth);
  if (receiver === undefined) return;
  const { database } = world;
  const id = await subscriptionIdOf(world, receiver);
  if (kind === 'suspend') {
    world.steered.add(id);
    return database.suspend(id);
  }
  if (kind === 'rotate') return database.rotateSecret(id);
  const queued = (await database.deliveries()).filter((one) => one.subscriptionId === id && one.state === 'queued');
  world.releases.push({ deliveryIds: new Set(queued.map((one) => one.id)), atMs: world.clock.now() });
  await database.release(id);
  world.publish(RELEASED_TOPIC, String(id));
  world.publish(DUE_TOPIC, '');
}
