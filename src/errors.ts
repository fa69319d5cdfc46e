import { distance } from 'fastest-levenshtein';

/** Every error the API can answer with: code → status (decisions D4). A code not in this table cannot be thrown. */
export const ERROR_STATUS = {
  REQUEST_INVALID: 400,
  WHERE_SYNTAX: 400,
  WHERE_INVALID: 400,
  WHERE_UNSUPPORTED: 400,
  PROVIDER_CREDENTIALS_INVALID: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  OPERATION_UNSUPPORTED: 405,
  NOT_ACCEPTABLE: 406,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  PROVIDER_REJECTED: 422,
  INSTANCE_CREDENTIALS_FAILED: 424,
  RATE_LIMITED: 429,
  PROVIDER_RATE_LIMITED: 429,
  INTERNAL: 500,
  PROVIDER_UNAVAILABLE: 502,
  PROVIDER_PROTOCOL: 502,
  OVERLOADED: 503,
  PROVIDER_TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One entry of `details`: where the fault is (`path` into the request, or a `position` in a `where`) and what is wrong. */
export interface ErrorDetail {
  readonly path?: string;
  readonly position?: number;
  readonly length?: number;
  readonly message: string;
  readonly expected?: readonly string[];
  readonly nearest?: string;
}

/** How a caller stands with a limit of this service. */
export interface Budget {
  /** Requests in a full budget. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until it is full again. */
  readonly resetSeconds: number;
}

export interface ErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** The provider's own words, already redacted. */
  readonly providerMessage?: string;
  /** Seconds after which another try makes sense; becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** How the caller stands with the limit that refused it; becomes the RateLimit headers. */
  readonly budget?: Budget;
  /** Methods or media types the resource does take; becomes the Allow header of a 405. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/** The only error that carries text meant for the caller. Anything else that is thrown becomes INTERNAL without its text. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly providerMessage: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly budget: Budget | undefined;
  readonly allow: readonly string[] | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = options.details;
    this.providerMessage = options.providerMessage;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.budget = options.budget;
    this.allow = options.allow;
  }
}

const SHOWN_CHARACTERS = 100;

/** A name or a value for a message: what is longer than anything sensible is cut. */
export function cutText(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text;
}

export function isAppError(error: unknown, ...codes: readonly ErrorCode[]): error is AppError {
  return error instanceof AppError && (codes.length === 0 || codes.includes(error.code));
}

export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}

/** The name most like the one given, if it is near enough to be what was meant. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = distance(wanted, candidate.toLowerCase());
    if (best === undefined || edits < best.edits) best = { candidate, edits };
  }
  return best !== undefined && best.edits <= Math.max(2, name.length / 3) ? best.candidate : undefined;
}

/** ` Did you mean 'x'?`, or nothing where no name is near. */
export function suggestName(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
}
