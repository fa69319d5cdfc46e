import type { Knex } from 'knex';
import { createRunStore, type RunStore } from '../../src/formulas/executions/run-store.ts';

export interface Death {
  /** The number of the commit at which its process dies, from 1. */
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** What a store saw until its process died. */
export interface MortalStore {
  readonly store: RunStore;
  readonly isDead: () => boolean;
  readonly commits: () => number;
  readonly died: Promise<void>;
}

/** The store of a process that dies before or after a commit: from then on it reaches the database no more. */
export function createMortalStore(
  knex: Knex,
  { at, when }: Death,
  noteStored: (stored: Parameters<RunStore['commit']>[0]) => void = () => undefined,
): MortalStore {
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
  const guarded =
    <Input extends readonly unknown[], Result>(work: (...input: Input) => Promise<Result>) =>
    async (...input: Input): Promise<Result> => {
      assertAlive();
      const result = await work(...input);
      assertAlive();
      return result;
    };

  return {
    store: {
      transaction: real.transaction,
      start: guarded(real.start),
      countStarts: guarded(real.countStarts),
      claim: guarded(real.claim),
      nextDue: guarded(real.nextDue),
      renew: guarded(real.renew),
      release: guarded(real.release),
      findInput: guarded(real.findInput),
      lastValues: guarded(real.lastValues),
      takeRetry: guarded(real.takeRetry),
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
    },
    isDead: () => isDead,
    commits: () => commits,
    died: death.promise,
  };
}
