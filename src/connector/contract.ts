import type { FieldSpec, PushedField, Queryable, Value } from '../where/model.ts';
import type { Mark } from './mark.ts';

/** The settings of one instance: declared keys only, typed by their `ConfigField`, secrets in clear. */
export type Config = Readonly<Record<string, unknown>>;

/** One configuration key an instance of this element takes. */
export interface ConfigField {
  readonly key: string;
  readonly type: 'string' | 'boolean' | 'number' | 'url';
  readonly description: string;
  readonly required?: boolean;
  /** Stored encrypted, shown as `********`. */
  readonly secret?: boolean;
  readonly default?: string | boolean | number;
  /** The whole value must match, e.g. `/^[a-z0-9-]+$/`. */
  readonly pattern?: RegExp;
  readonly example?: string;
  /** How a person comes by the value: one sentence for each step. */
  readonly setup?: readonly string[];
  /** A text that `examine` sets: the API shows it among the warnings of the instance, too. */
  readonly warning?: boolean;
}

/** A call to the provider, as data. The client adds the base URL, authentication, time-outs and retries. */
export interface ProviderRequest {
  /** Default GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the connector's base URL, beginning with `/`; build it with `path` so that values are encoded. */
  readonly path?: string;
  /** Absolute, taken from a provider's answer (a next link). Checked against the connector's hosts before it is followed. */
  readonly url?: string;
  /** Encoded with %20 for blanks; `undefined` is left out; an array repeats its key. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** Rows, with their header; sent as `text/csv`. */
  readonly csv?: string;
  /** May be sent again after a failure. Default: GET, PUT and DELETE are, POST and PATCH are not. */
  readonly idempotent?: boolean;
  /** Without what authenticates: to see what the provider shows to everybody. For `examine`; elsewhere a refusal would count for the credentials. */
  readonly anonymous?: boolean;
}

export interface ProviderResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Parsed JSON where the provider says it is JSON, text otherwise, undefined when empty. Numbers that a double cannot hold are of the
   * class `ExactNumber`.
   */
  readonly body: unknown;
}

export type FailureKind =
  | 'credentials'
  | 'notFound'
  /** It clashes with what is there: a duplicate, or a record in the wrong state. */
  | 'conflict'
  | 'rejected'
  | 'rateLimited'
  | 'unavailable'
  | 'protocol';

/** What went wrong at the provider; the core turns it into the API's error. What is absent is taken from the response. */
export interface Failure {
  /** Only where the provider says what its status does not. Absent: as the status is judged for every provider, `rejected` for a 2xx. */
  readonly kind?: FailureKind | undefined;
  /** The status of a failed part, where the whole has another. */
  readonly status?: number | undefined;
  /** The provider's words. */
  readonly message?: string | undefined;
  /** For `rateLimited` and `unavailable`. */
  readonly retryAfterMs?: number | undefined;
}

/** What an operation that needs more than one call works with. `send` returns what succeeded, or throws what failed. */
export interface ConnectorContext {
  readonly config: Config;
  readonly send: (request: ProviderRequest) => Promise<ProviderResponse>;
  readonly signal: AbortSignal;
}

/** What the provider says about its budget for this caller. */
export interface RateLimitState {
  readonly limit?: number;
  readonly remaining?: number;
  readonly resetSeconds?: number;
}

/** What discovery works with: `objects` as a function, and `describe`. */
export interface DiscoveryContext extends ConnectorContext {
  /**
   * Runs the default export of a module over a text in a thread of its own. For documents that describe a service: whatever one
   * holds, it neither keeps other callers waiting nor ends the process. Memory, time and the size of the result are bounded. Name the module's type: `offload<typeof import('./model.ts')>(new URL('./model.ts', import.meta.url), text)`.
   * @returns a copy of what the module returns
   * @throws Error when the module throws or a bound is reached; AppError OVERLOADED when too many wait
   */
  readonly offload: <Module extends OffloadModule>(module: URL, text: string) => Promise<OffloadResult<Module>>;
}

