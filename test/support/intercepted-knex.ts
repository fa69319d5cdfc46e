import type { Knex } from 'knex';

export type Interceptor = (
  statement: () => Promise<unknown>,
  sql: string,
  bindings: readonly Knex.RawBinding[],
) => Promise<unknown>;

/** Passes every statement that is written as SQL through a function, which may do something else instead. */
export function interceptRaw(knex: Knex, intercept: Interceptor): Knex {
  const { raw } = knex;
  const intercepted = (sql: string, bindings: Knex.RawBinding[] = []) => {
    const statement = async () => raw.call(knex, sql, bindings);
    const result = Promise.resolve().then(() => intercept(statement, sql, bindings));
    return Object.assign(result, { options: () => result });
  };
  return new Proxy(knex, {
    get: (target, key) => (key === 'raw' ? intercepted : Reflect.get(target, key)),
  });
}
