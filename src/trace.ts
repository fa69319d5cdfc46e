import { AsyncLocalStorage } from 'node:async_hooks';
import type { Redactor } from './redaction.ts';

/** What is noted of a call while it is worked on, for its line in the log. */
export interface Trace {
  readonly requestId: string;
  instanceId?: number;
  /** Of the secrets of the caller and the instance. */
  redactor?: Redactor;
  /** Requests to the provider, retries and redirects included. */
  providerCalls: number;
}

const traces = new AsyncLocalStorage<Trace>();

/** Whatever `work` leads to, however deep, finds the trace by `currentTrace`. */
export function withTrace<Result>(trace: Trace, work: () => Result): Result {
  return traces.run(trace, work);
}

/** Undefined in background work. */
export function currentTrace(): Trace | undefined {
  return traces.getStore();
}
