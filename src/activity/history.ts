import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import type { WireContent } from '../trace.ts';
import { prepareSql, type SqlQueryable } from '../where/index.ts';
import { type ActivityKind, type ActivityPosition, type ActivityRow, createActivityStore } from './activity-store.ts';

export interface ActivityQuery {
  readonly kind: ActivityKind;
  readonly instanceId?: number | undefined;
  /** Whether the console's own reads are included. Default: true. */
  readonly hasConsoleReads?: boolean | undefined;
  readonly from?: Date | undefined;
  /** End of the period, exclusive. */
  readonly to?: Date | undefined;
  /** A filter in the query language over `fields`. */
  readonly where?: string | undefined;
  readonly fields: SqlQueryable;
  readonly after?: ActivityPosition | undefined;
  readonly limit: number;
}

export interface ActivityPage {
  readonly rows: readonly ActivityRow[];
  /** Position at which the next page begins; absent after the last page. */
  readonly next?: ActivityPosition;
}

/** A request with the messages of its calls, if trace logging kept them. */
export interface TracedActivity {
  readonly row: ActivityRow;
  readonly messages: readonly (Readonly<WireContent> | null)[];
}

/** Creates read access to the activity of an account. */
export function createActivityHistory({ shares }: Pick<Platform, 'shares'>) {
  return {
    /**
     * Lists entries from new to old. New entries are placed before the first page.
     * @throws AppError for an invalid `where`
     */
    list: async (accountId: number, { where, fields, limit, ...selection }: ActivityQuery): Promise<ActivityPage> => {
      const condition = where === undefined ? undefined : prepareSql(where, fields);
      const found = await shares.list(accountId, (via) =>
        createActivityStore(via).list(accountId, { ...selection, condition, limit: limit + 1 }),
      );
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows, ...(found.length > limit && last && { next: { at: last.at, requestId: last.requestId } }) };
    },

    /**
     * Returns an entry.
     * @throws AppError NOT_FOUND
     */
    get: (accountId: number, requestId: string): Promise<TracedActivity> =>
      shares.list(accountId, async (via) => {
        const store = createActivityStore(via);
        const row = await store.find(accountId, requestId);
        if (row === undefined) {
          const message = `There is no activity of request ${requestId}. Activity appears about a second after the response, and the service deletes it after ACTIVITY_RETENTION_DAYS.`;
          throw new AppError('NOT_FOUND', message);
        }
        return { row, messages: (await store.findWire(row)) ?? [] };
      }),
  };
}
