import type { Knex } from 'knex';
import type { Egress, EgressRequest, EgressResponse } from '../../src/egress/index.ts';
import { interceptRaw } from './intercepted-knex.ts';

export interface Fate {
  /** Dies when the database has done a statement like this, before it hears so. */
  readonly afterStatement?: RegExp;
  /** Dies instead of sending a statement like this. */
  readonly beforeStatement?: RegExp;
  /** Dies instead of making its first push. */
  readonly beforePush?: boolean;
  /** Dies when the receiver has answered, before it hears so. */
  readonly afterPush?: boolean;
}

/** Whoever waits for a dead process waits for ever. */
const never = <Value>(): Promise<Value> => new Promise(() => undefined);

/** What a process reaches the world by; dead, it reaches nothing any more, and hears no answer. */
export function createMortal(knex: Knex, egress: Pick<Egress, 'request'>, fate: Fate) {
  let dead = false;

  function assertAlive(): void {
    if (dead) throw new Error('This process is dead.');
  }

  async function run(statement: () => Promise<unknown>, sql: string): Promise<unknown> {
    if (fate.beforeStatement?.test(sql)) dead = true;
    assertAlive();
    const result = await statement();
    if (fate.afterStatement?.test(sql)) dead = true;
    assertAlive();
    return result;
  }

  async function request(input: EgressRequest): Promise<EgressResponse> {
    if (fate.beforePush) dead = true;
    if (dead) return never();
    const response = await egress.request(input);
    if (fate.afterPush) dead = true;
    return dead ? never() : response;
  }

  return {
    knex: new Proxy(interceptRaw(knex, run), {
      apply: (target, self, input) => {
        assertAlive();
        return Reflect.apply(target, self, input);
      },
      get: (target, key) => {
        if (key === 'transaction') {
          return (work: (trx: Knex.Transaction) => Promise<unknown>) =>
            run(() => target.transaction(work), 'transaction');
        }
        return Reflect.get(target, key);
      },
    }),
    egress: { request },
    kill: () => {
      dead = true;
    },
    isDead: () => dead,
  };
}
