import type { Platform } from '../../platform.ts';
import { prepareSql } from '../../where/index.ts';
import { FILTERABLE_EVENT } from '../filter.ts';
import { createHistoryStore, type StoredEvent } from './history-store.ts';

export type { StoredEvent };

export interface EventQuery {
  /** A filter in the query language over `FILTERABLE_EVENT`. */
  readonly where?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

export type EventHistory = ReturnType<typeof createEventHistory>;

/** Of one response; a page ends before the event that would follow on it. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

export function createEventHistory({ shares }: Pick<Platform, 'shares'>) {
  return {
    /** What was accepted of an instance, from new to old. A page of large events is shorter than its limit. @throws AppError for a bad `where` */
    list: async (
      instance: { readonly accountId: number; readonly id: number },
      { where, before, limit }: EventQuery,
    ) => {
      const condition = where === undefined ? undefined : prepareSql(where, FILTERABLE_EVENT);
      const rows = await shares.list(instance.accountId, (via) =>
        createHistoryStore(via).list(instance, { condition, before, limit: limit + 1, maxBytes: MAX_PAGE_BYTES }),
      );
      const events = rows.slice(0, limit);
      const last = events.at(-1);
      // A page that was cut by its size may be the last one: then one that is empty follows.
      const isCut = rows.length > limit || sizeOf(rows) >= MAX_PAGE_BYTES;
      return { events, ...(isCut && last && { nextBefore: last.id }) };
    },
  };
}

function sizeOf(events: readonly StoredEvent[]): number {
  return events.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
}
