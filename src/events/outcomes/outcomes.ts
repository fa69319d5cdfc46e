import type { Logger } from '../../log.ts';
import type { Lease } from '../lease.ts';
import type { EngineOptions } from '../options.ts';
import type { AttemptRecord, ExhaustedRow, NextRow, OutcomeRow, WrittenOutcomes } from './outcome-store.ts';

/** What is to be stored of a lease that ends. */
export type Outcome = { readonly lease: Lease } & (
  | { readonly kind: 'delivered'; readonly attempt: AttemptRecord }
  | { readonly kind: 'failed'; readonly attempt: AttemptRecord; readonly next: NextRow }
  | { readonly kind: 'released'; readonly dueAt: Date }
  | { readonly kind: 'exhausted'; readonly attempt: AttemptRecord; readonly next: NextRow }
);

export interface OutcomePorts {
  readonly write: (rows: readonly OutcomeRow[]) => Promise<WrittenOutcomes>;
  /** With all that an exhausted schedule entails. False: the lease was lost. */
  readonly exhaust: (row: ExhaustedRow) => Promise<boolean>;
  /** Their leases have ended, stored or lost. */
  readonly onEnded: (outcomes: readonly Outcome[]) => void;
  readonly onWritten: (written: WrittenOutcomes & { readonly fencedOut: number }) => void;
  /** A push may be started again. */
  readonly onRoom: () => void;
  readonly log: Logger;
  readonly options: Pick<
    EngineOptions,
    'outcomeBatchRows' | 'outcomeDelayMs' | 'outcomesInFlight' | 'maxPendingOutcomes' | 'storeRetryMs'
  >;
}

/** Outcomes on their way to the database: many in one statement, kept and tried again while it is away. */
export interface Outcomes {
  readonly push: (outcome: Outcome) => void;
  readonly hasRoom: () => boolean;
  /** Resolves when all are stored; false when the time is over before. */
  readonly drain: (timeoutMs: number) => Promise<boolean>;
}

export function createOutcomes(ports: OutcomePorts): Outcomes {
  const { log, options } = ports;
  const waiting: Outcome[] = [];
  let pending = 0;
  let writes = 0;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let onEmpty: (() => void) | undefined;

  function push(outcome: Outcome): void {
    pending++;
    waiting.push(outcome);
    if (failures === 0 && waiting.length >= options.outcomeBatchRows) startWrite();
    else scheduleWrite(options.outcomeDelayMs);
  }

  function scheduleWrite(delayMs: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      startWrite();
    }, delayMs);
  }

  function startWrite(): void {
    // After a failure one at a time: the others would fail as well.
    const most = failures > 0 ? 1 : options.outcomesInFlight;
    if (waiting.length === 0 || writes >= most) return;
    const batch = waiting.splice(0, options.outcomeBatchRows);
    writes++;
    void writeBatch(batch).then((unwritten) => {
      writes--;
      settle(batch.length - unwritten.length, unwritten);
    });
  }

  function settle(ended: number, unwritten: readonly Outcome[]): void {
    const hadRoom = hasRoom();
    pending -= ended;
    failures = unwritten.length === 0 ? 0 : failures + 1;
    waiting.unshift(...unwritten);
    if (pending === 0) onEmpty?.();
    if (!hadRoom && hasRoom()) ports.onRoom();
    if (waiting.length > 0) scheduleWrite(failures === 0 ? 0 : retryDelay());
  }

  function retryDelay(): number {
    const { shortest, longest } = options.storeRetryMs;
    return Math.min(longest, shortest * 2 ** Math.min(failures - 1, 20));
  }

  function hasRoom(): boolean {
    return pending < options.maxPendingOutcomes;
  }

  /** @returns what is still to be written */
  async function writeBatch(batch: readonly Outcome[]): Promise<readonly Outcome[]> {
    const exhausted = batch.filter(isExhausted);
    const rows = batch.filter((outcome) => !isExhausted(outcome));
    return [...(await writeRows(rows)), ...(await exhaustAll(exhausted))];
  }

  async function writeRows(batch: readonly Outcome[]): Promise<readonly Outcome[]> {
    if (batch.length === 0) return [];
    try {
      const written = await ports.write(batch.flatMap(toRow));
      note(batch, written);
      return [];
    } catch (error) {
      if (!isRefusal(error)) {
        log.warn({ err: error, outcomes: batch.length }, 'could not store outcomes of deliveries; trying again');
        return batch;
      }
      return separateRefused(batch, error);
    }
  }

  /** One row that the database will not take must not keep the others. */
  async function separateRefused(batch: readonly Outcome[], error: unknown): Promise<readonly Outcome[]> {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      drop(only, error);
      return [];
    }
    const middle = batch.length >> 1;
    return [...(await writeRows(batch.slice(0, middle))), ...(await writeRows(batch.slice(middle)))];
  }

  async function exhaustAll(
    exhausted: readonly Extract<Outcome, { kind: 'exhausted' }>[],
  ): Promise<readonly Outcome[]> {
    const unwritten: Outcome[] = [];
    for (const outcome of exhausted) {
      const { lease, attempt, next } = outcome;
      try {
        const isOurs = await ports.exhaust({ fence: lease, attempt, next });
        note([outcome], { delivered: 0, waiting: 0, queued: isOurs ? 1 : 0 });
      } catch (error) {
        if (isRefusal(error)) drop(outcome, error);
        else {
          log.warn({ err: error, deliveryId: lease.id }, 'could not store the end of a delivery; trying again');
          unwritten.push(outcome);
        }
      }
    }
    return unwritten;
  }

  function note(batch: readonly Outcome[], written: WrittenOutcomes): void {
    ports.onEnded(batch);
    const fencedOut = batch.length - written.delivered - written.waiting - written.queued;
    ports.onWritten({ ...written, fencedOut });
  }

  /** Its lease is found by the comparison of database and memory, and made again. */
  function drop(outcome: Outcome, error: unknown): void {
    const { lease } = outcome;
    log.error(
      { err: error, deliveryId: lease.id, accountId: lease.accountId },
      'the outcome of a delivery was refused',
    );
    ports.onEnded([outcome]);
  }

  return {
    push,
    hasRoom,
    drain: async (timeoutMs) => {
      if (pending === 0) return true;
      const empty = Promise.withResolvers<boolean>();
      onEmpty = () => empty.resolve(true);
      const limit = setTimeout(() => empty.resolve(false), timeoutMs);
      startWrite();
      const done = await empty.promise;
      clearTimeout(limit);
      clearTimeout(timer);
      return done;
    },
  };
}

function isExhausted(outcome: Outcome): outcome is Extract<Outcome, { kind: 'exhausted' }> {
  return outcome.kind === 'exhausted';
}

function toRow(outcome: Outcome): OutcomeRow[] {
  const { lease: fence } = outcome;
  switch (outcome.kind) {
    case 'delivered':
      return [{ kind: 'delivered', fence, attempt: outcome.attempt }];
    case 'failed':
      return [{ kind: 'failed', fence, attempt: outcome.attempt, next: outcome.next }];
    case 'released':
      return [{ kind: 'released', fence, dueAt: outcome.dueAt }];
    case 'exhausted':
      return [];
  }
}

/** SQLSTATE classes by which PostgreSQL says that it will never take these data. Whatever else happens may pass. */
const REFUSALS: ReadonlySet<string> = new Set(['21', '22', '23', '42', '54']);

function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.length === 5 && REFUSALS.has(code.slice(0, 2));
}
