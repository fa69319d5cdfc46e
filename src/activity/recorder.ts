import type { Clock, EndWait } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { combineRedactors, redactBeginning } from '../redaction.ts';
import { inBackground, SCRIPT_LIMITS, type TracedCall, type TracedScripts } from '../trace.ts';
import type { ActivityRow, WireRow } from './activity-store.ts';
import { type ActivityCall, type ActivityEntry, type ActivityScripts, withCallSecrets } from './entry.ts';
import { type CountedMetric, createTallies, type Tallies } from './tallies.ts';
import { createWireLog, createWireRoom, type WireSecrets } from './wire-log.ts';

/** Rows that are written in one transaction. */
export interface ActivityBatch {
  readonly rows: readonly ActivityRow[];
  readonly wires: readonly WireRow[];
  readonly tallies: Tallies;
}

/**
 * Writes a batch.
 * @param isRetry whether an earlier call may have written the batch; a batch that was written is skipped
 */
export type WriteActivity = (batch: ActivityBatch, isRetry: boolean) => Promise<void>;

/** Limits of the recorder. Tests and measurements change them. */
const DEFAULT_RECORDER_OPTIONS = {
  /** Maximum number of waiting requests. */
  mostRows: 20_000,
  mostBytes: 16 * 1024 * 1024,
  /** Maximum size of waiting headers and bodies of trace logging, in bytes. */
  mostWireBytes: 32 * 1024 * 1024,
  /** Maximum number of different counts that wait to be written. */
  mostTallies: 10_000,
  batchRows: 250,
  flushMs: 1_000,
  retryMs: { shortest: 1_000, longest: 15_000 },
};

export type RecorderOptions = Readonly<typeof DEFAULT_RECORDER_OPTIONS>;

export type Recorder = ReturnType<typeof createRecorder>;

interface RecorderPorts {
  readonly write: WriteActivity;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'counter' | 'gauge'>;
  readonly options?: Partial<RecorderOptions> | undefined;
}

const WARN_EACH_MS = 60_000;

/**
 * Creates the recorder, which writes activity after the responses: one batch at a time, each second or when there is enough for one. While
 * the database is down or slow, entries are kept as long as there is room. Beyond that they are dropped and counted, and no request waits
 * or fails.
 */
