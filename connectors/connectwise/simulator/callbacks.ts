import { createHash, createHmac, randomUUID } from 'node:crypto';
import {
  type Call,
  type Complaint,
  json,
  type SimulatedResponse,
  type SimulatorOptions,
  type TableChange,
  type TableRow,
  type WebhookDelivery,
} from '#connector/simulator';
import { absent } from './fault.ts';

export const COMPANY = 'acme';
/** The key that signs callbacks. `Metadata.key_url` of each callback leads to it. */
export const SIGNING_KEY = 'demo-signing-key';
const KEY_ID = 'd4f1a5b2-0000-4000-8000-0000000000c1';
export const KEY_PATH = '/v4_6_release//system/callbackkey/index.rails';

/** Names of the kinds of records in callbacks. Each level has the member that it compares with `objectId`. */
const LEVELS: Readonly<Record<string, { readonly of: string; readonly levels: Readonly<Record<string, string>> }>> = {
  ticket: {
    of: 'tickets',
    levels: { owner: '', board: 'board', location: 'location', status: 'status', company: 'company', ticket: 'id' },
  },
  time: { of: 'timeEntries', levels: { owner: '' } },
  company: { of: 'companies', levels: { owner: '', status: 'status', territory: 'territory', company: 'id' } },
  contact: { of: 'contacts', levels: { owner: '', company: 'company', contact: 'id' } },
  configuration: { of: 'configurations', levels: { owner: '', type: 'type', status: 'status', company: 'company' } },
  opportunity: { of: 'opportunities', levels: { owner: '', status: 'status', company: 'company' } },
};

const kindOf = ({ type }: TableRow) => LEVELS[String(type).toLowerCase()];

interface Notification {
  /** Name of the collection to which the record belongs. */
  readonly name: string;
  readonly change: TableChange;
  readonly show: (row: TableRow) => TableRow;
}

/** Sends a change to the registered callbacks. A callback of a deleted record contains only its id. */
export function notify(
  callbacks: readonly TableRow[],
  { name, change, show }: Notification,
  { send }: Pick<SimulatorOptions, 'send'>,
): void {
  const { key, before, after } = change;
  const action = after === undefined ? 'deleted' : before === undefined ? 'added' : 'updated';
  const row = after ?? before ?? {};
  for (const { id, url, type, level, objectId, inactiveFlag, origin } of callbacks) {
    const { of, levels } = kindOf({ type }) ?? {};
    const member = levels?.[String(level).toLowerCase()] ?? '';
    if (of !== name || inactiveFlag === true || (member !== '' && row[member] !== objectId)) continue;
    const site = String(origin).replace('://api-', '://');
    const keyUrl = `${origin}${KEY_PATH}?companyName=${COMPANY}&id=${KEY_ID}`;
    const body = {
      ...{ MessageId: randomUUID(), FromUrl: new URL(site).host, CompanyId: COMPANY, MemberId: 'causeway' },
      ...{ Action: action, Type: type, ID: Number(key), CallbackObjectRecId: id, Metadata: { key_url: keyUrl } },
      Entity: after === undefined ? null : JSON.stringify(show(row)),
    };
    // The id follows the query of the address, and the action follows the id.
    const address = `${url}${String(url).includes('?') ? '' : '?id='}${key}&action=${action}`;
    send?.({ url: address, ...signCallback(body) });
  }
}

/**
 * Signs a callback with HMAC-SHA256 over the body. The key is the SHA-256 of the signing key as bytes, which the signatures of the kit do
 * not support.
 */
export function signCallback(body: unknown, signingKey = SIGNING_KEY): WebhookDelivery {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const key = createHash('sha256').update(signingKey).digest();
  const signature = createHmac('sha256', key).update(text).digest('base64');
  return { headers: { 'content-type': 'application/json', 'x-content-signature': signature }, body: text };
}

/** Returns the key that verifies callbacks. The request needs no credentials. */
export function respondWithKey({ query }: Call): SimulatedResponse {
  const id = query.get('id') ?? '';
  if (id !== KEY_ID || query.get('companyName') !== COMPANY) throw absent({ singular: 'Callback key' }, id);
  return json({ signing_key: SIGNING_KEY });
}

/** Accepted addresses. ConnectWise accepts only https; local tests have no certificate, so http is accepted for loopback. */
const ADDRESS = /^(?:https:\/\/[^/]|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/;

export function complaintsOf(callback: TableRow, others: readonly TableRow[]): readonly Complaint[] {
  const isGood = ADDRESS.test(String(callback.url)) && URL.canParse(String(callback.url));
  const isKnown = Object.hasOwn(kindOf(callback)?.levels ?? {}, String(callback.level).toLowerCase());
  const same = (each: TableRow) => ['url', 'type', 'level', 'objectId'].every((name) => each[name] === callback[name]);
  const isThere = others.some((each) => each.id !== callback.id && same(each));
  const complain = (isWrong: boolean, code: string, member: string, message: string): readonly Complaint[] =>
    isWrong ? [{ reason: 'other', code, member, message }] : [];
  return [
    ...complain(!isGood, 'InvalidField', 'url', 'Invalid URL'),
    ...complain(!isKnown, 'InvalidObject', 'level', 'Unrecognized level for type'),
    ...complain(isThere, 'ObjectExists', 'objectId', 'A matching callback entry already exists'),
  ];
}
