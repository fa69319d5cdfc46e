import { AppError } from '../../errors.ts';
import type { EventSource, NewEvent } from '../model.ts';

/** Of one event's body. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

export interface PayloadInput {
  /** As shown: `evt_…`. */
  readonly id: string;
  readonly event: NewEvent;
  readonly source: EventSource;
  readonly timestamp: Date;
}

/**
 * The body as it is stored, signed and sent (decision D7).
 * @throws AppError PAYLOAD_TOO_LARGE above 8 MB
 */
export function buildPayload(input: PayloadInput): Buffer {
  const { id, event, timestamp } = input;
  const text = JSON.stringify({ id, type: event.type, timestamp: timestamp.toISOString(), data: dataOf(input) });
  // PostgreSQL text takes well-formed Unicode only; JSON.stringify writes NUL and lone surrogates as escapes.
  const payload = Buffer.from(text);
  if (payload.length > MAX_PAYLOAD_BYTES) {
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The event ${event.type} of instance ${event.instanceId} has ${payload.length} bytes; at most ${MAX_PAYLOAD_BYTES} can be delivered.`,
    );
  }
  return payload;
}

function dataOf({ event, source }: PayloadInput) {
  const { instanceId, instanceName, tags, elementKey, hub, accountId } = source;
  return {
    objectName: event.objectName,
    objectId: event.objectId,
    elementKey,
    hub,
    accountId,
    instance: { id: instanceId, name: instanceName, tags },
    object: event.object,
    raw: event.raw,
  };
}
