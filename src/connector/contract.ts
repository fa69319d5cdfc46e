import type { FieldSpec, PushedField, Queryable, Value } from '../where/model.ts';
import type { Mark } from './mark.ts';

/** The configuration of one instance: only declared keys, typed by their `ConfigField`, with secrets in clear text. */
export type Config = Readonly<Record<string, unknown>>;

/** A configuration key that instances of an element have. */
export interface ConfigField {
  readonly key: string;
  /** The name of the field in forms, in the provider's words. Default: the words of the key, such as `Company name` for `company.name`. */
  readonly label?: string;
  readonly type: 'string' | 'boolean' | 'number' | 'url';
  readonly description: string;
  readonly required?: boolean;
  /** Whether the value is stored encrypted and shown as `********`. Default false. */
  readonly secret?: boolean;
  readonly default?: string | boolean | number;
  /** A pattern that the whole value must match, e.g. `/^[a-z0-9-]+$/`. */
  readonly pattern?: RegExp;
  readonly example?: string;
  /** The steps by which a person finds the value, one sentence for each step. */
  readonly setup?: readonly string[];
  /** Whether the value is a text that `examine` sets and the API also shows among the warnings of the instance. Default false. */
  readonly warning?: boolean;
}

/** A request to the provider, as data. The client adds the base URL, authentication, time-outs and retries. */
export interface ProviderRequest {
  /** The HTTP method. Default GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the connector's base URL. It begins with `/`. Build it with `path`, which encodes the values. */
  readonly path?: string;
  /** An absolute URL from a provider's response, such as a link to the next page. The client checks it against the connector's hosts. */
  readonly url?: string;
  /** The query parameters. Blanks become `%20`, an array repeats its key, and `undefined` is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** Rows of CSV with their header, sent as `text/csv`. */
  readonly csv?: string;
  /** Whether the client may send the request again after a failure. Default: true for GET, PUT and DELETE, false for POST and PATCH. */
  readonly idempotent?: boolean;
  /**
   * Sends the request without authentication, to see what the provider shows to everybody. Use it in `examine` only: elsewhere a 401 counts
   * as a rejection of the instance's credentials.
   */
  readonly anonymous?: boolean;
}

/** A provider's response as connectors read it. */
export interface ProviderResponse {
  readonly status: number;
  /** The response headers: lower-case names, repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body: parsed JSON where the content type says JSON, otherwise text, or undefined when it is empty. Numbers that a double cannot
   * hold are of the class `ExactNumber`.
   */
  readonly body: unknown;
}

/** The kinds of failure at a provider. Each has an error code of the API, such as `PROVIDER_RATE_LIMITED`. */
export type FailureKind =
  | 'credentials'
  | 'notFound'
  /** The request conflicts with stored data: a duplicate, or a record in the wrong state. */
  | 'conflict'
  | 'rejected'
  | 'rateLimited'
  | 'unavailable'
  | 'protocol';

/** A failure at the provider, which the core turns into an error of the API. The core takes absent members from the response. */
export interface Failure {
  /**
   * The kind of failure, where the provider says more than its status does. Default: by the status, as for every provider; `rejected` for a
   * 2xx status.
   */
  readonly kind?: FailureKind | undefined;
  /** The status of a failed part, where the whole response has another status. */
  readonly status?: number | undefined;
  /** The provider's own words. The caller reads them as `providerMessage`. */
  readonly message?: string | undefined;
  /** Milliseconds to wait before the next request, for `rateLimited` and `unavailable`. */
  readonly retryAfterMs?: number | undefined;
}

/** The context with which `run` sends more than one request. `send` returns a successful response and throws an AppError for any other. */
export interface ConnectorContext {
  readonly config: Config;
  readonly send: (request: ProviderRequest) => Promise<ProviderResponse>;
  readonly signal: AbortSignal;
}

/** The rate limit of this caller, as the provider reports it. */
export interface RateLimitState {
  readonly limit?: number;
  readonly remaining?: number;
  readonly resetSeconds?: number;
}

/** The context of discovery, for the function `objects` and for `describe` of an object. */
export interface DiscoveryContext extends ConnectorContext {
  /**
   * Runs the default export of a module over a text in a thread of its own. Use it for documents that describe a service: a hostile
   * document then neither blocks other callers nor ends the process. Memory, time and the size of the result are bounded. Name the module's
   * type: `offload<typeof import('./model.ts')>(new URL('./model.ts', import.meta.url), text)`.
   * @returns a copy of what the module returns
   * @throws Error when the module throws or reaches a bound; AppError OVERLOADED when too many texts wait
   */
  readonly offload: <Module extends OffloadModule>(module: URL, text: string) => Promise<OffloadResult<Module>>;
}

