import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { AppError } from '../errors.ts';
import type { EventSource, NewEvent, ReadySubscription } from './model.ts';

/** Maximum size of the body of an event. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

interface PayloadInput {
  /** Event id as receivers see it: `evt_…`. */
  readonly id: string;
  readonly event: NewEvent;
  readonly source: EventSource;
  readonly timestamp: Date;
}

/**
 * Builds the body of an event, which is stored, signed and sent (decision D7).
 * @throws AppError PAYLOAD_TOO_LARGE above 8 MB
 */
export function buildPayload(input: PayloadInput): Buffer {
  const { id, event, timestamp } = input;
  const text = JSON.stringify({ id, type: event.type, timestamp: timestamp.toISOString(), data: dataOf(input) });
  // PostgreSQL's text accepts well-formed Unicode only. JSON.stringify writes NUL and lone surrogates as escapes.
  const payload = Buffer.from(text);
  if (payload.length > MAX_PAYLOAD_BYTES) {
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      `The event ${event.type} of instance ${event.instanceId} has ${payload.length} bytes; the maximum is ${MAX_PAYLOAD_BYTES}.`,
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
    vendorObjectName: event.vendorObjectName,
    object: event.object,
    raw: event.raw,
  };
}

/** A stored body, see `buildPayload`. */
export interface StandardBody {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly objectName?: string;
    readonly objectId?: string;
    readonly elementKey: string;
    readonly hub: string;
    readonly accountId: number;
    readonly instance: { readonly id: number; readonly name: string; readonly tags: readonly string[] };
    readonly vendorObjectName?: string;
    readonly object?: unknown;
    readonly raw?: unknown;
    readonly unfiltered?: boolean;
  };
}

const EVENT_TYPES: Readonly<Record<string, string>> = { created: 'CREATED', updated: 'UPDATED', deleted: 'DELETED' };

/**
 * Converts a stored body to the form of the original API (decisions D16) when it is sent, so that stored, listed and repeated events do not
 * depend on the format. In the original, `raw` always had a value; where there is none, it is the record.
 */
export function toOriginalBody(
  body: Buffer,
  { companyId, unfiltered = false }: { readonly companyId: number; readonly unfiltered?: boolean },
): Buffer {
  // It was written by `buildPayload`.
  const { id, type, timestamp, data }: StandardBody = JSON.parse(body.toString());
  const { objectName = '', objectId, elementKey, hub, accountId, instance, vendorObjectName, object, raw } = data;
  const action = type.slice(type.lastIndexOf('.') + 1);
  const event = {
    date: timestamp,
    elementKey,
    pollDate: timestamp,
    eventType: EVENT_TYPES[action] ?? 'UNKNOWN',
    hubKey: hub,
    objectId,
    objectType: data.objectName,
  };
  // A mapped object stands under its own name, as receivers of the original expect records of polls.
  const mapped = { [objectName]: object === undefined ? [] : [object], objectType: objectName, pollDate: timestamp };
  const message = {
    elementKey,
    accountId,
    eventId: id,
    companyId,
    instanceId: instance.id,
    instance_id: instance.id,
    instanceName: instance.name,
    instanceTags: instance.tags,
    raw: vendorObjectName === undefined ? (raw ?? object ?? {}) : mapped,
    events: [event],
    ...(unfiltered && { unfiltered }),
  };
  const original = { id, severity: 'low', createdDate: timestamp, topic: 'event', action, user: 'system', message };
  return Buffer.from(JSON.stringify(original));
}

/** Returns the instance that a stored body reports as connected (`instance.connected`); undefined for other events. */
export function connectedInstanceOf(body: Buffer): number | undefined {
  const { type, data }: { readonly type: string; readonly data: { readonly instanceId?: number } } = JSON.parse(
    body.toString(),
  );
  return type === 'instance.connected' ? data.instanceId : undefined;
}

/** Adds the token to a body. Bodies are stored and listed without it, because it is a secret. */
export function withToken(body: Buffer, token: string | undefined): Buffer {
  const { data, ...event }: { readonly data: object } = JSON.parse(body.toString());
  return Buffer.from(JSON.stringify({ ...event, data: { ...data, token } }));
}

const SECRET_PREFIX = 'whsec_';

/** Returns the signing keys of a subscription, prepared once for all its deliveries. */
export function signingKeys({ secrets }: Pick<ReadySubscription, 'secrets'>): readonly KeyObject[] {
  return secrets.map((secret) => createSecretKey(withoutPrefix(secret), 'base64'));
}

/** Returns a secret without its prefix, in base64. */
export function withoutPrefix(secret: string): string {
  return secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
}

interface SignatureInput {
  /** Id of the message, the same for all retries. */
  readonly id: string;
  /** Time of the attempt, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly body: Buffer;
  readonly keys: readonly KeyObject[];
}

/**
 * Returns the headers of Standard Webhooks 1.0. They have one signature per secret, so that receivers can change theirs at any time during
 * a rotation.
 */
export function signatureHeaders({ id, nowMs, body, keys }: SignatureInput) {
  const timestamp = String(Math.floor(nowMs / 1000));
  const prefix = `${id}.${timestamp}.`;
  const sign = (key: KeyObject) => `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': keys.map(sign).join(' ') };
}

/** Returns the value of `Elements-Webhook-Signature`: a signature of the body alone with the instance's own key. */
export function instanceSignature(body: Buffer, key: string): string {
  return `sha256=${createHmac('sha256', key).update(body).digest('base64')}`;
}
