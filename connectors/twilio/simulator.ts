import { createHash } from 'node:crypto';
import {
  basic,
  type Call,
  changesOf,
  createMovableClock,
  type Fault,
  fault,
  json,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  signWebhook,
  simulate,
  type TableRow,
  typed,
  type WebhookDelivery,
} from '#connector/simulator';
import { ACCOUNT_SID, type Account, createAccount, notFound, present, ROOT } from './simulator/account.ts';
import { isThere, list } from './simulator/lists.ts';
import { create, remove, update } from './simulator/writes.ts';

export { ACCOUNT_SID } from './simulator/account.ts';
export const AUTH_TOKEN = 'demo-auth-token';

/** Configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = { username: ACCOUNT_SID, password: AUTH_TOKEN };

const HOST = 'api.twilio.com';

/** Creates a simulator of an account of api.twilio.com in memory, version 2010-04-01. */
export function createSimulator(options: Partial<SimulatorOptions> = {}): Simulator {
  const clock = createMovableClock();
  const account = createAccount(clock);
  const { Messages: messages, Calls: calls, Recordings: recordings } = account;
  return simulate(
    {
      hosts: [HOST],
      authenticate: assertCaller,
      print,
      clock,
      routes: {
        [`GET ${ROOT}.json`]: () =>
          json({ sid: ACCOUNT_SID, friendly_name: "O'Brien & Söhne <Test>", status: 'active', type: 'Full' }),
        ...Object.assign({}, ...Object.values(account).map(routesOf)),
        ...Object.assign({}, ...[messages, calls].map(writesOf)),
        [`GET ${ROOT}/Calls/{sid}/Recordings.json`]: (call) => {
          const { sid } = find(calls, call);
          return list(recordings, call, (row) => row.call_sid === sid);
        },
        [`GET ${ROOT}/Recordings/{sid}.mp3`]: (call) => sound(recordings, call),
      },
      commands: changesOf({ messages, calls, recordings }),
    },
    { baseUrl: `https://${HOST}`, ...options },
  );
}

type Collection = Account[keyof Account];

function routesOf(collection: Collection): Routes {
  const path = `${ROOT}/${collection.name}`;
  return {
    [`GET ${path}.json`]: (call) => list(collection, call),
    [`GET ${path}/{sid}.json`]: (call) => json(present(collection, find(collection, call))),
    [`DELETE ${path}/{sid}.json`]: (call) => remove(collection, find(collection, call)),
  };
}

function writesOf(collection: Collection): Routes {
  const path = `${ROOT}/${collection.name}`;
  return {
    [`POST ${path}.json`]: (call) => create(collection, call),
    [`POST ${path}/{sid}.json`]: (call) => update(collection, find(collection, call), call),
  };
}

/**
 * Finds a resource. A deleted recording is found if the request includes deleted ones.
 * @throws Fault 404
 */
function find({ name, table }: Collection, call: Call): TableRow {
  const row = table.find(call.params.sid ?? '');
  const isFound = row?.deleted !== true || (name === 'Recordings' && isThere(call)(row));
  if (row !== undefined && isFound) return row;
  throw notFound(call.path);
}

/** A frame of silence: MPEG 1, layer III, 32 kbit/s at 32 kHz, mono, no padding, which takes 144 bytes and 36 ms. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x18, 0xc0]), Buffer.alloc(140)]);
const FRAMES_PER_SECOND = 28;

/**
 * Responds with the sound of a recording.
 * @throws Fault 404 also for recordings without sound: unfinished, silent and deleted ones
 */
function sound(recordings: Collection, call: Call): SimulatedResponse {
  const { status, duration, deleted } = find(recordings, call);
  if (status !== 'completed' || deleted === true) throw notFound(call.path);
  const frames = Array.from({ length: 1 + Number(duration) * FRAMES_PER_SECOND }, () => FRAME);
  return typed('audio/mpeg', Buffer.concat(frames));
}

const isAccount = basic(
  'Twilio API',
  ({ username, password }) => username === ACCOUNT_SID && password === AUTH_TOKEN,
  'Authenticate',
);

/** Asserts that the caller may access the account. Other accounts belong to somebody else. */
function assertCaller(call: Call): void {
  isAccount(call);
  const [, account = ACCOUNT_SID] = /^\/2010-04-01\/Accounts\/(AC\w+)/.exec(call.path) ?? [];
  if (account !== ACCOUNT_SID) throw fault(401, 'Authenticate');
}

/** Twilio's codes for errors of the kit. Any other status has the code 20000 plus the status. */
const CODES: Readonly<Record<number, number>> = { 400: 20_001, 401: 20_003, 405: 20_004 };

function print({ status, code, message, headers }: Fault): SimulatedResponse {
  const number = /^\d+$/.test(code) ? Number(code) : (CODES[status] ?? 20_000 + status);
  return json(
    { code: number, message, more_info: `https://www.twilio.com/docs/errors/${number}`, status },
    status,
    headers,
  );
}

/** The content of a webhook: a form, as for most events, or JSON. */
type WebhookEvent = { readonly form: Readonly<Record<string, string>> } | { readonly json: unknown };

/**
 * Returns a signed webhook. The signature covers the URL and, for a form, the names and values sorted by name. For JSON the URL contains
 * the digest of the body.
 * @returns the webhook, and the URL to which it must be sent
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
