import { createHmac } from 'node:crypto';

/** How a provider signs what it sends. */
export interface WebhookSignature {
  readonly secret: string;
  readonly header: string;
  readonly algorithm?: 'sha1' | 'sha256' | 'sha512';
  readonly encoding?: 'hex' | 'base64';
  /** In front of the signature: `sha256=`. */
  readonly prefix?: string;
  /** The header that says when it was sent, and in which unit. */
  readonly timestamp?: { readonly header: string; readonly unit: 'seconds' | 'milliseconds' };
  /** What is signed. Default: the body. */
  readonly signed?: (delivery: { readonly body: string; readonly timestamp: string; readonly url: string }) => string;
}

/** A delivery, ready to be sent by `SimulatorOptions.send`: where bytes may go is not a simulator's to decide. */
export interface WebhookDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param place where it will be sent to, for providers that sign the address, and when */
export function signWebhook(
  { secret, header, algorithm = 'sha256', encoding = 'hex', prefix = '', timestamp, signed }: WebhookSignature,
  event: unknown,
  place: { readonly nowMs: number; readonly url?: string },
): WebhookDelivery {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const at = String(timestamp?.unit === 'seconds' ? Math.floor(place.nowMs / 1000) : place.nowMs);
  const text = signed?.({ body, timestamp: at, url: place.url ?? '' }) ?? body;
  const signature = prefix + createHmac(algorithm, secret).update(text).digest(encoding);
  const headers = { 'content-type': 'application/json', [header]: signature };
  return { headers: timestamp === undefined ? headers : { ...headers, [timestamp.header]: at }, body };
}
