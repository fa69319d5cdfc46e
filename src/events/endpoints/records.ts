import type { Clock } from '../../clock.ts';
import { isAppError } from '../../errors.ts';
import type { FindWebhookInstance } from '../../instances/event-sources.ts';
import type { Logger } from '../../log.ts';
import type { Resources } from '../../resources/index.ts';
import { RECORD_ACTIONS } from '../event-types.ts';
import type { EventSource, NewEvent } from '../model.ts';
import type { RecordReading } from './choose.ts';
import type { RecordTypes } from './event-where.ts';

export interface RecordReadingNeighbours {
  readonly findInstance: FindWebhookInstance;
  readonly getRecord: Resources['getRecord'];
  readonly getFields: Resources['getFields'];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Maximum number of records that are read for the filters over the events of one call, of objects, and how long all of it may take. */
const MOST_READS = 25;
const MOST_OBJECTS = 25;
const READS_MS = 8_000;

/**
 * Creates the reading of records for filters, and of the types of their fields. The provider of a webhook waits meanwhile, so the numbers and
 * the time are limited: further events have none.
 */
export function createRecordReading(neighbours: RecordReadingNeighbours) {
  const { clock, log, findInstance, getRecord, getFields } = neighbours;

  /** Opens the reading for the events of one call. */
  return (): RecordReading => {
    let left = MOST_READS;
    let untilMs: number | undefined;
    const typesOf = new Map<string, Promise<RecordTypes | 'unknown' | undefined>>();

    /** Does work that ends with the time of the call. @returns undefined where there is no time left */
    async function inTime<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result | undefined> {
      untilMs ??= clock.steady() + READS_MS;
      const leftMs = untilMs - clock.steady();
      if (leftMs <= 0) return undefined;
      const done = new AbortController();
      const endWait = clock.after(leftMs, () => done.abort(new Error('Reading for a filter took too long.')));
      try {
        return await work(done.signal);
      } finally {
        endWait();
        // The memory of responses is counted until then.
        done.abort();
      }
    }

    async function readRecord({ accountId, objectName, objectId }: NewEvent, { instanceId }: EventSource) {
      const instance = (await findInstance(accountId, instanceId))?.instance;
      if (instance === undefined || objectName === undefined || objectId === undefined) return undefined;
      try {
        return await inTime(async (signal) => (await getRecord({ instance, objectName, signal }, objectId)).record);
      } catch (error) {
        const { redactor } = instance;
        log.warn({ err: error, redactor, accountId, instanceId, objectName }, 'could not read the record for a filter');
        return undefined;
      }
    }

    async function readTypes({ accountId, objectName, vendorObjectName }: NewEvent, { instanceId }: EventSource) {
      const instance = (await findInstance(accountId, instanceId))?.instance;
      if (instance === undefined || objectName === undefined) return undefined;
      try {
        const isMapped = vendorObjectName !== undefined;
        return (await inTime((signal) => getFields({ instance, objectName, signal }, isMapped))) ?? 'unknown';
      } catch (error) {
        if (isAppError(error, 'NOT_FOUND')) return undefined;
        const { redactor } = instance;
        log.warn({ err: error, redactor, accountId, instanceId, objectName }, 'could not read fields for a filter');
        return 'unknown';
      }
    }

    return {
      record: async (event, source) => {
        if (left === 0 || !isReadable(event)) return undefined;
        left--;
        return readRecord(event, source);
      },

      types: (event, source) => {
        const { objectName, vendorObjectName } = event;
        const key = JSON.stringify([source.instanceId, objectName, vendorObjectName]);
        const known = typesOf.get(key);
        if (known !== undefined) return known;
        if (typesOf.size === MOST_OBJECTS) return Promise.resolve('unknown');
        const found = readTypes(event, source);
        typesOf.set(key, found);
        return found;
      },
    };
  };
}

/** Deleted records cannot be read, and other events are about no record. */
function isReadable({ type }: NewEvent): boolean {
  const action = type.slice(type.lastIndexOf('.') + 1);
  return action !== 'deleted' && RECORD_ACTIONS.some((each) => each === action);
}