/** A module that `offload` runs in a thread of its own. It must return data without functions. */
export interface OffloadModule {
  readonly default: (text: string) => unknown;
}

/** The result that `offload` returns for a module. */
export type OffloadResult<Module extends OffloadModule> = ReturnType<Module['default']>;

/** A request and the reading of its response, as two pure functions. */
export interface OneCall<Input, Output> {
  readonly request: (input: Input, config: Config) => ProviderRequest;
  readonly read: (response: ProviderResponse, input: Input) => Output;
}

/**
 * One call, or a function `run` where one call is not enough. If an operation has both, the core uses `run` to execute it and `request` to
 * explain it.
 */
export type Operation<Input, Output> =
  | OneCall<Input, Output>
  | { readonly run: (context: ConnectorContext, input: Input) => Promise<Output> };

/** One term of an order: a field and its direction. */
export interface SortTerm {
  readonly field: PushedField;
  readonly direction: 'asc' | 'desc';
}

/** The input of a list operation: filter, order, fields and page. */
export interface ListInput<Native> {
  /** The translated filter. It is absent when no part of the condition is pushed. */
  readonly filter?: Native;
  readonly parameters: Readonly<Record<string, Value>>;
  /** The fields that the response or the residual filter needs. */
  readonly fields: readonly PushedField[];
  /** The order of the rows. It is empty unless the provider can sort by the whole order. */
  readonly orderBy: readonly SortTerm[];
  /** Number of rows wanted in this page of the provider, at most `maxPageSize`. */
  readonly limit: number;
  /** The position of the page: `next` of an earlier page, or a result of `cursorAt`. It is absent for the first page. */
  readonly cursor?: string;
  /** The id of the parent record. It is present in the listing of a child object only. */
  readonly parentId?: string;
}

/** One page of a list, as `read` or `run` returns it. */
export interface ListPage {
  readonly records: readonly unknown[];
  /** The position of the next page, which comes back as `cursor`. It is absent on the last page. Callers only see it encrypted. */
  readonly next?: string;
  /** Number of all rows of the query, where the provider reports it without an extra request. */
  readonly total?: number;
}

/** The list operation of an object, with the size and the positions of its pages. */
export type ListOperation<Native> = Operation<ListInput<Native>, ListPage> & {
  readonly maxPageSize: number;
  /**
   * Turns an element of `ListPage.records` into a native record, where that costs time. The core calls it only for the rows that it needs,
   * a few at a time. The same work in `read` would block the process for all rows of the page.
   */
  readonly readRecord?: (record: unknown) => unknown;
  /** For providers that page by position: returns the cursor of the row `offset` of the query, counted from 0. */
  readonly cursorAt?: (offset: number) => string;
  /**
   * Maximum number of pages of one query that the core may request at a time. It needs `cursorAt`. Default 1. Keep the default where every
   * page costs the provider as much as all of them.
   */
  readonly pagesAtOnce?: number;
};

/** The id that identifies a record. */
export interface RecordKey {
  readonly id: string;
}

/** The input of `get`: the id of the record and the fields to read. */
export interface RecordInput extends RecordKey {
  readonly fields: readonly PushedField[];
}

/**
 * The input of `create`. `values` have native names and native values (`FieldSpec.write` is applied), and the core has checked them
 * against the fields.
 */
export interface CreateInput {
  readonly values: Readonly<Record<string, unknown>>;
  readonly fields: readonly PushedField[];
}

/** The input of `update` and `replace`. */
export interface UpdateInput extends CreateInput, RecordKey {}

