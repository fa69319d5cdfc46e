import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-types.ts';

/** The types of the API, by the names of its schemas. */
export type Schemas = components['schemas'];
export type Instance = Schemas['Instance'];
export type DeliveryAttempt = Schemas['DeliveryAttempt'];
export type Session = Schemas['ConsoleSession'];

type Problem = Partial<Omit<Schemas['ErrorResponse'], 'code'>> & { readonly code?: ApiError['code'] };

/** An error response of the API, or the failure to reach it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** An error code (decisions D4), or NETWORK where there was no response. */
  readonly code: Schemas['ErrorCode'] | 'NETWORK' | 'UNKNOWN';
  readonly requestId: string | undefined;
  readonly details: NonNullable<Schemas['ErrorResponse']['details']>;
  /** The provider's own message, if the provider rejected the call. */
  readonly providerMessage: string | undefined;
  /** The HTTP status; 0 where there was no response. */
  readonly status: number;

  constructor(status: number, { code, message, requestId, details, providerMessage }: Problem) {
    super(message ?? `The service returned the status ${status}.`);
    this.code = code ?? 'UNKNOWN';
    this.requestId = requestId;
    this.details = details ?? [];
    this.providerMessage = providerMessage;
    this.status = status;
  }
}

/** The CSRF token and the account that each request is sent with, and the function to call when the session has ended. */
const known: {
  csrfToken: string | undefined;
  accountId: number | undefined;
  onEnded: () => void;
} = {
  csrfToken: undefined,
  accountId: undefined,
  onEnded: () => {},
};

export function useSession(session: Session | undefined, onEnded: () => void): void {
  known.csrfToken = session?.csrfToken;
  known.onEnded = onEnded;
}

/** Sends all further calls for this account. Undefined: for the user's own account. */
export function workIn(accountId: number | undefined): void {
  known.accountId = accountId;
}

export const BASE_PATH = '/elements/api-v2';

const identify: Middleware = {
  onRequest: ({ request }) => {
    if (known.csrfToken !== undefined) request.headers.set('X-CSRF-Token', known.csrfToken);
    if (known.accountId !== undefined) request.headers.set('Elements-Account-Id', String(known.accountId));
    return request;
  },
  onResponse: ({ response, schemaPath }) => {
    if (response.status === 401 && schemaPath !== '/console/session') known.onEnded();
    return undefined;
  },
};

/** A client with every operation of the API, typed by the OpenAPI document. A call on an instance names it with `onInstance`. */
export const api = createClient<paths>({ baseUrl: BASE_PATH });
api.use(identify);

/** Returns the header that makes a call one on an instance. */
export const onInstance = (id: number) => ({ 'Elements-Element-Instance-Id': String(id) });

interface ApiResponse<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Returns the body of a response.
 * @throws ApiError
 */
export async function ask<Data>(call: Promise<ApiResponse<Data>>): Promise<NonNullable<Data>> {
  return (await askWithHeaders(call)).data;
}

/** A page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The value of the parameter `nextPage` for the page that follows. Undefined on the last page. */
  readonly nextPage: string | undefined;
}

/**
 * Returns a page of a list. The types of some operations also allow a single entry or a file, which other callers receive.
 * @throws ApiError
 */
export async function askPage<Row>(call: Promise<ApiResponse<Row | readonly Row[] | string>>): Promise<Page<Row>> {
  const { data, headers } = await askWithHeaders(call);
  if (!isList<Row>(data)) throw new TypeError('The service returned something that is not a list.');
  return { rows: data, nextPage: headers.get('Elements-Next-Page-Token') ?? undefined };
}

function isList<Row>(data: unknown): data is readonly Row[] {
  return Array.isArray(data);
}

/** Returns the body of a response with its headers. @throws ApiError */
export async function askWithHeaders<Data>(
  call: Promise<ApiResponse<Data>>,
): Promise<{ readonly data: NonNullable<Data>; readonly headers: Headers }> {
  const { data, error, response } = await call.catch((cause: unknown): never => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError(0, {
      code: 'NETWORK',
      message: 'The service cannot be reached. It may be restarting. Try again.',
    });
  });
  if (!response.ok || data === undefined || data === null) throw new ApiError(response.status, problemOf(error));
  return { data, headers: response.headers };
}

/** Reads the problem in an error response. A proxy in front of the service may respond with a body of another form. */
function problemOf(error: unknown): Problem {
  return typeof error === 'object' && error !== null ? error : {};
}
