import type { Knex } from 'knex';
import type { Tables } from '../../generated/tables.ts';
import { type ColumnsOf, firstOf, type RowOf } from '../db/row.ts';
import type { AuditSection } from '../trace.ts';
import { EXACT_IN_SQL, type Sql, type SqlQueryable } from '../where/index.ts';

type ReadColumn = Exclude<keyof Tables['audit_log'], 'target_id' | 'section' | 'changes'>;

export interface AuditRow extends RowOf<'audit_log', ReadColumn> {
  /** No other JSON is inserted. */
  readonly changes: Readonly<Record<string, unknown>> | null;
}

/** Whose entries: those of an organization, or of one of its accounts. */
export interface AuditScope {
  readonly organizationId: number;
  readonly accountId?: number | undefined;
}

export interface AuditFilter {
  readonly section?: AuditSection | undefined;
  readonly instanceId?: number | undefined;
  /** All names that the target may have been called by. */
  readonly target?: { readonly kind: string; readonly ids: readonly string[] } | undefined;
  readonly from?: Date | undefined;
  /** Not itself. */
  readonly to?: Date | undefined;
  readonly userId?: number | undefined;
  readonly condition?: Sql | undefined;
  /** Only what comes after it: the listing goes from new to old. */
  readonly after?: AuditPlace | undefined;
  readonly limit: number;
}

export type AuditPlace = Pick<AuditRow, 'at' | 'requestId'>;

const COLUMNS: ColumnsOf<'audit_log', ReadColumn | 'changes'> = {
  id: 'id',
  at: 'at',
  requestId: 'request_id',
  organizationId: 'organization_id',
  accountId: 'account_id',
  userId: 'user_id',
  instanceId: 'instance_id',
  method: 'method',
  resourceUri: 'resource_uri',
  action: 'action',
  target: 'target',
  ipAddress: 'ip_address',
  status: 'status',
  changes: 'changes',
};

const text = { type: 'string', nullable: false, filter: EXACT_IN_SQL } as const;
const integer = { type: 'integer', nullable: false, filter: EXACT_IN_SQL } as const;

/** What the audit log can be filtered by, under the names of its entries. */
export const FILTERABLE_AUDIT_ENTRY: SqlQueryable = {
  fields: {
    id: integer,
    timestamp: { type: 'datetime', nullable: false, filter: EXACT_IN_SQL },
    accountId: integer,
    userId: { ...integer, nullable: true },
    instanceId: { ...integer, nullable: true },
    method: text,
    resourceUri: text,
    action: text,
    target: text,
    ipAddress: { ...text, nullable: true },
    status: integer,
    requestId: text,
  },
  columns: {
    id: 'id',
    timestamp: 'at',
    accountId: 'account_id',
    userId: 'user_id',
    instanceId: 'instance_id',
    method: 'method',
    resourceUri: 'resource_uri',
    action: 'action',
    target: 'target',
    ipAddress: 'ip_address',
    status: 'status',
    requestId: 'request_id::text',
  },
};

export function createAuditLogStore(knex: Knex) {
  const of = ({ organizationId, accountId }: AuditScope) =>
    knex('audit_log').where({
      organization_id: organizationId,
      ...(accountId !== undefined && { account_id: accountId }),
    });

  return {
    /** From new to old. Two in the same millisecond have an order too, so that a page ends between them. */
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
      if (target !== undefined) query.where({ target: target.kind }).whereIn('target_id', target.ids);
      if (from !== undefined) query.where('at', '>=', from);
      if (to !== undefined) query.where('at', '<', to);
      if (userId !== undefined) query.where({ user_id: userId });
      if (condition !== undefined) query.whereRaw(condition.sql, condition.bindings.map(toMutable));
      if (after !== undefined) query.whereRaw('(at, request_id) < (?, ?::uuid)', [after.at, after.requestId]);
      return query;
    },

    /** An instance of the scope that is there, or that was: what failed may be of one that never was there. */
    knowsInstance: async ({ organizationId, accountId }: AuditScope, id: number): Promise<boolean> => {
      const { rows } = await knex.raw<{ rows: { isKnown: boolean }[] }>(
        `select exists (select from audit_log where organization_id = :organizationId and instance_id = :id and status < 400
             and (cast(:accountId as bigint) is null or account_id = :accountId))
           or exists (select from account join instance on instance.account_id = account.id
             where account.organization_id = :organizationId and instance.id = :id
               and (cast(:accountId as bigint) is null or account.id = :accountId)) as "isKnown"`,
        { organizationId, accountId: accountId ?? null, id },
      );
      return firstOf(rows).isKnown;
    },
  };
}

/** knex asks for arrays it could change. */
function toMutable(binding: string | readonly string[]): string | string[] {
  return typeof binding === 'string' ? binding : [...binding];
}
