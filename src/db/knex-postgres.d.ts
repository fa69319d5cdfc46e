/** The dialect that knex documents for subclasses, but without types. */
declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';

  export default class PostgresClient extends Knex.Client {
    /** Whether it is the client of a transaction. */
    readonly transacting?: boolean;
    acquireConnection(): Promise<unknown>;
    acquireRawConnection(): Promise<unknown>;
    _query(connection: unknown, query: unknown): Promise<unknown>;
  }
}
