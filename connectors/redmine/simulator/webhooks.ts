import {
  createEnteredWebhooks,
  type MovableClock,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  type TableRow,
  type WebhookDelivery,
} from '#connector/simulator';

/** Webhooks as Redmine 7 sends them; the rest of this Redmine is older. */
export function createWebhooks(
  send: SimulatorOptions['send'],
  clock: MovableClock,
  present: (row: TableRow) => TableRow,
) {
  const entered = createEnteredWebhooks(send);
  return {
    commands: entered.commands,
    tell: (kind: string, { before, after }: TableChange): void => {
      const action = before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated';
      const row = after ?? before ?? {};
      const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
      const timestamp = { created: row.created_on, updated: row.updated_on, deleted: now }[action];
      const body = { type: `${kind}.${action}`, timestamp, data: { [kind]: present(row) } };
      entered.tell(({ secret }) => sign(body, secret));
    },
  };
}

/** Without a secret a call is not signed. Source: `Webhook::Executor#call` of Redmine 7.0. */
export function sign(body: unknown, secret: string): WebhookDelivery {
  const signature = { secret, header: 'x-redmine-signature-256', prefix: 'sha256=' };
  const { headers, body: text } = signWebhook(signature, body, { nowMs: 0 });
  return { headers: secret === '' ? { 'content-type': 'application/json' } : headers, body: text };
}
