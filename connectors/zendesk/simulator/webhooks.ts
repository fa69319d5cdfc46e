import { createHmac } from 'node:crypto';
import {
  createKeptTable,
  Fault,
  json,
  type Routes,
  type SimulatorMemory,
  type SimulatorOptions,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { type Kind, show } from './records.ts';

const PATH = '/api/v2/webhooks';
const AT = '2024-01-01T00:00:00Z';
const secretOf = (id: unknown) => `dGhpcyBzZWNyZXQ${id}`;

/** Creates the registered webhooks, and sends them events. Source: the Webhooks API; "Verifying and authenticating webhooks". */
export function createWebhooks(send: SimulatorOptions['send'], now: () => number, memory: SimulatorMemory) {
  const table = createKeptTable({
    memory,
    makeId: (index) => `01WEBHOOK${index + 1}`,
    initial: () => ({ created_at: AT, updated_at: AT }),
  });
  let made = 0;
  const find = (id = '') => {
    const row = table.find(id);
    if (row === undefined) throw new Fault(404, 'RecordNotFound', 'Not found');
    return row;
  };
  const routes: Routes = {
    [`GET ${PATH}`]: () => json({ webhooks: table.rows(), meta: { has_more: false } }),
    [`POST ${PATH}`]: ({ body }) => json({ webhook: table.insert(Object(body.object().webhook)) }, 201),
    [`DELETE ${PATH}/{id}`]: ({ params: { id } }) => {
      table.remove(String(find(id).id));
      return { status: 204 };
    },
    [`GET ${PATH}/{id}/signing_secret`]: ({ params: { id } }) =>
      json({ signing_secret: { algorithm: 'SHA256', secret: secretOf(find(id).id) } }),
  };

  function report(kind: Kind, { key, before = {}, after }: TableChange, isNew: boolean): void {
    const type = `zen:event-type:${kind.singular}.${verbOf(kind, before, after, isNew)}`;
    const time = new Date(now()).toISOString();
    for (const { id, endpoint, subscriptions } of table.rows()) {
      if (!Array.isArray(subscriptions) || !subscriptions.some((each) => matches(String(each), type))) continue;
      made++;
      const detail = { ...show(kind, after ?? before), id: key };
      const event = {
        account_id: 1,
        id: `e${made}`,
        type,
        subject: `zen:${kind.singular}:${key}`,
        time,
        detail,
        event: {},
      };
      const body = JSON.stringify(event);
      const signature = createHmac('sha256', secretOf(id)).update(`${time}${body}`).digest('base64');
      const signed = { 'x-zendesk-webhook-signature': signature, 'x-zendesk-webhook-signature-timestamp': time };
      send?.({ url: String(endpoint), headers: { 'content-type': 'application/json', ...signed }, body });
    }
  }

  return { routes, report };
}

/** Returns the end of an event's type. Source: "Event types for webhooks". */
function verbOf({ singular }: Kind, before: TableRow, after: TableRow | undefined, isNew: boolean): string {
  if (isNew) return 'created';
  if (after === undefined) return singular === 'ticket' ? 'soft_deleted' : 'deleted';
  const changed = Object.keys(after).find((name) => name !== 'updated_at' && after[name] !== before[name]);
  return `${changed ?? 'name'}_changed`;
}

/** A subscription names one type, or all of an object: `zen:event-type:ticket.*`. */
function matches(subscription: string, type: string): boolean {
  return subscription.endsWith('*') ? type.startsWith(subscription.slice(0, -1)) : subscription === type;
}
