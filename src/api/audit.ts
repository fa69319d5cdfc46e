import type { Request, Response } from 'express';
import { OPERATIONS } from '../../generated/operations.ts';
import type { AccessKey } from '../accounts/access-keys/scope.ts';
import type { TenantIds } from '../accounts/store.ts';
import { writeEntry } from '../db/audit-row.ts';
import { isAppError } from '../errors.ts';
import type { RedactCall } from '../http/request-log.ts';
import type { Instance } from '../instances/instance.ts';
import type { Platform } from '../platform.ts';
import type { AuditEntry, AuditSection } from '../trace.ts';
import type { Access, AuditTarget } from './access.ts';
import type { ApiOperationId } from './operation.ts';

export type Audit = ReturnType<typeof createAudit>;

interface AuditedCall {
  readonly id: ApiOperationId;
  readonly access: Access;
  readonly principal: TenantIds;
  readonly params: Readonly<Record<string, string>>;
  readonly instance: Instance | undefined;
  /** The access key of the request. */
  readonly key?: Pick<AccessKey, 'id' | 'name'> | undefined;
}

const SUCCESS = 200;
const FORBIDDEN = 403;
const FAILURE = 500;
/** The section of the log that contains the entry, in addition to the whole log. */
const SECTION_OF: Readonly<Record<AuditTarget, AuditSection | undefined>> = {
  organization: 'settings',
  account: 'settings',
  settings: 'settings',
  user: 'users',
  role: 'users',
  invitation: 'users',
  secret: 'authentication',
  'access-key': 'authentication',
  session: 'authentication',
  element: 'elements',
  'oauth-proxy': 'elements',
  'common-resource': 'common-resources',
  formula: 'formulas',
  'formula-instance': 'formula-instances',
  instance: 'element-instances',
  'connect-session': 'element-instances',
  poll: 'element-instances',
  'schema-watch': 'element-instances',
  subscription: undefined,
  delivery: undefined,
};
/** Action of reads that the audit log records. */
const VIEW = { action: 'view', id: undefined } as const;

/** Creates the audit log of requests. With `isStrict`, a change without an entry is an error, so that a forgotten entry is noticed. */
export function createAudit(
  { knex, clock, log }: Pick<Platform, 'knex' | 'clock' | 'log'>,
  { redactCall, isStrict }: { readonly redactCall: RedactCall; readonly isStrict: boolean },
) {
  /** Writes the entry of a failure. If writing fails, only the log gets the error, because the caller needs the first one. */
  async function noteFailure(entry: AuditEntry, status: number): Promise<void> {
    try {
      await writeEntry(knex, entry, status);
    } catch (error) {
      log.error({ err: error, requestId: entry.requestId }, 'could not write a failure to the audit log');
    }
  }

  return {
    /** Creates the entry of a request for an operation. Its changes are added while the operation runs. */
    entryOf: (
      request: Request,
      response: Response,
      { id, access, principal, params, instance, key }: AuditedCall,
    ): AuditEntry => {
      const { path, tag } = OPERATIONS[id];
      const { action, id: idParam } = access.audit ?? VIEW;
      const targetId = idParam === undefined ? undefined : params[idParam];
      const instanceId = path.includes('/instances/{id}') ? Number(params.id) : instance?.id;
      const [uri = ''] = request.originalUrl.split('?', 1);
      return {
        at: new Date(clock.now()),
        requestId: response.locals.requestId,
        organizationId: principal.organizationId,
        accountId: principal.accountId,
        userId: principal.userId,
        method: request.method,
        resourceUri: uri,
        action,
        target: access.audit?.target ?? tag,
        section: access.audit && SECTION_OF[access.audit.target],
        targetId,
        instanceId: Number.isSafeInteger(instanceId) ? instanceId : undefined,
        ipAddress: response.locals.address,
        ...(key !== undefined && { changes: { accessKey: { id: key.id, name: key.name } } }),
        redactor: redactCall(request, response),
        isWritten: false,
      };
    },

    /** Writes an entry for a rejected request. */
    noteRefusal: (entry: AuditEntry) => noteFailure(entry, FORBIDDEN),

    /**
     * Runs work and writes the entry in the transactions of its changes (`db/change.ts`). For an operation that shows a secret, the entry is
     * written before the secret is sent. Work that fails has an entry of the failure.
     */
    run: async <Result>(entry: AuditEntry, work: () => Promise<Result>): Promise<Result> => {
      try {
        const result = await work();
        if (entry.isWritten) return result;
        if (isStrict && entry.action !== 'show')
          throw new Error(`${entry.method} ${entry.resourceUri} changed something without its row in the audit log`);
        await writeEntry(knex, entry, SUCCESS);
        return result;
      } catch (error) {
        await noteFailure(entry, isAppError(error) ? error.status : FAILURE);
        throw error;
      }
    },
  };
}
