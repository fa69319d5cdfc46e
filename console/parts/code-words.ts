import type { Schemas } from '../api.ts';

/** What each kind of failure means, and who can mend it. */
export const CODE_WORDS: Readonly<Record<Schemas['ErrorCode'], string>> = {
  REQUEST_INVALID: 'The request was not as it must be: a parameter or a member of its body is wrong.',
  WHERE_SYNTAX: 'The filter could not be read.',
  WHERE_INVALID: 'The filter names a field or a value that there is not.',
  WHERE_UNSUPPORTED: 'The filter or the order asks for more than this object can do.',
  PROVIDER_CREDENTIALS_INVALID: 'The provider did not take the credentials that were given.',
  UNAUTHENTICATED: 'The service did not know who called.',
  FORBIDDEN: 'The caller may not do this.',
  NOT_FOUND: 'What was asked for is not there.',
  OPERATION_UNSUPPORTED: 'The object or the path does not take this operation.',
  NOT_ACCEPTABLE: 'There is no answer in a form that the caller accepts.',
  REQUEST_TIMEOUT: 'The request did not come in time.',
  CONFLICT: 'The state of things does not allow it, or somebody else was faster.',
  PAYLOAD_TOO_LARGE: 'The body of the request was too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body was of a type that is not taken here.',
  RANGE_NOT_SATISFIABLE: 'The range that was asked for lies behind the end of the file.',
  PROVIDER_REJECTED: 'The provider understood the request and refused it.',
  INSTANCE_CREDENTIALS_FAILED:
    'The provider no longer takes the credentials of the instance. Connect the account again.',
  RATE_LIMITED: 'This caller has asked the service too much in a short time.',
  PROVIDER_RATE_LIMITED: 'The provider takes no more requests for now. It goes on by itself after a while.',
  HEADERS_TOO_LARGE: 'The headers of the request were too large.',
  INTERNAL: 'Something went wrong in the service. The operator finds it in the log by the request id.',
  PROVIDER_UNAVAILABLE: 'The provider could not be reached, broke off, or answered that it is out of order.',
  PROVIDER_PROTOCOL: 'The provider answered something that is not as its interface is documented.',
  OVERLOADED: 'The service had too much to do. It is worth trying again.',
  PROVIDER_TIMEOUT: 'The provider did not answer in time.',
};

/** Undefined for a code that another release has. */
export function wordsOf(code: string): string | undefined {
  return Object.entries(CODE_WORDS).find(([known]) => known === code)?.[1];
}
