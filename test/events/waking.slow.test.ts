import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SCHEDULES } from '../../src/events/push/schedule.ts';
import { DUE_TOPIC } from '../../src/events/sweep/announcement.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { crash } from '../support/engine-model/commands.ts';
import { createMemoryDatabase } from '../support/engine-model/memory-database.ts';
import {
  createWorld,
  LIMITS,
  RECEIVERS,
  type Receiver,
  subscriptionIdOf,
  type World,
} from '../support/engine-model/world.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

/** Far less than the time between two regular looks. */
const AT_ONCE_MS = 50;
/** Longer than a look takes. */
const LOOK_MS = 12;
/** Failures that open the breaker, and for how long. */
const [FAILURES, PAUSE_MS] = [5, 5_000];

describe('what is due', () => {
  async function startWorld(): Promise<World> {
    const clock = createVirtualClock();
    const world = createWorld(clock, createMemoryDatabase(clock));
    await world.start();
    return world;
  }

  function someReceiver(): Receiver {
    const [receiver] = RECEIVERS;
    if (receiver === undefined) throw new Error('There are no receivers.');
    return receiver;
  }

  function accept(world: World, count: number): void {
    for (const process of world.processes) world.accept(process, someReceiver(), count);
  }

  function end(world: World): void {
    for (const process of [...world.processes]) crash(world, process);
  }

  async function store(world: World, dueMs: number): Promise<void> {
    const { accountId, instanceId, ordered } = someReceiver();
    const subscriptionId = await subscriptionIdOf(world, someReceiver());
    const event = { accountId, instanceId, subscriptionId, ordered, eventId: randomUUID(), type: 'orders.created' };
    const rest = {
      createdAt: new Date(dueMs),
      payload: Buffer.from('{}'),
      keyHash: undefined,
      state: 'waiting',
    } as const;
    await world.database.stores.accepted.insert([{ ...event, ...rest }], undefined, new Date(dueMs));
  }

  for (let offsetMs = 0; offsetMs <= LOOK_MS; offsetMs++) {
    it(`goes out at once, also where it becomes due ${offsetMs} ms after a look began`, async () => {
      const world = await startWorld();
      const dueMs = world.clock.now() + 1_000;
      await store(world, dueMs);
      await store(world, dueMs + offsetMs);
      world.publish(DUE_TOPIC, '');
      await world.pass(1_000 + LOOK_MS + AT_ONCE_MS);
      expect(world.receipts).to.have.length(2);
      end(world);
    });
  }

  it('goes out at once when its receiver is to be tried again and nothing else is due', async () => {
    const world = await startWorld();
    world.behaviours.set(someReceiver(), 'fails');
    accept(world, FAILURES);
    await world.pass(PAUSE_MS + 1_000);
    expect(world.receipts).to.have.length(FAILURES);
    world.behaviours.set(someReceiver(), 'ok');
    accept(world, 1);
    await world.pass(AT_ONCE_MS);
    expect(world.receipts).to.have.length(FAILURES + 1);
    end(world);
  });

  describe('where another process looks for it', () => {
    /** Starts a process that looks for everything, and one that looks for nothing. */
    async function startTwo() {
      const world = await startWorld();
      await world.start();
      const [looking, other] = world.processes;
      if (looking === undefined || other === undefined) throw new Error('There are not two processes.');
      looking.buckets.set(new Set(ALL_BUCKETS.held()));
      other.buckets.set(new Set());
      return { world, looking, other };
    }

    const sendersOf = ({ receipts }: World) => receipts.map(({ process }) => process);

    it('goes out at the time of its retry', async () => {
      const { world, looking, other } = await startTwo();
      world.behaviours.set(someReceiver(), 'fails');
      world.accept(other, someReceiver(), 1);
      await world.pass(AT_ONCE_MS);
      world.behaviours.set(someReceiver(), 'ok');
      const [firstRetryMs = 0] = SCHEDULES[5].offsetsMs;
      await world.pass(firstRetryMs + LOOK_MS + AT_ONCE_MS);
      expect(sendersOf(world)).to.deep.equal([other, looking]);
      end(world);
    });

    it('goes out at once when it is ordered', async () => {
      const { world, looking, other } = await startTwo();
      const receiver = RECEIVERS.find(({ ordered }) => ordered) ?? someReceiver();
      world.accept(other, receiver, 3);
      await world.pass(500);
      expect(sendersOf(world)).to.deep.equal([looking, looking, looking]);
      end(world);
    });

    it('goes out at once when the process that accepted it has no room', async () => {
      const { world, looking, other } = await startTwo();
      world.behaviours.set(someReceiver(), 'slow');
      world.accept(other, someReceiver(), LIMITS.maxLaneDeliveries + 1);
      await world.pass(LOOK_MS + 2 * AT_ONCE_MS);
      expect(sendersOf(world)).to.include(looking);
      end(world);
    });

    it('goes out at once when only the process that accepted it waits for the receiver', async () => {
      const { world, looking, other } = await startTwo();
      world.behaviours.set(someReceiver(), 'fails');
      world.accept(other, someReceiver(), FAILURES);
      await world.pass(AT_ONCE_MS);
      world.behaviours.set(someReceiver(), 'ok');
      world.accept(other, someReceiver(), 1);
      await world.pass(LOOK_MS + 2 * AT_ONCE_MS);
      expect(sendersOf(world).at(-1)).to.equal(looking);
      end(world);
    });

    it('goes out at once when that process ends and this one takes its part', async () => {
      const { world, looking, other } = await startTwo();
      const dueMs = world.clock.now() + 1_000;
      await store(world, dueMs);
      await world.pass(500);
      crash(world, looking);
      await world.pass(500 + LOOK_MS + AT_ONCE_MS);
      expect(sendersOf(world)).to.deep.equal([other]);
      end(world);
    });
  });
});
