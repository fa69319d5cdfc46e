import type { Request, Response } from 'express';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError, isAppError, pointer } from '../errors.ts';
import type { AwaitedExecution } from '../formulas/executions/resource-responses.ts';
import { INSTANCE_HEADER } from '../formulas/resources.ts';
import { signalEnd } from '../http/connection.ts';
import { LARGE, readJsonBody } from '../http/json-body.ts';
import { ACCESS, assertAccess } from './access.ts';
import type { ApiServices } from './api-services.ts';
import type { Audit } from './audit.ts';
import { type Caller, unknownPath } from './authorization.ts';

interface FormulaResourceParts {
  readonly audit: Audit;
  readonly bodyBudget: ByteBudget;
  /** Whether an `Authorization` header is a ticket of this process. */
  readonly isInner: (authorization: string) => boolean;
}

/** Handles a request to a path that no operation has. @throws AppError NOT_FOUND where no formula has it either */
export type HandleFormulaResource = (request: Request, response: Response, caller: Caller) => Promise<void>;

/** A request runs an instance as the operation that starts one does. */
const OPERATION = 'startFormulaExecutions';
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export function createFormulaResourceHandler(
  services: ApiServices,
  { audit, bodyBudget: budget, isInner }: FormulaResourceParts,
): HandleFormulaResource {
  const { idempotency } = services;
  const { resources } = services.formulaRuns;

  return async (request, response, caller) => {
    const { method, path, headers } = request;
    const { accountId } = caller.principal;
    const instanceId = readInstanceId(headers[INSTANCE_HEADER]);
    const formulaInstanceId = await resources.find({ accountId, method, path, instanceId });
    if (formulaInstanceId === undefined) throw unknownPath(request);
    const access = ACCESS[OPERATION];
    const { principal } = caller;
    const params = { instanceId: String(formulaInstanceId) };
    try {
      await assertAccess(services, principal, access, params);
    } catch (error) {
      const call = { id: OPERATION, access, principal, params, instance: undefined } as const;
      if (isAppError(error, 'FORBIDDEN')) await audit.noteRefusal(audit.entryOf(request, response, call));
      throw error;
    }
    const signal = signalEnd(response);
    const body = await readJsonBody(request, response, { limits: LARGE, budget });
    const start = async () => {
      const input = {
        method,
        path,
        query: request.query,
        headers,
        body,
        isInner: isInner(headers.authorization ?? ''),
      };
      return resources.start({ accountId, formulaInstanceId }, input);
    };
    const { userId } = principal;
    const key = method === 'POST' ? request.get('idempotency-key') : undefined;
    const fingerprint = () => JSON.stringify(['formula', formulaInstanceId, request.originalUrl, body]);
    const execution =
      key === undefined
        ? await start()
        : readKept(await idempotency.once({ accountId, userId, key, fingerprint: fingerprint() }, start));
    response.setHeader('Elements-Formula-Execution-Id', execution.id);
    const given = await resources.respond(execution, signal);
    response.status(given.status);
    if (NO_BODY.has(given.status)) response.end();
    else response.json(given.body);
  };
}

/** A repeated request gets the execution of the first one, as JSON kept it. */
function readKept({ accountId, id, createdAt }: AwaitedExecution): AwaitedExecution {
  return { accountId, id, createdAt: new Date(createdAt) };
}

function readInstanceId(header: string | readonly string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const text = String(header);
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  const message = 'The header Elements-Formula-Instance-Id must be the id of a formula instance, a whole number.';
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('headers', INSTANCE_HEADER), message }] });
}
