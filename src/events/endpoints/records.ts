import type { Clock } from '../../clock.ts';
import type { FindWebhookInstance } from '../../instances/event-sources.ts';
import type { Logger } from '../../log.ts';
import type { Resources } from '../../resources/index.ts';
import { RECORD_ACTIONS } from '../event-types.ts';
import type { EventSource, NewEvent } from '../model.ts';

export interface RecordReadingNeighbours {
  readonly findInstance: FindWebhookInstance;
  readonly getRecord: Resources['getRecord'];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Maximum number of records that are read for the filters over the events of one call, and how long all of them may take. */
const MOST_READS = 25;
const READS_MS = 8_000;

/**
 * Creates the reading of records for filters. The provider of a webhook waits meanwhile, so the number of records and the time are limited:
 * further events have none.
 */
export function createRecordReading(neighbours: RecordReadingNeighbours) {
  const { clock, log, getRecord } = neighbours;

  async function read({ accountId, objectName, objectId }: NewEvent, { instanceId }: EventSource, signal: AbortSignal) {
    if (objectName === undefined || objectId === undefined) return undefined;
    const instance = (await neighbours.findInstance(accountId, instanceId))?.instance;
    if (instance === undefined) return undefined;
    try {
      return (await getRecord({ instance, objectName, signal }, objectId)).record;
    } catch (error) {
      const { redactor } = instance;
      log.warn({ err: error, redactor, accountId, instanceId, objectName }, 'could not read the record for a filter');
      return undefined;
    }
  }

  /** Opens the reading for the events of one call. It returns the record of an event, or undefined. */
  return () => {
    let left = MOST_READS;
    let untilMs: number | undefined;
    return async (event: NewEvent, source: EventSource): Promise<unknown> => {
      untilMs ??= clock.steady() + READS_MS;
      const leftMs = untilMs - clock.steady();
      if (left === 0 || leftMs <= 0 || !isReadable(event)) return undefined;
      left--;
      const late = new AbortController();
      const endWait = clock.after(leftMs, () => late.abort(new Error('Reading the record took too long.')));
      try {
        return await read(event, source, late.signal);
      } finally {
        endWait();
      }
    };
  };
}

/** Deleted records cannot be read, and other events are about no record. */
function isReadable({ type }: NewEvent): boolean {
  const action = type.slice(type.lastIndexOf('.') + 1);
  return action !== 'deleted' && RECORD_ACTIONS.some((each) => each === action);
}