/** A module that runs in a thread of its own. What it returns must be data: no functions. */
export interface OffloadModule {
  readonly default: (text: string) => unknown;
}

export type OffloadResult<Module extends OffloadModule> = ReturnType<Module['default']>;

/** A provider call in two pure halves. */
export interface OneCall<Input, Output> {
  readonly request: (input: Input, config: Config) => ProviderRequest;
  readonly read: (response: ProviderResponse, input: Input) => Output;
}

/** A provider call, or a function where one call is not enough. Of both, `run` runs and `request` explains it. */
export type Operation<Input, Output> =
  | OneCall<Input, Output>
  | { readonly run: (context: ConnectorContext, input: Input) => Promise<Output> };

export interface SortTerm {
  readonly field: PushedField;
  readonly direction: 'asc' | 'desc';
}

export interface ListInput<Native> {
  /** The translated filter; absent when nothing is pushed. */
  readonly filter?: Native;
  readonly parameters: Readonly<Record<string, Value>>;
  /** The fields the caller or the residual needs. */
  readonly fields: readonly PushedField[];
  /** Empty unless the whole order is pushed. */
  readonly orderBy: readonly SortTerm[];
  /** Rows wanted in this provider page, never above `maxPageSize`. */
  readonly limit: number;
  /** A `next` of an earlier page, or a `cursorAt`. Absent for the first page. */
  readonly cursor?: string;
  /** The id of the parent, in a child listing. */
  readonly parentId?: string;
}

export interface ListPage {
  readonly records: readonly unknown[];
  /** Where to go on; absent at the end. It comes back as `cursor`, sealed in between. */
  readonly next?: string;
  /** All rows of the query, if the provider said so without extra cost. */
  readonly total?: number;
}

export type ListOperation<Native> = Operation<ListInput<Native>, ListPage> & {
  readonly maxPageSize: number;
  /**
   * Makes a native record of one in `ListPage.records`, where that is work: it is called for the rows that are needed, a few
   * at a time, while `read` holds up everybody for all rows of the page.
   */
  readonly readRecord?: (record: unknown) => unknown;
  /** For providers that page by position: the cursor of row `offset` (from 0) of the query. */
  readonly cursorAt?: (offset: number) => string;
  /**
   * Beside `cursorAt`: how many pages of one query may be under way at a time, so that a page is asked for before the one in front of it
   * has come. Absent: one, which is also right where every page costs as much as all of them.
   */
  readonly pagesAtOnce?: number;
};

export interface RecordKey {
  readonly id: string;
}

export interface RecordInput extends RecordKey {
  readonly fields: readonly PushedField[];
}

/** `values` have native names, native values (`FieldSpec.write` applied), and are checked against the fields. */
export interface CreateInput {
  readonly values: Readonly<Record<string, unknown>>;
  readonly fields: readonly PushedField[];
}

export interface UpdateInput extends CreateInput, RecordKey {}

