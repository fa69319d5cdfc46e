import { randomUUID } from 'node:crypto';
import {
  createEnteredWebhooks,
  type MovableClock,
  type SimulatorOptions,
  type TableChange,
  type WebhookDelivery,
} from '#connector/simulator';
import type { EntitySet } from './schema.ts';

/** Creates a broker beside the service. It sends a CloudEvent for every change, in structured mode. */
export function createBroker(send: SimulatorOptions['send'], clock: MovableClock) {
  const entered = createEnteredWebhooks(send);
  return {
    commands: entered.commands,
    notify: ({ name: set, key }: EntitySet, { before, after }: TableChange): void => {
      const verb = before === undefined ? 'Created' : after === undefined ? 'Deleted' : 'Changed';
      const row = after ?? before ?? {};
      const event = {
        specversion: '1.0',
        id: randomUUID(),
        source: '/default/demo.shop/1',
        type: `demo.shop.v1.${set}.${verb}.v1`,
        time: new Date(clock.now()).toISOString(),
        datacontenttype: 'application/json',
        data: Object.fromEntries(key.map((name) => [name, row[name]])),
      };
      entered.report(({ secret }) => deliver(event, secret));
    },
  };
}

/** Returns a webhook with basic authentication, as SAP Event Mesh sends it, or with a bearer token. */
export function deliver(event: unknown, secret: string, scheme: 'Basic' | 'Bearer' = 'Basic'): WebhookDelivery {
  const credentials = scheme === 'Basic' ? Buffer.from(`broker:${secret}`).toString('base64') : secret;
  return {
    headers: { 'content-type': 'application/cloudevents+json', authorization: `${scheme} ${credentials}` },
    body: JSON.stringify(event),
  };
}
