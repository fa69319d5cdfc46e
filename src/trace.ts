import { AsyncLocalStorage } from 'node:async_hooks';
import type { Redactor } from './redaction.ts';

/** The path of the audit log that an entry stands under, beside the one with all. */
export type AuditSection =
  | 'authentication'
  | 'element-instances'
  | 'elements'
  | 'common-resources'
  | 'users'
  | 'settings';

/** A change that a caller requested, as the audit log shows it. Facts that are known only afterwards are added then (`db/change.ts`). */
export interface AuditEntry {
  readonly at: Date;
  readonly requestId: string;
  readonly organizationId: number;
  /** The account that is changed. */
  readonly accountId: number;
  readonly userId: number;
  readonly method: string;
  /** The path, without secrets. */
  readonly resourceUri: string;
  action: string;
  /** The kind of thing that is changed. */
  readonly target: string;
  /** By what is changed. Refusals and what shows secrets stand under `authentication`, whatever they are about. */
  readonly section?: AuditSection | undefined;
  targetId?: string;
  instanceId?: number;
  readonly ipAddress: string | undefined;
  /** The changed values, never a secret. */
  changes?: Readonly<Record<string, unknown>>;
  /** Redacts the secrets of the request in the texts of the entry. */
  readonly redactor: Redactor;
  /** Its row is committed. */
  isWritten: boolean;
}

/** The data that is collected about a request while it is processed, for its log lines, its activity and its span. */
export interface Trace {
  readonly requestId: string;
  instanceId?: number;
  /** Redacts the secrets of the caller and the instance. */
  redactor?: Redactor;
  /** The audit entry of a call that changes something. */
  audit?: AuditEntry;
  /** Requests to the provider, retries and redirects included. */
  providerCalls: number;
  /** Set for a list: how much of the filter was pushed, and how many records were returned. */
  pushdown?: string;
  rows?: number;
  /** The first of them, those for access tokens included, each when it has ended. */
  readonly calls: TracedCall[];
  /** How many there would be without that bound. */
  callCount: number;
  /** There while headers and bodies of the requests to the provider are kept. */
  wire?: WireLog;
  /** Set when the script of a mapping failed, or wrote to its console. */
  scripts?: TracedScripts;
}

/** What the scripts of mappings wrote and why they failed, during one request. Nothing of it is redacted yet. */
export interface TracedScripts {
  /** The first lines that they wrote to their console. */
  readonly console: string[];
  /** Number of lines without that bound. */
  lineCount: number;
  /** Number of calls of scripts that failed. */
  failures: number;
  /** The first different reasons. */
  readonly reasons: TracedReason[];
}

/** Why scripts failed, and for which records. */
export interface TracedReason {
  readonly reason: string;
  /** Number of calls that failed for this reason. */
  count: number;
  /** The ids of the first records, where they have one. */
  readonly recordIds: string[];
}

/** One request to a provider, and its outcome. Nothing of it is redacted yet. */
export interface TracedCall {
  readonly method: string;
  /** The provider's URL, even if a simulator responds. */
  readonly url: URL;
  /** The status; or why there was no response, like `timeout`. */
  readonly outcome: number | string;
  readonly durationMs: number;
  /** How often the same was sent before: retries and redirects. */
  readonly resends?: number;
  /** Redacts the secrets of the request. */
  readonly redactor: Redactor;
  readonly wire?: WireEntry | undefined;
}

/** Receives the requests to a provider and its responses, unchanged. */
export interface WireLog {
  readonly open: (request: WireMessage, redactor: Redactor) => WireEntry;
  /** Releases its memory. Later data is not kept. */
  readonly close: () => void;
}

export interface WireMessage {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** A body that can be read only once is not kept. */
  readonly body?: string | Buffer | AsyncIterable<Buffer> | undefined;
}

/** The kept part of a request to a provider, without secrets. */
export interface WireContent {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: string;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
}

export interface WireEntry {
  readonly content: WireContent;
  readonly answered: (response: WireMessage & { readonly body: Buffer }) => void;
  /**
   * Does the same for a body that is read piece by piece.
   * @returns the same pieces
   */
  readonly watch: (response: WireMessage & { readonly body: AsyncIterable<Buffer> }) => AsyncIterable<Buffer>;
}

