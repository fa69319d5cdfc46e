import { Webhook } from 'standardwebhooks';
import { SignatureError } from './errors.js';
import type { ObjectRecord } from './object-record.js';

/** An event as a receiver gets it. */
export interface CausewayEvent<Row extends object = ObjectRecord> {
  /** Id of the event. It is the same for every attempt and every redelivery. Ignore an event whose id you have seen. */
  readonly id: string;
  /** Type of the event: `<objectName>.created`, `.updated`, `.deleted` or `.unknown`. Operational events have types of their own. */
  readonly type: string;
  readonly timestamp: string;
  readonly data: EventData<Row>;
}

export interface EventData<Row extends object> {
  readonly objectName?: string;
  readonly objectId?: string;
  readonly elementKey?: string;
  readonly hub?: string;
  readonly accountId?: number;
  readonly instance?: { readonly id: number; readonly name: string; readonly tags: readonly string[] };
  /** The record in the form of the API. */
  readonly object?: Row;
  /** The data that the provider sent. */
  readonly raw?: unknown;
  readonly [member: string]: unknown;
}

/** Headers as a `Headers` object, or as Node.js returns them. */
export type EventHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a request and returns its event. One of the secrets must have signed it at most five minutes ago. The secrets are those of the
 * subscription (`notifications.getSubscription`); pass both during a rotation.
 *
 * @param body the bytes as received, or their text; not a value that was parsed and printed again
 * @throws SignatureError when none of the secrets signed it, or the signature is too old
 */
export function verifyEvent<Row extends object = ObjectRecord>(
  body: string | Uint8Array,
  headers: EventHeaders,
  secrets: string | readonly string[],
): CausewayEvent<Row> {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headerOf(headers, name)]),
  );
  const reasons: unknown[] = [];
  for (const secret of listOf(secrets)) {
    try {
      return new Webhook(secret).verify(text, signed) as CausewayEvent<Row>;
    } catch (error) {
      reasons.push(error);
    }
  }
  throw new SignatureError('The event is not signed by any of the secrets, or was signed at another time.', {
    cause: reasons.at(-1),
  });
}

/**
 * Verifies a request in the format of Cloud Elements (`event.notification.format: elements`) and returns its body. One of the keys
 * (`event.notification.signature.key`) must have signed it. These signatures have no time, so ignore an event whose
 * `Elements-Webhook-Id` you have seen.
 *
 * @throws SignatureError when none of the keys signed it
 */
export async function verifyElementsEvent(
  body: string | Uint8Array,
  headers: EventHeaders,
  keys: string | readonly string[],
): Promise<ObjectRecord> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signature = base64Bytes(headerOf(headers, 'elements-webhook-signature').replace(/^sha256=/, ''));
  for (const key of listOf(keys)) {
    const imported = await importKey(key);
    if (await crypto.subtle.verify('HMAC', imported, signature, bytes))
      return JSON.parse(new TextDecoder().decode(bytes));
  }
  throw new SignatureError('The event is not signed by any of the keys.');
}

function importKey(key: string): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new TextEncoder().encode(key), algorithm, false, ['verify']);
}

/** Decodes base64. An invalid text results in no bytes, which match no signature. */
function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 === 1) return new Uint8Array();
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function headerOf(headers: EventHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const [, value = ''] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : (value[0] ?? '');
}

function listOf(values: string | readonly string[]): readonly string[] {
  return typeof values === 'string' ? [values] : values;
}
