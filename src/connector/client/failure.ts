import type { Clock } from '../../clock.ts';
import type { EgressError, EgressReason } from '../../egress/index.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import { boundWaitMs } from '../../retry-after.ts';
import type { Failure, FailureKind, ProviderRequest, ProviderResponse } from '../contract.ts';
import type { Binding } from './binding.ts';
import { noRoom } from './byte-budget.ts';
import { isJsonType, type ReadResponse, readProviderMessage, readWaitMs, toShowable } from './response.ts';

/** When a failed call may be sent again: `always`, because nothing was sent, or only if sending it twice does no harm. */
type Resend = 'always' | 'ifIdempotent' | 'never';

/** A failed call, with the facts that the retry policy needs. */
export interface FailedCall {
  readonly error: AppError;
  readonly resend: Resend;
  /** The wait that the provider requested, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

interface KindReport {
  readonly code: ErrorCode;
  /** Follows `BambooHR returned 404: `. */
  readonly text: (retryAfterSeconds: number | undefined) => string;
  readonly defaultRetryAfterSeconds?: number;
}

const REPORT_OF_KIND: Record<FailureKind, KindReport> = {
  credentials: {
    code: 'INSTANCE_CREDENTIALS_FAILED',
    text: () => 'it rejects the credentials of this instance. Correct them in the configuration of the instance.',
  },
  notFound: { code: 'NOT_FOUND', text: () => 'it has nothing with this name or id.' },
  conflict: {
    code: 'CONFLICT',
    text: () => 'the request conflicts with an existing record, such as one with the same key.',
  },
  rejected: { code: 'PROVIDER_REJECTED', text: () => 'it rejects the request. Correct the request.' },
  rateLimited: {
    code: 'PROVIDER_RATE_LIMITED',
    text: (seconds) => `it accepts no more requests for now. Try again in ${seconds} s.`,
    defaultRetryAfterSeconds: 60,
  },
  unavailable: {
    code: 'PROVIDER_UNAVAILABLE',
    text: () => 'it cannot serve the request at the moment. Try again later.',
  },
  protocol: { code: 'PROVIDER_PROTOCOL', text: () => 'Causeway does not understand the response.' },
};

const KIND_BY_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'credentials'],
  [404, 'notFound'],
  [409, 'conflict'],
  [410, 'notFound'],
  [429, 'rateLimited'],
]);

/** Statuses that usually pass. A 500 often comes from the request itself, so it is not among them. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A failure with its kind and status settled. */
export interface JudgedFailure extends Failure {
  readonly kind: FailureKind;
  readonly status: number;
  /** Whether a retry may succeed, by the connector's judgement or by the status. */
  readonly mayPass: boolean;
}

/** Combines the connector's judgement of a response with its status. Undefined for a success. */
export function judgeResponse(
  said: Failure | undefined,
  receivedStatus: number,
  method: string,
): JudgedFailure | undefined {
  const status = said?.status ?? receivedStatus;
  const kind = said?.kind ?? kindOf(status, method) ?? (said && 'rejected');
  if (kind === undefined) return undefined;
  const passes = said?.kind !== undefined || PASSING_STATUSES.has(status);
  return { ...said, kind, status, mayPass: kind === 'rateLimited' || (kind === 'unavailable' && passes) };
}

function kindOf(status: number, method: string): FailureKind | undefined {
  if (status >= 200 && status < 300) return undefined;
  // A request that only reads conflicts with nothing.
  if (status === 409 && method === 'GET') return 'rejected';
  return KIND_BY_STATUS.get(status) ?? (status >= 500 ? 'unavailable' : status >= 400 ? 'rejected' : 'protocol');
}

/** A response that is a failure. */
interface ResponseVerdict {
  readonly binding: Binding;
  readonly response: ProviderResponse;
  readonly failure: JudgedFailure;
  readonly quotable: boolean;
}

