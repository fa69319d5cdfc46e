import { randomBytes } from 'node:crypto';
import {
  type Answer,
  type Call,
  json,
  type Routes,
  type SimulatorOptions,
  SYSTEM_CLOCK,
  signWebhook,
  type TableChange,
  typed,
} from '#connector/simulator';
import { COLUMNS } from './columns.ts';

interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly privateKey: string;
  readonly created: string;
  readonly monitorFields: readonly string[];
  readonly events: readonly string[];
}

interface Saved {
  readonly lastId: number;
  readonly webhooks: readonly (readonly [id: string, webhook: Webhook])[];
}

const EVENTS = ['employee.created', 'employee.updated', 'employee.deleted'];
const COMPANY_ID = '12345';
const MONITORED = COLUMNS.flatMap(({ dataset, label, field }) =>
  field === undefined ? [] : [{ dataset, id: String(field.id), name: label, alias: field.alias ?? null }],
);

/** The webhooks of the owner of the key, who keeps them over a restart. */
export function createWebhooks({ memory, send }: Partial<SimulatorOptions>) {
  const saved: Partial<Saved> = Object(memory?.load());
  const webhooks = new Map<string, Webhook>(saved.webhooks);
  let { lastId = 0 } = saved;
  const save = () => memory?.save({ lastId, webhooks: [...webhooks] } satisfies Saved);

  function create({ body }: Call): Answer {
    const { name, url, format, events = EVENTS, monitorFields = [] } = body.object();
    const issues = [
      ...(typeof name === 'string' && name !== '' ? [] : ['name is required']),
      ...(isTaken(url) ? [] : ['url must begin with https://']),
      ...(format === 'json' ? [] : ['format must be json or form-encoded; form-encoded is not simulated']),
      ...(isTexts(events) && events.every((event) => EVENTS.includes(event))
        ? []
        : [`events are ${EVENTS.join(', ')}`]),
      ...(isTexts(monitorFields) && monitorFields.length > 0 ? [] : ['monitorFields is required']),
    ];
    if (issues.length > 0) return json({ errors: [{ error: 'Invalid request body', issues }] }, 400);
    const fields = isTexts(monitorFields) ? monitorFields : [];
    const unknownFields = fields.filter((field) => datasetOf(field) === undefined);
    if (unknownFields.length > 0) {
      return json({ errors: [{ error: 'Permission denied to the following fields', unknownFields }] }, 403);
    }
    const id = String(++lastId);
    const webhook: Webhook = {
      id,
      name: String(name),
      url: String(url),
      privateKey: randomBytes(16).toString('hex'),
      created: new Date(SYSTEM_CLOCK.now()).toISOString().slice(0, 19).replace('T', ' '),
      monitorFields: fields,
      events: isTexts(events) ? events : EVENTS,
    };
    webhooks.set(id, webhook);
    save();
    return json({ ...webhook, lastSent: null, format, postFields: {}, includeCompanyDomain: false }, 201);
  }

  function find({ id = '' }: Call['params']): Webhook | Answer {
    return webhooks.get(id) ?? json({ errors: { error: `No webhook was found with ID: ${id}.` } }, 404);
  }

  function remove({ params }: Call): Answer {
    const found = find(params);
    if (!('privateKey' in found)) return found;
    webhooks.delete(found.id);
    save();
    return typed('text/plain', 'Web hook has been deleted.');
  }

  function get({ params }: Call): Answer {
    const found = find(params);
    if (!('privateKey' in found)) return found;
    const { privateKey: _, ...shown } = found;
    return json({ ...shown, lastSent: null, format: 'json', postFields: {}, includeCompanyDomain: false });
  }

  function fire(type: string, employeeId: string, changedFields?: readonly string[]): void {
    for (const { events, url, privateKey, monitorFields } of webhooks.values()) {
      const changed = changedFields?.filter((field) =>
        monitorFields.some((monitored) => datasetOf(monitored) === field),
      );
      if (!events.includes(type) || changed?.length === 0) continue;
      const nowMs = SYSTEM_CLOCK.now();
      const timestamp = new Date(nowMs).toISOString().replace(/\.\d+Z$/, '+0000');
      const data = { companyId: COMPANY_ID, employeeId, ...(changed && { changedFields: changed.map(aliasOf) }) };
      const signature = {
        secret: privateKey,
        header: 'x-bamboohr-signature',
        timestamp: { header: 'x-bamboohr-timestamp', unit: 'seconds' },
        signed: ({ body, timestamp: at }: { readonly body: string; readonly timestamp: string }) => body + at,
      } as const;
      send?.({ url, ...signWebhook(signature, { type, timestamp, data }, { nowMs, url }) });
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
      'GET /api/v1/webhooks': () =>
        json({
          webhooks: [...webhooks.values()].map(({ id, name, created, url }) => ({
            id,
            name,
            created,
            lastSent: null,
            url,
          })),
        }),
      'POST /api/v1/webhooks': create,
      'GET /api/v1/webhooks/monitor_fields': () =>
        json({ fields: MONITORED.map(({ id, name, alias }) => ({ id, name, alias })) }),
      'GET /api/v1/webhooks/{id}': get,
      'DELETE /api/v1/webhooks/{id}': remove,
    } satisfies Routes,
  };
}

/** BambooHR takes https alone; who tries things on one machine has none. */
function isTaken(url: unknown): boolean {
  return typeof url === 'string' && /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/.test(url);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function datasetOf(field: string): string | undefined {
  return MONITORED.find(({ id, alias }) => id === field || alias === field)?.dataset;
}

function aliasOf(dataset: string): string {
  const field = MONITORED.find((monitored) => monitored.dataset === dataset);
  return field?.alias ?? field?.id ?? dataset;
}
