/**
 * Watches the transactions of a run on a distributed database, and fails it if one changes tables that each node has a copy of in several
 * statements without its turn (`changeInTurn`): it would end in a deadlock with others. Mocha loads it with --require. On a plain database it
 * does nothing.
 */
import { DISTRIBUTION } from '../../src/db/distribution.ts';
import { LossReportingClient } from '../../src/db/unavailable.ts';
import { isDistributedRun } from './nodes.ts';

interface Transaction {
  isInTurn: boolean;
  readonly changes: string[];
}

const open = new WeakMap<object, Transaction>();
const found = new Set<string>();
/** A statement that changes rows. Migrations run alone. */
const OF_ROWS = /^\s*(?:with|insert|update|delete|select)\b/i;
const CHANGED = /(?:insert into|update|delete from) "?(?<table>[a-z_]+)"?/gi;
const LOCKED = /from "?(?<table>[a-z_]+)"? .* for (?:no key update|update|share)\s*$/is;

export const mochaHooks = isDistributedRun ? { beforeAll: watch, afterAll: assertTurns } : /* c8 ignore next */ {};

function watch(): void {
  const original = LossReportingClient.prototype._query;
  LossReportingClient.prototype._query = function watched(connection: unknown, query: unknown) {
    if (this.transacting === true) note(Object(connection), String(Object(query).sql));
    return original.call(this, connection, query);
  };
}

function note(connection: object, sql: string): void {
  if (/^begin/i.test(sql)) open.set(connection, { isInTurn: false, changes: [] });
  const transaction = open.get(connection);
  if (transaction === undefined) return;
  // Locks of two numbers are turns of single accounts or instances.
  if (/pg_advisory_xact_lock\([^,]+\)/.test(sql)) transaction.isInTurn = true;
  if (!OF_ROWS.test(sql)) return;
  const tables = [...sql.matchAll(CHANGED), ...[LOCKED.exec(sql)].filter((match) => match !== null)].map(
    ({ groups }) => groups?.table ?? '',
  );
  if (!tables.some((table) => DISTRIBUTION[table]?.placement === 'reference')) return;
  transaction.changes.push(sql.replace(/\s+/g, ' ').slice(0, 120));
  if (transaction.changes.length > 1 && !transaction.isInTurn) found.add(transaction.changes.join('\n  '));
}

function assertTurns(): void {
  if (found.size === 0) return;
  throw new Error(`These transactions need changeInTurn:\n${[...found].join('\n\n')}`);
}