/** A part of the work in the words of OpenTelemetry, measured from its start to its end. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** False: the sampler left it out. Nothing that is below it is recorded either. */
  readonly isRecorded: boolean;
  /** The `traceparent` header that lets a receiver continue the trace (W3C Trace Context); undefined if the span is not recorded. */
  readonly traceparent: string | undefined;
  readonly child: (start: SpanStart) => Span;
  /** Begins a trace of its own, with a link to this span: for what goes on long after it. */
  readonly follow: (start: SpanStart) => Span;
  /** The W3C headers for a request to that host; undefined unless it is configured to get them. */
  readonly headersFor: (hostname: string) => Readonly<Record<string, string>> | undefined;
  /** `describe` is called where the span is recorded. */
  readonly note: (describe: () => SpanAttributes) => void;
  /** Once, when the work is over; `describe` as in `note`. What is not ended is not exported. */
  readonly end: (describe?: () => SpanEnd) => void;
}

/** By their names in the semantic conventions, or `causeway.…`. Secrets are taken out of texts; what is undefined is left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** The same name for all work of a kind, without ids. */
  readonly name: string;
  /** Default: internal. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer';
}

export interface SpanEnd {
  /** In place of that of the start. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** The work failed: a code or the name of a class, never a message. */
  readonly errorType?: string | undefined;
  /** Redacts further secrets, in addition to those of the process and of the request. */
  readonly redactor?: Redactor;
}

/** Begins spans that are below none of this process. There is none where nothing is exported. */
export interface Tracer {
  /**
   * Begins a span.
   * @param from the W3C headers of its parent; invalid ones begin a new trace
   */
  readonly begin: (start: SpanStart, from?: TraceHeaders) => Span;
}

export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

interface TraceContext {
  readonly trace: Trace | undefined;
  readonly span: Span | undefined;
}

/** Maximum number of calls per request. A query may make hundreds, and more would add no information. */
const MOST_CALLS = 50;

/** Maximum sizes of what is kept of scripts. The texts are that long when they are shown. */
export const SCRIPT_LIMITS = {
  lines: 50,
  lineCharacters: 1000,
  reasons: 5,
  reasonCharacters: 500,
  ids: 10,
  idCharacters: 100,
};

const contexts = new AsyncLocalStorage<TraceContext | undefined>();

export function createTrace(requestId: string): Trace {
  return { requestId, providerCalls: 0, calls: [], callCount: 0 };
}

/** Runs work in which `currentTrace` returns the trace and `currentSpan` the span, at any depth. */
export function withTrace<Result>(context: TraceContext, work: () => Result): Result {
  return contexts.run(context, work);
}

/** Undefined in background work. */
export function currentTrace(): Trace | undefined {
  return contexts.getStore()?.trace;
}

/** Undefined in background work, and where nothing is exported. */
export function currentSpan(): Span | undefined {
  return contexts.getStore()?.span;
}

/** For work that a request happens to start and that is not its own: it serves others as well. */
export function inBackground<Result>(work: () => Result): Result {
  return contexts.getStore() === undefined ? work() : contexts.run(undefined, work);
}

/** Runs work whose spans are children of the span. */
export function within<Result>(span: Span, work: () => Result): Result {
  return contexts.run({ trace: currentTrace(), span }, work);
}

/** Does the work in a span below the current one, and nothing but the work where there is none. */
export function inSpan<Result>(start: SpanStart, work: () => Promise<Result>): Promise<Result> {
  const parent = currentSpan();
  return parent?.isRecorded === true ? spanning(parent.child(start), work) : work();
}

async function spanning<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await within(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end(() => ({ errorType: errorTypeOf(error) }));
    throw error;
  }
}

/** Its code, where it has one. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Keeps a request to a provider that has ended, where it was made for a call. */
export function noteCall(call: TracedCall): void {
  const trace = currentTrace();
  if (trace === undefined) return;
  trace.callCount++;
  if (trace.calls.length < MOST_CALLS) trace.calls.push(call);
}
