import { createHmac } from 'node:crypto';
import type { SimulatorOptions } from '../contract.ts';
import { fault } from './fault.ts';
import { empty } from './response.ts';
import type { Routes } from './route.ts';

/** A description of a provider's webhook signature. */
export interface WebhookSignature {
  readonly secret: string;
  readonly header: string;
  readonly algorithm?: 'sha1' | 'sha256' | 'sha512';
  readonly encoding?: 'hex' | 'base64';
  /** The text before the signature, e.g. `sha256=`. */
  readonly prefix?: string;
  /** The header with the time of sending, and its unit. */
  readonly timestamp?: { readonly header: string; readonly unit: 'seconds' | 'milliseconds' };
  /** Returns the signed text. Default: the body. */
  readonly signed?: (delivery: { readonly body: string; readonly timestamp: string; readonly url: string }) => string;
}

/** A webhook to be sent by `SimulatorOptions.send`. The simulator does not decide which addresses it may reach. */
export interface WebhookDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Returns a signed webhook.
 * @param context the time, and the address for providers that sign it
 */
export function signWebhook(
  { secret, header, algorithm = 'sha256', encoding = 'hex', prefix = '', timestamp, signed }: WebhookSignature,
  event: unknown,
  context: { readonly nowMs: number; readonly url?: string },
): WebhookDelivery {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const at = String(timestamp?.unit === 'seconds' ? Math.floor(context.nowMs / 1000) : context.nowMs);
  const text = signed?.({ body, timestamp: at, url: context.url ?? '' }) ?? body;
  const signature = prefix + createHmac(algorithm, secret).update(text).digest(encoding);
  const headers = { 'content-type': 'application/json', [header]: signature };
  return { headers: timestamp === undefined ? headers : { ...headers, [timestamp.header]: at }, body };
}

/** An address that a person entered at a provider whose API cannot register it. */
export interface EnteredWebhook {
  readonly url: string;
  /** The secret. Empty where none was entered. */
  readonly secret: string;
}

const MOST_ENTERED = 100;

/**
 * Creates the settings of a provider where people enter addresses: `POST /simulate/webhooks` with `{"url": "…", "secret": "…"}` adds one,
 * and `DELETE /simulate/webhooks` removes all. A restart removes them too.
 */
export function createEnteredWebhooks(send: SimulatorOptions['send']) {
  const entered = new Map<string, EnteredWebhook>();
  return {
    /** Sends what `deliver` returns for each address. */
    report: (deliver: (webhook: EnteredWebhook) => WebhookDelivery): void => {
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