/** An object: its fields, its filters, and the operations that the provider supports. */
export interface ObjectSpec<Native = unknown> extends Queryable<Native> {
  readonly label?: string;
  /** Other names of the object, such as those that people share over providers. An object that has the name as its own comes first. */
  readonly aliases?: readonly string[];
  /** One sentence that describes the records for people. */
  readonly description?: string;
  /** The provider's name for the object. Default: the object's own name. */
  readonly native?: string;
  readonly custom?: boolean;
  readonly list?: ListOperation<Native>;
  /**
   * Requests one record. A provider's 404 becomes NOT_FOUND.
   * @returns the native record
   */
  readonly get?: Operation<RecordInput, unknown>;
  /**
   * Creates a record. Where the provider returns only an id, `run` reads the record back.
   * @returns the native record as stored
   */
  readonly create?: Operation<CreateInput, unknown>;
  /** Changes the given fields and keeps all others: PATCH. */
  readonly update?: Operation<UpdateInput, unknown>;
  /** Replaces the record by the given values: PUT. */
  readonly replace?: Operation<UpdateInput, unknown>;
  readonly remove?: Operation<RecordKey, void>;
  /** Objects below a record: `GET /{objectName}/{objectId}/{childObjectName}`. The input of their list has `parentId`. */
  readonly children?: Objects;
  /** The way in which polls find changes. Without it, a poll reads all records, unless a field of the object shows when a record changed. */
  readonly changes?: Changes;
  /** The file of a record. `GET /{objectName}/{objectId}` returns it when `Accept` names one of its types. */
  readonly media?: Media;
  /** For records that are files: creates a record, or a new version of one, from bytes. It needs `get`. */
  readonly upload?: Upload;
  /** Jobs of the provider that bulk jobs use instead of its pages when there are many rows. */
  readonly bulk?: NativeBulk<Native>;
  /**
   * Completes a discovered object when it is first used, for providers with too many objects to describe at once. Until then, the object is
   * an outline: operations, but no fields. The result is kept as long as the discovery. Children may be outlines too.
   */
  readonly describe?: (context: DiscoveryContext) => Promise<ObjectSpec>;
  /** The operations and children that a listing of objects shows for an outline before `describe` adds its own. */
  readonly outline?: Outline;
}

/** The way in which polls find changed records. */
export interface Changes {
  /**
   * The field that shows when a record last changed. It needs `>=` in its filter. Where there is none, a field that shows when a record was
   * created finds new records; then declare `reports`.
   */
  readonly updated?: string;
  /** The field that shows when a record was created. */
  readonly created?: string;
  /** Maximum number of seconds after which a change becomes visible, counted from its own time. From 0 to 86,400, default 60. */
  readonly overlapSeconds?: number;
  /**
   * The provider's own log of changes. Use it instead of `updated`, or beside it for changes that no list shows, such as deletions. It starts
   * at a time (`since`), or at a token of the provider (`token`).
   */
  readonly feed?: Operation<ChangesInput, ChangesPage>;
  /**
   * The actions that polls are sure to find. Default: those that the fields show, and all of them with a feed. An outline may declare only
   * this.
   */
  readonly reports?: readonly ChangeAction[];
}

/** A change of a record. */
export type ChangeAction = 'created' | 'updated' | 'deleted';

/** The input of a feed, for one page of changes. */
export interface ChangesInput {
  /** The earliest instant of the wanted changes, in UTC (ISO 8601). The page may also hold earlier ones. */
  readonly since: string;
  /**
   * `token` of the last poll that stored one. It is absent in the first poll, after the provider has forgotten it, and after a change of the
   * element's configuration. Then request a new token.
   */
  readonly token?: string;
  /** `next` of an earlier page of the same poll. It is absent for the first page. */
  readonly cursor?: string;
}

/** One page of a feed. */
export interface ChangesPage {
  readonly changes: readonly RecordChange[];
  /** The position of the next page, which comes back as `cursor`. It is absent on the last page. */
  readonly next?: string;
  /**
   * The provider's position behind this page, where it has one that lasts. It is stored in the same transaction as the events of the page, and
   * comes back as `token` in the next poll. Return it on the last page, and on any page from which a later poll can continue. At most 4,000
   * characters. Of a link, return the part that changes, and check that the link has the path of the request.
   */
  readonly token?: string;
  /**
   * An instant on the provider's clock up to which the feed is complete, where that is later than the last change. Feeds that read many
   * changes and return few need it: without it, each poll reads more than the one before.
   */
  readonly until?: string;
}

/** One change of one record, as a feed returns it. */
export interface RecordChange extends RecordKey {
  readonly action: ChangeAction | 'unknown';
  /** The provider's time of the change: an instant (ISO 8601 with an offset). Only a feed with tokens can leave it out. */
  readonly at?: string;
  /** The native record, where the feed contains it. Default: the core reads the record. */
  readonly record?: unknown;
}

/** The known part of an outline before `describe` completes it. */
export interface Outline {
  readonly operations: readonly (OperationName | 'upload')[];
  /** Names of the child objects. */
  readonly children: readonly string[];
}

/** The operations on records that an object can support. */
export type OperationName = 'list' | 'get' | 'create' | 'update' | 'replace' | 'remove';

/** The file of a record, and how to request it. */
export interface Media {
  /** Media types without parameters, never JSON. `*` stands for the file's own type. */
  readonly types: readonly string[];
  /**
   * Requests the file. The caller receives the body byte for byte, with the provider's content type. The caller's `accept` is added unless
   * the request's headers have one.
   */
  readonly request: (key: FileKey, config: Config) => ProviderRequest;
  /**
   * For providers that send bytes without a content type, and for those where only the record has the address of the file: reads the file's
   * name, type and address from its record. It is requested before the file.
   */
  readonly about?: Operation<RecordKey, FileDescription>;
}

