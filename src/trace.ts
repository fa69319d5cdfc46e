import { AsyncLocalStorage } from 'node:async_hooks';
import type { Redactor } from './redaction.ts';

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
  readonly action: string;
  /** The kind of thing that is changed. */
  readonly target: string;
  targetId?: string;
  instanceId?: number;
  readonly ipAddress: string | undefined;
  /** What was changed: never a secret. */
  changes?: Readonly<Record<string, unknown>>;
  /** Its row is committed. */
  isWritten: boolean;
}

/** What is noted of a call while it is worked on, for its line in the log and its row of activity. */
export interface Trace {
  readonly requestId: string;
  instanceId?: number;
  /** Of the secrets of the caller and the instance. */
  redactor?: Redactor;
  /** Of a call that changes something. */
  audit?: AuditEntry;
  /** Requests to the provider, retries and redirects included. */
  providerCalls: number;
  /** The first of them, those for access tokens included, each when it has ended. */
  readonly calls: TracedCall[];
  /** How many there would be without that bound. */
  callCount: number;
  /** There while headers and bodies of the requests to the provider are kept. */
  wire?: WireLog;
}

/** One request to a provider, and what came of it. Nothing of it is redacted yet. */
export interface TracedCall {
  readonly method: string;
  /** The provider's, where a simulator is asked in its place too. */
  readonly url: URL;
  /** The status; or why there was no response, like `timeout`. */
  readonly outcome: number | string;
  readonly durationMs: number;
  /** How often the same had been sent before, in vain. */
  readonly retries: number;
  /** Of the secrets that it carries. */
  readonly redactor: Redactor;
  readonly wire?: WireEntry | undefined;
}

/** Takes what goes to a provider and comes back, as it is. */
export interface WireLog {
  readonly open: (request: WireMessage, redactor: Redactor) => WireEntry;
  /** Gives its memory back; what comes later is not kept. */
  readonly close: () => void;
}

export interface WireMessage {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** What can be read only once is not kept. */
  readonly body?: string | Buffer | AsyncIterable<Buffer> | undefined;
}

/** What is kept of a request to a provider, without secrets. */
export interface WireContent {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: string;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
}

export interface WireEntry {
  readonly content: WireContent;
  readonly answered: (response: WireMessage & { readonly body: Buffer }) => void;
  /** As `answered`, for a body that is read piece by piece. @returns the same pieces */
  readonly watch: (response: WireMessage & { readonly body: AsyncIterable<Buffer> }) => AsyncIterable<Buffer>;
}

/** More would not tell more, and a query may make hundreds. */
const MOST_CALLS = 50;

const traces = new AsyncLocalStorage<Trace>();

export function createTrace(requestId: string): Trace {
  return { requestId, providerCalls: 0, calls: [], callCount: 0 };
}

/** Whatever `work` leads to, however deep, finds the trace by `currentTrace`. */
export function withTrace<Result>(trace: Trace, work: () => Result): Result {
  return traces.run(trace, work);
}

/** Undefined in background work. */
export function currentTrace(): Trace | undefined {
  return traces.getStore();
}

/** Keeps a request to a provider that has ended, where it was made for a call. */
export function noteCall(call: TracedCall): void {
  const trace = currentTrace();
  if (trace === undefined) return;
  trace.callCount++;
  if (trace.calls.length < MOST_CALLS) trace.calls.push(call);
}
