import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ERROR_STATUS, type ErrorCode, isAppError, reasonOf } from '../errors.ts';
import { NO_SECRETS, type Redactor } from '../redaction.ts';
import { createTrace, currentSpan, type WireLog, withTrace } from '../trace.ts';
import { type ActivityEntry, withCallSecrets } from './entry.ts';
import type { Recorder } from './recorder.ts';

/** Background work that calls a provider. */
interface RunSubject extends Pick<ActivityEntry, 'accountId'> {
  readonly kind: NonNullable<ActivityEntry['kind']>;
  readonly userId: number | null;
  readonly instanceId: number;
  /** Path of the run's resource, below the base path. */
  readonly path: string;
  /** Whether the work has waited for the provider's rate limit so often that it now uses the part of callers too. */
  readonly isOverdue: boolean;
}

/** Properties of an instance that its trace logging needs. */
interface TraceableInstance {
  readonly connector: {
    readonly key: string;
    readonly configuration: readonly { readonly key: string; readonly secret?: boolean }[];
  };
  readonly redactor: Redactor;
  readonly traceLoggingUntil: Date | null;
}

/** Reason why a run failed, without secrets. */
export interface RunFault {
  readonly code: string;
  readonly message: string;
}

interface RunOutcome extends Partial<Pick<ActivityEntry, 'events' | 'rows'>> {
  /** False for a run that found nothing to do. Such a run is not recorded unless it failed. */
  readonly isReported: boolean;
  readonly fault?: RunFault | undefined;
}

export type OpenRun = (subject: RunSubject) => Run;
export type Run = ReturnType<ReturnType<typeof createOpenRun>>;

/**
 * Creates a function that records background work as if it were a request: its provider calls are kept, its log lines have its id, and it
 * has a row of activity.
 */
export function createOpenRun(
  { clock }: { readonly clock: Pick<Clock, 'now' | 'steady'> },
  recorder: Pick<Recorder, 'record' | 'openWireLog'>,
  basePath: string,
) {
  return ({ kind, accountId, userId, instanceId, path, isOverdue }: RunSubject) => {
    const [atMs, startedMs] = [clock.now(), clock.steady()];
    const trace = createTrace(randomUUID());
    trace.instanceId = instanceId;
    if (!isOverdue) trace.work = 'background';
    let elementKey: string | undefined;
    const redactor = () => trace.redactor ?? NO_SECRETS;
    return {
      /** Attaches the instance. Call it before the provider is called. */
      attach: (instance: TraceableInstance): void => {
        trace.redactor = instance.redactor;
        elementKey = instance.connector.key;
        const wire = openWire(recorder, instance, { redactor: instance.redactor, nowMs: clock.now() });
        if (wire !== undefined) trace.wire = wire;
      },
      within: <Result>(work: () => Result): Result => withTrace({ trace, span: currentSpan() }, work),
      /** Returns the fault of a run, as users of the instance may read it, because no caller reads the response to a run. */
      faultOf: (error: unknown): RunFault => {
        if (!isAppError(error)) return { code: 'INTERNAL', message: UNEXPECTED[kind] };
        const { code, providerMessage } = error;
        const message = [reasonOf(error), ...(providerMessage === undefined ? [] : [providerMessage])].join(' ');
        return { code, message: withCallSecrets({ redactor: redactor(), trace }).redact(message) };
      },
      /** Ends the run. Call it once. */
      end: ({ isReported, events, rows, fault }: RunOutcome): void => {
        if (!isReported && fault === undefined) {
          trace.wire?.close();
          return;
        }
        recorder.record({
          kind,
          accountId,
          userId,
          instanceId,
          elementKey,
          atMs,
          durationMs: clock.steady() - startedMs,
          requestId: trace.requestId,
          method: kind.toUpperCase(),
          path: basePath + path,
          operation: undefined,
          status: fault === undefined ? 200 : statusOf(fault.code),
          code: fault?.code,
          reason: fault?.message,
          events,
          rows,
          cut: false,
          isOfConsole: false,
          address: undefined,
          pushdown: undefined,
          trace,
          redactor: redactor(),
        });
      },
    };
  };
}

/** Message of a run with an unexpected error, whose own message is only logged. */
const UNEXPECTED: Readonly<Record<RunSubject['kind'], string>> = {
  poll: 'The poll failed because of an error in this service.',
  bulk: 'The bulk job failed because of an error in this service.',
  schema: 'The check of the watched objects failed because of an error in this service.',
};

function statusOf(code: string): number {
  return isErrorCode(code) ? ERROR_STATUS[code] : ERROR_STATUS.INTERNAL;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_STATUS, code);
}

/** Opens the log of headers and bodies for an instance's calls; returns undefined if trace logging is off. */
export function openWire(
  { openWireLog }: Pick<Recorder, 'openWireLog'>,
  { connector, traceLoggingUntil }: TraceableInstance,
  { redactor, nowMs }: { readonly redactor: Redactor; readonly nowMs: number },
): WireLog | undefined {
  if (traceLoggingUntil === null || traceLoggingUntil.getTime() <= nowMs) return undefined;
  const secrets = connector.configuration.filter(({ secret }) => secret === true);
  return openWireLog({ redactor, names: new Set(secrets.map(({ key }) => key)) });
}
