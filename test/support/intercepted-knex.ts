import type { Knex } from 'knex';

export type Interceptor = (
  statement: () => Promise<unknown>,
  sql: string,
  bindings: readonly Knex.RawBinding[],
) => Promise<unknown>;

/** Passes every raw SQL statement, including those in transactions, through a function, which may replace it. */
export function interceptRaw<Connection extends Knex>(knex: Connection, intercept: Interceptor): Connection {
  const { raw } = knex;
  const intercepted = (sql: string, bindings: Knex.RawBinding[] = []) => {
    const statement = async () => raw.call(knex, sql, bindings);
    const result = Promise.resolve().then(() => intercept(statement, sql, bindings));
    return Object.assign(result, { options: () => result });
  };
  const transaction = (work: (via: Knex.Transaction) => Promise<unknown>) =>
    knex.transaction((via) => work(interceptRaw(via, intercept)));
  return new Proxy(knex, {
    get: (target, key) => {
      if (key === 'transaction') return transaction;
      return key === 'raw' ? intercepted : Reflect.get(target, key);
    },
  });
}

/** Runs every raw SQL statement, and collects the plan that PostgreSQL makes for it. `options` are those of EXPLAIN. */
export function explainRaw(knex: Knex, plans: string[], options = ''): Knex {
  return interceptRaw(knex, async (statement, sql, bindings) => {
    const { rows } = await knex.raw(`explain ${options} ${sql}`, [...bindings]);
    plans.push(rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n'));
    return statement();
  });
}
