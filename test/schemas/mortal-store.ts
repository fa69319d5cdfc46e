import type { Knex } from 'knex';
import { createWatchStore, type WatchStore } from '../../src/schemas/watch-store.ts';

export interface Death {
  /** The method of the store at whose call its process dies. */
  readonly at: keyof WatchStore;
  /** The number of that call, from 1. */
  readonly count: number;
  readonly when: 'before' | 'after';
}

const DEAD = 'This process is dead.';

/**
 * The store of a process that dies before or after a call: from then on it reaches the database no more. The database rolls a transaction back
 * whose commit it did not receive.
 */
export function createMortalStore(knex: Knex, { at, count, when }: Death) {
  const real = createWatchStore(knex);
  let isDead = false;
  let calls = 0;

  function assertAlive(): void {
    if (isDead) throw new Error(DEAD);
  }
  async function live<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    assertAlive();
    const isLast = name === at && ++calls === count;
    if (isLast && when === 'before') isDead = true;
    assertAlive();
    const result = await work();
    if (isLast && when === 'after') isDead = true;
    assertAlive();
    return result;
  }

  const transaction: WatchStore['transaction'] = (work) =>
    live('transaction', () =>
      real.transaction(async (via) => {
        const result = await work(via);
        assertAlive();
        return result;
      }),
    );
  const store = new Proxy(real, {
    get: (target, name) => {
      if (name === 'transaction') return transaction;
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...given: readonly unknown[]) => live(String(name), async () => Reflect.apply(method, target, given));
    },
  });
  return { store, isDead: () => isDead };
}
