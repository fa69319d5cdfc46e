import { randomUUID } from 'node:crypto';
import {
  createKeptTable,
  Fault,
  json,
  type MovableClock,
  type Routes,
  type SimulatorMemory,
  type SimulatorOptions,
  type TableChange,
  type TableRow,
  writeSeconds,
} from '#connector/simulator';

export const COMPANY_ID = 4711;
const USER_ID = 1;

/** Creates the webhooks that the API registers. Source: "Guide for Webhooks v2". */
export function createWebhooks(clock: MovableClock, send: SimulatorOptions['send'], memory: SimulatorMemory) {
  const hooks = createKeptTable({ memory, makeId: (index) => 900 + index });

  function report(entity: string, { key, before, after }: TableChange, show: (row: TableRow) => unknown): void {
    const action = before === undefined ? 'create' : after === undefined ? 'delete' : 'change';
    for (const { event_action, event_object, subscription_url, http_auth_user, http_auth_password } of hooks.rows()) {
      if (![action, '*'].includes(String(event_action)) || ![entity, '*'].includes(String(event_object))) continue;
      const meta = {
        ...{ action, entity, entity_id: key, company_id: String(COMPANY_ID), user_id: String(USER_ID) },
        ...{ id: randomUUID(), version: '2.0', timestamp: writeSeconds(clock.now()) },
      };
      const body = JSON.stringify({ meta, data: after ? show(after) : null, previous: before ? show(before) : null });
      const basic = Buffer.from(`${http_auth_user}:${http_auth_password}`).toString('base64');
      const isNamed = typeof http_auth_user === 'string';
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        ...(isNamed && { authorization: `Basic ${basic}` }),
      };
      send?.({ url: String(subscription_url), headers, body });
    }
  }

  const routes: Routes = {
    'GET /v1/webhooks': () => json({ success: true, status: 'ok', data: hooks.rows() }),
    'POST /v1/webhooks': ({ body }) => {
      const sent = body.object();
      if (!URL.canParse(String(sent.subscription_url)))
        throw new Fault(400, 'validation', 'subscription_url is no URL');
      const common = { company_id: COMPANY_ID, owner_id: USER_ID, user_id: USER_ID, is_active: 1, type: 'general' };
      const made = { ...common, version: '2.0', add_time: writeSeconds(clock.now()), ...sent };
      return json({ success: true, status: 'ok', data: hooks.insert(made) }, 201);
    },
    'DELETE /v1/webhooks/{id}': ({ params: { id = '' } }) => {
      if (hooks.remove(id) === undefined) throw new Fault(404, 'not_found', 'Webhook not found');
      return json({ success: true, status: 'ok' });
    },
  };
  return { report, routes };
}