export interface ObjectSpec<Native = unknown> extends Queryable<Native> {
  readonly label?: string;
  /** Other names that it goes by, such as those that people share over providers. Where an object has such a name of its own, that one is meant. */
  readonly aliases?: readonly string[];
  /** What its records are, for people. */
  readonly description?: string;
  /** The provider's name. Default: the object's own. */
  readonly native?: string;
  readonly custom?: boolean;
  readonly list?: ListOperation<Native>;
  /** A provider's 404 becomes NOT_FOUND. @returns the native record */
  readonly get?: Operation<RecordInput, unknown>;
  /** When the provider answers an id only, `run` reads the record back. @returns the native record as stored */
  readonly create?: Operation<CreateInput, unknown>;
  /** PATCH: only the given fields change. */
  readonly update?: Operation<UpdateInput, unknown>;
  /** PUT: the record becomes what is given. */
  readonly replace?: Operation<UpdateInput, unknown>;
  readonly remove?: Operation<RecordKey, void>;
  /** Objects below a record: `GET /{objectName}/{objectId}/{childObjectName}`. Their list input has `parentId`. */
  readonly children?: Objects;
  /** How changes of its records are noticed by asking for them. Without it a poll reads all of them, unless it finds a field that tells. */
  readonly changes?: Changes;
  /** The file of a record: what `GET /{objectName}/{objectId}` answers when `Accept` asks for one of its types. */
  readonly media?: Media;
  /** Records that are files: what makes one, or a new version of one, from bytes. It needs `get`. */
  readonly upload?: Upload;
  /** What bulk jobs use of the provider in place of its pages, where there are many rows. */
  readonly bulk?: NativeBulk<Native>;
  /**
   * For providers with more objects than can be described at once: the discovered object is an outline (operations, but no
   * fields), and this completes it when it is first used. The outcome is kept as long as the discovery. Children may be outlines too.
   */
  readonly describe?: (context: DiscoveryContext) => Promise<ObjectSpec>;
  /** What a listing of objects says of an outline whose operations and children come with `describe`. */
  readonly outline?: Outline;
}

/** How changes of records are noticed by asking for them. */
export interface Changes {
  /**
   * The field that says when a record changed last. It can be filtered with `>=`. Where there is none, one that says when it came to
   * be will do for new records; see `tells`.
   */
  readonly updated?: string;
  /** The field that says when a record was created. */
  readonly created?: string;
  /** A change becomes visible so much later than its time says, at most. Default 60. */
  readonly overlapSeconds?: number;
  /** What the provider tells of changes by itself: in place of `updated`, or beside it of those that no list shows, such as deletions. */
  readonly feed?: Operation<ChangesInput, ChangesPage>;
  /** What is surely noticed. Default: what the fields are for, and with a feed everything. It is all that an outline may say. */
  readonly tells?: readonly ChangeAction[];
}

/** What happens to a record. */
export type ChangeAction = 'created' | 'updated' | 'deleted';

export interface ChangesInput {
  /** An instant in UTC (ISO 8601). Changes from then on are wanted; earlier ones may come, too. */
  readonly since: string;
  /** A `next` of an earlier page. Absent for the first. */
  readonly cursor?: string;
}

export interface ChangesPage {
  readonly changes: readonly RecordChange[];
  /** Where to go on; absent at the end. */
  readonly next?: string;
  /**
   * An instant, by the provider, up to which it has told everything, where that is later than the last change. Feeds that tell of few
   * of the changes that they look through need it: they would look through more and more.
   */
  readonly until?: string;
}

export interface RecordChange extends RecordKey {
  readonly action: ChangeAction | 'unknown';
  /** When, by the provider: an instant (ISO 8601 with an offset). */
  readonly at: string;
  /** The native record, where the feed tells it; otherwise it is read. */
  readonly record?: unknown;
}

export interface Outline {
  readonly operations: readonly (OperationName | 'upload')[];
  /** Names of the children. */
  readonly children: readonly string[];
}

export type OperationName = 'list' | 'get' | 'create' | 'update' | 'replace' | 'remove';

export interface Media {
  /** Media types without parameters, never JSON; `*` where the file decides. */
  readonly types: readonly string[];
  /** Its answer goes to the caller byte for byte, with the provider's content type. `accept` is what the caller wants unless it is among the headers. */
  readonly request: (key: RecordKey, config: Config) => ProviderRequest;
  /** For providers that send bytes without saying what they are: what the record tells of its file. Asked before the file. */
  readonly about?: Operation<RecordKey, FileDescription>;
}

export interface FileDescription {
  /** With its extension, without folders. */
  readonly name?: string;
  /** Without parameters. A file of a known type is answered as that, or as `application/octet-stream`, and as nothing else. */
  readonly type?: string;
}