/** Returns the error of a failed response, and whether the request may be sent again. */
export function describeFailure(clock: Clock, verdict: ResponseVerdict): FailedCall {
  const { binding, failure } = verdict;
  const report = REPORT_OF_KIND[failure.kind];
  const retryAfterMs = getRetryAfterMs(clock, verdict);
  const retryAfterSeconds =
    retryAfterMs === undefined ? report.defaultRetryAfterSeconds : Math.ceil(retryAfterMs / 1000);
  const message = `${binding.connector.name} returned ${failure.status}: ${report.text(retryAfterSeconds)}`;
  const providerMessage = getProviderMessage(verdict);
  const details = failure.kind === 'protocol' ? [{ message: describeStatus(failure.status) }] : undefined;
  return {
    error: new AppError(report.code, message, { ...(details && { details }), providerMessage, retryAfterSeconds }),
    resend: failure.mayPass ? 'ifIdempotent' : 'never',
    retryAfterMs,
  };
}

function describeStatus(status: number): string {
  return status >= 300 && status < 400
    ? 'The response is a redirect. Causeway follows redirects only of a GET, and only with a Location.'
    : 'The connector does not know this response: it is neither a success nor a documented failure.';
}

function getRetryAfterMs(clock: Clock, { response, failure }: ResponseVerdict): number | undefined {
  if (failure.kind !== 'rateLimited' && failure.kind !== 'unavailable') return undefined;
  return boundWaitMs(failure.retryAfterMs) ?? readWaitMs(response.headers, clock.now());
}

function getProviderMessage({
  binding: { redactor },
  response,
  failure,
  quotable,
}: ResponseVerdict): string | undefined {
  if (!quotable) return undefined;
  return readProviderMessage(redactor, failure.message) ?? readProviderMessage(redactor, response.body);
}

const MAX_EXCERPT_CHARACTERS = 200;

/** Returns the error of a 2xx response that has a page or invalid JSON instead of JSON. */
export function describeMisshapen(
  { connector, redactor }: Binding,
  { response, quotable }: Pick<ReadResponse, 'response' | 'quotable'>,
): FailedCall {
  const type = quotable ? (response.headers['content-type'] ?? 'no content type') : 'its words are not shown here';
  const words = quotable ? readProviderMessage(redactor, response.body) : undefined;
  return neverAgain(
    new AppError(
      'PROVIDER_PROTOCOL',
      `${connector.name} returned ${response.status} without the requested JSON (${toShowable(redactor, type, 100)}).`,
      {
        details: [
          { message: isJsonType(response.headers) ? 'The body is not valid JSON.' : 'The body is an HTML page.' },
        ],
        providerMessage: words === undefined ? undefined : toShowable(redactor, words, MAX_EXCERPT_CHARACTERS),
      },
    ),
  );
}

/** Returns a failure that must not be retried. */
function neverAgain(error: AppError): FailedCall {
  return { error, resend: 'never', retryAfterMs: undefined };
}

/** The request that failed without a response. */
interface Undertaking {
  /** The name of the element. */
  readonly name: string;
  /** Whether the URL came from a response instead of the configuration. */
  readonly linked: boolean;
  readonly timeoutMs: number;
}

interface ReasonReport {
  readonly code: ErrorCode;
  readonly resend: Resend;
  readonly text: (undertaking: Undertaking, error: EgressError) => string;
}

