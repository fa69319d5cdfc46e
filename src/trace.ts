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

/** What is noted of a call while it is worked on, for its line in the log. */
export interface Trace {
  readonly requestId: string;
  instanceId?: number;
  /** Of the secrets of the caller and the instance. */
  redactor?: Redactor;
  /** Of a call that changes something. */
  audit?: AuditEntry;
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
