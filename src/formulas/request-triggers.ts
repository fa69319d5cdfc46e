import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import type { StepValue } from './executions/model.ts';
import type { RunStore } from './executions/run-store.ts';
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
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  readonly wake: () => void;
}

/** Maximum number of formulas that lead to one another by requests (formulas.md, 7). */
const MOST_LINKS = 10;

/** Creates the listener of requests. It does not throw: the request has its response. */
export function createRequestTriggers({ triggers, runs, clock, log, wake }: RequestTriggerPorts) {
  async function start(request: NotedRequest): Promise<void> {
    const targets = await triggers.ofRequests(request.accountId, request.instanceId);
    const matching = targets.filter(({ method, path }) => method === request.method && path.test(request.path));
    if (matching.length === 0) return;
    const origin = request.isInner ? readOrigin(request.headers[ORIGIN_HEADER]) : undefined;
    const chain = origin === undefined ? 0 : origin.chain + 1;
    if (chain > MOST_LINKS) {
      log.warn({ accountId: request.accountId, ...origin }, 'a chain of formulas ends, because it has too many links');
      return;
    }
    const allowed = matching.filter((target) => !isSame(target, origin));
    if (allowed.length === 0) return;
    const createdAt = new Date(clock.now());
    const trigger = requestValues(request);
    await runs.start(allowed.map((target) => ({ ...toExecution(target, trigger, createdAt), chain })));
    wake();
  }

  return (request: NotedRequest): void => {
    start(request).catch((error: unknown) => {
      log.error({ err: error, accountId: request.accountId }, 'could not start the formulas of a request');
    });
  };
}

/** A formula does not start itself. */
function isSame({ instance }: Target, origin: ReturnType<typeof readOrigin>): boolean {
  return origin !== undefined && instance.id === origin.formulaInstanceId && instance.formula.id === origin.formulaId;
}

function readOrigin(header: unknown) {
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
