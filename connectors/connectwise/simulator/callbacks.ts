import { createHash, createHmac, randomUUID } from 'node:crypto';
import {
  type Answer,
  type Call,
  empty,
  json,
  type MovableClock,
  type Routes,
  type SimulatorOptions,
  type TableChange,
  type TableRow,
  type WebhookDelivery,
} from '#connector/simulator';
import { type Complaint, notFound, Refusal } from './fault.ts';
import { readAsked, show } from './lists.ts';
import { API_MEMBER, guid, writeTime } from './rows.ts';
import { SCHEMAS, type Schema, type TableName } from './schema.ts';
import { BASE, showRow, type World } from './show.ts';

export const COMPANY = 'acme';
/** What callbacks are signed with; `Metadata.key_url` of each leads to it. */
export const SIGNING_KEY = 'demo-signing-key';
const KEY_ID = guid(SIGNING_KEY);
const KEY_PATH = '/v4_6_release//system/callbackkey/index.rails';

interface Callback {
  readonly id: number;
  readonly description: string | null;
  readonly url: string;
  readonly objectId: number;
  readonly type: string;
  readonly level: string;
  readonly inactiveFlag: boolean;
  readonly isSelfSuppressedFlag: boolean;
  readonly lastUpdated: string;
  /** Where it was registered. */
  readonly origin: string;
}

interface Saved {
  readonly lastId: number;
  readonly callbacks: readonly Callback[];
}

export interface CallbackOptions extends Partial<Pick<SimulatorOptions, 'memory' | 'send'>> {
  readonly clock: MovableClock;
  /** Recorded callbacks had the key on the host of the site, which is that of the API without `api-`. Default `api`. */
  readonly keyHost?: 'api' | 'site';
}

