import type { Schemas } from '../api.ts';

/** What each kind of failure means, and who can mend it. */
export const CODE_WORDS: Readonly<Record<Schemas['ErrorCode'], string>> = {
  REQUEST_INVALID: 'A parameter or a member of the body is wrong. Correct the request.',
  WHERE_SYNTAX: 'The filter has a syntax error. Correct it at the position shown.',
  WHERE_INVALID: 'The filter names an unknown field, or a value that the field cannot have.',
  WHERE_UNSUPPORTED: 'The object does not support this filter or order. Simplify it.',
  PROVIDER_CREDENTIALS_INVALID: 'The provider rejected the new credentials. Check them.',
  UNAUTHENTICATED: 'The credentials of the request were missing or not valid.',
  FORBIDDEN: 'The user lacks the privilege for this request.',
  NOT_FOUND: 'The path, the record or another resource does not exist.',
  OPERATION_UNSUPPORTED: 'The object or the path does not support this operation.',
  NOT_ACCEPTABLE: 'The response is not available in a type that the Accept header allows.',
  REQUEST_TIMEOUT: 'The request did not arrive completely in time.',
  CONFLICT: 'The request conflicts with the current state, or with another request at the same time.',
  PAYLOAD_TOO_LARGE: 'The body of the request was too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The path does not accept the Content-Type of the body.',
  RANGE_NOT_SATISFIABLE: 'The requested range begins after the end of the file.',
  PROVIDER_REJECTED: 'The provider rejected the request. Its message says why.',
  INSTANCE_CREDENTIALS_FAILED: 'The provider rejects the credentials of the instance. Connect the account again.',
  RATE_LIMITED: 'The caller sent too many requests in a short time. Retry later.',
  PROVIDER_RATE_LIMITED: "The provider's rate limit is reached. Retry after the time in Retry-After.",
  HEADERS_TOO_LARGE: 'The headers of the request were too large.',
  INTERNAL: 'Something went wrong in the service. Its operator finds the error in the log by the request id.',
  PROVIDER_UNAVAILABLE: 'The provider could not be reached, ended the connection, or reported that it is unavailable.',
  PROVIDER_PROTOCOL: "The provider's response does not match its documentation.",
  OVERLOADED: 'The service was overloaded. Retry later.',
  PROVIDER_TIMEOUT: 'The provider did not respond in time.',
};

/** Undefined for a code that another release has. */
export function wordsOf(code: string): string | undefined {
  return Object.entries(CODE_WORDS).find(([known]) => known === code)?.[1];
}
