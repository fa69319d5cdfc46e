import { AppError, type ErrorCode } from '../../errors.ts';
import { boundWaitMs } from '../../retry-after.ts';
import type { Failure, FailureKind, ProviderResponse } from '../contract.ts';
import type { Answer } from './answer.ts';
import type { Binding } from './binding.ts';
import type { ClientPorts } from './ports.ts';
import { readProviderMessage, toShowable } from './provider-message.ts';
import { readWaitMs } from './rate-limit.ts';

/** When a failed call may be sent again: `always` because nothing was sent, or only if sending twice does no harm. */
export type Resend = 'always' | 'ifIdempotent' | 'never';

/** A call that failed, with what the retry policy needs to know. */
export interface FailedCall {
  readonly error: AppError;
  readonly resend: Resend;
  /** What the provider asked for. */
  readonly retryAfterMs: number | undefined;
}

type FailurePorts = Pick<ClientPorts, 'now'>;

interface Report {
  readonly code: ErrorCode;
  /** Follows `BambooHR answered 404: `. */
  readonly text: (retryAfterSeconds: number | undefined) => string;
  readonly defaultRetryAfterSeconds?: number;
}

const REPORTS: Record<FailureKind, Report> = {
  credentials: {
    code: 'INSTANCE_CREDENTIALS_FAILED',
    text: () => 'it refuses the credentials of this instance. Correct them in the configuration of the instance.',
  },
  notFound: { code: 'NOT_FOUND', text: () => 'there is nothing under this name or id.' },
  conflict: {
    code: 'CONFLICT',
    text: () => 'the request conflicts with what is there, such as another record with the same key.',
  },
  rejected: { code: 'PROVIDER_REJECTED', text: () => 'it rejects the request. Correct the request.' },
  rateLimited: {
    code: 'PROVIDER_RATE_LIMITED',
    text: (seconds) => `it takes no more calls for now. Try again in ${seconds} s.`,
    defaultRetryAfterSeconds: 60,
  },
  unavailable: {
    code: 'PROVIDER_UNAVAILABLE',
    text: () => 'it cannot serve the request at the moment. Try again later.',
  },
  protocol: { code: 'PROVIDER_PROTOCOL', text: () => 'the answer is not one that Causeway understands.' },
};

const KIND_BY_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'credentials'],
  [404, 'notFound'],
  [409, 'conflict'],
  [410, 'notFound'],
  [429, 'rateLimited'],
]);

/** Statuses that tend to pass; a 500 comes from the request itself as often as not. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** What an answer failed of. */
export interface JudgedFailure extends Failure {
  readonly kind: FailureKind;
  readonly status: number;
  /** A later try may succeed: the connector says so, or the status does. */
  readonly mayPass: boolean;
}

/** The connector's word on an answer, and for what it leaves open the status. Undefined for a success. */
export function judgeAnswer(said: Failure | undefined, answered: number, method: string): JudgedFailure | undefined {
  const status = said?.status ?? answered;
  const kind = said?.kind ?? kindOf(status, method) ?? (said && 'rejected');
  if (kind === undefined) return undefined;
  const passes = said?.kind !== undefined || PASSING_STATUSES.has(status);
  return { ...said, kind, status, mayPass: kind === 'rateLimited' || (kind === 'unavailable' && passes) };
}

function kindOf(status: number, method: string): FailureKind | undefined {
  if (status >= 200 && status < 300) return undefined;
  // What only reads conflicts with nothing.
  if (status === 409 && method === 'GET') return 'rejected';
  return KIND_BY_STATUS.get(status) ?? (status >= 500 ? 'unavailable' : status >= 400 ? 'rejected' : 'protocol');
}

/** An answer judged to be a failure. */
export interface Verdict {
  readonly binding: Binding;
  readonly response: ProviderResponse;
  readonly failure: JudgedFailure;
  readonly quotable: boolean;
}

export function describeFailure(ports: FailurePorts, verdict: Verdict): FailedCall {
  const { binding, failure } = verdict;
  const report = REPORTS[failure.kind];
  const retryAfterMs = getRetryAfterMs(ports, verdict);
  const retryAfterSeconds =
    retryAfterMs === undefined ? report.defaultRetryAfterSeconds : Math.ceil(retryAfterMs / 1000);
  const message = `${binding.connector.name} answered ${failure.status}: ${report.text(retryAfterSeconds)}`;
  const providerMessage = getProviderMessage(verdict);
  return {
    error: new AppError(report.code, message, { providerMessage, retryAfterSeconds }),
    resend: failure.mayPass ? 'ifIdempotent' : 'never',
    retryAfterMs,
  };
}

function getRetryAfterMs(ports: FailurePorts, { response, failure }: Verdict): number | undefined {
  if (failure.kind !== 'rateLimited' && failure.kind !== 'unavailable') return undefined;
  return boundWaitMs(failure.retryAfterMs) ?? readWaitMs(response.headers, ports.now());
}

function getProviderMessage({ binding: { redactor }, response, failure, quotable }: Verdict): string | undefined {
  if (!quotable) return undefined;
  return readProviderMessage(redactor, failure.message) ?? readProviderMessage(redactor, response.body);
}

const MAX_EXCERPT_CHARACTERS = 200;

/** A 2xx answer with a page or broken JSON in it. */
export function describeMisshapen(
  { connector, redactor }: Binding,
  { response, quotable }: Pick<Answer, 'response' | 'quotable'>,
): FailedCall {
  const type = quotable ? (response.headers['content-type'] ?? 'no content type') : 'its words are not shown here';
  const words = quotable ? readProviderMessage(redactor, response.body) : undefined;
  return neverAgain(
    new AppError(
      'PROVIDER_PROTOCOL',
      `${connector.name} answered ${response.status} without the JSON that was asked for (${toShowable(redactor, type, 100)}).`,
      { providerMessage: words === undefined ? undefined : toShowable(redactor, words, MAX_EXCERPT_CHARACTERS) },
    ),
  );
}

export function neverAgain(error: AppError): FailedCall {
  return { error, resend: 'never', retryAfterMs: undefined };
}