/** The input of the request of a file: the id of its record, and what `about` returned, if the media has it. */
export interface FileKey extends RecordKey {
  readonly about?: FileDescription;
}

/** The name, the type and the address of a file. */
export interface FileDescription {
  /** The absolute URL of the file. Only `request` of the media uses it. */
  readonly url?: string;
  /** The file name with its extension, without folders. */
  readonly name?: string;
  /**
   * The media type without parameters. The API returns a file of a known type with this type or as `application/octet-stream`, and never
   * with another one.
   */
  readonly type?: string;
}

/** The requests that store files at the provider. At least one of the two members is needed. */
export interface Upload {
  /** Stores a new file: `POST` with a file. */
  readonly create?: UploadOperation<UploadInput>;
  /** Stores a new version of a file: `PUT` with a file. Its fields are those that can be updated. */
  readonly replace?: UploadOperation<UploadVersionInput>;
}

/**
 * An upload as two pure functions. Neither has the bytes: they stream from the caller to the provider once, so the client never repeats the
 * request.
 */
export interface UploadOperation<Input> {
  readonly request: (input: Input, config: Config) => UploadRequest;
  /** @throws Error when the provider stored nothing, see `rejected` */
  readonly read: (response: ProviderResponse, input: Input) => StoredUpload;
}

/** The input of an upload: the values of the file's record, its name and its type. */
export interface UploadInput extends CreateInput {
  readonly file: UploadedFile;
}

/** The input of an upload that replaces a file by a new version. */
export interface UploadVersionInput extends UploadInput, RecordKey {}

/** The name and the type that the caller sends with a file. The length of the file is not known. */
export interface UploadedFile {
  /** The file name, never empty, without folders and control characters. Any other character may occur, quotes included. */
  readonly name: string;
  /** The media type in lower case, without parameters. */
  readonly type: string;
}

/**
 * Where the bytes are sent: to a `path`, or with an absolute `url` to another of the connector's hosts. By default it is a POST with the
 * file as the body and the file's own content type. The client sends it in chunks, without a length.
 */
export interface UploadRequest extends Pick<ProviderRequest, 'path' | 'url' | 'query' | 'headers'> {
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  /** Sends the body as `multipart/form-data` with the file as its last part. */
  readonly form?: UploadForm;
}

/** A body of the type `multipart/form-data` (RFC 7578) that ends with a file. */
export interface UploadForm {
  /** The parts before the file, in this order. */
  readonly parts: readonly FormPart[];
  /** The name of the part that holds the file. The part also has the file's own name and type. */
  readonly file: string;
}

/** A part of a form that is a text. */
export interface FormPart {
  readonly name: string;
  readonly value: string;
  /** The media type of the part. Default: the part has no content type, which means text. */
  readonly type?: string;
}

/** The stored file: its native record, or the id by which the core reads the record back. */
export type StoredUpload = { readonly record: unknown } | { readonly id: string };

/**
 * Jobs of the provider for many records. The core decides which rows a job has, stores its id, requests its state until it has ended, reads
 * it and removes it. For rows that do not fit a job, and for jobs that the provider rejects, it uses the pages of `list` or single calls.
 */
export interface NativeBulk<Native = unknown> {
  /** Finds the rows of a query by a job, in no order and without a limit. The core filters supersets again, as in a list. */
  readonly query?: NativeQuery<Native>;
  /** Writes rows by a job. */
  readonly ingest?: NativeIngest;
}

interface NativeJob<Input, Result> {
  /** Minimum number of rows for a job. For fewer rows, pages or single calls are cheaper. */
  readonly fromRows: number;
  /** Native types (`FieldSpec.nativeType`) whose values a job lacks, or has in another form than pages and single calls. */
  readonly withoutTypes?: readonly string[];
  /** Requests the state of a job. */
  readonly look: Operation<RecordKey, NativeLook>;
  /** Reads the results of a job that has ended. */
  readonly read: Operation<Input, Result>;
  /** Returns the requests that stop and remove a job, in their order. The core ignores a rejection, because the job may be gone already. */
  readonly end: (job: NativeEnd, config: Config) => readonly ProviderRequest[];
}

/** The state of a job. `open` means that it waits for rows and has not begun to process any. */
export type NativeLook =
  | { readonly kind: 'open' | 'running' | 'done' }
  | { readonly kind: 'failed'; readonly state: string; readonly message?: string };

