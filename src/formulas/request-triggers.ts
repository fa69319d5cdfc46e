import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import type { NewExecution, StepValue } from './executions/model.ts';
import type { RunStore } from './executions/run-store.ts';
import type { StartLimit } from './executions/start-limit.ts';
import { ORIGIN_HEADER } from './steps/api-requests.ts';
import { showHeaders } from './steps/request-parts.ts';
import { type Target, type Triggers, toExecution } from './triggers.ts';

/** A successful request on an element instance, after its response was sent. */
export interface NotedRequest {
  readonly accountId: number;
  readonly instanceId: number;
  readonly method: string;
  /** Path below the base path, without the query. */
  readonly path: string;
  readonly query: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly response: {
    readonly code: number;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly body: unknown;
  };
  /** Whether this process sent the request for a formula. */
  readonly isInner: boolean;
}

export interface RequestTriggerPorts {
  readonly triggers: Pick<Triggers, 'ofRequests'>;
  readonly runs: Pick<RunStore, 'start'>;
  readonly startLimit: StartLimit;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  readonly wake: () => void;
}

/** Maximum number of formulas that lead to one another by requests (formulas.md, 7). */
const MOST_LINKS = 10;

/** Creates the listener of requests. It does not throw: the request has its response. */
export function createRequestTriggers({ triggers, runs, startLimit, clock, log, wake }: RequestTriggerPorts) {
  async function start(request: NotedRequest): Promise<void> {
    const targets = await triggers.ofRequests(request.accountId, request.instanceId);
    const matching = targets.filter(({ method, path }) => method === request.method && path.test(request.path));
    if (matching.length === 0) return;
    const origin = request.isInner ? readOrigin(request.headers[ORIGIN_HEADER]) : undefined;
    const chain = chainAfter(origin);
    const allowed = matching.filter((target) => !isSame(target, origin));
    if (allowed.length === 0) return;
    const createdAt = new Date(clock.now());
    const trigger = requestValues(request);
    const executions: NewExecution[] = [];
    for (const target of allowed) {
      const refusal = findChainFault(chain) ?? (await startLimit.take(target.instance));
      executions.push({ ...toExecution(target, trigger, createdAt), chain, refusal });
    }
    await runs.start(executions);
    wake();
  }

  return (request: NotedRequest): void => {
    start(request).catch((error: unknown) => {
      log.error({ err: error, accountId: request.accountId }, 'could not start the formulas of a request');
    });
  };
}

/** Returns how many formulas led to an execution that a request starts. */
export function chainAfter(origin: { readonly chain: number } | undefined): number {
  return origin === undefined ? 0 : origin.chain + 1;
}

/** Returns why a chain of formulas ends. Undefined: it may continue. */
export function findChainFault(chain: number): string | undefined {
  if (chain <= MOST_LINKS) return undefined;
  return `${chain} formulas started one another in a chain; the maximum is ${MOST_LINKS}.`;
}

/** A formula does not start itself. */
function isSame({ instance }: Target, origin: ReturnType<typeof readOrigin>): boolean {
  return origin !== undefined && instance.id === origin.formulaInstanceId && instance.formula.id === origin.formulaId;
}

/** Reads the header with which requests of formulas name their origin. */
export function readOrigin(header: unknown) {
  if (typeof header !== 'string') return undefined;
  const origin: unknown = JSON.parse(header);
  if (!isJsonObject(origin)) return undefined;
  const { formulaId, formulaInstanceId, chain } = origin;
  return { formulaId: Number(formulaId), formulaInstanceId: Number(formulaInstanceId), chain: Number(chain) };
}

function requestValues({ method, path, query, headers, body, response }: NotedRequest): readonly StepValue[] {
  const { [ORIGIN_HEADER]: _, ...shown } = headers;
  return [
    [['type'], 'request'],
    [['request', 'method'], method],
    [['request', 'path'], path],
    [['request', 'query'], query ?? {}],
    [['request', 'headers'], showHeaders(shown)],
    ...(body === undefined ? [] : [[['request', 'body'], body] as const]),
    [['response', 'code'], response.code],
    [['response', 'headers'], showHeaders(response.headers)],
    ...(response.body === undefined ? [] : [[['response', 'body'], response.body] as const]),
  ];
}
