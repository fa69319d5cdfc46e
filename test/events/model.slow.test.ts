import fc from 'fast-check';
import { useDatabase } from '../support/database.ts';
import { anyCommand, type Command, crash, perform } from '../support/engine-model/commands.ts';
import { createMemoryDatabase } from '../support/engine-model/memory-database.ts';
import { createPostgresDatabase } from '../support/engine-model/postgres-database.ts';
import { brokenPromises, unfulfilled } from '../support/engine-model/promises.ts';
import type { ModelDatabase } from '../support/engine-model/stored.ts';
import { createWorld, LIMITS, RECEIVERS, subscriptionIdOf, type World } from '../support/engine-model/world.ts';
import { addAccount, emptyTables } from '../support/event-rows.ts';
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts';

/** MODEL_RUNS makes it more, MODEL_SEED something else. */
const { MODEL_RUNS, MODEL_SEED } = process.env;
const RUNS = Number(MODEL_RUNS ?? 60);
const SEED = Number(MODEL_SEED ?? 20261);

/** To make a failing run smaller may take for ever. */
const BOUNDED = { interruptAfterTimeLimit: Math.max(60_000, RUNS * 500) };

const TAKE_OVER_MS = LIMITS.silentMs + 4 * LIMITS.heartbeatMs;

/** @throws Error that says what was promised and not kept, and when */
async function live(clock: VirtualClock, database: ModelDatabase, commands: readonly Command[]): Promise<void> {
  const world = createWorld(clock, database);
  for (const receiver of RECEIVERS) await subscriptionIdOf(world, receiver);
  await world.start();
  await world.start();
  for (const [index, command] of commands.entries()) {
    await perform(world, command);
    assertKept(await brokenPromises(world), `after command ${index}, ${JSON.stringify(command)}`);
  }
  await heal(world);
  assertKept(await brokenPromises(world), 'at the end');
  assertKept(await unfulfilled(world), 'at the end');
  for (const process of [...world.processes]) crash(world, process);
}

/** Every receiver answers, a new process takes over what the others left, and every queue is released: all schedules begin anew. */
async function heal(world: World): Promise<void> {
  world.outage = undefined;
  for (const process of [...world.processes]) crash(world, process);
  for (const receiver of RECEIVERS) world.behaviours.set(receiver, 'ok');
  world.policies.clear();
  await world.start();
  await world.pass(TAKE_OVER_MS);
  for (const kind of ['suspend', 'release'] as const) {
    for (const receiver of RECEIVERS.keys()) await perform(world, { kind, receiver });
  }
  await world.pass(TAKE_OVER_MS);
}

function assertKept(broken: readonly string[], when: string): void {
  if (broken.length > 0) throw new Error(`Not kept ${when}:\n${broken.slice(0, 10).join('\n')}`);
}

describe('the engine of events, whatever happens in whatever order', () => {
  it('keeps its promises', async function model() {
    this.timeout(Math.max(120_000, RUNS * 1000));
    const commands = fc.array(anyCommand({ withLostAnswers: true, withHours: true }), { minLength: 20, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(commands, fc.boolean(), async (given, isPerAccount) => {
        const clock = createVirtualClock();
        await live(clock, createMemoryDatabase(clock, { isPerAccount }), given);
      }),
      { seed: SEED, numRuns: RUNS, ...BOUNDED },
    );
  });

  describe('over PostgreSQL', () => {
    const database = useDatabase();

    before(async () => {
      await addAccount(database.knex);
      await database.knex('account').insert({ organization_id: 1, name: 'Other', external_id: 'Other' });
    });

    it('keeps them too', async function model() {
      this.timeout(120_000);
      const { knex } = database;
      const commands = fc.array(anyCommand({ withLostAnswers: false, withHours: false }), {
        minLength: 10,
        maxLength: 30,
      });
      await fc.assert(
        fc
          .asyncProperty(commands, async (given) => {
            const clock = createVirtualClock();
            await live(clock, createPostgresDatabase(knex, clock), given);
          })
          .beforeEach(() => emptyTables(knex)),
        { seed: SEED, numRuns: 4, ...BOUNDED },
      );
    });
  });
});
