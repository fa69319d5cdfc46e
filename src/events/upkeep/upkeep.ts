import type { Knex } from 'knex';
import type { Partitions } from './partitions.ts';
import { type PurgedTable, purgeBatch } from './retention-store.ts';

export interface UpkeepPorts {
  readonly knex: Knex;
  readonly partitions: Partitions;
  readonly now: () => Date;
  /** Rows of one DELETE. Default 5,000. */
  readonly batchRows?: number;
}

/** Days that rows are kept. A provider repeats an event for hours, not for weeks. */
const KEPT_DAYS: Readonly<Record<PurgedTable, number>> = { event_key: 7, notification: 90, event_owner: 1 };
const DAY_MS = 86_400_000;

/** Keeps the tables of events in shape: partitions ahead, and an end to what is old. To be run each hour, by any process. */
export function createUpkeep({ knex, partitions, now, batchRows = 5000 }: UpkeepPorts) {
  async function purge(table: PurgedTable, days: number, signal: AbortSignal): Promise<void> {
    const before = new Date(now().getTime() - days * DAY_MS);
    for (let deleted = batchRows; deleted === batchRows; ) {
      signal.throwIfAborted();
      deleted = await purgeBatch(knex, table, before, batchRows);
    }
  }

  return async (signal: AbortSignal): Promise<void> => {
    await partitions.ensure();
    await partitions.expire();
    for (const table of Object.keys(KEPT_DAYS) as PurgedTable[]) await purge(table, KEPT_DAYS[table], signal);
  };
}
