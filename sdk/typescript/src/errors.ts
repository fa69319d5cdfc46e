import type { ErrorCode, ErrorDetail, ErrorResponse } from '../models/index.js';

/** A code of the specification or of a newer service. Responses that are not the service's have `HTTP_<status>`. */
export type ApiErrorCode = ErrorCode | (string & {});

/** The base class of all errors of this client. */
export class CausewayError extends Error {
  override name = 'CausewayError';
}

/** The service, or a proxy in front of it, responded with an error. Decide by `code`, never by the text. */
export class ApiError extends CausewayError {
  override name = 'ApiError';
  readonly status: number;
  readonly code: ApiErrorCode;
  /** Id of the request. Send it to the operator of the service with questions. */
  readonly requestId: string | undefined;
  readonly details: readonly ErrorDetail[];
  /** The provider's own text. */
  readonly providerMessage: string | undefined;
  /** Seconds to wait before the next attempt, if the response contains them. */
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

/** The resource does not exist, or is not visible to this caller. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}

/** A filter is invalid, or the provider cannot evaluate it completely. */
export class WhereError extends ApiError {
  override name = 'WhereError';

  /** Position of the first fault in the filter, counted from 0. */
  get position(): number | undefined {
    return this.#first?.position;
  }

  /** Length of the first fault in characters. */
  get length(): number | undefined {
    return this.#first?.length;
  }

  /** The known name that is most similar to the given one. */
  get suggestion(): string | undefined {
    return this.#first?.nearest;
  }

  get #first(): ErrorDetail | undefined {
    return this.details.find(({ position }) => position !== undefined);
  }
}

/** The service (`RATE_LIMITED`) or the provider (`PROVIDER_RATE_LIMITED`) got too many requests; see `retryAfterSeconds`. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}

/** The provider rejected the request, failed, or did not respond. */
export class ProviderError extends ApiError {
  override name = 'ProviderError';
}

/** There was no complete response; `cause` is the reason. */
export class NetworkError extends CausewayError {
  override name = 'NetworkError';
}

/** An attempt took longer than `timeoutMs`, or an execution of a formula did not end in time. */
export class TimeoutError extends CausewayError {
  override name = 'TimeoutError';
}

/** None of the secrets signed the event, or the signature is too old. */
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

/** Returns the error for an error response. One that is not the service's has the code `HTTP_<status>`. */
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

/** Parses `Retry-After`, which is a number of seconds or a time. */
function secondsOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const time = Date.parse(header);
  return Number.isNaN(time) ? undefined : Math.max(0, (time - now) / 1000);
}
