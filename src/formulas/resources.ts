import { AppError, pointer } from '../errors.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import { missing } from '../shared-errors.ts';
import type { Executions } from './executions/executions.ts';
import type { StepValue } from './executions/model.ts';
import type { AwaitedExecution, ResourceResponses } from './executions/resource-responses.ts';
import type { ResponseStore } from './executions/response-store.ts';
import type { Programs } from './programs.ts';
import { chainAfter, findChainFault, readOrigin } from './request-triggers.ts';
import type { ResourceRequest, ResourceStore } from './resource-store.ts';
import { ORIGIN_HEADER } from './steps/api-requests.ts';
import { showHeaders } from './steps/request-parts.ts';

/** A request to a formula that is a resource. */
interface ResourceInput {
  readonly method: string;
  readonly path: string;
  readonly query: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Undefined: there is none. */
  readonly body: unknown;
  /** Whether a formula of this process sent it. */
  readonly isInner: boolean;
}

/** The response that an execution makes. */
interface ResourceResponse {
  readonly status: number;
  readonly body: unknown;
}

interface ResourcePorts {
  readonly store: ResourceStore;
  readonly responseStore: ResponseStore;
  readonly executions: Executions;
  readonly responses: ResourceResponses;
  readonly programs: Programs;
  /** Milliseconds that a request waits for the end of its execution. */
  readonly timeoutMs: number;
}

/** The header that names the formula instance of a request. */
export const INSTANCE_HEADER = 'elements-formula-instance-id';

const SECOND_MS = 1_000;
const OK = 200;
const LEAST_STATUS = 200;
const MOST_STATUS = 599;

export type FormulaResources = ReturnType<typeof createFormulaResources>;

/** Runs formulas as resources of the API (formulas.md, 13). */
export function createFormulaResources({
  store,
  responseStore,
  executions,
  responses,
  programs,
  timeoutMs,
}: ResourcePorts) {
  return {
    /** Returns whether a formula instance of an account has a method and path. This costs no query. */
    has: programs.hasResource,

    /**
     * Returns the id of the formula instance that a request runs. Undefined: nothing has this method and path.
     * @throws AppError REQUEST_INVALID without the header where one is needed; NOT_FOUND for an instance of another formula
     */
    find: async (request: ResourceRequest): Promise<number | undefined> => {
      const found = await store.find(request);
      if (found === undefined) return undefined;
      const { ownInstanceId, formulaIds, namedInstanceId } = found;
      if (namedInstanceId !== null) return namedInstanceId;
      if (ownInstanceId !== null && [undefined, ownInstanceId].includes(request.instanceId)) return ownInstanceId;
      if (formulaIds.length === 0) return undefined;
      if (request.instanceId !== undefined) throw missing('instance of this formula', request.instanceId);
      const message = `${request.method} ${request.path} runs formula ${formulaIds.join(' or ')}. Send the header Elements-Formula-Instance-Id with the id of one of its instances.`;
      throw new AppError('REQUEST_INVALID', message, {
        details: [{ path: pointer('headers', INSTANCE_HEADER), message }],
      });
    },

    /** @throws AppError CONFLICT, PAYLOAD_TOO_LARGE, RATE_LIMITED */
    start: async (
      key: { readonly accountId: number; readonly formulaInstanceId: number },
      input: ResourceInput,
    ): Promise<AwaitedExecution> => {
      const chain = chainAfter(input.isInner ? readOrigin(input.headers[ORIGIN_HEADER]) : undefined);
      const fault = findChainFault(chain);
      if (fault !== undefined) throw new AppError('CONFLICT', fault);
      return executions.startAwaited(key, toArguments(input), chain);
    },

    /**
     * Waits for the end of an execution.
     * @throws AppError FORMULA_TIMEOUT; FORMULA_FAILED unless a script has set a status; the reason of the signal
     */
    respond: async (execution: AwaitedExecution, signal: AbortSignal): Promise<ResourceResponse> => {
      const { id } = execution;
      const state = await responses.wait(execution, { timeoutMs, signal });
      if (state === undefined) {
        const message = `Execution ${id} takes longer than ${timeoutMs / SECOND_MS} seconds, and continues. Read it with GET /formulas/instances/executions/${id}.`;
        throw new AppError('FORMULA_TIMEOUT', message);
      }
      const { status, response } = state;
      const given = readResponse(response);
      if (given !== undefined) return given;
      if (status === 'success') return { status: OK, body: response ?? {} };
      if (status !== 'failed')
        throw new AppError('FORMULA_FAILED', `Execution ${id} did not succeed: its status is ${status}.`);
      const fault = await responseStore.findFault(execution);
      const [at, reason] = [fault && ` at the step '${fault.stepName}'`, messageOf(fault?.content)];
      throw new AppError(
        'FORMULA_FAILED',
        `Execution ${id} failed${at ?? ''}${reason === undefined ? '.' : `: ${reason}`}`,
      );
    },
  };
}

/** The body becomes the arguments. An object also gets the request, unless it has a member of this name. */
function toArguments({ method, path, query, headers, body }: ResourceInput): unknown {
  if (body !== undefined && !isJsonObject(body)) return body;
  if (body !== undefined && Object.hasOwn(body, 'request')) return body;
  const { [ORIGIN_HEADER]: _, ...shown } = headers;
  const request = { method, uri: path, query, headers: showHeaders(shown), body: body ?? null };
  return { ...body, request };
}

/** Reads `done({ statusCode, result })`. */
function readResponse(stored: unknown): ResourceResponse | undefined {
  if (!isJsonObject(stored)) return undefined;
  const { statusCode, result } = stored;
  const status = Number(statusCode);
  if (statusCode === undefined || !Number.isInteger(status) || status < LEAST_STATUS || status > MOST_STATUS)
    return undefined;
  return { status, body: result ?? null };
}

function messageOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  // Only the engine stores them.
  const values = content as readonly StepValue[];
  const find = (name: string) => values.find(([path]) => path.join('.') === name)?.[1];
  const [error, code] = [find('error'), find('response.code')];
  if (error !== undefined) return String(error);
  return code === undefined ? undefined : `The response has the status ${String(code)}.`;
}