const REPORT_OF_REASON: Record<Exclude<EgressReason, 'refused' | 'invalid' | 'no-room'>, ReasonReport> = {
  connect: {
    code: 'PROVIDER_UNAVAILABLE',
    resend: 'always',
    text: ({ name }, { message }) => `${name} cannot be reached: ${message} Try again later.`,
  },
  tls: {
    code: 'PROVIDER_UNAVAILABLE',
    resend: 'never',
    text: ({ name }, { message }) => `${name} cannot be reached: ${message}`,
  },
  reset: {
    code: 'PROVIDER_UNAVAILABLE',
    resend: 'ifIdempotent',
    text: ({ name }, { message }) => `${name} did not respond completely: ${message} Try again later.`,
  },
  timeout: {
    code: 'PROVIDER_TIMEOUT',
    resend: 'never',
    text: ({ name, timeoutMs }) =>
      `${name} did not respond within ${timeoutMs / 1000} s. Try again later, or request less.`,
  },
  'too-large': {
    code: 'PROVIDER_PROTOCOL',
    resend: 'never',
    text: ({ name }, { message }) => `The response of ${name} is too large: ${message} Request less.`,
  },
  protocol: {
    code: 'PROVIDER_PROTOCOL',
    resend: 'never',
    text: ({ name }, { message }) => `The response of ${name} cannot be read: ${message}`,
  },
  aborted: {
    code: 'OVERLOADED',
    resend: 'never',
    text: ({ name }) => `The call to ${name} was cancelled because this server is stopping. Try again.`,
  },
};

// Not in the table, because a link of the provider and an address in the configuration are faults of different parties.
const LINKED: ReasonReport = {
  code: 'PROVIDER_PROTOCOL',
  resend: 'never',
  text: ({ name }, { message }) => `The response of ${name} contains a link that is not followed: ${message}`,
};
const CONFIGURED: ReasonReport = {
  code: 'REQUEST_INVALID',
  resend: 'never',
  text: ({ name }, { message }) => `The call to ${name} cannot be made: ${message} Correct the configuration.`,
};

/** Returns the error of a request that failed without a response, and whether it may be sent again. */
export function describeEgressError(error: EgressError, undertaking: Undertaking): FailedCall {
  if (error.reason === 'no-room') return neverAgain(noRoom(error));
  const report = getReport(error.reason, undertaking);
  return {
    error: new AppError(report.code, report.text(undertaking, error), { cause: error }),
    resend: report.resend,
    retryAfterMs: undefined,
  };
}

function getReport(reason: Exclude<EgressReason, 'no-room'>, undertaking: Undertaking): ReasonReport {
  if (reason === 'refused' || reason === 'invalid') return undertaking.linked ? LINKED : CONFIGURED;
  return REPORT_OF_REASON[reason];
}

/** Recognizes the error by its name, because this folder receives egress only as an argument. */
export function isEgressError(error: unknown): error is EgressError {
  return error instanceof Error && error.name === 'EgressError' && 'reason' in error;
}

const MAX_RETRIES = 2;
const FIRST_BACKOFF_MS = 200;
/** The caller decides about longer waits: the error contains the wait. */
const MAX_WAIT_MS = 5_000;

/** The facts from which the retry policy decides. */
interface RetrySituation {
  readonly failed: FailedCall;
  /** Number of retries so far. */
  readonly retries: number;
  readonly idempotent: boolean;
  /** Milliseconds until the deadline of the call. */
  readonly remainingMs: number;
}

/**
 * Returns how many milliseconds to wait before the next attempt, or undefined for no retry. The wait is what the provider requested,
 * otherwise exponential with full jitter.
 */
export function planRetry(random: { readonly fraction: () => number }, situation: RetrySituation): number | undefined {
  const { failed, retries, remainingMs } = situation;
  if (retries >= MAX_RETRIES || !mayResend(situation)) return undefined;
  const waitMs = failed.retryAfterMs ?? random.fraction() * FIRST_BACKOFF_MS * 2 ** retries;
  return waitMs <= MAX_WAIT_MS && waitMs < remainingMs ? waitMs : undefined;
}

function mayResend({ failed, idempotent }: RetrySituation): boolean {
  return failed.resend === 'always' || (failed.resend === 'ifIdempotent' && idempotent);
}

const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

/** Returns whether a request may be sent twice: as it declares, by default for GET, PUT and DELETE. */
export function isIdempotent(request: ProviderRequest): boolean {
  return request.idempotent ?? IDEMPOTENT_METHODS.has(request.method ?? 'GET');
}
