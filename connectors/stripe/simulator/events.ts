import { createHmac, randomUUID } from 'node:crypto';
import {
  type Call,
  createKeptTable,
  DAY_MS,
  Fault,
  json,
  type MovableClock,
  nestedValues,
  type Routes,
  type SimulatorMemory,
  type SimulatorOptions,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { conform, KINDS, type Name } from './account.ts';
import { missing } from './fault.ts';
import { listPage } from './lists.ts';

/** The version of the API, which events have too. */
export const VERSION = '2026-10-28.endive';
/** Events are kept for 30 days. Source: the operation `GET /v1/events`. */
const KEPT_MS = 30 * DAY_MS;

/** Returns the header of a webhook. Source: "Receive Stripe events", verify signatures manually. */
export function signatureOf(secret: string, body: string, nowMs: number): string {
  const at = Math.floor(nowMs / 1000);
  return `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')},v0=0`;
}

/** Creates the events of an account, and the addresses to which they are sent. */
export function createEvents(clock: MovableClock, send: SimulatorOptions['send'], memory: SimulatorMemory) {
  const events: TableRow[] = [];
  const endpoints = createKeptTable({ memory, makeId: (index) => `we_Sim${index}` });

  function report(name: Name, { before, after }: TableChange): void {
    const { event: word, actions }: { readonly event: string; readonly actions: string } = KINDS[name];
    const known = actions.split(' ');
    const action = before === undefined ? known[0] : after === undefined ? 'deleted' : 'updated';
    if (action === undefined || !known.includes(action)) return;
    const type = `${word}.${action}`;
    const id = `evt_Sim${String(events.length).padStart(10, '0')}`;
    const created = Math.floor(clock.now() / 1000);
    const data = { object: after ?? before, ...(before && after && { previous_attributes: changedIn(before, after) }) };
    const request = { id: `req_${id}`, idempotency_key: null };
    const event = {
      id,
      type,
      created,
      api_version: VERSION,
      object: 'event',
      livemode: false,
      pending_webhooks: 0,
      request,
      data,
    };
    events.push(event);
    for (const { url, secret, enabled_events } of endpoints.rows()) {
      if (![enabled_events].flat().some((each) => each === '*' || each === type)) continue;
      const body = JSON.stringify(event, null, 2);
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': signatureOf(String(secret), body, clock.now()),
      };
      send?.({ url: String(url), headers, body });
    }
  }

  const kept = () => events.filter(({ created }) => Number(created) * 1000 > clock.now() - KEPT_MS);
  const show = (row: TableRow, withSecret = false) => {
    const { secret, ...shown } = row;
    return json(conform(withSecret ? row : shown, 'WebhookEndpoint'));
  };
  const routes: Routes = {
    'GET /v1/events': (call) => listPage(call, 'event', kept()),
    'GET /v1/events/{id}': ({ params: { id = '' } }: Call) => {
      const event = kept().find((each) => each.id === id);
      if (event === undefined) throw missing('event', id, 'id');
      return json(event);
    },
    'GET /v1/webhook_endpoints': (call) => {
      const rows = endpoints.rows().map(({ secret, ...row }) => conform(row, 'WebhookEndpoint'));
      return listPage(call, 'webhook endpoint', rows);
    },
    'POST /v1/webhook_endpoints': (call) => {
      const { url, enabled_events, api_version = VERSION, description = null } = nestedValues(call.body.form());
      if (!URL.canParse(String(url)))
        throw new Fault(400, 'url_invalid', 'Invalid URL: An explicit scheme must be provided.', { fields: ['url'] });
      const created = Math.floor(clock.now() / 1000);
      const own = { secret: `whsec_${randomUUID()}`, status: 'enabled', object: 'webhook_endpoint', metadata: {} };
      return show(endpoints.insert({ url, enabled_events, api_version, description, created, ...own }), true);
    },
    'DELETE /v1/webhook_endpoints/{id}': ({ params: { id = '' } }) => {
      if (endpoints.remove(id) === undefined) throw missing('webhook endpoint', id, 'id');
      return json({ id, object: 'webhook_endpoint', deleted: true });
    },
  };
  return { report, routes };
}

function changedIn(before: TableRow, after: TableRow): TableRow {
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]));
}
