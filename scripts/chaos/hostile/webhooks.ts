import { eventsTo } from './callers.ts';
import {
  API,
  type Armed,
  assertOk,
  asTenant,
  createInstance,
  flooding,
  type HostileInput,
  type Inputs,
  post,
  type StagedInstance,
} from './stage.ts';

/** The configured secrets that verify webhooks of each provider. */
const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bamboohr: {},
  box: { 'webhook.primary.key': 'a key', 'webhook.secondary.key': 'another' },
  clover: { 'webhook.auth.code': 'a code' },
  connectwise: {},
  keap: {},
  quickbooks: { 'webhook.verifier.token': 'a token' },
  twilio: { 'auth.token': 'a token' },
};

/** The headers with signatures of the providers. All of the signatures are invalid. */
const SIGNED: Readonly<Record<string, string>> = {
  'x-bamboohr-signature': 'ab'.repeat(32),
  'x-bamboohr-timestamp': String(Math.floor(Date.now() / 1000)),
  'box-signature-primary': 'wrong',
  'box-signature-secondary': 'wrong',
  'box-delivery-timestamp': new Date().toISOString(),
  'x-clover-auth': 'wrong',
  'x-content-signature': 'wrong',
  'intuit-signature': 'wrong',
  'x-twilio-signature': 'wrong',
};

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const names = (count: number) => Array.from({ length: count }, (_, n) => n);

interface HostileBody {
  readonly type: string;
  readonly body: string;
}

/** Bodies of at most one megabyte. A longer one would be rejected by its length alone. */
const BODIES: readonly HostileBody[] = [
  { type: FORM, body: names(40_000).join('&') },
  { type: FORM, body: names(140_000).join('&') },
  { type: FORM, body: 'a=b&'.repeat(250_000) },
  { type: FORM, body: '&'.repeat(1_000_000) },
  { type: FORM, body: '%61=%62&'.repeat(120_000) },
  { type: JSON_TYPE, body: names(40_000).join('&') },
  { type: 'text/plain', body: names(40_000).join('&') },
  { type: JSON_TYPE, body: `{${names(80_000).map((n) => `"n${n}":1`)}}` },
  { type: JSON_TYPE, body: `{"a":[${'1,'.repeat(500_000)}1]}` },
  { type: JSON_TYPE, body: `${'{"a":'.repeat(150_000)}1` },
  { type: JSON_TYPE, body: `{"Metadata":{"key_url":"${'x'.repeat(900_000)}"}}` },
  { type: JSON_TYPE, body: `{"verificationCode"${' '.repeat(900_000)}x` },
  { type: JSON_TYPE, body: `${' '.repeat(900_000)}x` },
  { type: 'text/xml', body: `<a>${'<b c="d"/>'.repeat(90_000)}</a>` },
  { type: 'multipart/form-data; boundary=x', body: '--x\r\n\r\n\r\n'.repeat(90_000) },
];

const QUERIES = ['', names(9_000).join('&'), 'a=b&'.repeat(14_000), `MessageSid=SM1&${'a&'.repeat(25_000)}`] as const;

/** Returns an input that sends events to an instance. Anybody who knows the URL of an instance can send anything to it. */
function eventsOf(key: string): HostileInput {
  return flooding('webhook', { finding: '26 B1', most: 120, parallel: 2 }, async (armed) => {
    const { eventUrl } = await connect(armed, key);
    if (eventUrl === undefined) throw new Error(`The instance of ${key} has no eventUrl`);
    const { pathname } = new URL(eventUrl);
    return (n) => {
      const query = QUERIES[n % 7] ?? '';
      if (query !== '') return { path: `${pathname}?${query}`, headers: SIGNED };
      const { type, body } = BODIES[n % BODIES.length] ?? { type: FORM, body: '' };
      return { method: 'POST', path: pathname, headers: { ...SIGNED, 'content-type': type }, body };
    };
  });
}

const CALLBACK_URL = 'https://app.example.com/callback';
const ELEMENT_CHARACTERS = 1_000_000;

/** Creates an instance on the simulator, with a log-in if the provider requires one. */
async function connect(ground: Armed, key: string): Promise<StagedInstance> {
  const callback = ground.site.receive(ground.name, (response) => void response.writeHead(204).end());
  const { attacker, tenant } = ground;
  const path = `${API}/elements/${key}`;
  const answer = await attacker.ask({ path, headers: asTenant(tenant), keptCharacters: ELEMENT_CHARACTERS });
  const { simulator, authentication } = JSON.parse(assertOk(answer).text);
  const configuration = { ...simulator.configuration, ...SECRETS[key], ...eventsTo(callback) };
  if (authentication.type !== 'oauth2') return createInstance(ground, key, configuration);
  const providerData = await logIn(ground, key, configuration['oauth.api.key']);
  return createInstance(ground, key, { ...configuration, 'oauth.callback.url': CALLBACK_URL }, { providerData });
}

/** Returns the parameters that arrive at the callback URL. */
async function logIn({ attacker, tenant }: Armed, key: string, apiKey: string): Promise<object> {
  const body = JSON.stringify({ apiKey, callbackUrl: CALLBACK_URL, simulator: true, state: key });
  const begun = await attacker.ask({ ...post(`/elements/${key}/oauth/url`, tenant), body });
  const { oauthUrl } = JSON.parse(assertOk(begun).text);
  const { headers } = await fetch(`${oauthUrl}&auto=approve`, { redirect: 'manual' });
  return Object.fromEntries(new URL(headers.get('location') ?? '').searchParams);
}

export const WEBHOOKS: Inputs = Object.fromEntries(
  Object.keys(SECRETS).map((key) => [`events of ${key}`, eventsOf(key)]),
);
