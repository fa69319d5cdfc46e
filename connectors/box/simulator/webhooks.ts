import { randomUUID } from 'node:crypto';
import {
  type Answer,
  type Call,
  empty,
  json,
  type MovableClock,
  type SimulatorMemory,
  type SimulatorOptions,
  signWebhook,
  takePage,
  type WebhookDelivery,
} from '#connector/simulator';
import { type Drive, wholeSecond } from './drive.ts';
import type { Happening } from './events.ts';
import { BoxFault, badPage, invalid, missing, notFound } from './faults.ts';
import { type Kind, kindOf, ME, ROOT_ID, type Row } from './rows.ts';
import { printTime, standard } from './show.ts';

/** Of the application, from the console for developers; both sign everything. */
export const SIGNATURE_KEYS = { primary: 'demo-primary-signature-key', secondary: 'demo-secondary-signature-key' };

interface Webhook {
  readonly id: string;
  readonly target: { readonly id: string; readonly type: 'file' | 'folder' };
  readonly address: string;
  readonly triggers: readonly string[];
  readonly createdMs: number;
}

const DONE: Readonly<Partial<Record<Happening, string>>> = {
  ...{ uploaded: 'UPLOADED', moved: 'MOVED', renamed: 'RENAMED', trashed: 'TRASHED', downloaded: 'DOWNLOADED' },
};
/** Here those of the first two kinds happen. */
const TRIGGERS = Object.entries({
  FILE: 'UPLOADED PREVIEWED DOWNLOADED TRASHED DELETED RESTORED COPIED MOVED LOCKED UNLOCKED RENAMED',
  FOLDER: 'CREATED RENAMED DOWNLOADED RESTORED DELETED COPIED MOVED TRASHED',
  COMMENT: 'CREATED UPDATED DELETED',
  TASK_ASSIGNMENT: 'CREATED UPDATED',
  METADATA_INSTANCE: 'CREATED UPDATED DELETED',
  COLLABORATION: 'CREATED ACCEPTED REJECTED REMOVED UPDATED',
  SHARED_LINK: 'CREATED UPDATED DELETED',
  WEBHOOK: 'DELETED',
}).flatMap(([noun, done]) => done.split(' ').map((each) => `${noun}.${each}`));

interface Surroundings extends Pick<SimulatorOptions, 'send'> {
  readonly drive: Drive;
  readonly clock: MovableClock;
  readonly memory?: SimulatorMemory | undefined;
}

