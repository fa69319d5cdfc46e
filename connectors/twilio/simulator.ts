import { createHash } from 'node:crypto';
import {
  type Answer,
  basic,
  type Call,
  changesOf,
  createMovableClock,
  createTable,
  type Fault,
  fault,
  json,
  type MovableClock,
  type Routes,
  type Simulator,
  type SimulatorOptions,
  signWebhook,
  simulate,
  type Table,
  type TableRow,
  typed,
  type WebhookDelivery,
} from '#connector/simulator';
import { type Collection, daysOf, equals, isThere, list, oneOf, sidIn } from './simulator/lists.ts';
import { makeSound } from './simulator/media.ts';
import {
  ACCOUNT_SID,
  makeCalls,
  makeMessages,
  makeRecordings,
  printInstant,
  printRow,
  ROOT,
  sidOf,
  wholeSeconds,
} from './simulator/rows.ts';
import { createCall, createMessage, find, remove, updateCall, updateMessage } from './simulator/writes.ts';

export { ACCOUNT_SID } from './simulator/rows.ts';
export const AUTH_TOKEN = 'demo-auth-token';

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { username: ACCOUNT_SID, password: AUTH_TOKEN };

const HOST = 'api.twilio.com';
const CALL_STATUSES = ['queued', 'ringing', 'in-progress', 'completed', 'busy', 'failed', 'no-answer', 'canceled'];

/** An account of api.twilio.com in memory, version 2010-04-01. */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const clock = createMovableClock();
  const messages: Collection = {
    name: 'Messages',
    table: tableOf(clock, {
      prefix: 'SM',
      rows: makeMessages(),
      initial: { direction: 'outbound-api', price_unit: 'USD' },
    }),
    latest: 'date_sent',
    filters: { To: equals('to'), From: equals('from'), ...daysOf('DateSent', 'date_sent', 'inclusive') },
  };
  const calls: Collection = {
    name: 'Calls',
    table: tableOf(clock, { prefix: 'CA', rows: makeCalls(), initial: { direction: 'outbound-api', queue_time: '0' } }),
    latest: 'date_created',
    filters: {
      To: equals('to'),
      From: equals('from'),
      ParentCallSid: sidIn('parent_call_sid', 'CA'),
      Status: oneOf('status', CALL_STATUSES),
      ...daysOf('StartTime', 'start_time', 'exclusive'),
      ...daysOf('EndTime', 'end_time', 'exclusive'),
    },
  };
  const recordings: Collection = {
    name: 'Recordings',
    table: tableOf(clock, { prefix: 'RE', rows: makeRecordings() }),
    latest: 'date_created',
    filters: {
      CallSid: sidIn('call_sid', 'CA'),
      ConferenceSid: sidIn('conference_sid', 'CF'),
      ...daysOf('DateCreated', 'date_created', 'inclusive'),
    },
  };
  return simulate(
    {
      authenticate: assertCaller,
      print,
      clock,
      headers: { 'twilio-request-id': sidOf('RQ', 0) },
      routes: {
        'GET /2010-04-01/Accounts/{account}.json': () => json(printAccount()),
        ...routesOf(messages),
        ...routesOf(calls),
        ...routesOf(recordings),
        [`POST ${ROOT}/Messages.json`]: (call) => createMessage(messages, clock, call),
        [`POST ${ROOT}/Calls.json`]: (call) => createCall(calls, clock, call),
        [`POST ${ROOT}/Messages/{sid}.json`]: (call) => updateMessage(messages, found(messages, call), call),
        [`POST ${ROOT}/Calls/{sid}.json`]: (call) => updateCall(calls, found(calls, call), call),
        [`GET ${ROOT}/Calls/{sid}/Recordings.json`]: (call) => {
          const { sid } = found(calls, call);
          return list(recordings, call, (row) => row.call_sid === sid);
        },
        [`GET ${ROOT}/Recordings/{sid}.wav`]: (call) => sound(recordings, call, 'wav'),
        [`GET ${ROOT}/Recordings/{sid}.mp3`]: (call) => sound(recordings, call, 'mp3'),
        [`GET ${ROOT}/Recordings/{sid}`]: (call) => sound(recordings, call, 'wav'),
      },
      commands: changesOf({
        messages: changeable(messages, (number) => ({
          from: '+14158675309',
          to: '+15005550006',
          body: `New ${number}`,
          status: 'received',
          date_sent: wholeSeconds(clock.now()),
        })),
        calls: changeable(calls, () => ({
          from: '+14158675309',
          to: '+15005550006',
          status: 'completed',
          start_time: wholeSeconds(clock.now()),
        })),
        recordings: changeable(recordings, () => ({ call_sid: sidOf('CA', 0), status: 'completed' })),
      }),
    },
    { baseUrl: `https://${HOST}`, ...options },
  );
}

interface Kind {
  readonly prefix: string;
  readonly rows: readonly TableRow[];
  readonly initial?: TableRow;
}