/** How files get to the provider. At least one of the two. */
export interface Upload {
  /** `POST` with a file. */
  readonly create?: UploadOperation<UploadInput>;
  /** `PUT` with a file: a new version of it. Fields are those that can be updated. */
  readonly replace?: UploadOperation<UploadVersionInput>;
}

/**
 * One call of the provider in two pure halves. The bytes are in neither: they go from the caller to the provider as they come, once, so
 * that the call is never tried again.
 */
export interface UploadOperation<Input> {
  readonly request: (input: Input, config: Config) => UploadRequest;
  /** @throws Error when nothing was stored, see `rejected` */
  readonly read: (response: ProviderResponse, input: Input) => StoredUpload;
}

export interface UploadInput extends CreateInput {
  readonly file: UploadedFile;
}

export interface UploadVersionInput extends UploadInput, RecordKey {}

/** What the caller says of a file. Its length is not known. */
export interface UploadedFile {
  /** Without folders and control characters; anything else may be in it, quotes and all. Never empty. */
  readonly name: string;
  /** A media type in lower case, without parameters. */
  readonly type: string;
}

/**
 * Where the bytes go: to a `path`, or with an absolute `url` to another of the connector's hosts. It is a POST with the file as its body,
 * of the file's own type, unless it says otherwise. It is sent in chunks, without a length.
 */
export interface UploadRequest extends Pick<ProviderRequest, 'path' | 'url' | 'query' | 'headers'> {
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  /** The body is multipart/form-data, and the file its last part. */
  readonly form?: UploadForm;
}

export interface UploadForm {
  /** What comes before the file, in this order. */
  readonly parts: readonly FormPart[];
  /** The name of the part with the file. It says the file's own name and type. */
  readonly file: string;
}

export interface FormPart {
  readonly name: string;
  readonly value: string;
  /** Its media type. Default: none is said, which means text. */
  readonly type?: string;
}

/** The native record, or by which id it is read back. */
export type StoredUpload = { readonly record: unknown } | { readonly id: string };

/**
 * Jobs of the provider's own for many records. The core decides which rows a job gets, stores its id, asks for its state until it has ended,
 * reads it and ends it. What does not fit a job, and what the provider refuses to begin, goes by the pages of `list` or by single calls.
 */
export interface NativeBulk<Native = unknown> {
  /** Finds the rows of a query that the provider accepts as one, in no order and without a limit. Supersets are checked again, as in a list. */
  readonly query?: NativeQuery<Native>;
  /** Writes rows. */
  readonly ingest?: NativeIngest;
}

interface NativeJob<Place, Result> {
  /** Minimum number of rows for a job. Below, pages or single calls are cheaper. */
  readonly fromRows: number;
  /** Types (`FieldSpec.nativeType`) whose values a job does not have, or not as the pages and the single calls have them. */
  readonly withoutTypes?: readonly string[];
  /** Asks for the state of a job. */
  readonly look: Operation<RecordKey, NativeLook>;
  /** Reads a job that has ended. */
  readonly read: Operation<Place, Result>;
  /** The requests that end a job, sent one after the other. What the provider refuses of them has happened already. */
  readonly end: (job: NativeEnd, config: Config) => readonly ProviderRequest[];
}

/** The state of a job. `open`: it waits for rows, and does nothing with those that it has. */
export type NativeLook =
  | { readonly kind: 'open' | 'running' | 'done' }
  | { readonly kind: 'failed'; readonly state: string; readonly message?: string };

export interface NativeEnd extends RecordKey {
  /** It has ended by itself; otherwise it is to be stopped. */
  readonly isDone: boolean;
  /** It is stopped, and not removed: somebody may still ask what it did. */
  readonly isKept?: boolean;
}

export interface NativeQuery<Native = unknown> extends NativeJob<NativePageInput, NativePage> {
  /** Maximum number of rows per page. */
  readonly pageSize: number;
  /** How many rows the query has, by one cheap call. Where it fails, the pages of `list` are read. */
  readonly count: Operation<ListInput<Native>, number>;
  /** Begins a job and reads its id. The input has neither order nor cursor; its limit means nothing. */
  readonly start: OneCall<ListInput<Native>, string>;
}

