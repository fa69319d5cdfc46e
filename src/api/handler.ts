import type { operations } from '../../generated/openapi-types.ts';
import type { OPERATIONS, OperationId } from '../../generated/operations.ts';
import type { Principal } from '../accounts/accounts.ts';
import type { Instance } from '../instances/instance.ts';
import type {
  OperationBody,
  OperationHeaders,
  OperationPath,
  OperationQuery,
  OperationResult,
} from './operation-types.ts';

type Scope<Id extends OperationId> = (typeof OPERATIONS)[Id]['scopes'][number];

/** An instance where the scopes of the operation promise one. */
type InstanceOf<Id extends OperationId> =
  | (Extract<Scope<Id>, 'instance' | 'record'> extends never ? never : Instance)
  | ('platform' extends Scope<Id> ? undefined : never);

/** A request as a handler sees it: authorized, validated, converted. */
export interface OperationRequest<Id extends OperationId> {
  readonly path: OperationPath<Id>;
  readonly query: OperationQuery<Id>;
  readonly headers: OperationHeaders<Id>;
  /** The `Accept` header. Only operations that may answer a file need to look: for the others it takes JSON. */
  readonly accept: string | undefined;
  readonly body: OperationBody<Id>;
  readonly principal: Principal;
  readonly instance: InstanceOf<Id>;
  /** Aborts when the caller hangs up, and when it has its answer. */
  readonly signal: AbortSignal;
  /** The absolute URL as sent, for links to the next page. */
  readonly url: string;
}

/** Those that are undefined are left out. */
type AnswerHeaders = Readonly<Record<string, string | number | undefined>>;

/** Bytes instead of JSON. */
export interface FileAnswer {
  readonly file: Buffer;
  readonly headers: AnswerHeaders & { readonly 'Content-Type': string };
}

/** The operations that the spec lets answer a file. */
export type FileOperationId = {
  [Id in Exclude<OperationId, PassthroughOperationId>]: operations[Id]['responses'] extends {
    200: { content: { '*/*': unknown } };
  }
    ? Id
    : never;
}[Exclude<OperationId, PassthroughOperationId>];

/** What a handler answers; the status is 200. */
export type OperationAnswer<Id extends OperationId> =
  | { readonly body: OperationResult<Id>; readonly headers?: AnswerHeaders }
  | (Id extends FileOperationId ? FileAnswer : never);

export type Handler<Id extends OperationId> = (
  request: OperationRequest<Id>,
) => OperationAnswer<Id> | Promise<OperationAnswer<Id>>;

/** The operations outside the base path; they are served without authorization. */
export type RootOperationId = {
  [Id in OperationId]: 'root' extends Scope<Id> ? Id : never;
}[OperationId];

/** Requests that are passed on as they are: they have no handler that sees them validated. */
export type PassthroughOperationId = {
  [Id in OperationId]: (typeof OPERATIONS)[Id]['tag'] extends 'passthrough' ? Id : never;
}[OperationId];

export type ApiOperationId = Exclude<OperationId, RootOperationId | PassthroughOperationId>;

/** One handler per operation of the spec: one that is missing, or one too many, does not compile. */
export type Handlers = { readonly [Id in ApiOperationId]: Handler<Id> };
