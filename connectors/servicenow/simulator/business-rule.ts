import {
  createEnteredWebhooks,
  type MovableClock,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  type WebhookDelivery,
} from '#connector/simulator';

/** Creates a business rule on every table except those of the platform, with the script of the README. */
export function createBusinessRule(send: SimulatorOptions['send'], clock: MovableClock) {
  const entered = createEnteredWebhooks(send);
  return {
    commands: entered.commands,
    notify: (table: string, { key, before, after }: TableChange): void => {
      if (table.startsWith('sys_') && !table.startsWith('sys_user')) return;
      const { sys_mod_count: count, sys_updated_on: changed } = after ?? before ?? {};
      const body = {
        table,
        sys_id: key,
        operation: before === undefined ? 'insert' : after === undefined ? 'delete' : 'update',
        sys_mod_count: String(count ?? null),
        sys_updated_on: String(changed ?? null),
      };
      entered.report(({ secret }) => sign(body, secret, clock.now()));
    },
  };
}

export function sign(body: object, secret: string, nowMs: number): WebhookDelivery {
  return signWebhook(
    {
      secret,
      header: 'x-causeway-signature',
      encoding: 'base64',
      timestamp: { header: 'x-causeway-timestamp', unit: 'seconds' },
      signed: ({ body, timestamp }) => `${timestamp}.${body}`,
    },
    body,
    { nowMs },
  );
}