/** The job that `end` stops or removes. */
export interface NativeEnd extends RecordKey {
  /** Whether the job has ended by itself. If false, it must be stopped. */
  readonly isDone: boolean;
  /** Whether the job is stopped but kept, because its results may still be read. Default false. */
  readonly isKept?: boolean;
}

/** A job of the provider that finds the rows of a query. */
export interface NativeQuery<Native = unknown> extends NativeJob<NativePageInput, NativePage> {
  /** Maximum number of rows per page of the results. */
  readonly pageSize: number;
  /** Requests the number of rows of the query, by one cheap call. If it fails, the core reads the pages of `list`. */
  readonly count: Operation<ListInput<Native>, number>;
  /** Starts a job and reads its id. The input has neither order nor cursor, and its limit has no meaning. */
  readonly start: OneCall<ListInput<Native>, string>;
}

/** A page of the results of a job. `cursor` is `next` of the page before, and is absent for the first page. */
export interface NativePageInput extends RecordKey, Pick<ListInput<unknown>, 'cursor' | 'limit' | 'fields'> {}

/** One page of the results of a job. */
export interface NativePage extends Pick<ListPage, 'next'> {
  /** Native records in the form that the list has. An iterable may make them one by one. */
  readonly records: Iterable<unknown>;
}

/** The action of a job for each of its rows. */
export type IngestAction = 'create' | 'update' | 'upsert' | 'delete';

/** A job of the provider that writes rows. */
export interface NativeIngest extends NativeJob<IngestRows & RecordKey, Iterable<IngestResult>> {
  /** Maximum number of rows per job. All of them are in memory at the same time. */
  readonly mostRows: number;
  /** Maximum size of the rows of a job, in bytes of the caller's file. */
  readonly mostBytes: number;
  /** The actions of jobs, each with the native fields that can identify a record. For `create` the list is empty. */
  readonly actions: Readonly<Partial<Record<IngestAction, readonly string[]>>>;
  /** Texts that mean something else in a job, such as a marker for null. Rows with one of them are written by single calls. */
  readonly withoutTexts?: readonly string[];
  /**
   * Starts a job, waits for `keep` to store its id, and only then sends the rows and starts their processing. The core sends no request of
   * it twice.
   */
  readonly start: Operation<IngestStart, void>;
}

