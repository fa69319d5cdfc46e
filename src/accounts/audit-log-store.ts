import type { Knex } from 'knex';
import { filterable, INSTANT, INTEGER, narrow, orNull, TEXT } from '../db/listing.ts';
import { columnsOf, firstOf, type RowWith } from '../db/row.ts';
import { isStorable } from '../db/storable.ts';
import type { AuditSection } from '../trace.ts';
import type { Sql } from '../where/index.ts';

export interface AuditRow extends RowWith<'audit_log', typeof COLUMNS> {
  /** Changes as JSON. Only objects are inserted. */
  readonly changes: Readonly<Record<string, unknown>> | null;
}

/** Owner of audit entries: an organization, or one of its accounts. */
export interface AuditScope {
  readonly organizationId: number;
  readonly accountId?: number | undefined;
}

export interface AuditFilter {
  readonly section?: AuditSection | undefined;
  readonly instanceId?: number | undefined;
  /** All names that the target may have had. */
  readonly target?: { readonly kind: string; readonly ids: readonly string[] } | undefined;
  readonly from?: Date | undefined;
  /** End of the period, exclusive. */
  readonly to?: Date | undefined;
  readonly userId?: number | undefined;
  readonly condition?: Sql | undefined;
  /** Position after which the page begins. The listing goes from new to old. */
  readonly after?: AuditPosition | undefined;
  readonly limit: number;
}

export type AuditPosition = Pick<AuditRow, 'at' | 'requestId'>;

const COLUMNS = columnsOf('audit_log', [
  'id',
  'at',
  'request_id',
  'organization_id',
  'account_id',
  'user_id',
  'instance_id',
  'method',
  'resource_uri',
  'action',
  'target',
  'ip_address',
  'status',
  'changes',
]);

/** Fields that the audit log can be filtered by, under their names in the API. */
export const FILTERABLE_AUDIT_ENTRY = filterable({
  id: [INTEGER, 'id'],
  timestamp: [INSTANT, 'at'],
  accountId: [INTEGER, 'account_id'],
  userId: [orNull(INTEGER), 'user_id'],
  instanceId: [orNull(INTEGER), 'instance_id'],
  method: [TEXT, 'method'],
  resourceUri: [TEXT, 'resource_uri'],
  action: [TEXT, 'action'],
  target: [TEXT, 'target'],
  ipAddress: [orNull(TEXT), 'ip_address'],
  status: [INTEGER, 'status'],
  requestId: [TEXT, 'request_id::text'],
});

export function createAuditLogStore(knex: Knex) {
  const of = ({ organizationId, accountId }: AuditScope) =>
    knex('audit_log').where({
      organization_id: organizationId,
      ...(accountId !== undefined && { account_id: accountId }),
    });

  return {
    /** Lists entries from new to old. Entries of the same millisecond have an order too, so that a page can end between them. */
    list: async (scope: AuditScope, filter: AuditFilter): Promise<AuditRow[]> => {
      const { section, instanceId, target, from, to, userId, condition, after, limit } = filter;
      const query = of(scope)
        .orderBy([
          { column: 'at', order: 'desc' },
          { column: 'request_id', order: 'desc' },
        ])
        .limit(limit)
        .select<AuditRow[]>(COLUMNS);
      if (section !== undefined) query.where({ section });
      if (instanceId !== undefined) query.where({ instance_id: instanceId });
      if (target !== undefined)
        query.where({ target: target.kind }).whereIn('target_id', target.ids.filter(isStorable));
      if (from !== undefined) query.where('at', '>=', from);
      if (to !== undefined) query.where('at', '<', to);
      if (userId !== undefined) query.where({ user_id: userId });
      if (condition !== undefined) narrow(query, condition);
      if (after !== undefined) query.whereRaw('(at, request_id) < (?, ?::uuid)', [after.at, after.requestId]);
      return query;
    },

    /**
     * Returns whether the scope has an instance with this id, or had one. Entries of failed requests do not count, because they can name an
     * instance that never existed.
     */
    knowsInstance: async ({ organizationId, accountId }: AuditScope, id: number): Promise<boolean> => {
      const { rows } = await knex.raw<{ rows: { isKnown: boolean }[] }>(
        `select exists (select 1 from audit_log where organization_id = :organizationId and instance_id = :id and status < 400
             and (cast(:accountId as bigint) is null or account_id = :accountId))
           or exists (select 1 from account join instance on instance.account_id = account.id
             where account.organization_id = :organizationId and instance.id = :id
               and (cast(:accountId as bigint) is null or account.id = :accountId)) as "isKnown"`,
        { organizationId, accountId: accountId ?? null, id },
      );
      return firstOf(rows).isKnown;
    },
  };
}
