import { listPage, type PageQuery } from '../../db/listing.ts';
import type { Platform } from '../../platform.ts';
import { FILTERABLE_EVENT } from '../filter.ts';
import { createHistoryStore, type StoredEvent } from './history-store.ts';

export type { StoredEvent };

interface EventQuery extends Pick<PageQuery, 'where' | 'limit'> {
  readonly before?: string | undefined;
}

export type EventHistory = ReturnType<typeof createEventHistory>;

/** Maximum size of a response. A page ends before the event that would exceed it. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

export function createEventHistory({ shares }: Pick<Platform, 'shares'>) {
  return {
    /**
     * Lists the accepted events of an instance, from new to old. A page of large events is shorter than its limit.
     * @throws AppError for an invalid `where`
     */
    list: async (instance: { readonly accountId: number; readonly id: number }, query: EventQuery) => {
      let bytes = 0;
      const { rows, last } = await listPage(FILTERABLE_EVENT, query, async (selection) => {
        const found = await shares.list(instance.accountId, (via) =>
          createHistoryStore(via).list(instance, { ...selection, maxBytes: MAX_PAGE_BYTES }),
        );
        bytes = sizeOf(found);
        return found;
      });
      // A page that was cut by its size may be the last one: then one that is empty follows.
      const end = bytes >= MAX_PAGE_BYTES ? rows.at(-1) : last;
      return { events: rows, nextBefore: end?.id };
    },
  };
}

function sizeOf(events: readonly StoredEvent[]): number {
  return events.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
}
