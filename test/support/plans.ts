/**
 * Explains the statements of a run on a distributed database, and fails it if one touches several shards without a reason. Mocha loads it with
 * --require. On a plain database it does nothing.
 */
import pg from 'pg';
import { LossReportingClient } from '../../src/db/unavailable.ts';
import { findReason } from './many-shards.ts';
import { isDistributedRun } from './nodes.ts';

interface Recorded {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  readonly database: pg.ClientConfig;
}

const recorded = new Map<string, Recorded>();
const EXPLAINED = /^\s*(?:with|select|insert|update|delete|\()/i;
/** A statement that reads no table of ours. */
const IGNORED = /pg_catalog|pg_extension|pg_dist_|pg_class|pg_inherits|pgboss|nextval|_default\b|_\d{6,8}\b/;

export const mochaHooks = isDistributedRun
  ? { beforeAll: recordStatements, afterAll: assertPlans }
  : /* c8 ignore next */ {};

function recordStatements(): void {
  const original = LossReportingClient.prototype._query;
  if (recorded.size > 0) return;
  LossReportingClient.prototype._query = function record(connection: unknown, query: unknown) {
    note(Object(connection), Object(query));
    return original.call(this, connection, query);
  };
}

function note({ host, port, user, password, database }: pg.Client, { sql, bindings }: Recorded): void {
  if (typeof sql !== 'string' || !EXPLAINED.test(sql) || IGNORED.test(sql)) return;
  const shape = shapeOf(sql);
  // The first values may be of a database without rows, where nothing is different for a plan.
  if (!recorded.has(shape))
    recorded.set(shape, { sql, bindings: bindings ?? [], database: { host, port, user, password, database } });
}

/** Returns the text without what differs between calls. */
function shapeOf(sql: string): string {
  return sql
    .replace(/\$\d+/g, '$')
    .replace(/account_id = \d+/g, 'account_id = N')
    .replace(/\((?:\$|DEFAULT)(?:, (?:\$|DEFAULT))*\)(?:, \((?:\$|DEFAULT)(?:, (?:\$|DEFAULT))*\))*/g, '($)')
    .replace(/\s+/g, ' ')
    .trim();
}

async function assertPlans(this: Mocha.Context): Promise<void> {
  this.timeout(120_000);
  const found: string[] = [];
  let explained = 0;
  for (const [, ofDatabase] of Map.groupBy(recorded.values(), ({ database }) => database.database)) {
    const client = new pg.Client(ofDatabase[0]?.database);
    await client.connect();
    try {
      for (const { sql, bindings } of ofDatabase) {
        const shards = await countShards(client, sql, bindings);
        explained += shards === undefined ? 0 : 1;
        if (shards !== undefined && shards > 1 && findReason(shapeOf(sql)) === undefined)
          found.push(`${shards} shards: ${shapeOf(sql)}`);
      }
    } finally {
      await client.end();
    }
  }
  console.log(`${explained} of ${recorded.size} statements were explained`);
  if (found.length > 0)
    throw new Error(
      `These statements touch several shards; name the account, or add a reason to many-shards.ts:\n${found.join('\n')}`,
    );
}

/** Returns the most shards that a part of the plan reads or writes. Undefined: the statement cannot be explained by itself. */
async function countShards(client: pg.Client, sql: string, bindings: readonly unknown[]): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${sql}`, [...bindings]);
    const counts = rows.map((row) => Number(/Task Count: (\d+)/.exec(row['QUERY PLAN'])?.[1] ?? 0));
    return Math.max(...counts);
  } catch {
    return undefined;
  }
}