/** The callbacks of the company, which keeps them over a restart. */
export function createCallbacks(
  { memory, send, clock, keyHost = 'api' }: CallbackOptions,
  worldAt: (origin: string) => World,
) {
  const saved: Partial<Saved> = Object(memory?.load());
  const callbacks = new Map((saved.callbacks ?? []).map((callback) => [callback.id, callback]));
  let { lastId = 26_558 } = saved;
  const save = () => memory?.save({ lastId, callbacks: [...callbacks.values()] } satisfies Saved);

  function put(callback: Callback): Callback {
    callbacks.set(callback.id, callback);
    save();
    return callback;
  }

  function find({ params: { id = '' } }: Call): Callback {
    const callback = callbacks.get(Number(id));
    if (callback === undefined) throw notFound('Callback', id);
    return callback;
  }

  function read(call: Call, given: Readonly<Record<string, unknown>>, id: number): Callback {
    const { description = null, url, objectId, type, level, inactiveFlag, isSelfSuppressedFlag } = given;
    const callback: Callback = {
      ...{ id, description: description === null ? null : String(description), url: String(url ?? '') },
      ...{ objectId: Number(objectId ?? 0), type: String(type ?? ''), level: String(level ?? '') },
      ...{ inactiveFlag: inactiveFlag === true, isSelfSuppressedFlag: isSelfSuppressedFlag === true },
      ...{ lastUpdated: writeTime(clock.now()), origin: call.origin },
    };
    const complaints = complaintsOf(callback, [...callbacks.values()]);
    if (complaints.length > 0) throw new Refusal('callbackEntry', complaints);
    return callback;
  }

  function replace(call: Call, given: Readonly<Record<string, unknown>>): Answer {
    const { id } = find(call);
    return show(call, print(put(read(call, given, id))));
  }

  function patch(call: Call): Answer {
    const operations: readonly unknown[] = [call.body.json()].flat();
    const pairs = operations.map((each) => [String(Object(each).path).replace(/^\//, ''), Object(each).value]);
    return replace(call, { ...find(call), ...Object.fromEntries(pairs) });
  }

  /** A callback of a deleted record has nothing of it but its id. */
  function tell(name: TableName, { key, before, after }: TableChange): void {
    const { callback: kind }: Schema = SCHEMAS[name];
    const action = after === undefined ? 'deleted' : before === undefined ? 'added' : 'updated';
    const row = after ?? before ?? {};
    for (const callback of callbacks.values()) {
      if (kind === undefined || callback.inactiveFlag || !isAbout(callback, kind, row)) continue;
      const site = callback.origin.replace('://api-', '://');
      const body = {
        ...{
          MessageId: randomUUID(),
          FromUrl: new URL(site).host,
          CompanyId: COMPANY,
          MemberId: API_MEMBER.identifier,
        },
        ...{ Action: action, Type: callback.type, ID: Number(key) },
        ...{ ProductInstanceId: guid(COMPANY), PartnerId: guid('partner') },
        Entity: after === undefined ? null : JSON.stringify(showRow(worldAt(callback.origin), name, row)),
        Metadata: {
          key_url: `${keyHost === 'site' ? site : callback.origin}${KEY_PATH}?companyName=${COMPANY}&id=${KEY_ID}`,
        },
        CallbackObjectRecId: callback.id,
      };
      const url = addressOf(callback.url, key, action);
      send?.({ url, ...signCallback(body) });
    }
  }

  return {
    tell,
    /** For everybody. */
    open: { [`GET ${KEY_PATH}`]: tellKey } satisfies Routes,
    routes: {
      [`GET ${BASE}/system/callbacks`]: (call: Call) => {
        const asked = readAsked(call.query);
        const size = Number(asked.get('pagesize') ?? 25);
        const start = (Number(asked.get('page') ?? 1) - 1) * size;
        return show(call, [...callbacks.values()].map(print).slice(start, start + size));
      },
      [`GET ${BASE}/system/callbacks/count`]: (call: Call) => show(call, { count: callbacks.size }),
      [`POST ${BASE}/system/callbacks`]: (call: Call) => {
        const made = read(call, call.body.object(), lastId + 1);
        lastId = made.id;
        return show(call, print(put(made)), 201);
      },
      [`GET ${BASE}/system/callbacks/{id}`]: (call: Call) => show(call, print(find(call))),
      [`PUT ${BASE}/system/callbacks/{id}`]: (call: Call) => replace(call, call.body.object()),
      [`PATCH ${BASE}/system/callbacks/{id}`]: patch,
      [`DELETE ${BASE}/system/callbacks/{id}`]: (call: Call) => {
        callbacks.delete(find(call).id);
        save();
        return empty();
      },
    } satisfies Routes,
  };
}

/** HMAC-SHA256 over the body, whose key is the SHA-256 of the signing key: bytes, which the kit's signatures have no place for. */
export function signCallback(body: unknown, signingKey = SIGNING_KEY): WebhookDelivery {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const key = createHash('sha256').update(signingKey).digest();
  const signature = createHmac('sha256', key).update(text).digest('base64');
  return { headers: { 'content-type': 'application/json', 'x-content-signature': signature }, body: text };
}

function tellKey({ query }: Call): Answer {
  if (query.get('id') !== KEY_ID || query.get('companyName') !== COMPANY) throw notFound('Callback key', `${query}`);
  return json({ signing_key: SIGNING_KEY });
}

/** The id stands behind whatever the address has in its query, and then the action. */
function addressOf(url: string, id: string, action: string): string {
  return `${url}${url.includes('?') ? '' : '?id='}${id}&action=${action}`;
}

const KINDS = Object.values(SCHEMAS).flatMap((schema: Schema) =>
  schema.callback === undefined ? [] : [schema.callback],
);

function kindOf({ type }: Callback) {
  return KINDS.find((kind) => kind.type === type.toLowerCase());
}

function isAbout(callback: Callback, kind: NonNullable<Schema['callback']>, row: TableRow): boolean {
  if (kindOf(callback) !== kind) return false;
  const member = kind.levels[callback.level.toLowerCase()] ?? '';
  return member === '' || row[member] === callback.objectId;
}

/** https alone; who tries things on one machine has none. */
const ADDRESS = /^(?:https:\/\/[^/]|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/;

function complaintsOf(callback: Callback, others: readonly Callback[]): readonly Complaint[] {
  const { id, url, type, level, objectId } = callback;
  const isKnown = Object.hasOwn(kindOf(callback)?.levels ?? {}, level.toLowerCase());
  const isThere = others.some((each) => {
    return (
      each.id !== id && each.url === url && each.type === type && each.level === level && each.objectId === objectId
    );
  });
  return [
    ...(ADDRESS.test(url) && URL.canParse(url) ? [] : [{ code: 'InvalidField', message: 'Invalid URL', field: 'url' }]),
    ...(isKnown ? [] : [{ code: 'InvalidObject', message: 'Unrecognized level for type', field: 'level' }]),
    ...(isThere
      ? [{ code: 'ObjectExists', message: 'A matching callback entry already exists', field: 'objectId' }]
      : []),
  ];
}

function print({ lastUpdated, origin: _, description, ...callback }: Callback): TableRow {
  return {
    ...callback,
    ...(description !== null && { description }),
    ...{
      memberId: API_MEMBER.id,
      payloadVersion: '3.0.0',
      isSoapCallbackFlag: false,
      connectWiseID: guid(`callback${callback.id}`),
    },
    _info: { lastUpdated, updatedBy: API_MEMBER.identifier },
  };
}
