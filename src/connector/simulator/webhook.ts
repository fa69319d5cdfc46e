import { createHmac } from 'node:crypto';
import type { SimulatorOptions } from '../contract.ts';
import { empty } from './answer.ts';
import { fault } from './fault.ts';
import type { Routes } from './route.ts';

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

/** An address that somebody entered at a provider that cannot be told one by its API. */
export interface EnteredWebhook {
  readonly url: string;
  /** Empty where none was given. */
  readonly secret: string;
}

const MOST_ENTERED = 100;

/**
 * The settings of a provider where people enter addresses: `POST /simulate/webhooks` with `{"url": "…", "secret": "…"}` enters one, and
 * `DELETE /simulate/webhooks` removes all. A restart forgets them.
 */
export function createEnteredWebhooks(send: SimulatorOptions['send']) {
  const entered = new Map<string, EnteredWebhook>();
  return {
    /** Sends what `deliver` makes for each address. */
    tell: (deliver: (webhook: EnteredWebhook) => WebhookDelivery): void => {
      for (const webhook of entered.values()) send?.({ url: webhook.url, ...deliver(webhook) });
    },
    commands: {
      'POST /simulate/webhooks': ({ body }) => {
        const { url, secret = '' } = body.object();
        const isUrl = typeof url === 'string' && URL.canParse(url);
        if (!isUrl || typeof secret !== 'string' || entered.size >= MOST_ENTERED) {
          throw fault(400, `An address is entered as {"url": "…", "secret": "…"}; there are at most ${MOST_ENTERED}.`);
        }
        entered.set(url, { url, secret });
        return empty();
      },
      'DELETE /simulate/webhooks': () => {
        entered.clear();
        return empty();
      },
    } satisfies Routes,
  };
}
