import { AsyncLocalStorage } from 'node:async_hooks';
import type { Redactor } from './redaction.ts';

/** Path of the audit log that lists an entry, in addition to the list of all entries. */
export type AuditSection =
  | 'authentication'
  | 'element-instances'
  | 'elements'
  | 'common-resources'
  | 'formulas'
  | 'formula-instances'
  | 'users'
  | 'settings';

/** A change that a caller requested, as the audit log shows it. Facts that are known only afterwards are added then (`db/change.ts`). */
export interface AuditEntry {
  readonly at: Date;
  readonly requestId: string;
  readonly organizationId: number;
  /** Id of the account that was changed. */
  readonly accountId: number;
  readonly userId: number;
  readonly method: string;
  /** The path, without secrets. */
  readonly resourceUri: string;
  action: string;
  /** The kind of thing that is changed. */
  readonly target: string;
  /** Section by the kind of target. Rejected requests and shown secrets are in `authentication`, whatever they are about. */
  readonly section?: AuditSection | undefined;
  targetId?: string;
  instanceId?: number;
  readonly ipAddress: string | undefined;
  /** The changed values, never a secret. */
  changes?: Readonly<Record<string, unknown>>;
  /** Redacts the secrets of the request in the texts of the entry. */
  readonly redactor: Redactor;
  /** Whether the row of the entry is committed. */
  isWritten: boolean;
}

/** The data that is collected about a request while it is processed, for its log lines, its activity and its span. */
export interface Trace {
  readonly requestId: string;
  instanceId?: number;
  /** The work that the calls belong to. Undefined: that of a caller. Other work leaves a part of a provider's rate limit to callers. */
  work?: 'background' | 'formula';
  /** Redacts the secrets of the caller and the instance. */
  redactor?: Redactor;
  /** The audit entry of a call that changes something. */
  audit?: AuditEntry;
  /** Number of requests to the provider, including retries and redirects. */
  providerCalls: number;
  /** The part of the filter that was pushed. It is set for lists, together with the number of returned records. */
  pushdown?: string;
  rows?: number;
  /** The first calls in the order of their ends, including those for access tokens. */
  readonly calls: TracedCall[];
  /** Number of all calls, including those that are not kept. */
  callCount: number;
  /** Log of headers and bodies of the calls, while they are kept. */
  wire?: WireLog;
  /** Set when the script of a mapping failed, or wrote to its console. */
  scripts?: TracedScripts;
}

/** The output and the failures of the scripts of mappings during one request. Nothing of it is redacted yet. */
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
interface TracedReason {
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
  /** Status of the response, or the reason why there was none, such as `timeout`. */
  readonly outcome: number | string;
  readonly durationMs: number;
  /** Number of earlier sends of the same request: retries and redirects. */
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
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the request. A body that can be read only once is not kept. */
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
  /** Keeps the headers and the body of a response. */
  readonly noteResponse: (response: WireMessage & { readonly body: Buffer }) => void;
  /**
   * Keeps the headers and the body of a response that is read piece by piece.
   * @returns the same pieces
   */
  readonly watch: (response: WireMessage & { readonly body: AsyncIterable<Buffer> }) => AsyncIterable<Buffer>;
}

/** A timed piece of work as OpenTelemetry defines it. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the span is recorded. If the sampler left it out, its children are not recorded either. */
  readonly isRecorded: boolean;
  /** The `traceparent` header that lets a receiver continue the trace (W3C Trace Context); undefined if the span is not recorded. */
  readonly traceparent: string | undefined;
  readonly child: (start: SpanStart) => Span;
  /** Begins a new trace with a link to this span, for work that continues long after it. */
  readonly follow: (start: SpanStart) => Span;
  /** Returns the W3C headers for a request to this host; undefined unless the host is configured to get them. */
  readonly headersFor: (hostname: string) => Readonly<Record<string, string>> | undefined;
  /** Adds attributes. `describe` is called only if the span is recorded. */
  readonly note: (describe: () => SpanAttributes) => void;
  /** Ends the span; call it once. `describe` is as in `note`. A span that does not end is not exported. */
  readonly end: (describe?: () => SpanEnd) => void;
}

/** Attributes by their names in the semantic conventions, or `causeway.…`. Secrets are redacted, and undefined values are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** Name of the span, the same for all work of a kind, without ids. */
  readonly name: string;
  /** Kind of the span. Default: internal. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer';
}

export interface SpanEnd {
  /** Name that replaces the one from the start. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** Code or class name of the error if the work failed, never a message. */
  readonly errorType?: string | undefined;
  /** Redacts further secrets, in addition to those of the process and of the request. */
  readonly redactor?: Redactor;
}

/** Begins spans without a parent in this process. There is no tracer if nothing is exported. */
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

/** Returns the trace of the current request; undefined in background work. */
export function currentTrace(): Trace | undefined {
  return contexts.getStore()?.trace;
}

/** Returns the current span; undefined in background work, and if nothing is exported. */
export function currentSpan(): Span | undefined {
  return contexts.getStore()?.span;
}

/** Runs work outside the trace of the current request, because it also serves other requests. */
export function inBackground<Result>(work: () => Result): Result {
  return contexts.getStore() === undefined ? work() : contexts.run(undefined, work);
}

/** Runs work whose spans are children of the span. */
export function within<Result>(span: Span, work: () => Result): Result {
  return contexts.run({ trace: currentTrace(), span }, work);
}

/** Runs work in a child of the current span. Without a current span it just runs the work. */
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

/** Returns the code of an error, or the name of its class. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Adds a completed request to a provider to the current trace. */
export function noteCall(call: TracedCall): void {
  const trace = currentTrace();
  if (trace === undefined) return;
  trace.callCount++;
  if (trace.calls.length < MOST_CALLS) trace.calls.push(call);
}
