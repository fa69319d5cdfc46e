import type { operations } from '../../generated/openapi-types.ts';
import type { OPERATIONS, OperationId } from '../../generated/operations.ts';
import type { AccessKey } from '../accounts/access-keys/scope.ts';
import type { Principal } from '../accounts/accounts.ts';
import type { ConsoleSession } from '../accounts/log-in/sessions.ts';
import type { TenantIds } from '../accounts/store.ts';
import type { UserRow } from '../accounts/users.ts';
import type { PageSession } from '../connect/session.ts';
import type { StreamedForm } from '../http/file-form.ts';
import type { FileResponse, ResponseHeaders, StreamResponse } from '../http/response.ts';
import type { Instance } from '../instances/instance.ts';
import type { FileForm } from '../resources/upload.ts';

type ScopeOf<Id extends OperationId> = (typeof OPERATIONS)[Id]['scopes'][number];

/** An instance where the scopes of the operation promise one. */
type InstanceOf<Id extends OperationId> =
  | (Extract<ScopeOf<Id>, 'instance' | 'record'> extends never ? never : Instance)
  | ('platform' extends ScopeOf<Id> ? undefined : never);

/** Secrets as sent in the header, for callers that want to see their own again. */
export interface SentSecrets {
  readonly user?: string | undefined;
  readonly organization?: string | undefined;
}

/** The user that the path names; undefined if the path of the operation names none. */
export type UserOf<Id extends OperationId> =
  OperationPath<Id> extends { readonly emailOrId: string } ? UserRow : undefined;
/** The scopes in which the caller is not known by the secrets of a user. */
type Unknown = 'public' | 'connect';

/** Undefined is possible when a scope of the operation allows unknown callers. */
type PrincipalOf<Id extends OperationId> =
  | (Exclude<ScopeOf<Id>, Unknown> extends never ? never : Principal)
  | (Extract<ScopeOf<Id>, Unknown> extends never ? never : undefined);

/** The session whose page it is for. */
type PageSessionOf<Id extends OperationId> = 'connect' extends ScopeOf<Id> ? PageSession : undefined;

/** An operation that accepts only forms reads them as a stream. */
type FormOf<Id extends OperationId> = operations[Id]['requestBody'] extends { content: infer Content }
  ? 'application/json' extends keyof Content
    ? FileForm | undefined
    : StreamedForm
  : FileForm | undefined;

/** A request as a handler sees it: authorized, validated, converted. */
export interface OperationRequest<Id extends OperationId> {
  readonly path: OperationPath<Id>;
  readonly query: OperationQuery<Id>;
  readonly headers: OperationHeaders<Id>;
  /** The `Accept` header. Only operations that may respond with a file need it; all others respond with JSON. */
  readonly accept: string | undefined;
  readonly body: OperationBody<Id>;
  /** The unread body, where it is a form with a file. Only operations whose spec accepts one have it. */
  readonly form: FormOf<Id>;
  readonly principal: PrincipalOf<Id>;
  /** Secrets that identified the caller. Use them only to show them to the same caller. */
  readonly sent: SentSecrets;
  /** Console session whose cookie came with the request. */
  readonly session: ConsoleSession | undefined;
  /** The access key of the request, which limits the instances and the objects that the handler may show. */
  readonly key: AccessKey | undefined;
  /** The connect session whose key the request contains. */
  readonly pageSession: PageSessionOf<Id>;
  /** Network address of the caller. */
  readonly address: string;
  /**
   * Runs work of a user who was not known at the beginning of the request. The audit log attributes the work and its failure to that user.
   */
  readonly runAs: <Result>(user: TenantIds, work: () => Promise<Result>) => Promise<Result>;
  readonly instance: InstanceOf<Id>;
  /** The user that the path names. The caller may access this user. */
  readonly user: UserOf<Id>;
  /** Aborts when the caller disconnects, and after the response. After a success it aborts only if something listens (`signalEnd`). */
  readonly signal: AbortSignal;
  /** The absolute URL as sent, for links to the next page. */
  readonly url: string;
}

/** The operations that the spec lets respond with CSV. */
export type StreamOperationId = {
  [Id in Exclude<OperationId, PassthroughOperationId>]: operations[Id]['responses'] extends {
    200: { content: { 'text/csv': unknown } };
  }
    ? Id
    : never;
}[Exclude<OperationId, PassthroughOperationId>];

/** The operations that the spec lets respond with a file. */
export type FileOperationId = {
  [Id in Exclude<OperationId, PassthroughOperationId>]: operations[Id]['responses'] extends {
    200: { content: { '*/*': unknown } };
  }
    ? Id
    : never;
}[Exclude<OperationId, PassthroughOperationId>];

/** Response of an operation's handler. The status is 200. */
export type OperationResponse<Id extends OperationId> =
  | { readonly body: OperationResult<Id>; readonly bytes?: number; readonly headers?: ResponseHeaders }
  | (Id extends FileOperationId ? FileResponse : never)
  | (Id extends StreamOperationId ? StreamResponse : never);

type OperationHandler<Id extends OperationId> = (
  request: OperationRequest<Id>,
) => OperationResponse<Id> | Promise<OperationResponse<Id>>;

/** Ids of the operations outside the base path. They are served without authorization. */
export type RootOperationId = {
  [Id in OperationId]: 'root' extends ScopeOf<Id> ? Id : never;
}[OperationId];

/** Ids of the operations whose requests go to the provider unchanged, so that they have no handler with validated input. */
export type PassthroughOperationId = {
  [Id in OperationId]: (typeof OPERATIONS)[Id]['tag'] extends 'passthrough' ? Id : never;
}[OperationId];

export type ApiOperationId = Exclude<OperationId, RootOperationId | PassthroughOperationId>;

/** One handler per operation of the spec. A missing or an unknown handler does not compile. */
export type Handlers = { readonly [Id in ApiOperationId]: OperationHandler<Id> };

/**
 * The input and the result of a handler, read from the spec. The validator has checked and converted the values before: numbers are
 * numbers, defaults are filled in, and header names are in lower case.
 */

/** The parameters of an operation in one place, by name. */
type ParametersIn<Place extends string, Id extends OperationId> = operations[Id]['parameters'] extends {
  readonly [Name in Place]?: infer Group;
}
  ? Exclude<Group, undefined>
  : Record<never, never>;

/** `tags[]` reaches a handler as `tags`: see `operationDocument`. */
type WithoutBrackets<Name> = Name extends `${infer Bare}[]` ? Bare : Name;

/** Path parameters of an operation, by name. */
export type OperationPath<Id extends OperationId> = Readonly<ParametersIn<'path', Id>>;

/** Query parameters of an operation, by name. */
export type OperationQuery<Id extends OperationId> = {
  readonly [Name in keyof ParametersIn<'query', Id> as WithoutBrackets<Name>]: ParametersIn<'query', Id>[Name];
};

/** Header parameters of an operation, by name in lower case. */
export type OperationHeaders<Id extends OperationId> = {
  readonly [Name in keyof ParametersIn<'header', Id> as Lowercase<Name & string>]: ParametersIn<'header', Id>[Name];
};

/** JSON body of an operation's request. It is `undefined` for an operation without a body, and for an optional body that is missing. */
export type OperationBody<Id extends OperationId> = JsonOf<operations[Id]['requestBody']>;

type JsonOf<Given> = Given extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** JSON body of an operation's 200 response. */
export type OperationResult<Id extends OperationId> = operations[Id]['responses'] extends {
  200: { content: { 'application/json': infer Body } };
}
  ? Body
  : undefined;
