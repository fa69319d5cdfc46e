import { AppError, type ErrorCode } from '../../errors.ts';
import type { Failure, ProviderResponse } from '../contract.ts';
import type { Answer } from './answer.ts';
import type { Binding } from './binding.ts';
import type { ClientPorts } from './ports.ts';
import { readProviderMessage, toShowable } from './provider-message.ts';
import { judgeWaitMs, readRetryAfterMs } from './rate-limit.ts';

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

const REPORTS: Record<Failure['kind'], Report> = {
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

const KIND_BY_STATUS: ReadonlyMap<number, Failure['kind']> = new Map([
  [401, 'credentials'],
  [404, 'notFound'],
  [409, 'conflict'],
  [410, 'notFound'],
  [429, 'rateLimited'],
]);

/** What the connector's own words did not settle, by status; undefined for 2xx. */
export function classifyByStatus(status: number, method: string): Failure | undefined {
  if (status >= 200 && status < 300) return undefined;
  // What only reads conflicts with nothing.
  const kind = status === 409 && method === 'GET' ? 'rejected' : KIND_BY_STATUS.get(status);
  if (kind !== undefined) return { kind };
  if (status >= 500) return { kind: 'unavailable' };
  return { kind: status >= 400 ? 'rejected' : 'protocol' };
}

/** Statuses that tend to pass; a 500 comes from the request itself as often as not. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** An answer judged to be a failure. */
export interface Verdict {
  readonly binding: Binding;
  readonly response: ProviderResponse;
  readonly failure: Failure;
  /** The connector said so, not the status: it knows that the answer means "later", whatever the status is. */
  readonly byConnector: boolean;
  readonly quotable: boolean;
}

export function describeFailure(ports: FailurePorts, verdict: Verdict): FailedCall {
  const { binding, response, failure } = verdict;
  const report = REPORTS[failure.kind];
  const retryAfterMs = getRetryAfterMs(ports, verdict);
  const retryAfterSeconds =
    retryAfterMs === undefined ? report.defaultRetryAfterSeconds : Math.ceil(retryAfterMs / 1000);
  const message = `${binding.connector.name} answered ${response.status}: ${report.text(retryAfterSeconds)}`;
  const providerMessage = getProviderMessage(verdict);
  return {
    error: new AppError(report.code, message, { providerMessage, retryAfterSeconds }),
    resend: mayPass(verdict) ? 'ifIdempotent' : 'never',
    retryAfterMs,
  };
}

function mayPass({ failure, response, byConnector }: Verdict): boolean {
  if (failure.kind === 'rateLimited') return true;
  return failure.kind === 'unavailable' && (byConnector || PASSING_STATUSES.has(response.status));
}

function getRetryAfterMs(ports: FailurePorts, { response, failure }: Verdict): number | undefined {
  if (failure.kind !== 'rateLimited' && failure.kind !== 'unavailable') return undefined;
  return judgeWaitMs(failure.retryAfterMs) ?? readRetryAfterMs(response.headers, ports.now());
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
