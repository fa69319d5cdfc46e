import {
  type Collection,
  json,
  type MovableClock,
  type Routes,
  recordRoutes,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  typed,
} from '#connector/simulator';
import { COLUMNS } from './employees.ts';

interface NotificationContext extends Partial<Pick<SimulatorOptions, 'send'>> {
  readonly webhooks: Collection;
  readonly clock: MovableClock;
}

/** Sends the webhooks for a change of an employee. BambooHR reports a created employee also as changed. */
export function notify(
  { key: employeeId, before, after }: TableChange,
  { webhooks, clock, send }: NotificationContext,
): void {
  const types = [
    before === undefined && 'employee.created',
    after === undefined ? 'employee.deleted' : 'employee.updated',
  ];
  for (const { events, url, privateKey } of webhooks.table.rows()) {
    for (const type of types) {
      if (type === false || !Array.isArray(events) || !events.includes(type)) continue;
      const nowMs = clock.now();
      const timestamp = new Date(nowMs).toISOString().replace(/\.\d+Z$/, '+0000');
      const signature = {
        secret: String(privateKey),
        header: 'x-bamboohr-signature',
        timestamp: { header: 'x-bamboohr-timestamp', unit: 'seconds' },
        signed: ({ body, timestamp: at }: { readonly body: string; readonly timestamp: string }) => body + at,
      } as const;
      const data = { companyId: '12345', employeeId };
      send?.({ url: String(url), ...signWebhook(signature, { type, timestamp, data }, { nowMs, url: String(url) }) });
    }
  }
}

export function webhookRoutes(webhooks: Collection): Routes {
  const fields = COLUMNS.flatMap(({ label, field }) =>
    field === undefined ? [] : [{ id: String(field.id), name: label, alias: field.alias ?? null }],
  );
  return {
    'GET /api/v1/webhooks/monitor_fields': () => json({ fields }),
    ...recordRoutes('/api/v1/webhooks', webhooks, {
      list: () => json({ webhooks: webhooks.table.rows().map(({ id, name, url }) => ({ id, name, url })) }),
      // Only the response to the creation shows the key.
      show: ({ privateKey, ...row }, _, status) => json(status === 201 ? { ...row, privateKey } : row, status),
      can: ['get', 'create', 'remove'],
      removed: () => typed('text/plain', 'Web hook has been deleted.'),
    }),
  };
}