/** What is deleted stays in its place, for pages that are being read, and for recordings that are asked for. */
function tableOf(clock: MovableClock, { prefix, rows, initial }: Kind): Table {
  const [first = {}] = rows;
  const nothing = Object.fromEntries(Object.keys(first).map((name) => [name, null]));
  return createTable({
    rows,
    keyOf: ({ sid }) => String(sid),
    initial: (_, before) => ({ ...nothing, ...initial, sid: sidOf(prefix, before().length) }),
    stamps: { clock, write: wholeSeconds, created: ['date_created'], changed: ['date_updated'] },
    deleted: 'deleted',
  });
}

function changeable(collection: Collection, create: (number: number) => TableRow) {
  const { table } = collection;
  return {
    table,
    keyOf: ({ sid }: TableRow) => String(sid),
    create,
    change: (number: number) => ({ price: `-0.${number}` }),
  };
}

function routesOf(collection: Collection): Routes {
  const path = `${ROOT}/${collection.name}`;
  return {
    [`GET ${path}.json`]: (call) => list(collection, call),
    [`GET ${path}/{sid}.json`]: (call) => json(printRow(collection.name, found(collection, call))),
    [`DELETE ${path}/{sid}.json`]: (call) => remove(collection, find(collection, call, isKept)),
  };
}

/** @throws Fault 404 */
function found(collection: Collection, call: Call): TableRow {
  return find(collection, call, collection.name === 'Recordings' ? isThere(call.query) : isKept);
}

function isKept({ deleted }: TableRow): boolean {
  return deleted !== true;
}

/** @throws Fault 404 also for recordings that have no sound: unfinished, silent, deleted */
function sound(recordings: Collection, call: Call, format: 'wav' | 'mp3'): Answer {
  const { duration } = find(recordings, call, (row) => isKept(row) && row.status === 'completed');
  return typed(format === 'wav' ? 'audio/x-wav' : 'audio/mpeg', makeSound(format, Number(duration)));
}

const isAccount = basic(
  'Twilio API',
  ({ username, password }) => username === ACCOUNT_SID && password === AUTH_TOKEN,
  'Authenticate',
);

/** Other accounts are those of somebody else. */
function assertCaller(call: Call): void {
  if ((call.host ?? HOST) !== HOST) throw fault(404, `The requested resource ${call.path} was not found`);
  isAccount(call);
  const [, account = ACCOUNT_SID] = /^\/2010-04-01\/Accounts\/(AC\w+)/.exec(call.path) ?? [];
  if (account !== ACCOUNT_SID) throw fault(401, 'Authenticate');
}

function printAccount(): TableRow {
  const made = printInstant(Date.parse('2015-07-30T20:00:00Z'));
  const names = ['Messages', 'Calls', 'Recordings'];
  return {
    sid: ACCOUNT_SID,
    owner_account_sid: ACCOUNT_SID,
    auth_token: AUTH_TOKEN,
    friendly_name: "O'Brien & Söhne <Test>",
    status: 'active',
    type: 'Full',
    date_created: made,
    date_updated: made,
    uri: `${ROOT}.json`,
    subresource_uris: Object.fromEntries(names.map((name) => [name.toLowerCase(), `${ROOT}/${name}.json`])),
  };
}

/** The provider's numbers for what the kit itself refuses; any other is 20000 and the status. */
const CODES: Readonly<Record<number, number>> = { 400: 20_001, 401: 20_003, 405: 20_004 };

function print({ status, code, message, headers }: Fault): Answer {
  const number = /^\d+$/.test(code) ? Number(code) : (CODES[status] ?? 20_000 + status);
  return json(
    { code: number, message, more_info: `https://www.twilio.com/docs/errors/${number}`, status },
    status,
    headers,
  );
}

/** What a delivery says: a form, as most of them are, or JSON. */
export type WebhookEvent = { readonly form: Readonly<Record<string, string>> } | { readonly json: unknown };

/**
 * Signed are the address and, of a form, the names and values in the order of the names. For JSON the address gets the digest.
 * @returns the delivery, and the address it is to be sent to
 */
export function deliver(
  event: WebhookEvent,
  url: string,
  authToken = AUTH_TOKEN,
): WebhookDelivery & { readonly url: string } {
  const signature = { secret: authToken, header: 'x-twilio-signature', algorithm: 'sha1', encoding: 'base64' } as const;
  if ('json' in event) {
    const body = JSON.stringify(event.json);
    const digest = createHash('sha256').update(body).digest('hex');
    const signedUrl = `${url}${url.includes('?') ? '&' : '?'}bodySHA256=${digest}`;
    return { ...signWebhook({ ...signature, signed: () => signedUrl }, body, { nowMs: 0 }), url: signedUrl };
  }
  const form = new URLSearchParams(event.form);
  const text = [...form].toSorted(([a], [b]) => (a < b ? -1 : 1)).flat();
  const { headers, body } = signWebhook({ ...signature, signed: () => url + text.join('') }, form.toString(), {
    nowMs: 0,
  });
  return { headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }, body, url };
}
