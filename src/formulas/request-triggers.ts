import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import type { NewExecution, StepValue } from './executions/model.ts';
import type { RunStore } from './executions/run-store.ts';
import type { StartLimit } from './executions/start-limit.ts';
import { ORIGIN_HEADER } from './steps/api-requests.ts';
import { showHeaders } from './steps/request-parts.ts';
import { type Target, type Triggers, toExecution } from './triggers.ts';

/** The account, instance, method and path of a successful request on an element instance. */
export interface RequestPath {
  readonly accountId: number;
  readonly instanceId: number;
  readonly method: string;
  /** Path below the base path, without the query. */
  readonly path: string;
}

/** A successful request on an element instance, before its response is sent. */
export interface NotedRequest extends RequestPath {
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

interface RequestTriggerPorts {
  readonly triggers: Pick<Triggers, 'ofRequests' | 'listAllowed'>;
  readonly runs: Pick<RunStore, 'start'>;
  readonly startLimit: StartLimit;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after the response of a request whose executions are stored. */
  readonly wake: () => void;
}

/** Notes a request whose executions are stored, and is called once after its response. */
export type EndRequest = () => void;

/** Maximum number of formulas that lead to one another by requests (formulas.md, 7). */
const MOST_LINKS = 10;

/** Milliseconds that a response waits for the database, which is down or overloaded then. */
const HOLD_MS = 2_000;

/**
 * Creates the listener of requests. It does not reject: the provider has done the work, so the request has succeeded.
 *
 * The executions are stored before the response is sent, so that no response is without them if the process ends. Their workers are woken
 * after it, so that formulas do not delay it. A worker that happens to look in between may begin a moment earlier, which no caller can see.
 * Other ways cost more: a note that is turned into executions after the response needs two statements, and a due time in the future delays
 * each execution. A request that starts no formula costs no statement, because the triggers of its account are in memory.
 */
export function createRequestTriggers({ triggers, runs, startLimit, clock, log, wake }: RequestTriggerPorts) {
  /** @returns whether there are executions */
  async function store(called: RequestPath, read: () => NotedRequest): Promise<boolean> {
    const targets = await triggers.ofRequests(called.accountId, called.instanceId);
    const matching = targets.filter(({ method, path }) => method === called.method && path.test(called.path));
    if (matching.length === 0) return false;
    const request = read();
    const origin = request.isInner ? readOrigin(request.headers[ORIGIN_HEADER]) : undefined;
    const others = matching.filter((target) => !isSame(target, origin));
    const allowed = await triggers.listAllowed(called.accountId, others);
    if (allowed.length === 0) return false;
    const chain = chainAfter(origin);
    const createdAt = new Date(clock.now());
    const trigger = requestValues(request);
    const executions: NewExecution[] = [];
    for (const target of allowed) {
      const refusal = findChainFault(chain) ?? (await startLimit.take(target.instance));
      executions.push({ ...toExecution(target, trigger, createdAt), chain, refusal });
    }
    await runs.start(executions);
    return true;
  }

  /** Stores the executions that a request starts. @returns what is to be called after the response; undefined: nothing */
  return async (called: RequestPath, read: () => NotedRequest): Promise<EndRequest | undefined> => {
    const stored = store(called, read).catch((error: unknown) => {
      log.error({ err: error, accountId: called.accountId }, 'could not start the formulas of a request');
      return false;
    });
    const late = Promise.withResolvers<'late'>();
    const endWait = clock.after(HOLD_MS, () => late.resolve('late'));
    const outcome = await Promise.race([stored, late.promise]);
    endWait();
    return outcome === false ? undefined : () => void stored.then((isStored) => isStored && wake());
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

type Origin = NonNullable<ReturnType<typeof readOrigin>>;

/** A formula does not start itself. */
function isSame({ instance }: Target, origin: Origin | undefined): boolean {
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
