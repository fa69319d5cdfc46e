import type { ErrorCode, ErrorDetail, ErrorResponse } from '../models/index.js';

/** A code of the specification, or one of a newer service. Status codes of others between here and there are `HTTP_<status>`. */
export type ApiErrorCode = ErrorCode | (string & {});

/** What every failure of this client is an instance of. */
export class CausewayError extends Error {
  override name = 'CausewayError';
}

/** The service, or a proxy before it, answered with an error. Decide by `code`, never by the text. */
export class ApiError extends CausewayError {
  override name = 'ApiError';
  readonly status: number;
  readonly code: ApiErrorCode;
  /** Of the request, for whoever asks the operator about it. */
  readonly requestId: string | undefined;
  readonly details: readonly ErrorDetail[];
  /** The provider's own words. */
  readonly providerMessage: string | undefined;
  /** How long to wait before the next try, where the answer says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    body: Omit<ErrorResponse, 'code'> & { readonly code: ApiErrorCode },
    retryAfterSeconds?: number,
  ) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.requestId = body.requestId === '' ? undefined : body.requestId;
    this.details = body.details ?? [];
    this.providerMessage = body.providerMessage;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** There is no such thing, or not for this caller. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** A filter is wrong, or the provider cannot answer it alone. */
export class WhereError extends ApiError {
  override name = 'WhereError';

  /** Where in the filter the first fault begins, counted from 0. */
  get position(): number | undefined {
    return this.#first?.position;
  }

  /** How many characters it covers. */
  get length(): number | undefined {
    return this.#first?.length;
  }

  /** The known name that is closest to the one given. */
  get suggestion(): string | undefined {
    return this.#first?.nearest;
  }

  get #first(): ErrorDetail | undefined {
    return this.details.find(({ position }) => position !== undefined);
  }
}

/** Too many requests, to the service (`RATE_LIMITED`) or to the provider (`PROVIDER_RATE_LIMITED`); see `retryAfterSeconds`. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}

/** The provider refused, failed or did not answer. */
export class ProviderError extends ApiError {
  override name = 'ProviderError';
}

/** There was no whole answer; `cause` says why. */
export class NetworkError extends CausewayError {
  override name = 'NetworkError';
}

/** One attempt took longer than `timeoutMs`, or an execution of a formula did not end in time. */
export class TimeoutError extends CausewayError {
  override name = 'TimeoutError';
}

/** An event is not signed by any of the secrets, or long ago. */
export class SignatureError extends CausewayError {
  override name = 'SignatureError';
}

const CLASSES: Readonly<Record<string, typeof ApiError>> = {
  NOT_FOUND: NotFoundError,
  WHERE_SYNTAX: WhereError,
  WHERE_INVALID: WhereError,
  WHERE_UNSUPPORTED: WhereError,
  RATE_LIMITED: RateLimitedError,
  PROVIDER_RATE_LIMITED: RateLimitedError,
  PROVIDER_CREDENTIALS_INVALID: ProviderError,
  PROVIDER_REJECTED: ProviderError,
  INSTANCE_CREDENTIALS_FAILED: ProviderError,
  PROVIDER_UNAVAILABLE: ProviderError,
  PROVIDER_PROTOCOL: ProviderError,
  PROVIDER_TIMEOUT: ProviderError,
};

/** The error that an answer stands for. What is none of the service's has the code `HTTP_<status>`. */
export async function errorOf(response: Response, now: number): Promise<ApiError> {
  const { status, headers } = response;
  const body = readBody(await response.text()) ?? {
    code: `HTTP_${status}`,
    message: `The response has the status ${status} and does not come from the service.`,
    requestId: headers.get('Elements-Request-Id') ?? '',
  };
  const ErrorClass = CLASSES[body.code] ?? ApiError;
  return new ErrorClass(status, body, secondsOf(headers.get('Retry-After'), now));
}

function readBody(text: string): ErrorResponse | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isErrorResponse(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function isErrorResponse(body: unknown): body is ErrorResponse {
  if (typeof body !== 'object' || body === null || !('code' in body && 'message' in body)) return false;
  return typeof body.code === 'string' && typeof body.message === 'string';
}

/** `Retry-After` is a number of seconds or a time. */
function secondsOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const time = Date.parse(header);
  return Number.isNaN(time) ? undefined : Math.max(0, (time - now) / 1000);
}
