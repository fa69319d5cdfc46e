import { listPage } from '../db/listing.ts';
import { createPartitions } from '../db/partitions.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import {
  type AuditFilter,
  type AuditPosition,
  type AuditRow,
  type AuditScope,
  createAuditLogStore,
  FILTERABLE_AUDIT_ENTRY,
} from './audit-log-store.ts';

export type { AuditPosition as AuditPlace, AuditScope };
export type StoredAuditEntry = AuditRow;

/** Selection of audit entries. `where` is a filter in the query language over `FILTERABLE_AUDIT_ENTRY`. */
export type AuditQuery = Omit<AuditFilter, 'condition'> & { readonly where?: string | undefined };

/** Read access to the audit entries that `db/change.ts` and the API write. */
export function createAuditLog(
  platform: Pick<Platform, 'knex' | 'log' | 'clock' | 'shares'>,
  { retentionDays }: { readonly retentionDays: number },
) {
  const { ensure, expire } = createPartitions(platform, [
    { table: 'audit_log', column: 'at', by: 'month', retentionDays },
  ]);

  return {
    /**
     * Lists entries from new to old. `reader` is the account of the caller.
     * @throws AppError for an invalid `where`; NOT_FOUND for an instance that is not in the scope and has no entries there
     */
    list: async (reader: number, scope: AuditScope, query: AuditQuery) => {
      const { rows, last } = await listPage(FILTERABLE_AUDIT_ENTRY, query, (filter) =>
        platform.shares.list(reader, async (via) => {
          const store = createAuditLogStore(via);
          const { instanceId } = query;
          if (instanceId !== undefined && !(await store.knowsInstance(scope, instanceId)))
            throw missing('instance', instanceId);
          return store.list(scope, filter);
        }),
      );
      return { entries: rows, nextAfter: last };
    },

    /** Creates the partitions that are needed soon. Call it before there are changes. */
    ensure,

    /** Creates the partitions that are needed soon, and deletes entries that are older than the retention period. */
    keep: async () => {
      await ensure();
      await expire();
    },
  };
}
