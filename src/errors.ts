import { distance } from 'fastest-levenshtein';

/** Status of every error code of the API (decisions D4). A code that is not in this table cannot be thrown. */
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
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  PROVIDER_REJECTED: 422,
  TRANSFORMATION_FAILED: 422,
  FORMULA_FAILED: 422,
  INSTANCE_CREDENTIALS_FAILED: 424,
  RATE_LIMITED: 429,
  PROVIDER_RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  PROVIDER_UNAVAILABLE: 502,
  PROVIDER_PROTOCOL: 502,
  OVERLOADED: 503,
  PROVIDER_TIMEOUT: 504,
  FORMULA_TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/**
 * One entry of `details`: the location of the fault (`path` is a `pointer` into the request, `position` an offset in a `where`) and its
 * description.
 */
export interface ErrorDetail {
  readonly path?: string;
  readonly position?: number;
  readonly length?: number;
  readonly message: string;
  readonly expected?: readonly string[];
  readonly nearest?: string;
}

/** Returns the location of a fault in a request as a JSON pointer (RFC 6901). Its first segment is `body`, `query`, `path` or `headers`. */
export function pointer(...segments: readonly string[]): string {
  return segments.map((segment) => `/${escapeName(cutText(segment))}`).join('');
}

/** Escapes a name for a JSON pointer. */
export function escapeName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns a pointer in the form for messages: `body.name` for `/body/name`. */
export function inWords(pointer: string): string {
  return segmentsOf(pointer).join('.');
}

/** Returns the names in a pointer. */
export function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Redacts a JSON pointer as a whole, and also each name before it was escaped, because a redactor does not know the escaped form of a
 * secret.
 */
export function redactPointer(whole: string, redact: (text: string) => string): string {
  const redacted = redact(whole);
  return redacted.startsWith('/') ? pointer(...segmentsOf(redacted).map(redact)) : redacted;
}

/** State of a caller's rate limit. */
export interface CallerBudget {
  /** Maximum number of requests. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until all requests are available again. */
  readonly resetSeconds: number;
}

export interface AppErrorOptions {
  readonly details?: readonly ErrorDetail[];
  /** The provider's own words, already redacted. */
  readonly providerMessage?: string;
  /** Seconds after which the caller should try again. They become the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** State of the limit that rejected the caller. It becomes the RateLimit headers. */
  readonly budget?: CallerBudget;
  /** The methods or media types that the resource supports. They become the Allow header of a 405. */
  readonly allow?: readonly string[];
  /** Size of the file in bytes, for a range outside of it. It becomes the Content-Range header of a 416. */
  readonly byteCount?: number;
  readonly cause?: unknown;
}

/** The only error whose text callers may read. Any other error becomes INTERNAL without its text. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly providerMessage: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly budget: CallerBudget | undefined;
  readonly allow: readonly string[] | undefined;
  readonly byteCount: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = options.details;
    this.providerMessage = options.providerMessage;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.budget = options.budget;
    this.allow = options.allow;
    this.byteCount = options.byteCount;
  }
}

const SHOWN_CHARACTERS = 100;

/** Shortens a name or a value for a message, if it is unreasonably long. */
export function cutText(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text;
}

