import type { Clock } from '../../clock.ts';
import type { ProviderEvent } from '../../connector/contract.ts';
import type { Instance } from '../../instances/instance.ts';
import type { Logger } from '../../log.ts';
import type { Resources } from '../../resources/index.ts';

interface HydrationNeighbours {
  readonly getRecord: Resources['getRecord'];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Outcome of reading one record. */
type ReadOutcome = 'read' | 'failed' | 'left';

/**
 * Maximum number of records that are read per webhook. The provider waits for its response meanwhile, so the time is limited too. Further
 * events have no record.
 */
const MOST_READS = 25;
const READS_MS = 8_000;
const READS_AT_A_TIME = 4;

/**
 * Reads the records of events that have none, each once.
 * @param done aborts when the records are no longer needed
 * @returns the records by `recordKey`, without those that could not be read
 */
export async function readRecords(
  { getRecord, clock, log }: HydrationNeighbours,
  input: { readonly instance: Instance; readonly events: readonly ProviderEvent[]; readonly done: AbortSignal },
  note: (outcome: ReadOutcome, count: number) => void,
): Promise<ReadonlyMap<string, object>> {
  const { instance, events, done } = input;
  const wanted = new Map(events.filter(isToBeRead).map((event) => [recordKey(event), event]));
  const reads = [...wanted].slice(0, MOST_READS);
  note('left', wanted.size - reads.length);
  const records = new Map<string, object>();
  if (reads.length === 0) return records;
  const late = new AbortController();
  const endWait = clock.after(READS_MS, () => late.abort(new Error('Reading the records took too long.')));
  const signal = AbortSignal.any([done, late.signal]);

  async function readSome(): Promise<void> {
    for (let next = reads.shift(); next !== undefined; next = reads.shift()) {
      const [key, { objectName, objectId = '' }] = next;
      try {
        signal.throwIfAborted();
        const { record } = await getRecord({ instance, objectName, signal }, objectId);
        records.set(key, record);
        note('read', 1);
      } catch (error) {
        note('failed', 1);
        const { accountId, id: instanceId } = instance;
        log.warn(
          { err: error, redactor: instance.redactor, accountId, instanceId, objectName },
          'could not read the record of an event',
        );
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: READS_AT_A_TIME }, readSome));
    return records;
  } finally {
    endWait();
  }
}

/** Returns whether the record of an event must be read from the provider. Deleted records cannot be read. */
export function isToBeRead({ action, objectId, record }: ProviderEvent): boolean {
  return action !== 'deleted' && objectId !== undefined && record === undefined;
}

export function recordKey({ objectName, objectId }: ProviderEvent): string {
  return JSON.stringify([objectName, objectId]);
}