/** A page of a job: `cursor` is the `next` of the page before, and absent for the first. */
export interface NativePageInput extends RecordKey, Pick<ListInput<unknown>, 'cursor' | 'limit' | 'fields'> {}

export interface NativePage extends Pick<ListPage, 'next'> {
  /** Native records, as the list has them. They are made one by one where the iterable makes them. */
  readonly records: Iterable<unknown>;
}

/** What is done with rows that somebody sends. */
export type IngestAction = 'create' | 'update' | 'upsert' | 'delete';

export interface NativeIngest extends NativeJob<IngestRows & RecordKey, Iterable<IngestResult>> {
  /** Maximum number of rows per job. All of them are in memory at a time. */
  readonly mostRows: number;
  /** Maximum size of the rows of a job, in bytes of the file that has them. */
  readonly mostBytes: number;
  /** What jobs do, with the native fields by which records may be found for it; of `create` there are none. */
  readonly actions: Readonly<Partial<Record<IngestAction, readonly string[]>>>;
  /** Texts that a job takes for something else. */
  readonly withoutTexts?: readonly string[];
  /** Begins a job, waits for `keep`, which stores its id, and only then sends its rows and has it work. No request is sent twice. */
  readonly start: Operation<IngestStart, void>;
}

export interface IngestRows {
  /** Native names and native values. A field that is absent stays as it is; null empties it. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface IngestStart extends IngestRows {
  readonly action: IngestAction;
  /** The native field by which records are found; of `create` it is absent. */
  readonly key?: string;
  readonly keep: (id: string) => Promise<void>;
}

/** The outcome of a row. There is one for each row of the job, in any order; none where the job never told its rows apart. */
export type IngestResult = {
  /** Its place among the rows of the job; absent for one that is none of them. */
  readonly row?: number;
} & (
  | { readonly kind: 'written'; readonly id: string; readonly isNew: boolean }
  /** `answer`: what a call for the row alone would have answered; `classify` judges it. */
  | { readonly kind: 'failed'; readonly answer: Pick<ProviderResponse, 'status' | 'body'> }
  | { readonly kind: 'unprocessed' }
);

/** By name: letters, digits, `_`, `.` and `-`. A name may have two words with a slash between them, as `affiliates/commissions`. */
export type Objects = Readonly<Record<string, ObjectSpec>>;

/** `undefined` from `credentials` means: no authentication. */
export interface BasicAuth {
  readonly type: 'basic';
  readonly credentials: (config: Config) => { readonly username: string; readonly password: string } | undefined;
}

/** Headers made from the configuration (API keys, client secrets). */
export interface CustomAuth {
  readonly type: 'custom';
  readonly headers: (config: Config) => Readonly<Record<string, string>>;
  /** For providers that give what the headers are made of in exchange for a code. */
  readonly exchange?: CodeExchange;
}

/**
 * A code that the provider gave to the user, exchanged once for what all calls are made with, in two pure halves. The core sends it
 * when settings come with a code, and never twice. Of the two keys neither is required by itself: the core wants one or the other.
 */
export interface CodeExchange {
  /** The configuration key of the code, a secret. It is used up by the exchange, and not stored. */
  readonly code: string;
  /** The configuration key of what the code gives, a secret. It is kept until another code is given. Callers who have it may give it themselves. */
  readonly token: string;
  /** Sent without the headers of this connector. */
  readonly request: (config: Config) => ProviderRequest;
  /** @returns the token. @throws Error when there is none, see `json` */
  readonly read: (response: ProviderResponse) => string;
}

export interface NoAuth {
  readonly type: 'none';
}

