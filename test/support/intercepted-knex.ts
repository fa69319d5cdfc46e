import type { Knex } from 'knex';

export type Interceptor = (
  statement: () => Promise<unknown>,
  sql: string,
  bindings: readonly Knex.RawBinding[],
) => Promise<unknown>;

/** Passes every statement that is written as SQL, in transactions too, through a function, which may do something else instead. */
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
