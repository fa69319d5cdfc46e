import { combineRedactors, type Redactor } from '../redaction.ts';
import type { Trace } from '../trace.ts';

/** Kind of a run in the background: a run of a poll, a slice of a bulk job, or a check of the watched objects. */
export type RunKind = 'poll' | 'bulk' | 'schema';

/** A completed request of a known caller, or a run. */
export interface ActivityEntry {
  /** Kind of the run; absent for a request. */
  readonly kind?: RunKind | undefined;
  readonly accountId: number;
  /** Id of the user. Null for a poll, and for a bulk job that was stored without its user. */
  readonly userId: number | null;
  /** The access key of the request. */
  readonly key?: { readonly id: number; readonly name: string } | undefined;
  /** Start time in milliseconds since 1970. */
  readonly atMs: number;
  readonly requestId: string;
  readonly instanceId: number | undefined;
  readonly elementKey: string | undefined;
  readonly method: string;
  /** Path without the query, redacted. */
  readonly path: string;
  readonly operation: string | undefined;
  /** Whether the request was sent in a session of the console. */
  readonly isOfConsole: boolean;
  readonly status: number;
  /** Error code of a failed request. */
  readonly code: string | undefined;
  /** Reason why the provider or its response made the request fail. It is not redacted. */
  readonly reason: string | undefined;
  readonly durationMs: number;
  /** Whether the response was cut off before the caller had all of it. */
  readonly cut: boolean;
  readonly address: string | undefined;
  /** Number of entries in the returned list, or of rows of a bulk job. */
  readonly rows: number | undefined;
  /** Number of events of a poll's run. */
  readonly events?: number | undefined;
  readonly pushdown: string | undefined;
  readonly trace: Trace;
  /** Redacts the secrets of the request. */
  readonly redactor: Redactor;
}

/** A request to a provider, ready to be stored and shown. */
export interface ActivityCall {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** Status of the response, or the reason why there was none. */
  readonly outcome: number | string;
  readonly durationUs: number;
  /** Number of earlier requests that this one repeats. */
  readonly retries: number;
}

/** The output and the failures of scripts of mappings, ready to be stored and shown. */
export interface ActivityScripts {
  readonly console: readonly string[];
  /** Number of lines, including those that were not kept. */
  readonly lineCount: number;
  readonly failures: number;
  readonly reasons: readonly {
    readonly reason: string;
    readonly count: number;
    readonly recordIds: readonly string[];
  }[];
}

/** Returns a redactor that also removes the secrets of the provider calls, such as access tokens. */
export function withCallSecrets({ redactor, trace }: Pick<ActivityEntry, 'redactor' | 'trace'>): Redactor {
  return combineRedactors([redactor, ...trace.calls.map((call) => call.redactor)]);
}
