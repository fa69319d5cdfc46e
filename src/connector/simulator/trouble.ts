import { fault } from './fault.ts';

/** A fault that a caller requests from the simulator. */
export type Trouble =
  /** An error of this status in the provider's form, without any effect. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  /** The correct response, delayed. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The request takes effect, and the connection ends in the middle of the response. */
  | { readonly kind: 'cut' }
  /** A page for people, as proxies send it, without any effect. */
  | { readonly kind: 'html'; readonly status: number }
  /** JSON that is no response of the provider, without any effect. */
  | { readonly kind: 'shape' }
  /** A list whose next page is the requested one. */
  | { readonly kind: 'stuck' };

/** Seconds in Retry-After where the caller names none. `retry-after=none` leaves the header out. */
const RETRY_AFTER: Readonly<Record<number, string>> = { 429: '7', 503: '3' };

const DEFAULT_SLOW_MS = 1000;
const MOST_SLOW_MS = 60_000;

/**
 * Reads the header `x-simulate`: `429; retry-after=7`, `500`, `slow; ms=1500`, `cut`, `html`, `html; status=503`, `shape`, `stuck`.
 * @throws Fault 400 for anything else
 */
export function readTrouble(text: string): Trouble {
  const [word = '', ...pairs] = text.split(';').map((part) => part.trim());
  const parameters = new Map(pairs.map((pair): [string, string] => splitPair(pair)));
  const read = READERS[/^[45]\d\d$/.test(word) ? 'status' : word];
  const trouble = read?.(parameters, word);
  const allowed = ALLOWED[trouble?.kind ?? 'cut'];
  if (trouble === undefined || [...parameters.keys()].some((name) => !allowed.includes(name))) throw unknown(text);
  return trouble;
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return at < 0 ? [pair, ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

type Reader = (parameters: ReadonlyMap<string, string>, word: string) => Trouble | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  status: (parameters, word) => {
    const status = Number(word);
    const retryAfter = parameters.get('retry-after') ?? RETRY_AFTER[status] ?? 'none';
    return { kind: 'status', status, ...(retryAfter !== 'none' && { retryAfter }) };
  },
  slow: (parameters) => {
    const ms = Number(parameters.get('ms') ?? DEFAULT_SLOW_MS);
    return ms >= 0 && ms <= MOST_SLOW_MS ? { kind: 'slow', ms } : undefined;
  },
  html: (parameters) => {
    const status = Number(parameters.get('status') ?? 200);
    return Number.isInteger(status) && status >= 200 && status < 600 ? { kind: 'html', status } : undefined;
  },
  cut: () => ({ kind: 'cut' }),
  shape: () => ({ kind: 'shape' }),
  stuck: () => ({ kind: 'stuck' }),
};

const ALLOWED: Readonly<Record<Trouble['kind'], readonly string[]>> = {
  status: ['retry-after'],
  slow: ['ms'],
  html: ['status'],
  cut: [],
  shape: [],
  stuck: [],
};

function unknown(text: string) {
  return fault(
    400,
    `'${text}' cannot be simulated. There are: 429; retry-after=7 (any status from 400 to 599), slow; ms=1500 (to ${MOST_SLOW_MS}), cut, html; status=503, shape, stuck.`,
  );
}

/** Trouble that waits for any request, such as those of a service, whose headers a test cannot set. */
export interface PlannedTrouble {
  readonly trouble: string;
  /** Number of requests that meet the trouble. Default 1. */
  readonly times?: number;
  readonly method?: string;
  /** The beginning of the path. */
  readonly path?: string;
}

/** Trouble that waits for its requests. */
export interface TroublePlan {
  /**
   * Adds a plan.
   * @throws Fault 400 for an invalid plan
   */
  readonly add: (plan: Readonly<Record<string, unknown>>) => void;
  readonly clear: () => void;
  /** Returns the trouble of a request, and counts it down. */
  readonly take: (request: { readonly method: string; readonly path: string }) => string | undefined;
}

/** Creates an empty plan of trouble. */
export function createTroublePlan(): TroublePlan {
  let waiting: readonly Required<PlannedTrouble>[] = [];
  return {
    add: (plan) => {
      waiting = [...waiting, readPlan(plan)];
    },
    clear: () => {
      waiting = [];
    },
    take: ({ method, path }) => {
      const met = waiting.find((plan) => [method, ''].includes(plan.method) && path.startsWith(plan.path));
      waiting = waiting.flatMap((plan) => (plan === met ? countDown(plan) : [plan]));
      return met?.trouble;
    },
  };
}

function countDown(plan: Required<PlannedTrouble>): readonly Required<PlannedTrouble>[] {
  return plan.times > 1 ? [{ ...plan, times: plan.times - 1 }] : [];
}

const PLAN_MEMBERS: readonly string[] = ['trouble', 'times', 'method', 'path'];

function readPlan(plan: Readonly<Record<string, unknown>>): Required<PlannedTrouble> {
  const { trouble, times = 1, method = '', path = '' } = plan;
  const isPlan =
    typeof trouble === 'string' &&
    typeof times === 'number' &&
    Number.isInteger(times) &&
    times > 0 &&
    typeof method === 'string' &&
    typeof path === 'string' &&
    Object.keys(plan).every((name) => PLAN_MEMBERS.includes(name));
  if (!isPlan) {
    throw fault(
      400,
      'Trouble is planned as {"trouble": "429; retry-after=1", "times": 2, "method": "GET", "path": "/v1"}.',
    );
  }
  readTrouble(trouble);
  return { trouble, times, method, path };
}
