import fc from 'fast-check';
import { anyCommand, type Command, crash, perform } from '../support/engine-model/commands.ts';
import { createMemoryDatabase } from '../support/engine-model/memory-database.ts';
import { brokenPromises, unfulfilled } from '../support/engine-model/promises.ts';
import type { ModelDatabase } from '../support/engine-model/stored.ts';
import { createWorld, RECEIVERS, subscriptionIdOf, type World } from '../support/engine-model/world.ts';
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;

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

/** Every receiver answers, and a new process has hours for what the others left. */
async function heal(world: World): Promise<void> {
  world.outage = undefined;
  for (const process of [...world.processes]) crash(world, process);
  for (const receiver of RECEIVERS) world.behaviours.set(receiver, 'ok');
  world.policies.clear();
  await world.start();
  await world.pass(HOUR_MS);
  for (const receiver of RECEIVERS) await perform(world, { kind: 'release', receiver: RECEIVERS.indexOf(receiver) });
  await world.pass(10 * HOUR_MS);
}

function assertKept(broken: readonly string[], when: string): void {
  if (broken.length > 0) throw new Error(`Not kept ${when}:\n${broken.slice(0, 10).join('\n')}`);
}

describe('the engine of events, whatever happens in whatever order', () => {
  it('keeps its promises', async function model() {
    this.timeout(120_000);
    const commands = fc.array(anyCommand({ withLostAnswers: true }), { minLength: 20, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(commands, async (given) => {
        const clock = createVirtualClock();
        await live(clock, createMemoryDatabase(clock), given);
      }),
      { numRuns: Number(process.env.MODEL_RUNS ?? 50) },
    );
  });
});