export function isAppError(error: unknown, ...codes: readonly ErrorCode[]): error is AppError {
  return error instanceof AppError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Returns why a call failed, for the log and the activity, without redaction: the caller's message, and what a connector lacked in the
 * response.
 */
export function reasonOf(error: AppError): string {
  const texts = [error.message, ...(error.details ?? []).map(({ message }) => message)];
  for (let { cause } = error, depth = 0; cause instanceof Error && depth < MOST_CAUSES; { cause } = cause, depth++)
    texts.push(cause.message);
  return texts.reduce((said, text) => (said.includes(text) ? said : `${said} ${text}`));
}

const MOST_CAUSES = 4;

/** Codes of errors that the provider, or the connection to it, caused. Their reasons contain nothing that the caller sent. */
export const OF_PROVIDER = [
  'INSTANCE_CREDENTIALS_FAILED',
  'PROVIDER_RATE_LIMITED',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_PROTOCOL',
  'PROVIDER_TIMEOUT',
] as const satisfies readonly ErrorCode[];

/**
 * Returns the same error without these secrets in any of its texts. Each text is redacted alone, because redaction of a whole body could
 * break its JSON.
 */
export function redactAppError(error: AppError, { redact }: { readonly redact: (text: string) => string }): AppError {
  const redactDetail = (detail: ErrorDetail): ErrorDetail => ({
    ...detail,
    ...(detail.path !== undefined && { path: redactPointer(detail.path, redact) }),
    message: redact(detail.message),
    ...(detail.expected !== undefined && { expected: detail.expected.map(redact) }),
    ...(detail.nearest !== undefined && { nearest: redact(detail.nearest) }),
  });
  const { code, message, details, providerMessage, retryAfterSeconds, allow, cause } = error;
  return new AppError(code, redact(message), {
    ...(details !== undefined && { details: details.slice(0, MOST_FAULTS).map(redactDetail) }),
    ...(providerMessage !== undefined && { providerMessage: redact(providerMessage) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(allow !== undefined && { allow }),
    cause,
  });
}

export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}

/** A longer name is no slip of the fingers. Characters. */
const LONGEST_NAME = 100;

/** More names, or more characters of names, are not compared one by one. */
const MOST_COMPARED = { candidates: 2000, characters: 20_000 };

/**
 * Returns the most similar name, if it is similar enough to be a likely typo. Names of more than 100 characters have no suggestion. Only
 * the first 2,000 candidates of about the same length are compared, and fewer if they are long.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const wanted = name.toLowerCase();
  let nearest: string | undefined;
  let most = Math.max(2, name.length / 3);
  let compared = 0;
  let characters = 0;
  for (const candidate of candidates) {
    // A difference in length needs at least as many edits.
    if (Math.abs(candidate.length - name.length) > most) continue;
    compared++;
    characters += candidate.length;
    if (compared > MOST_COMPARED.candidates || characters > MOST_COMPARED.characters) break;
    const edits = distance(wanted, candidate.toLowerCase());
    if (edits > most || (edits === most && nearest !== undefined)) continue;
    nearest = candidate;
    most = edits;
  }
  return nearest;
}

/** A suggestion for a message, and for `details`. */
interface Suggestion {
  /** ` Did you mean 'x'?`, or an empty text without a similar name. */
  readonly hint: string;
  readonly nearest: { readonly nearest?: string };
}

export function suggest(name: string, candidates: Iterable<string>): Suggestion {
  const nearest = nearestName(name, candidates);
  return nearest === undefined
    ? { hint: '', nearest: {} }
    : { hint: ` Did you mean '${nearest}'?`, nearest: { nearest } };
}

/** Returns ` Did you mean 'x'?`, or an empty text without a similar name. */
export function suggestName(name: string, candidates: Iterable<string>): string {
  return suggest(name, candidates).hint;
}

/**
 * Returns the text on a name that the API, an element or an object does not define, and the nearest name: `Unknown field
 * 'nmae'. Did you mean 'name'?`
 */
export function unknownName(
  kind: string,
  name: string,
  candidates: Iterable<string>,
): Pick<ErrorDetail, 'message' | 'nearest'> {
  const { hint, nearest } = suggest(name, candidates);
  return { message: `Unknown ${kind} '${cutText(name)}'.${hint}`, ...nearest };
}

/** Maximum number of faults in a response. Code that collects faults stops one above it. */
export const MOST_FAULTS = 50;

const AND_MORE: ErrorDetail = { message: '… and more.' };

/** Returns the faults for `details`, at most 50. The last one says so if there are more. */
export function listFaults(faults: readonly ErrorDetail[]): readonly ErrorDetail[] {
  return faults.length > MOST_FAULTS ? [...faults.slice(0, MOST_FAULTS - 1), AND_MORE] : faults;
}

/** Returns a message for all faults: the first one, and the number of others. */
export function summarise(faults: readonly ErrorDetail[]): string {
  const others = Math.min(faults.length - 1, MOST_FAULTS);
  if (others < 1) return faults[0]?.message ?? '';
  return `${faults[0]?.message} (and ${others === MOST_FAULTS ? 'at least ' : ''}${others} more, see details)`;
}

/** Creates one error for all faults of a request. Its message is that of the first fault. */
export function invalidRequest(faults: readonly ErrorDetail[], introduction = ''): AppError {
  return new AppError('REQUEST_INVALID', introduction + summarise(faults), { details: listFaults(faults) });
}

/** The error of a start that fails for a reason that the operator can fix. Its message is one line without secrets, and says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
