import {
  createEnteredWebhooks,
  type MovableClock,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  type WebhookDelivery,
  writeSeconds,
} from '#connector/simulator';
import { present, type Resource } from './office.ts';

const REPORTED = ['issue', 'time_entry'];

/** Creates webhooks as Redmine 7 sends them. The simulator otherwise has the behaviour of an older version. */
export function createWebhooks(send: SimulatorOptions['send'], clock: MovableClock) {
  const entered = createEnteredWebhooks(send);
  return {
    commands: entered.commands,
    notify: (resource: Resource, { before, after }: TableChange): void => {
      const { one } = resource;
      const action = before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';
      const row = after ?? before ?? {};
      const timestamp = { created: row.created_on, updated: row.updated_on, deleted: writeSeconds(clock.now()) }[
        action
      ];
      const body = { type: `${one}.${action}`, timestamp, data: { [one]: present(resource, row) } };
      if (REPORTED.includes(one)) entered.report(({ secret }) => sign(body, secret));
    },
  };
}

/** Signs a call as Redmine does. Without a secret, a call has no signature. Source: `Webhook::Executor#call` of Redmine 7.0. */
export function sign(body: unknown, secret: string): WebhookDelivery {
  const signature = { secret, header: 'x-redmine-signature-256', prefix: 'sha256=' };
  const { headers, body: text } = signWebhook(signature, body, { nowMs: 0 });
  return { headers: secret === '' ? { 'content-type': 'application/json' } : headers, body: text };
}
