import type { ErrorCode } from '../../errors.ts';

/** Documentation of an error code. */
export interface DocumentedError {
  readonly meaning: string;
  readonly causes: readonly string[];
  readonly remedy: string;
}

/** Documentation of every error code, for the reference and the console. A code without an entry does not compile. */
export const ERRORS = {
  REQUEST_INVALID: {
    meaning: 'The request does not match the API description.',
    causes: ['A parameter or a member of the body is missing, misspelt or has a wrong type.', 'The body is not JSON.'],
    remedy: 'Correct what `details` names: each entry has the `path` of the fault and a message.',
  },
  WHERE_SYNTAX: {
    meaning: 'The text of a `where` or of a statement is not in the query language.',
    causes: ['A quote or a parenthesis is not closed.', 'A text has no single quotes around it.'],
    remedy: "Correct the text at `position`. Double each `'` inside a text.",
  },
  WHERE_INVALID: {
    meaning: 'The filter is well formed, but does not fit the object.',
    causes: ['The object has no field of that name.', 'The value has another type than the field.'],
    remedy:
      'Read `GET /objects/{objectName}/metadata` for the fields and their types. `nearest` in `details` suggests a name.',
  },
  WHERE_UNSUPPORTED: {
    meaning: 'The filter is valid, but cannot be used here.',
    causes: ['Neither the provider nor this service can evaluate this filter for the object.'],
    remedy: 'Use another operator or field. `POST /query/explain` shows what the provider evaluates.',
  },
  PROVIDER_CREDENTIALS_INVALID: {
    meaning: 'The provider rejected the credentials in this request.',
    causes: ['A user name, password, key or OAuth code is wrong or expired.'],
    remedy: 'Check the credentials at the provider, and send the request again. For OAuth, start a new authorization.',
  },
  UNAUTHENTICATED: {
    meaning: 'The service does not know the caller.',
    causes: ['The `Authorization` header is missing or incomplete.', 'A secret or token is wrong or no longer valid.'],
    remedy: 'Send `User` and `Organization` on platform calls; add `Element` on calls of an instance.',
  },
  FORBIDDEN: {
    meaning: 'The service knows the caller, but the caller may not do this.',
    causes: ['The role of the user lacks the privilege.', 'The request comes from an origin that is not allowed.'],
    remedy: 'Ask an administrator for a role with the privilege.',
  },
  NOT_FOUND: {
    meaning: 'There is no such thing, or the caller may not see it.',
    causes: ['The path or the id is wrong.', 'The record was deleted.', 'It belongs to another account.'],
    remedy: 'Check the path and the id, and which account the secrets belong to.',
  },
  OPERATION_UNSUPPORTED: {
    meaning: 'The resource exists, but has no such operation.',
    causes: ['The object is read-only at the provider.', 'The path does not accept the method.'],
    remedy: 'Use a method that the `Allow` header names.',
  },
  NOT_ACCEPTABLE: {
    meaning: 'The response has no form that the `Accept` header allows.',
    causes: ['`Accept` names a media type that this operation does not return.'],
    remedy: 'Leave out `Accept`, or name a media type of the operation.',
  },
  REQUEST_TIMEOUT: {
    meaning: 'The request did not arrive in time.',
    causes: ['The connection is too slow, or the client stopped sending.'],
    remedy: 'Send the request again. Send large data as a bulk upload.',
  },
  CONFLICT: {
    meaning: 'The request conflicts with the present state.',
    causes: [
      'Something with this name or key exists already.',
      'The resource is in a state that does not allow the operation.',
      'Another request changed it at the same time.',
    ],
    remedy: 'Read the resource, then decide whether the request is still needed.',
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The body is larger than the limit.',
    causes: ['A body or a file is larger than its limit, which the message names.'],
    remedy: 'Send less in one request. Send many records as a bulk upload.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The operation does not accept this kind of body.',
    causes: ['`Content-Type` is missing or names another media type.'],
    remedy: 'Send the media type that the operation documents, in most cases `application/json`.',
  },
  RANGE_NOT_SATISFIABLE: {
    meaning: 'The file has no bytes in the requested range.',
    causes: ['`Range` begins at or after the end of the file.'],
    remedy: 'Read the length from `Content-Range`. You may have the whole file already.',
  },
  PROVIDER_REJECTED: {
    meaning: 'The provider rejected the request.',
    causes: [
      'The provider requires a field, or does not accept a value.',
      'A rule of the provider forbids the change.',
    ],
    remedy: 'Read `providerMessage`, and correct the request. The same request fails again.',
  },
  TRANSFORMATION_FAILED: {
    meaning: 'The script of a mapped object failed for a record, and the request asked to fail then.',
    causes: [
      'The script throws, takes too long, or never calls `done`.',
      'The request has `onTransformationError=fail`.',
    ],
    remedy:
      'Try the script with `POST /transformations/{objectName}/execute`, or leave the parameter out: then the record is returned without the script.',
  },
  FORMULA_FAILED: {
    meaning: 'The formula that the request runs failed.',
    causes: ['A step of its execution failed, and no script set a status with `done({ statusCode, result })`.'],
    remedy:
      'Read the failed steps with `GET /formulas/instances/executions/{executionId}/errors`. `message` and the header `Elements-Formula-Execution-Id` have the id.',
  },
  INSTANCE_CREDENTIALS_FAILED: {
    meaning: 'The stored credentials of the instance no longer work.',
    causes: ['The password or key was changed at the provider.', 'The OAuth access was revoked or has expired.'],
    remedy: 'Replace the credentials of the instance, or let its owner authorize it again.',
  },
  RATE_LIMITED: {
    meaning: 'The caller sent more requests than this service allows.',
    causes: [
      'The requests per minute of the user or the account are used up.',
      'Too many wrong secrets came from one address.',
    ],
    remedy: 'Wait for the seconds in `Retry-After`, then send the request again.',
  },
  PROVIDER_RATE_LIMITED: {
    meaning: 'The provider limits the number of requests.',
    causes: ['The account at the provider has used its quota, perhaps by other programs.'],
    remedy: 'Wait for the seconds in `Retry-After` if it is there. Otherwise wait longer after each try.',
  },
  HEADERS_TOO_LARGE: {
    meaning: 'The headers of the request are too large.',
    causes: ['A header or the address is very long; large cookies are a common cause.'],
    remedy: 'Send fewer and shorter headers. Send a long filter in the body where the operation accepts one.',
  },
  INTERNAL: {
    meaning: 'This service failed in a way that it did not expect.',
    causes: ['A fault in this service or in a connector.'],
    remedy: 'Report the `requestId` to those who run the service. Its log has the reason.',
  },
  PROVIDER_UNAVAILABLE: {
    meaning: 'The provider cannot be reached, ended the connection, or reports a failure of its own.',
    causes: ['The provider has an outage.', 'The address in the configuration of the instance is wrong.'],
    remedy: 'Send the request again later. If it keeps failing, check the configuration of the instance.',
  },
  PROVIDER_PROTOCOL: {
    meaning: 'The provider returned something that the connector cannot read.',
    causes: ['The provider changed its API.', 'The configured address belongs to another service or to a log-in page.'],
    remedy: 'Check the address in the configuration. Otherwise report the `requestId` to those who run the service.',
  },
  OVERLOADED: {
    meaning: 'This service has no room for the request now.',
    causes: ['Too many requests are under way.', 'The service starts, stops or has lost its database.'],
    remedy: 'Wait for the seconds in `Retry-After`, then send the request again.',
  },
  PROVIDER_TIMEOUT: {
    meaning: 'The provider did not respond in time.',
    causes: ['The provider is slow, or the query needs too many rows.'],
    remedy: 'Send the request again. Make the filter narrower, or read many rows as a bulk job.',
  },
  FORMULA_TIMEOUT: {
    meaning: 'The formula that the request runs did not end within 60 seconds. It continues.',
    causes: ['The formula waits for a slow provider, or many executions of the account wait before it.'],
    remedy:
      'Read the execution with `GET /formulas/instances/executions/{executionId}`. `message` and the header `Elements-Formula-Execution-Id` have the id.',
  },
} as const satisfies Readonly<Record<ErrorCode, DocumentedError>>;