export function createRecorder({ write, clock, log, metrics, options: given }: RecorderPorts) {
  const options: RecorderOptions = { ...DEFAULT_RECORDER_OPTIONS, ...given };
  const wireRoom = createWireRoom(options.mostWireBytes);
  let waiting: ActivityEntry[] = [];
  let waitingBytes = 0;
  /** Counts of events, instances and jobs, which are no requests. */
  let counts = createTallies();
  /** The batch that is being written or retried. */
  let batch: (ActivityBatch & { readonly records: readonly ActivityEntry[]; readonly bytes: number }) | undefined;
  let failures = 0;
  let writing: Promise<void> | undefined;
  let endWait: EndWait | undefined;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let unwarned = 0;

  const dropped = metrics.counter({
    name: 'causeway_activity_dropped_total',
    help: 'Requests without an entry in activity and usage, because the memory for entries was full.',
  });
  metrics.gauge({
    name: 'causeway_activity_waiting',
    help: 'Requests whose activity is in memory and not yet in the database.',
    collect: (gauge) => gauge.set(heldRows()),
  });

  const heldRows = () => waiting.length + (batch?.records.length ?? 0);

  function schedule(ms: number): void {
    if (writing !== undefined || endWait !== undefined) return;
    endWait = clock.after(ms, () => {
      endWait = undefined;
      startWrite();
    });
  }

  /** A full batch does not wait, unless the last one failed. */
  function hurry(): void {
    if (failures > 0 || writing !== undefined) return;
    endWait?.();
    endWait = undefined;
    startWrite();
  }

  function startWrite(): void {
    const one = batch ?? takeBatch();
    if (one === undefined) return;
    batch = one;
    // It is the work of all whose requests are in it, and not of the one that happened to begin it.
    writing = inBackground(() => writeBatch(one)).then(() => {
      writing = undefined;
      scheduleNext();
    });
  }

  function scheduleNext(): void {
    if (batch !== undefined) schedule(retryDelay());
    else if (waiting.length >= options.batchRows) startWrite();
    else if (waiting.length > 0 || counts.size() > 0) schedule(options.flushMs);
  }

  function retryDelay(): number {
    const { shortest, longest } = options.retryMs;
    return Math.min(longest, shortest * 2 ** Math.min(failures - 1, 20));
  }

  function takeBatch(): typeof batch {
    if (waiting.length === 0 && counts.size() === 0) return undefined;
    const records = waiting.slice(0, options.batchRows);
    waiting = waiting.slice(records.length);
    const bytes = records.reduce((sum, record) => sum + sizeOf(record), 0);
    waitingBytes -= bytes;
    const rows = records.map(toRow);
    const tallies = counts;
    counts = createTallies();
    for (const row of rows) {
      if (row.kind !== null) continue;
      tallies.addCall({ ...row, elementKey: row.elementKey ?? undefined, atMs: row.at.getTime() });
    }
    return { records, bytes, rows, wires: records.flatMap(toWireRow), tallies };
  }

  async function writeBatch(one: NonNullable<typeof batch>): Promise<void> {
    try {
      await write(one, failures > 0);
    } catch (error) {
      failures++;
      if (!isRefused(error)) {
        if (failures === 1) log.warn({ err: error }, 'could not write activity; trying again');
        return;
      }
      log.error({ err: error, requests: one.records.length }, 'the database rejected a batch of activity; dropped it');
      dropped.inc(one.records.length);
    }
    failures = 0;
    batch = undefined;
    for (const { trace } of one.records) trace.wire?.close();
  }

  function drop(record: ActivityEntry): void {
    record.trace.wire?.close();
    noteDropped(1);
  }

  function noteDropped(count: number): void {
    dropped.inc(count);
    unwarned += count;
    if (clock.steady() - warnedAtMs < WARN_EACH_MS) return;
    log.warn({ requests: unwarned }, 'dropped activity of requests because memory for it is full');
    warnedAtMs = clock.steady();
    unwarned = 0;
  }

  async function drain(): Promise<void> {
    while (batch !== undefined || waiting.length > 0 || counts.size() > 0) {
      if (writing === undefined) startWrite();
      await writing;
      // A retry would make the stop wait too long.
      if (failures > 0) return;
    }
  }

  return {
    /** Records a request that has ended. It takes microseconds and never fails. */
    record: (record: ActivityEntry) => {
      const bytes = sizeOf(record);
      const heldBytes = waitingBytes + (batch?.bytes ?? 0);
      if (heldRows() >= options.mostRows || heldBytes + bytes > options.mostBytes) return drop(record);
      waiting.push(record);
      waitingBytes += bytes;
      if (waiting.length >= options.batchRows) hurry();
      else schedule(options.flushMs);
    },
    /** Counts an event, an instance or a job. */
    count: (metric: Exclude<CountedMetric, 'call'>, accountId: number, elementKey: string) => {
      if (counts.size() >= options.mostTallies) return noteDropped(1);
      counts.add({ metric, accountId, elementKey, atMs: clock.now(), count: 1 });
      schedule(options.flushMs);
    },
    /** Opens the log that keeps headers and bodies of a request until the request is recorded. */
    openWireLog: (secrets: WireSecrets) => createWireLog(wireRoom, secrets),
    /** Writes the waiting entries within the given time. The rest is dropped. */
    stop: async (timeoutMs: number) => {
      endWait?.();
      const timeout = Promise.withResolvers<void>();
      const endTimeout = clock.after(timeoutMs, timeout.resolve);
      await Promise.race([drain(), timeout.promise]);
      endTimeout();
      endWait?.();
      const lost = heldRows();
      if (lost > 0) log.warn({ requests: lost }, 'could not write the activity of all requests before the stop');
    },
  };
}