/**
 * OAuth 2.0 (RFC 6749), as data. The core adds `oauth.api.key`, `oauth.api.secret` and the other `oauth.*` keys to the
 * configuration, keeps the tokens, refreshes them and sends them. Where a provider departs from the RFC, it says so here.
 */
export interface OAuth2Auth {
  readonly type: 'oauth2';
  /** Default: the authorization code. With `clientCredentials` an instance needs no user and no code. */
  readonly grant?: 'authorizationCode' | 'clientCredentials';
  /** Where users log in; for the authorization code. Its host must be one of the connector's. */
  readonly authorizeUrl?: (config: Config) => string;
  /** Its host must be one of the connector's. */
  readonly tokenUrl: (config: Config) => string;
  /** Where refresh tokens are shown, if not at the `tokenUrl`. Its host must be one of the connector's. */
  readonly refreshUrl?: (config: Config) => string;
  /** How a person registers an application with the provider, and so comes by client id and secret: one sentence for each step. */
  readonly setup?: readonly string[];
  /** Asked for unless the caller gives `oauth.scope`. */
  readonly scopes?: readonly string[];
  /** Default a blank, as RFC 6749 wants. */
  readonly scopeSeparator?: ' ' | ',' | '+';
  /** Default true: S256 (RFC 7636). */
  readonly pkce?: boolean;
  /** The provider refuses an authorization URL without a `state`: where the caller sends none, the URL has one of its own. */
  readonly stateRequired?: boolean;
  /** How the client shows its secret to the token endpoint. Default `basic`. */
  readonly clientAuthentication?: 'basic' | 'body';
  /** The same for the exchange of a code, where the provider wants it another way than for a refresh. */
  readonly codeAuthentication?: 'basic' | 'body';
  /** Default `form`. */
  readonly tokenBody?: 'form' | 'json';
  /** More query parameters of the authorization URL, e.g. `access_type: 'offline'`. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  /** More parameters of every token request. */
  readonly tokenParameters?: Readonly<Record<string, string>>;
  /** What the provider tells at the callback or in a token answer and the connector needs, by the configuration key it becomes. */
  readonly values?: Readonly<Record<string, OAuthValue>>;
  /** The configuration key that holds the customer's own host, which `siteAddress` of the authorization URL gives. */
  readonly siteAddressKey?: string;
  /** The configuration key of the contract's `<vendor>.sandbox`. */
  readonly sandboxKey?: string;
  /** The configuration key that `merchantId` of the authorization URL gives: a text with a pattern and an example. */
  readonly merchantIdKey?: string;
  /** The member of a token answer that is the end of the access token, in seconds since 1970, where there is no `expires_in`. */
  readonly accessTokenEnd?: string;
  /** Access tokens live so long when an answer does not say it. Default: until the provider refuses one. */
  readonly accessTokenSeconds?: number;
  /** Headers that carry the access token. Default `authorization: Bearer …` (RFC 6750). */
  readonly headers?: (accessToken: string, config: Config) => Readonly<Record<string, string>>;
}

export interface OAuthValue {
  /** `callback`: a query parameter next to `code`, which the caller passes on in `providerData`. `token`: a member of a token answer. */
  readonly from: 'callback' | 'token';
  readonly name: string;
  /** A `url` must be https and lead to one of the connector's hosts. */
  readonly type: 'string' | 'url';
  readonly description: string;
  /** Default true: without it no instance is made. */
  readonly required?: boolean;
  /** The whole value must match. */
  readonly pattern?: RegExp;
}

export type Auth = BasicAuth | CustomAuth | NoAuth | OAuth2Auth;

/** A page of the provider's own documentation. */
export interface DocumentationLink {
  readonly title: string;
  /** Begins with `https://`. */
  readonly url: string;
}

/** A call of the provider to the address that it was given for its events. */
export interface WebhookCall {
  readonly method: string;
  /** The address as the provider knows it, query included. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As it came. A signature is over these bytes, and over nothing that was parsed and printed again. */
  readonly body: Uint8Array;
}