/** One for each item; they tell of what is below a folder, too. They outlive the simulator. */
export function createWebhooks({ drive, clock, memory, send }: Surroundings) {
  const webhooks = new Map<string, Webhook>(readSaved(memory?.load()));
  const save = () => memory?.save([...webhooks]);

  function put(webhook: Webhook, { target, address, triggers }: Readonly<Record<string, unknown>>): Webhook {
    const changed: Webhook = {
      ...webhook,
      ...(target !== undefined && { target: readTarget(target, webhook.id) }),
      ...(address !== undefined && { address: readAddress(address) }),
      ...(triggers !== undefined && { triggers: readTriggers(triggers) }),
    };
    webhooks.set(changed.id, changed);
    save();
    return changed;
  }

  function readTarget(target: unknown, ownId: string): Webhook['target'] {
    const { id, type } = Object(target);
    if ((type !== 'file' && type !== 'folder') || typeof id !== 'string') throw missing('target');
    if (type === 'folder' && id === ROOT_ID) throw invalid('target', 'Webhooks are not supported on the root folder');
    if (drive.find(type, id) === undefined) throw notFound('item', `${type[0]}_${id}`);
    const isTaken = webhooks
      .values()
      .some((each) => each.id !== ownId && each.target.type === type && each.target.id === id);
    if (isTaken) throw new BoxFault(409, 'conflict', 'Webhook already exists on the specified target.');
    return { id, type };
  }

  function create({ body }: Call): Answer {
    const given = body.object();
    const absent = ['target', 'address', 'triggers'].find((name) => given[name] === undefined);
    if (absent !== undefined) throw missing(absent);
    const id = String(webhooks.keys().reduce((most, each) => Math.max(most, Number(each)), 3_321_122) + 1);
    const nothing = { target: { id: '', type: 'file' }, address: '', triggers: [] } as const;
    return json(present(put({ id, ...nothing, createdMs: wholeSecond(clock.now()) }, given)), 201);
  }

  function find({ params: { id = '' } }: Call): Webhook {
    const webhook = webhooks.get(id);
    if (webhook === undefined) throw notFound('webhook', id);
    return webhook;
  }

  function list(call: Call): Answer {
    const { rows, next, size } = takePage([...webhooks.values()], PAGING, call);
    const entries = rows.map(({ id, target }) => ({ id, type: 'webhook', target }));
    return json({ entries, limit: size, ...(next !== undefined && { next_marker: next }) });
  }

  function remove(call: Call): Answer {
    webhooks.delete(find(call).id);
    save();
    return empty();
  }

  /** @param before where it was, if it was moved: who watches that place is told of the move */
  function tell(happening: Happening, after: Row, before: Row = after): void {
    const [here, there] = [coverOf(after, drive), coverOf(before, drive)];
    for (const webhook of webhooks.values()) {
      const [isHere, wasHere] = [here, there].map((cover) => cover.includes(keyOf(webhook.target)));
      // To a folder, what is moved into it is new.
      const isNew = isHere === true && wasHere !== true && happening === 'moved' && after.type === 'file';
      for (const each of isNew ? (['moved', 'uploaded'] as const) : [happening]) {
        const trigger = triggerOf(each, kindOf(after));
        if (trigger === undefined || !webhook.triggers.includes(trigger) || !(isHere || wasHere)) continue;
        send?.({ url: webhook.address, ...deliver(eventOf(webhook, trigger, after), clock.now()) });
      }
    }
  }

  function eventOf({ id }: Webhook, trigger: string, row: Row) {
    return {
      ...{ type: 'webhook_event', id: randomUUID(), created_at: printTime(wholeSecond(clock.now())), trigger },
      ...{ webhook: { id, type: 'webhook' }, created_by: ME, source: standard(drive, row), additional_info: [] },
    };
  }

  return {
    tell,
    routes: {
      'GET /2.0/webhooks': list,
      'POST /2.0/webhooks': create,
      'GET /2.0/webhooks/{id}': (call: Call) => json(present(find(call))),
      'PUT /2.0/webhooks/{id}': (call: Call) => json(present(put(find(call), call.body.object()))),
      'DELETE /2.0/webhooks/{id}': remove,
    },
  };
}

const PAGING = { kind: 'cursor', cursor: 'marker', size: 'limit', usual: 100, most: 1000, refuse: badPage } as const;

function readSaved(value: unknown): readonly (readonly [string, Webhook])[] {
  // It was saved by this very function's neighbour.
  return Array.isArray(value) ? value : [];
}

function present({ id, target, address, triggers, createdMs }: Webhook) {
  return { id, type: 'webhook', target, created_by: ME, created_at: printTime(createdMs), address, triggers };
}

/** Box takes https alone, at its own port; who tries things on one machine has none. */
function readAddress(address: unknown): string {
  const isTaken =
    typeof address === 'string' &&
    /^(?:https:\/\/[^/:?#]+(?::443)?(?:[/?#]|$)|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/.test(address);
  if (!isTaken) throw invalid('address', `Invalid value '${address}'. The address must be an https URL at port 443`);
  return address;
}

function readTriggers(triggers: unknown): readonly string[] {
  const isList = Array.isArray(triggers) && triggers.length > 0 && triggers.every((each) => TRIGGERS.includes(each));
  if (!isList) throw invalid('triggers', 'Invalid value for triggers');
  return triggers;
}

/** The item itself, and the folders above it. */
function coverOf(row: Row, drive: Drive): readonly string[] {
  return [row, ...drive.pathOf(row)].map(keyOf);
}

function keyOf({ type, id }: { readonly type?: unknown; readonly id?: unknown }): string {
  return `${type}_${id}`;
}

/** There is none for bookmarks, nor for tags and descriptions. */
function triggerOf(happening: Happening, kind: Kind): string | undefined {
  if (kind === 'web_link') return undefined;
  if (happening === 'created') return kind === 'file' ? 'FILE.UPLOADED' : 'FOLDER.CREATED';
  const done = DONE[happening];
  return done && `${kind.toUpperCase()}.${done}`;
}

/** Signed with both keys: the body, and behind it the time as it stands in the header. In the body, slashes and what is not ASCII are escaped. */
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
