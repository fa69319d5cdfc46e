import type { Knex } from 'knex';
import { createRunStore, type RunStore } from '../../src/formulas/executions/run-store.ts';

export interface Death {
  /** The number of the commit at which its process dies, from 1. */
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** The store of a process that dies before or after a commit: from then on it reaches the database no more. */
export function createMortalStore(
  knex: Knex,
  { at, when }: Death,
  noteStored: (stored: Parameters<RunStore['commit']>[0]) => void = () => undefined,
) {
  const real = createRunStore(knex);
  const death = Promise.withResolvers<void>();
  let isDead = false;
  let commits = 0;

  function die(): void {
    isDead = true;
    death.resolve();
  }
  function assertAlive(): void {
    if (isDead) throw new Error('This process is dead.');
  }
  const guarded = Object.fromEntries(
    Object.entries(real).map(([name, run]) => [
      name,
      async (...input: readonly unknown[]) => {
        assertAlive();
        const result: unknown = await Reflect.apply(run, real, input);
        assertAlive();
        return result;
      },
    ]),
  ) as unknown as RunStore;

  return {
    store: {
      ...guarded,
      transaction: real.transaction,
      commit: async (all) => {
        assertAlive();
        commits += 1;
        if (commits === at && when === 'before') die();
        assertAlive();
        const stored = await real.commit(all);
        noteStored(all.filter(({ lease }) => stored.has(lease)));
        if (commits === at && when === 'after') die();
        assertAlive();
        return stored;
      },
    } satisfies RunStore,
    isDead: () => isDead,
    commits: () => commits,
    died: death.promise,
  };
}