/** `unsigned`: there is no signature, or none that can be read. `stale`: a good one of another time. */
export type WebhookVerdict = 'genuine' | 'unsigned' | 'forged' | 'stale';

/** What a call is verified with. */
export interface Known {
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The settings of the instance, for providers that sign with more than one secret. */
  readonly config: Config;
}

export type Verify = (call: WebhookCall, known: Known) => WebhookVerdict;

/** What a provider is answered. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The answer to a call that only asks whether somebody is there. */
export interface HandshakeAnswer extends WebhookAnswer {
  /** What people must do with what was sent: it stands among the warnings of the instance until the first event comes. */
  readonly notice?: string;
}

/** Undefined for any other call. */
export type Handshake = (call: WebhookCall, known: { readonly secret: string }) => HandshakeAnswer | undefined;

/** Something that happened at the provider, as its call tells it. */
export interface ProviderEvent {
  /** By which it is known when the provider sends it again. Default: the bytes of the call, so give one where two events can have the same bytes. */
  readonly id?: string;
  readonly action: 'created' | 'updated' | 'deleted' | 'unknown';
  readonly objectName: string;
  readonly objectId?: string;
  /** When it happened. Default: now. */
  readonly at?: Date;
  /** The record as the API shows it. Default: it is read, unless it was deleted. */
  readonly record?: Readonly<Record<string, unknown>>;
  /** What the provider sent of it. */
  readonly raw: unknown;
}

/** Events that the provider sends by itself, to an address of the instance's own. */
export interface Webhooks {
  /** How to see that the provider sent a call; `unsigned` where nothing shows it and only the address is secret. */
  readonly verify: Verify | 'unsigned';
  /** The configuration key of the secret that calls are verified with. Without it the secret comes from the registration. */
  readonly secretKey?: string;
  /** For providers whose calls name what they are signed with: it is read and kept for a while. In place of the other two. */
  readonly signingKey?: SigningKey;
  readonly handshake?: Handshake;
  /** Of a call that is genuine. It throws for one that it does not understand, `rejected` with a reason for the sender, and returns nothing for one that tells nothing. */
  readonly events: (call: WebhookCall, config: Config) => readonly ProviderEvent[];
  /** Which changes of which objects `events` tells of, for people. */
  readonly tells?: Readonly<Record<string, readonly ChangeAction[]>>;
  /** Of a body. Default 1 MB. */
  readonly maxBytes?: number;
  /** Where the provider wants another answer than 200 to events that are stored. */
  readonly response?: WebhookAnswer;
  /** Where the provider can be told the address through its API; elsewhere people enter it there. */
  readonly registration?: WebhookRegistration;
  /** How people have the provider send events to the `eventUrl` of an instance: one sentence for each step, or a script. */
  readonly setup?: readonly string[];
}

/** How the secret that a call is signed with is read from the provider. Whoever calls chooses the call: what it names is checked against the connector's hosts. */
export interface SigningKey {
  /** Undefined for a call that names none: it is not signed. */
  readonly request: (call: WebhookCall, config: Config) => ProviderRequest | undefined;
  /** @throws Error when there is none, see `json` */
  readonly read: (response: ProviderResponse) => string;
}

/** How the provider is told where to send its events. */
export interface WebhookRegistration {
  /** What is there for the same address already is of a try whose answer was lost: it is replaced. */
  readonly create: Operation<RegistrationInput, Registration>;
  /** Called when three quarters of the lifetime are over. Default: `create`. */
  readonly renew?: Operation<RegisteredInput, Registration>;
  /** What is not there any more counts as removed. */
  readonly remove: Operation<RegisteredInput, void>;
}

export interface RegistrationInput {
  readonly url: string;
}

export interface RegisteredInput extends RegistrationInput {
  readonly id: string;
}

