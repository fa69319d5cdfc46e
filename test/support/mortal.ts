import type { Knex } from 'knex';
import type { Egress, EgressRequest, EgressResponse } from '../../src/egress/index.ts';
import { interceptRaw } from './intercepted-knex.ts';

export interface Fate {
  /** The process dies after the database has executed a statement like this, before it gets the result. */
  readonly afterStatement?: RegExp;
  /** The process dies instead of sending a statement like this. */
  readonly beforeStatement?: RegExp;
  /** Whether the process dies instead of sending its first push. */
  readonly beforePush?: boolean;
  /** Whether the process dies after the receiver has responded, before it gets the response. */
  readonly afterPush?: boolean;
}

/** The promise of a dead process, which never resolves. */
const never = <Value>(): Promise<Value> => new Promise(() => undefined);

/** Returns the database and the egress of a process that may die. After its death, statements are rejected and requests never resolve. */
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