/** The rows of a job. */
export interface IngestRows {
  /** Rows by native names with native values. A field that is absent keeps its value, and null removes it. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** The input for the start of an ingest job. */
export interface IngestStart extends IngestRows {
  readonly action: IngestAction;
  /** The native field that identifies the records. It is absent for `create`. */
  readonly key?: string;
  readonly keep: (id: string) => Promise<void>;
}

/** The outcome of one row. A job has one outcome for each row, in any order, or none where it never distinguished its rows. */
export type IngestResult = {
  /** The index of the row in the job, from 0. It is absent for a result that belongs to no row. */
  readonly row?: number;
} & (
  | { readonly kind: 'written'; readonly id: string; readonly isNew: boolean }
  /** `response` is the one that a single call for the row would have had. `classify` judges it. */
  | { readonly kind: 'failed'; readonly response: Pick<ProviderResponse, 'status' | 'body'> }
  | { readonly kind: 'unprocessed' }
);

/**
 * Objects by name. A name has letters, digits, `_`, `.` and `-`, and may be two words with a slash between them, such as
 * `affiliates/commissions`.
 */
export type Objects = Readonly<Record<string, ObjectSpec>>;

/** HTTP Basic authentication (RFC 7617). If `credentials` returns undefined, requests are sent without authentication. */
export interface BasicAuth {
  readonly type: 'basic';
  readonly credentials: (config: Config) => { readonly username: string; readonly password: string } | undefined;
}

/** Authentication by headers made from the configuration, such as API keys or client secrets. */
export interface CustomAuth {
  readonly type: 'custom';
  readonly headers: (config: Config) => Readonly<Record<string, string>>;
  /** Exchanges a code for the values of the headers. Only some providers need it. */
  readonly exchange?: CodeExchange;
}

/**
 * A code that the provider showed to the user, exchanged once for the token of all later requests. The core sends it when a configuration
 * has a code, and never twice. Neither of the two keys may be required: the core requires one of them.
 */
export interface CodeExchange {
  /** The configuration key of the code, a secret. The exchange uses the code up, and the core does not store it. */
  readonly code: string;
  /**
   * The configuration key of the token, a secret. It is stored until a new code arrives. Callers who have a token can send it instead of a
   * code.
   */
  readonly token: string;
  /** The request of the exchange, sent without the connector's own authentication. */
  readonly request: (config: Config) => ProviderRequest;
  /**
   * Reads the token from the response.
   * @throws Error when there is none, see `json`
   */
  readonly read: (response: ProviderResponse) => string;
}

/** A provider without authentication. */
export interface NoAuth {
  readonly type: 'none';
}

/**
 * OAuth 2.0 (RFC 6749), as data. The core adds `oauth.api.key`, `oauth.api.secret` and the other `oauth.*` keys to the configuration. It
 * stores the tokens, refreshes them and sends them. Declare here where the provider departs from the RFC.
 */
export interface OAuth2Auth {
  readonly type: 'oauth2';
  /**
   * The grant by which an instance gets its tokens. Default: the authorization code. With `clientCredentials` an instance needs neither a
   * user nor a code.
   */
  readonly grant?: 'authorizationCode' | 'clientCredentials';
  /** The authorization endpoint, where users log in. The authorization code needs it. Its host must be one of the connector's. */
  readonly authorizeUrl?: (config: Config) => string;
  /** The token endpoint. Its host must be one of the connector's. */
  readonly tokenUrl: (config: Config) => string;
  /** The endpoint for refresh tokens. Default: `tokenUrl`. Its host must be one of the connector's. */
  readonly refreshUrl?: (config: Config) => string;
  /**
   * The steps by which a person registers an application with the provider and gets a client id and a secret, one sentence for each step.
   */
  readonly setup?: readonly string[];
  /** Scopes that are requested unless the caller sends `oauth.scope`. */
  readonly scopes?: readonly string[];
  /** The character between scopes. Default: a blank (RFC 6749, 3.3). */
  readonly scopeSeparator?: ' ' | ',' | '+';
  /** Whether to use PKCE with S256 (RFC 7636). Default true. */
  readonly pkce?: boolean;
  /**
   * Whether the provider rejects an authorization URL without `state`. If true and the caller sends no state, the core adds a random one.
   * Default false.
   */
  readonly stateRequired?: boolean;
  /** The client's authentication to the token endpoint: by HTTP Basic or in the body (RFC 6749, 2.3.1). Default `basic`. */
  readonly clientAuthentication?: 'basic' | 'body';
  /** The client's authentication when it exchanges a code, where that differs from a refresh. Default: `clientAuthentication`. */
  readonly codeAuthentication?: 'basic' | 'body';
  /** The encoding of token requests. Default `form`. */
  readonly tokenBody?: 'form' | 'json';
  /** Additional query parameters of the authorization URL, e.g. `access_type: 'offline'`. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /** Additional parameters of every token request. */
  readonly tokenParameters?: Readonly<Record<string, string>>;
  /** Values that the connector needs from the callback or from a token response, by the configuration key under which they are stored. */
  readonly values?: Readonly<Record<string, OAuthValue>>;
  /** The configuration key of the customer's own host. The parameter `siteAddress` of the authorization URL sets it. */
  readonly siteAddressKey?: string;
  /** The configuration key that stands for `<vendor>.sandbox` of the contract. */
  readonly sandboxKey?: string;
  /** The configuration key that the parameter `merchantId` of the authorization URL sets: a text with a pattern and an example. */
  readonly merchantIdKey?: string;
  /** The member of a token response that holds the end of the access token in seconds since 1970, where there is no `expires_in`. */
  readonly accessTokenEnd?: string;
  /** The provider's own `token_type` of tokens that are sent as bearer tokens, such as `bot`. Default: only `bearer`, in any case. */
  readonly tokenType?: string;
  /** Lifetime of access tokens in seconds, where the response does not report it. Default: until the provider rejects a token. */
  readonly accessTokenSeconds?: number;
  /** The headers that carry the access token. Default `authorization: Bearer …` (RFC 6750, 2.1). */
  readonly headers?: (accessToken: string, config: Config) => Readonly<Record<string, string>>;
}

/** A value that the provider returns during authorization and the connector needs. */
export interface OAuthValue {
  /**
   * Where the value comes from. `callback`: a query parameter beside `code`, which the caller sends in `providerData`. `token`: a member of
   * a token response.
   */
  readonly from: 'callback' | 'token';
  readonly name: string;
  /** The type of the value. A `url` must be https and have one of the connector's hosts. */
  readonly type: 'string' | 'url';
  readonly description: string;
  /** Whether the core refuses to create an instance without the value. Default true. */
  readonly required?: boolean;
  /** A pattern that the whole value must match. */
  readonly pattern?: RegExp;
}

/** The authentication of requests to the provider. */
export type Auth = BasicAuth | CustomAuth | NoAuth | OAuth2Auth;

/** A link to a page of the provider's own documentation. */
export interface DocumentationLink {
  readonly title: string;
  /** The address of the page. It begins with `https://`. */
  readonly url: string;
}

/** A request of the provider to the `eventUrl` of an instance. */
export interface WebhookCall {
  readonly method: string;
  /** The address as the provider knows it, including the query. */
  readonly url: string;
  /** The request headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bytes of the body, unchanged. Verify a signature over these bytes, never over a text that was parsed and printed again. */
  readonly body: Uint8Array;
}

/**
 * The result of a verification. `unsigned`: there is no signature, or no readable one. `stale`: the signature is valid, and too old or too
 * far in the future.
 */
export type WebhookVerdict = 'genuine' | 'unsigned' | 'forged' | 'stale';

/** The values that verify a webhook. */
export interface Known {
  readonly secret: string;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
  /** The configuration of the instance, for providers that sign with more than one secret. */
  readonly config: Config;
}

/** Verifies that the provider sent a webhook. */
export type Verify = (call: WebhookCall, known: Known) => WebhookVerdict;

/** A response to a webhook. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The response to a request by which the provider only checks the address. */
export interface HandshakeResponse extends WebhookResponse {
  /** Instructions for people about the content of the request. The instance shows it as a warning until the first event arrives. */
  readonly notice?: string;
}

/** Responds to a request by which the provider checks the address. It returns undefined for any other request. */
export type Handshake = (call: WebhookCall, known: { readonly secret: string }) => HandshakeResponse | undefined;

/** A change at the provider, as a webhook reports it. */
export interface ProviderEvent {
  /**
   * The id by which the core recognizes a repetition. Default: the bytes of the request. Set an id where two events can have the same
   * bytes.
   */
  readonly id?: string;
  readonly action: 'created' | 'updated' | 'deleted' | 'unknown';
  readonly objectName: string;
  readonly objectId?: string;
  /** The time of the change. Default: now. */
  readonly at?: Date;
  /** The record as the API shows it. Default: the core reads the record, unless it was deleted. */
  readonly record?: Readonly<Record<string, unknown>>;
  /** The provider's message about the change, unchanged. */
  readonly raw: unknown;
}

/** Webhooks: events that the provider sends to an address of the instance. */
export interface Webhooks {
  /** The check that the provider sent a request. `unsigned` means that only the address is secret. */
  readonly verify: Verify | 'unsigned';
  /** The configuration key of the secret that verifies requests. Default: the secret comes from the registration. */
  readonly secretKey?: string;
  /**
   * For providers whose requests name their signing key. The core requests the key and keeps it for a while. It replaces `secretKey` and
   * the secret of the registration.
   */
  readonly signingKey?: SigningKey;
  readonly handshake?: Handshake;
  /**
   * Reads the events of a verified request. It returns an empty list for a request without news. For a request that it does not understand,
   * it throws `rejected` with a reason for the sender.
   */
  readonly events: (call: WebhookCall, config: Config) => readonly ProviderEvent[];
  /** The actions that `events` reports, by object. The API shows them to people. */
  readonly reports?: Readonly<Record<string, readonly ChangeAction[]>>;
  /** Maximum size of a body in bytes. Default 1 MB, at most 4 MB. */
  readonly maxBytes?: number;
  /** The response to events that are stored, where the provider expects another one than the default 200. */
  readonly response?: WebhookResponse;
  /** The registration of the address through the provider's API. Without it, people enter the address at the provider. */
  readonly registration?: WebhookRegistration;
  /** The steps by which people let the provider send events to the `eventUrl` of an instance: one sentence for each step, or a script. */
  readonly setup?: readonly string[];
}

/**
 * The way to read the key that signed a request from the provider. The sender of a request is not known yet, so the core checks the address
 * that it names against the connector's hosts.
 */
export interface SigningKey {
  /** The request for the key. It returns undefined for a webhook that names no key, which is then unsigned. */
  readonly request: (call: WebhookCall, config: Config) => ProviderRequest | undefined;
  /**
   * Reads the key from the response.
   * @throws Error when there is none, see `json`
   */
  readonly read: (response: ProviderResponse) => string;
}

/** The registration of the address of an instance at the provider. */
export interface WebhookRegistration {
  /**
   * Registers the address. It must replace a registration with the same address: that one comes from an attempt whose response was lost.
   */
  readonly create: Operation<RegistrationInput, Registration>;
  /** Extends a registration. The core calls it when three quarters of the lifetime are over. Default: `create`. */
  readonly renew?: Operation<RegisteredInput, Registration>;
  /** Removes a registration. A 404 of the provider counts as removed. */
  readonly remove: Operation<RegisteredInput, void>;
}

/** The address that a registration names. */
export interface RegistrationInput {
  readonly url: string;
}

/** A registration that exists at the provider. */
export interface RegisteredInput extends RegistrationInput {
  readonly id: string;
}

/** A registration as the provider stored it. */
export interface Registration {
  readonly id: string;
  /** The secret that verifies requests. Default: the secret of the registration before, or the one of `secretKey`. */
  readonly secret?: string;
  /** Lifetime of the registration in seconds. Default: it does not expire. */
  readonly expiresInSeconds?: number;
}

/** A connector: everything that the core knows about a provider. */
export interface Connector {
  /** The element key: `[a-z][a-z0-9]*`. The folder has the same name. */
  readonly key: string;
  /** A number of the element that never changes and is unique over all connectors. */
  readonly id: number;
  /** The version of this contract that the connector is written for. Default 1. A connector of another version is not loaded. */
  readonly contract?: number;
  readonly name: string;
  readonly description: string;
  /** The hub of the element, such as general, erp, humancapital, crm or documents. */
  readonly hub: string;
  /** Further hubs under which its instances can be called. Events name `hub`. */
  readonly moreHubs?: readonly string[];
  /** The picture of the element. Default: the shape of its hub in a colour that depends on its key. */
  readonly mark?: Mark;
  /** Pages that help people to set up an account at the provider. */
  readonly documentation?: readonly DocumentationLink[];
  readonly auth: Auth;
  readonly configuration: readonly ConfigField[];
  readonly baseUrl: (config: Config) => string;
  /**
   * Hosts that an instance may reach: `api.example.com`, or `*.example.com` for exactly one label before the domain. The client checks
   * every request against them.
   */
  readonly hosts: readonly string[] | ((config: Config) => readonly string[]);
  readonly objects: Objects | ((context: DiscoveryContext) => Promise<Objects>);
  /**
   * The operations that discovered objects support, all objects together. The API derives from it which bulk operations an element
   * supports. A connector with static objects must not declare it.
   */
  readonly operations?: readonly OperationName[];
  /** Objects that are polled for changes, unless the configuration of an instance names others. */
  readonly polls?: readonly string[];
  /**
   * One cheap request that fails when the credentials are wrong. Where the provider may respond to it without credentials, `examine` checks
   * them.
   */
  readonly probe: ProviderRequest;
  /**
   * Checks after each successful probe whether the provider meets the connector's assumptions. The core stores the returned values with the
   * configuration, under keys that the connector declares; undefined removes a value. It throws only the provider's rejection of the
   * credentials and the reason of the signal. A check that fails for another reason must not prevent an instance.
   */
  readonly examine?: (context: ConnectorContext) => Promise<Readonly<Record<string, string | undefined>>>;
  /** Judges a response before the core does. It returns a failure, null for a success, or undefined to let the status decide. */
  readonly classify?: (response: ProviderResponse) => Failure | null | undefined;
  /**
   * Reads the rate limit from headers that only this provider has. The core reads `RateLimit-*`, `X-RateLimit-*` and `X-Rate-Limit-*`
   * itself.
   */
  readonly rateLimit?: (headers: ProviderResponse['headers']) => RateLimitState | undefined;
  readonly webhooks?: Webhooks;
  /** Headers of every request, e.g. `Accept` or a version. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time-out of one call in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
}

/** The fields of an object by name. The type keeps the literal declaration and lets the compiler check it. */
export type Fields = Readonly<Record<string, FieldSpec>>;

/** A provider in memory that responds over HTTP. `connectors/<key>/simulator.ts` exports a function `createSimulator` that returns one. */
export interface Simulator {
  /** Responds to a request. `request.url` is the provider's path. The `forwarded` header (`host=…`) has the host that the caller meant. */
  readonly handle: (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void;
  /**
   * Returns the requests and responses that contradict the provider's official description since the last call. Tests fail by them.
   * Undefined for a simulator without a description.
   */
  readonly takeContradictions?: () => readonly string[];
}

/** The options of a simulator. */
export interface SimulatorOptions {
  /** The address under which clients reach the simulator, without a slash at the end. Use it for absolute links in responses. */
  readonly baseUrl: string;
  /** Memory that outlives the simulator. Without it, a new simulator does not know the tokens that an earlier one issued. */
  readonly memory?: SimulatorMemory;
  /** Sends a webhook, if the service is allowed to send to its address. Nothing waits for the response. Without it no webhook is sent. */
  readonly send?: (webhook: SentWebhook) => void;
}

/** A request of a simulated provider to an address for events. */
export interface SentWebhook {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Storage for what clients keep over a restart, such as tokens. */
export interface SimulatorMemory {
  /** Returns what was saved last, or undefined. */
  readonly load: () => unknown;
  /** Replaces the stored value. The value must be JSON. */
  readonly save: (value: unknown) => void;
}