/** Estimated size of a row with everything that belongs to it, rather too high than too low. */
const ROW_BYTES = 600;
const CALL_BYTES = 300;
const TEXT_BYTES = 30;

function sizeOf({ path, reason = '', trace }: ActivityEntry): number {
  const { calls, scripts } = trace;
  const ofScripts = scripts === undefined ? 0 : scriptBytes(scripts);
  return ROW_BYTES + path.length + reason.length + calls.length * CALL_BYTES + ofScripts;
}

function scriptBytes(scripts: TracedScripts): number {
  const texts = [...scripts.console, ...scripts.reasons.flatMap(({ reason, recordIds }) => [reason, ...recordIds])];
  return texts.reduce((sum, text) => sum + TEXT_BYTES + 2 * text.length, 0);
}

/** Returns whether PostgreSQL rejected the data (classes 22 and 23 of its error codes). It would reject them again. */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));
}

/** Late, so that calls which a caller broke off are there as well. */
function toRow(record: ActivityEntry): ActivityRow {
  const { trace, accountId, userId, requestId, method, path, status, cut } = record;
  return {
    kind: record.kind ?? null,
    events: record.events ?? null,
    accountId,
    at: new Date(record.atMs),
    requestId,
    userId,
    instanceId: record.instanceId ?? null,
    durationUs: Math.round(record.durationMs * 1000),
    rows: record.rows ?? null,
    callCount: trace.callCount,
    isConsoleRead: isConsoleRead(record),
    status,
    cut,
    method,
    path,
    operation: record.operation ?? null,
    elementKey: record.elementKey ?? null,
    code: record.code ?? null,
    reason: record.reason === undefined ? null : showReason(record, record.reason),
    pushdown: record.pushdown ?? null,
    address: record.address ?? null,
    calls: trace.calls.map((call) => toCall(record, call)),
    scripts: toScripts(record),
    keyId: record.key?.id ?? null,
    keyName: record.key?.name ?? null,
  };
}

function toScripts(record: ActivityEntry): ActivityScripts | null {
  const { scripts } = record.trace;
  if (scripts === undefined) return null;
  const { console, lineCount, failures, reasons } = scripts;
  const { lineCharacters, reasonCharacters, idCharacters } = SCRIPT_LIMITS;
  const redactor = withCallSecrets(record);
  const show = (most: number) => (text: string) => redactBeginning(redactor, text, most);
  return {
    console: console.map(show(lineCharacters)),
    lineCount,
    failures,
    reasons: reasons.map(({ reason, count, recordIds }) => ({
      reason: show(reasonCharacters)(reason),
      count,
      recordIds: recordIds.map(show(idCharacters)),
    })),
  };
}

/** Maximum length of a reason, as messages of the API can be long. */
const MOST_REASON_CHARACTERS = 1_000;

function showReason(record: ActivityEntry, reason: string): string {
  const text = withCallSecrets(record).redact(reason).replaceAll('\0', '');
  return text.slice(0, MOST_REASON_CHARACTERS).toWellFormed();
}

/**
 * Returns whether the console read data for display, or aborted such a read. A request that was rejected or reached a provider counts in
 * any case.
 */
function isConsoleRead({ isOfConsole, method, status, cut, trace }: ActivityEntry): boolean {
  return isOfConsole && method === 'GET' && (status < 400 || cut) && trace.callCount === 0;
}

function toCall(record: ActivityEntry, call: TracedCall): ActivityCall {
  const { method, url, outcome, durationMs, resends = 0 } = call;
  const { redact } = combineRedactors([record.redactor, call.redactor]);
  return {
    method,
    host: redact(url.host),
    path: redact(url.pathname),
    outcome,
    durationUs: Math.round(durationMs * 1000),
    retries: resends,
  };
}

function toWireRow({ accountId, atMs, requestId, trace }: ActivityEntry): readonly WireRow[] {
  if (trace.wire === undefined || trace.calls.length === 0) return [];
  const messages = trace.calls.map(({ wire }) => wire?.content ?? null);
  return [{ accountId, at: new Date(atMs), requestId, messages }];
}
