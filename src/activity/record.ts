import type { Redactor } from '../redaction.ts';
import type { Trace } from '../trace.ts';

/** A request of a known caller that has ended, as the API knows it. */
export interface ActivityRecord {
  readonly accountId: number;
  readonly userId: number;
  /** When it came. */
  readonly atMs: number;
  readonly requestId: string;
  readonly instanceId: number | undefined;
  readonly elementKey: string | undefined;
  readonly method: string;
  /** Redacted, and without the query. */
  readonly path: string;
  readonly operation: string | undefined;
  /** With a session of the console. */
  readonly isOfConsole: boolean;
  readonly status: number;
  /** Of an error. */
  readonly code: string | undefined;
  readonly durationMs: number;
  /** The caller did not get all of the answer. */
  readonly cut: boolean;
  readonly address: string | undefined;
  /** Entries of the list that was answered. */
  readonly rows: number | undefined;
  readonly pushdown: string | undefined;
  readonly trace: Trace;
  /** Of the secrets of the request. */
  readonly redactor: Redactor;
}

/** A request to a provider, ready to be stored and shown. */
export interface ActivityCall {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** Or why there was no response. */
  readonly outcome: number | string;
  readonly durationUs: number;
  /** How often the same was sent before. */
  readonly retries: number;
}
