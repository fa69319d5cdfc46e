import {
  createEnteredWebhooks,
  type MovableClock,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  type WebhookDelivery,
} from '#connector/simulator';

/** Creates a scrip for every ticket, with the code of the README. Several changes of one request are sent in separate calls. */
export function createScrip(send: SimulatorOptions['send'], clock: MovableClock) {
  const entered = createEnteredWebhooks(send);
  // The ids follow those of the simulated history.
  let transaction = 1_000_000;
  return {
    commands: entered.commands,
    notify: ({ key, before, after }: TableChange): void => {
      const isDeletion = after === undefined || (after.Status === 'deleted' && before?.Status !== 'deleted');
      const change = isDeletion
        ? { type: 'Status', field: 'Status', new: 'deleted' }
        : before === undefined
          ? { type: 'Create', field: null, new: null }
          : { type: 'Set', field: 'Priority', new: String(after.Priority) };
      const created = new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ');
      const body = { ticket: Number(key), transactions: [{ created, ...change, id: ++transaction }] };
      entered.report(({ secret }) => sign(body, secret, clock.now()));
    },
  };
}

export function sign(body: object, secret: string, nowMs: number): WebhookDelivery {
  return signWebhook(
    {
      secret,
      header: 'x-causeway-signature',
      timestamp: { header: 'x-causeway-timestamp', unit: 'seconds' },
      signed: ({ body, timestamp }) => `${timestamp}.${body}`,
    },
    body,
    { nowMs },
  );
}
