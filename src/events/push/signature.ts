import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { ReadySubscription } from '../model.ts';

const SECRET_PREFIX = 'whsec_';

/** The secrets of a subscription, made ready once for all its deliveries. */
export function signingKeys({ secrets }: Pick<ReadySubscription, 'secrets'>): readonly KeyObject[] {
  return secrets.map((secret) => createSecretKey(withoutPrefix(secret), 'base64'));
}

/** The key itself, in base64. */
export function withoutPrefix(secret: string): string {
  return secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
}

export interface SignatureInput {
  /** Stable over retries. */
  readonly id: string;
  /** Of the attempt. */
  readonly nowMs: number;
  readonly body: Buffer;
  readonly keys: readonly KeyObject[];
}

/** The headers of Standard Webhooks 1.0: one signature for each secret, so that receivers can change theirs at any time of a rotation. */
export function signatureHeaders({ id, nowMs, body, keys }: SignatureInput) {
  const timestamp = String(Math.floor(nowMs / 1000));
  const prefix = `${id}.${timestamp}.`;
  const sign = (key: KeyObject) => `v1,${createHmac('sha256', key).update(prefix).update(body).digest('base64')}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': keys.map(sign).join(' ') };
}

/** The value of `Elements-Webhook-Signature`: over the raw body alone, under the instance's own key. */
export function instanceSignature(body: Buffer, key: string): string {
  return `sha256=${createHmac('sha256', key).update(body).digest('base64')}`;
}
