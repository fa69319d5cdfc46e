import type { Principal } from '../accounts/accounts.ts';
import type { AuditPlace, AuditQuery, AuditScope, StoredAuditEntry } from '../accounts/audit-log.ts';
import { pointer } from '../errors.ts';
import { listHeaders } from '../http/response.ts';
import { missing, reversedPeriod } from '../shared-errors.ts';
import type { AuditTarget } from './access.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationHeaders, OperationQuery, OperationResult } from './operation.ts';
import { createPositionTokens, PAGE_SIZE, type PageSeal } from './page-tokens.ts';

type EntryView = OperationResult<'listAuditLogs'>[number];

interface Reading {
  readonly principal: Principal;
  readonly query: OperationQuery<'listAuditLogs'>;
  readonly headers: OperationHeaders<'listAuditLogs'>;
  readonly url: string;
}

/** The selected part of the audit log. */
type AuditSelection = Pick<AuditQuery, 'section' | 'instanceId' | 'target'>;

const ELEMENT: AuditTarget = 'element';
const COMMON_RESOURCE: AuditTarget = 'common-resource';
const FORMULA: AuditTarget = 'formula';

export function createAuditLogHandlers({ auditLog, accounts, registry }: ApiServices, seal: PageSeal) {
  async function list({ principal, query, headers, url }: Reading, part: AuditSelection) {
    const { from, to, userId, where, pageSize: limit = PAGE_SIZE, nextPage } = query;
    const scope = await scopeOf(accounts, principal, query.accountId ?? headers['elements-account-id']);
    const period = readPeriod(from, to);
    const tokens = createPositionTokens(seal, JSON.stringify(['audit', scope, part, period, userId, where]));
    const after = readPosition(tokens.read(nextPage));
    const filter = { ...part, ...period, userId, where, after, limit };
    const page = await auditLog.list(principal.accountId, scope, filter);
    const body = page.entries.map(toEntryView);
    const token = tokens.write(page.nextAfter && writePosition(page.nextAfter));
    return { body, headers: listHeaders(body.length, { url, token }) };
  }

  return {
    listAuditLogs: (reading) => list(reading, {}),
    listAuthenticationAuditLogs: (reading) => list(reading, { section: 'authentication' }),
    listInstancesAuditLogs: (reading) => list(reading, { section: 'element-instances' }),
    listInstanceAuditLogs: ({ path: { id }, ...reading }) => list(reading, { instanceId: id }),
    listElementsAuditLogs: (reading) => list(reading, { section: 'elements' }),
    listElementAuditLogs: ({ path, ...reading }) => {
      const { key, id } = registry.getConnector(path.keyOrId);
      return list(reading, { section: 'elements', target: { kind: ELEMENT, ids: [key, String(id)] } });
    },
    listUsersAuditLogs: (reading) => list(reading, { section: 'users' }),
    listCommonResourcesAuditLogs: (reading) => list(reading, { section: 'common-resources' }),
    listCommonResourceAuditLogs: ({ path, ...reading }) =>
      list(reading, { section: 'common-resources', target: { kind: COMMON_RESOURCE, ids: [path.name] } }),
    listFormulasAuditLogs: (reading) => list(reading, { section: 'formulas' }),
    listFormulaAuditLogs: ({ path, ...reading }) =>
      list(reading, { section: 'formulas', target: { kind: FORMULA, ids: [String(path.entityId)] } }),
    listFormulaInstancesAuditLogs: (reading) => list(reading, { section: 'formula-instances' }),
    listSettingsAuditLogs: (reading) => list(reading, { section: 'settings' }),
  } satisfies Partial<Handlers>;
}

/** @throws AppError NOT_FOUND for an account that the caller may not read of */
async function scopeOf(
  accounts: ApiServices['accounts'],
  { organizationId, accountId, privileges }: Principal,
  named: string | undefined,
): Promise<AuditScope> {
  const seesAll = privileges.has('viewOrganizationLogs');
  if (named === undefined) return seesAll ? { organizationId } : { organizationId, accountId };
  const { id } = await accounts.getAccount(organizationId, named);
  if (seesAll || id === accountId) return { organizationId, accountId: id };
  throw missing('account', named);
}

/** @throws AppError REQUEST_INVALID */
function readPeriod(from: string | undefined, to: string | undefined) {
  const period = {
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
  if (period.from !== undefined && period.to !== undefined && period.from >= period.to)
    throw reversedPeriod(pointer('query', 'to'));
  return period;
}

function writePosition({ at, requestId }: AuditPlace): string {
  return `${at.toISOString()} ${requestId}`;
}

/** Reads a position. Its content needs no check, because the service has encrypted it. */
function readPosition(position: string | undefined): AuditPlace | undefined {
  const [at = '', requestId = ''] = position?.split(' ') ?? [];
  return position === undefined ? undefined : { at: new Date(at), requestId };
}

function toEntryView({ at, instanceId, changes, ...row }: StoredAuditEntry): EntryView {
  return {
    id: row.id,
    timestamp: at.toISOString(),
    organizationId: row.organizationId,
    accountId: row.accountId,
    userId: row.userId,
    ...(instanceId !== null && { instanceId }),
    method: row.method,
    resourceUri: row.resourceUri,
    action: row.action,
    target: row.target,
    ipAddress: row.ipAddress,
    status: row.status,
    requestId: row.requestId,
    ...(changes !== null && { changes }),
  };
}
