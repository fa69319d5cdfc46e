import { randomBytes } from 'node:crypto';
import {
  type Call,
  createCollections,
  describedMembers,
  Fault,
  json,
  type MovableClock,
  type Routes,
  recordRoutes,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  type TableRow,
  typed,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { COLUMNS } from './columns.ts';

const EVENTS = ['employee.created', 'employee.updated', 'employee.deleted'];
const COMPANY_ID = '12345';
const MONITORED = COLUMNS.flatMap(({ dataset, label, field }) =>
  field === undefined ? [] : [{ dataset, id: String(field.id), name: label, alias: field.alias ?? null }],
);

/** A body that is not taken, in the form of these endpoints alone. */
export class WebhookFault extends Fault {
  readonly errors: unknown;

  constructor(status: number, errors: unknown) {
    super(status, 'REFUSED', 'The webhook is not taken.');
    this.errors = errors;
  }
}

interface WebhookOptions extends Partial<Pick<SimulatorOptions, 'memory' | 'send'>> {
  readonly clock: MovableClock;
}

/** The webhooks of the owner of the key, who keeps them over a restart. */
export function createWebhooks({ memory, send, clock }: WebhookOptions) {
  const writeTime = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  const { webhooks } = createCollections({
    clock,
    writeTime,
    refuse: (complaints) => {
      const issues = complaints.map(({ message }) => message);
      return new WebhookFault(400, [{ error: 'Invalid request body', issues }]);
    },
    absent: (_, id) => new WebhookFault(404, { error: `No webhook was found with ID: ${id}.` }),
    of: {
      webhooks: {
        members: describedMembers(official.webhook),
        rows: 0,
        makeId: (index) => String(index + 1),
        initial: { events: EVENTS },
        created: ['created'],
        memory,
        check: ({ url, format, events, monitorFields }) => [
          ...(isTaken(url) ? [] : [complaint('url', 'url must begin with https://')]),
          ...(format === 'json' ? [] : [complaint('format', 'form-encoded is not simulated')]),
          ...(textsOf(events).every((event) => EVENTS.includes(event))
            ? []
            : [complaint('events', `events are ${EVENTS}`)]),
          ...(textsOf(monitorFields).length > 0 ? [] : [complaint('monitorFields', 'monitorFields is required')]),
        ],
      },
    },
  });

  function fire(type: string, employeeId: string, changedFields?: readonly string[]): void {
    for (const { events, url, privateKey, monitorFields } of webhooks.table.rows()) {
      const monitored = textsOf(monitorFields).map(datasetOf);
      const changed = changedFields?.filter((field) => monitored.includes(field));
      if (!textsOf(events).includes(type) || changed?.length === 0) continue;
      const nowMs = clock.now();
      const timestamp = new Date(nowMs).toISOString().replace(/\.\d+Z$/, '+0000');
      const data = { companyId: COMPANY_ID, employeeId, ...(changed && { changedFields: changed.map(aliasOf) }) };
      const signature = {
        secret: String(privateKey),
        header: 'x-bamboohr-signature',
        timestamp: { header: 'x-bamboohr-timestamp', unit: 'seconds' },
        signed: ({ body, timestamp: at }: { readonly body: string; readonly timestamp: string }) => body + at,
      } as const;
      send?.({ url: String(url), ...signWebhook(signature, { type, timestamp, data }, { nowMs, url: String(url) }) });
    }
  }

  return {
    /** An employee that is made is also changed: BambooHR tells both. */
    tell: ({ key, before, after }: TableChange): void => {
      if (before === undefined) fire('employee.created', key);
      if (after === undefined) fire('employee.deleted', key);
      else
        fire(
          'employee.updated',
          key,
          Object.keys(after).filter((name) => after[name] !== (before?.[name] ?? null)),
        );
    },
    routes: {
      'GET /api/v1/webhooks/monitor_fields': () =>
        json({ fields: MONITORED.map(({ id, name, alias }) => ({ id, name, alias })) }),
      ...recordRoutes('/api/v1/webhooks', webhooks, {
        list: () => {
          const shown = webhooks.table
            .rows()
            .map(({ id, name, created, url }) => ({ id, name, created, lastSent: null, url }));
          return json({ webhooks: shown });
        },
        // The key is shown once.
        show: ({ privateKey, ...row }, _: Call, status) => {
          const secret = status === 201 && { privateKey };
          return json({ ...row, ...secret, lastSent: null, postFields: {}, includeCompanyDomain: false }, status);
        },
        can: ['get', 'create', 'remove'],
        removed: () => typed('text/plain', 'Web hook has been deleted.'),
        complete: (values) => {
          const unknownFields = textsOf(values.monitorFields).filter((field) => datasetOf(field) === undefined);
          if (unknownFields.length === 0) return { ...values, privateKey: randomBytes(16).toString('hex') };
          throw new WebhookFault(403, [{ error: 'Permission denied to the following fields', unknownFields }]);
        },
      }),
    } satisfies Routes,
  };
}

const complaint = (member: string, message: string) => ({ reason: 'other', member, message }) as const;

/** BambooHR takes https alone; who tries things on one machine has none. */
function isTaken(url: unknown): boolean {
  return typeof url === 'string' && /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/.test(url);
}

const textsOf = (value: TableRow[string]): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

function datasetOf(field: string): string | undefined {
  return MONITORED.find(({ id, alias }) => id === field || alias === field)?.dataset;
}

function aliasOf(dataset: string): string {
  const field = MONITORED.find((monitored) => monitored.dataset === dataset);
  return field?.alias ?? field?.id ?? dataset;
}