/** What the provider has noted. */
export interface Registration {
  readonly id: string;
  /** Calls are verified with it. Default: the one of before, or that of `secretKey`. */
  readonly secret?: string;
  /** Default: it does not end by itself. */
  readonly expiresInSeconds?: number;
}

export interface Connector {
  /** The element key: `[a-z][a-z0-9]*`. The folder has the same name. */
  readonly key: string;
  /** Stable for ever, unique over all connectors. */
  readonly id: number;
  /** The version of this contract that it is written for. Default 1. One of another version is not loaded. */
  readonly contract?: number;
  readonly name: string;
  readonly description: string;
  /** Contract values: general, erp, humancapital, crm, documents, … */
  readonly hub: string;
  /** More hubs below which its instances answer. Events name the first. */
  readonly moreHubs?: readonly string[];
  /** Its picture. Default: a shape by its hub, on a colour by its key. */
  readonly mark?: Mark;
  /** What people read who set up an account there, or look something up. */
  readonly documentation?: readonly DocumentationLink[];
  readonly auth: Auth;
  readonly configuration: readonly ConfigField[];
  readonly baseUrl: (config: Config) => string;
  /** Hosts the instance may talk to: `api.example.com`, or `*.example.com` for any one label in front. Every request is pinned to them. */
  readonly hosts: readonly string[] | ((config: Config) => readonly string[]);
  readonly objects: Objects | ((context: DiscoveryContext) => Promise<Objects>);
  /** What discovered objects can do, together: the record of the element says by it what works in bulk. Never with static objects, which tell it themselves. */
  readonly operations?: readonly OperationName[];
  /** Objects whose changes are polled for, unless the configuration of an instance names others. */
  readonly polls?: readonly string[];
  /** One cheap call that fails when the credentials are wrong. Where the provider may answer it to everybody, `examine` finds out. */
  readonly probe: ProviderRequest;
  /**
   * Looks whether the provider does what the connector relies on, each time it has answered the probe. What it returns is kept with the
   * settings, under keys that the connector declares; undefined takes one away. It throws the provider's refusal of the credentials
   * and the reason of the signal, and nothing else: what could not be found out is no reason to have no instance.
   */
  readonly examine?: (context: ConnectorContext) => Promise<Readonly<Record<string, string | undefined>>>;
  /** Looks at an answer before the core does: a failure, null for "this is fine", undefined for "judge it by its status". */
  readonly classify?: (response: ProviderResponse) => Failure | null | undefined;
  /** Reads the budget from headers that only this provider has; `RateLimit-*` and `X-RateLimit-*` are read without it. */
  readonly rateLimit?: (headers: ProviderResponse['headers']) => RateLimitState | undefined;
  readonly webhooks?: Webhooks;
  /** Headers of every request, e.g. Accept or a version. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default time-out of one call in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
}

/** A field map as an object declares it; kept as it is, checked by the compiler. */
export type Fields = Readonly<Record<string, FieldSpec>>;

/** What `connectors/<key>/simulator.ts` exports as `createSimulator`: a provider in memory that fills HTTP answers. */
export interface Simulator {
  /** `request.url` is the provider's path; the host the caller meant stands in the `forwarded` header (`host=…`). */
  readonly handle: (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void;
}

export interface SimulatorOptions {
  /** Where clients reach it, without a slash at the end: for absolute links in answers. */
  readonly baseUrl: string;
  /** Outlives the simulator; without it a new one knows nothing of what an earlier one issued. */
  readonly memory?: SimulatorMemory;
  /** Sends a webhook, if the service may send anything there. Nobody waits for the answer. Without it none is sent. */
  readonly send?: (webhook: SentWebhook) => void;
}

/** A call of a simulated provider. */
export interface SentWebhook {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What clients keep over a restart, such as tokens, and a provider therefore must not forget. */
export interface SimulatorMemory {
  /** What was saved last; undefined at first. */
  readonly load: () => unknown;
  /** Takes JSON, in place of what was saved before. */
  readonly save: (value: unknown) => void;
}
