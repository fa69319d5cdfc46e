import { randomUUID } from 'node:crypto';
import {
  createCollections,
  describedMembers,
  json,
  type MovableClock,
  type Routes,
  recordRoutes,
  type SimulatorMemory,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  takePage,
  type WebhookDelivery,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { type Drive, type Kind, kindOf, ME, ROOT_ID, type Row, wholeSecond } from './drive.ts';
import { BoxFault, badPage, invalid, missing, notFound } from './faults.ts';
import { printTime, standard } from './show.ts';

/** Signature keys of the application, from the developer console. Box signs each call with both. */
export const SIGNATURE_KEYS = { primary: 'demo-primary-signature-key', secondary: 'demo-secondary-signature-key' };

/** Returns the triggers that a change fires. Box sends nothing for items that go into the trash with their folder. */
function happeningsOf({ before, after }: TableChange): readonly string[] {
  if (before === undefined) return [after?.type === 'folder' ? 'CREATED' : 'UPLOADED'];
  if (after === undefined) return ['TRASHED'];
  const changed = { version: 'UPLOADED', parent: 'MOVED', name: 'RENAMED' };
  return Object.entries(changed).flatMap(([name, done]) => (before[name] === after[name] ? [] : [done]));
}

interface Surroundings extends Pick<SimulatorOptions, 'send'> {
  readonly clock: MovableClock;
  readonly memory: SimulatorMemory | undefined;
}

const { required, properties } = official.operations['POST /webhooks'].body;
const TRIGGERS: readonly unknown[] = properties.triggers.items.enum;
/** A webhook that can be written. */
const WEBHOOK = describedMembers({
  ...{ required, readOnly: ['created_at'] },
  properties: { target: 'object', address: 'string', triggers: 'array', created_at: 'datetime' },
});

const PAGING = { kind: 'cursor', cursor: 'marker', size: 'limit', usual: 100, most: 1000, refuse: badPage } as const;
/** Accepted addresses. Box accepts only https on its own port; local tests have no certificate, so http is accepted for loopback. */
const ADDRESS = /^(?:https:\/\/[^/:?#]+(?::443)?(?:[/?#]|$)|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/;

/** Creates the webhooks, at most one for each item. They also report changes below a folder, and survive a restart of the simulator. */
export function createWebhooks(driveOf: () => Drive, { clock, memory, send }: Surroundings) {
  const { webhooks } = createCollections({
    clock,
    writeTime: wholeSecond,
    refuse: ([{ reason = 'other', member = '' } = {}]) =>
      reason === 'missing' ? missing(member) : invalid(member, `Invalid value for ${member}`),
    absent: (_, id) => notFound('webhook', id),
    of: {
      webhooks: {
        members: WEBHOOK,
        rows: 0,
        makeId: (index) => String(3_321_123 + index),
        created: ['created_at'],
        memory,
        check: ({ address, triggers }) => [
          ...(ADDRESS.test(String(address)) ? [] : [{ reason: 'other', member: 'address', message: '' } as const]),
          ...([triggers ?? []].flat().every((trigger) => TRIGGERS.some((known) => known === trigger))
            ? []
            : [{ reason: 'other', member: 'triggers', message: '' } as const]),
        ],
      },
    },
  });

  /**
   * Returns the values to store for a webhook. The target must exist, must not be the root, and must not have another webhook.
   * @throws BoxFault
   */
  function settle(values: Row, id: unknown): Row {
    const target = { id: String(Object(values.target).id), type: kindOf(Object(values.target)) };
    if (target.id === ROOT_ID) throw invalid('target', 'Webhooks are not supported on the root folder');
    driveOf().get(target.type, target.id);
    const others = webhooks.table.rows().filter((row) => row.id !== id);
    if (others.some((row) => keyOf(Object(row.target)) === keyOf(target))) {
      throw new BoxFault(409, 'conflict', 'Webhook already exists on the specified target.');
    }
    return { ...values, target };
  }

  /** Sends the webhooks of a change. A move is also sent to the webhooks of the item's former folder. */
  function notify(kind: Kind, happening: string, after: Row, before: Row = after): void {
    const [here, there] = [after, before].map((row) => [row, ...driveOf().pathOf(row)].map(keyOf));
    for (const { id, target, address, triggers } of webhooks.table.rows()) {
      const [isHere, wasHere] = [here, there].map((cover) => cover?.includes(keyOf(Object(target))) === true);
      // To the new folder, a file that is moved into it is an upload.
      const isNew = isHere === true && wasHere === false && happening === 'MOVED' && kind === 'file';
      for (const each of isHere || wasHere ? (isNew ? ['MOVED', 'UPLOADED'] : [happening]) : []) {
        const trigger = `${kind.toUpperCase()}.${each}`;
        if (![triggers].flat().includes(trigger)) continue;
        const event = {
          ...{ type: 'webhook_event', id: randomUUID(), created_at: printTime(wholeSecond(clock.now())), trigger },
          ...{ webhook: { id, type: 'webhook' }, created_by: ME, source: standard(driveOf(), after) },
          additional_info: [],
        };
        send?.({ url: String(address), ...deliver(event, clock.now()) });
      }
    }
  }

  return {
    notify,
    notifyOfChange: (kind: Kind, change: TableChange): void => {
      for (const done of happeningsOf(change)) notify(kind, done, change.after ?? change.before ?? {}, change.before);
    },
    routes: recordRoutes('/2.0/webhooks', webhooks, {
      list: (call) => {
        const { rows, next, size } = takePage(webhooks.table.rows(), PAGING, call);
        const entries = rows.map(({ id, target }) => ({ id, type: 'webhook', target }));
        return json({ entries, limit: size, next_marker: next });
      },
      show: ({ created_at, ...row }, _call, status) =>
        json({ ...row, type: 'webhook', created_by: ME, created_at: printTime(Number(created_at)) }, status),
      can: ['get', 'create', 'remove'],
      complete: (values, _call, old) => settle(values, old?.id),
    }) satisfies Routes,
  };
}

function keyOf({ type, id }: { readonly type?: unknown; readonly id?: unknown }): string {
  return `${type}_${id}`;
}

/**
 * Returns a signed webhook. Both keys sign the body followed by the time of the header. The body escapes slashes and non-ASCII characters.
 */
export function deliver(event: unknown, nowMs: number, keys = SIGNATURE_KEYS): WebhookDelivery {
  const body = JSON.stringify(event)
    .replaceAll('/', '\\/')
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const at = printTime(wholeSecond(nowMs));
  const sign = (which: keyof typeof SIGNATURE_KEYS) =>
    signWebhook(
      { secret: keys[which], header: `box-signature-${which}`, encoding: 'base64', signed: () => body + at },
      body,
      { nowMs },
    ).headers;
  const headers = {
    ...{ 'box-delivery-id': randomUUID(), 'box-delivery-timestamp': at, 'user-agent': 'Box-WH-Client/0.1' },
    ...{ 'box-signature-version': '1', 'box-signature-algorithm': 'HmacSHA256' },
  };
  return { headers: { ...sign('primary'), ...sign('secondary'), ...headers }, body };
}
