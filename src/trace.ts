import { AsyncLocalStorage } from 'node:async_hooks';
import type { Redactor } from './redaction.ts';

/** The path of the audit log that an entry stands under, beside the one with all. */
export type AuditSection = 'authentication' | 'element-instances' | 'elements' | 'users' | 'settings';

/** A change that a caller asked for, as the audit log tells of it. What shows only when it is done is noted then (`db/change.ts`). */
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
  /** What was changed: never a secret. */
  changes?: Readonly<Record<string, unknown>>;
  /** Of the secrets of the request, for whatever text of it the row tells. */
  readonly redactor: Redactor;
  /** Its row is committed. */
  isWritten: boolean;
}

/** What is noted of a request while it is worked on, for its lines in the log and its span. */
export interface Trace {
  readonly requestId: string;
  instanceId?: number;
  /** Of the secrets of the caller and the instance. */
  redactor?: Redactor;
  /** Of a call that changes something. */
  audit?: AuditEntry;
  /** Requests to the provider, retries and redirects included. */
  providerCalls: number;
  /** Of a list: how much of the filter the provider took, and how many records are answered. */
  pushdown?: string;
  rows?: number;
}

/** A part of the work in the words of OpenTelemetry, measured from its start to its end. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** False: the sampler left it out. Nothing that is below it is recorded either. */
  readonly isRecorded: boolean;
  /** By which whoever goes on with the trace knows it (W3C Trace Context); undefined where nothing is recorded. */
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
  /** The same for all work of a kind: no ids. */
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
  /** Of secrets beside those of the process and of the request. */
  readonly redactor?: Redactor;
}

/** Begins spans that are below none of this process. There is none where nothing is exported. */
export interface Tracer {
  /** `from`: the W3C headers of what it goes on from. What is not well formed there begins a new trace. */
  readonly begin: (start: SpanStart, from?: TraceHeaders) => Span;
}

export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

interface Place {
  readonly trace: Trace | undefined;
  readonly span: Span | undefined;
}

const places = new AsyncLocalStorage<Place | undefined>();

/** Whatever `work` leads to, however deep, finds the trace by `currentTrace`, and the span by `currentSpan`. */
export function withTrace<Result>(place: Place, work: () => Result): Result {
  return places.run(place, work);
}

/** Undefined in background work. */
export function currentTrace(): Trace | undefined {
  return places.getStore()?.trace;
}

/** Undefined in background work, and where nothing is exported. */
export function currentSpan(): Span | undefined {
  return places.getStore()?.span;
}

/** For work that a request happens to start and that is not its own: it serves others as well. */
export function inBackground<Result>(work: () => Result): Result {
  return places.getStore() === undefined ? work() : places.run(undefined, work);
}

/** What `work` leads to is below the span. */
export function within<Result>(span: Span, work: () => Result): Result {
  return places.run({ trace: currentTrace(), span }, work);
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
