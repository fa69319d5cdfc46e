import { createHmac } from 'node:crypto';
import {
  type Call,
  createEnteredWebhooks,
  json,
  type MovableClock,
  type Routes,
  type SimulatorMemory,
  type SimulatorOptions,
  signWebhook,
} from '#connector/simulator';
import { refuse } from './fields.ts';
import { CLIENTS, isApp } from './login.ts';

interface Dynamic {
  readonly id: number;
  readonly url: string;
  readonly jqlFilter: string;
  readonly events: readonly string[];
  readonly expirationDate: number;
}

/** Webhooks that an app registers expire after 30 days. */
const LIFETIME_MS = 30 * 86_400_000;
const MOST_PER_APP = 5;
const ROOT = '/rest/api/3/webhook';

interface WebhookOptions extends Pick<SimulatorOptions, 'send'> {
  readonly clock: MovableClock;
  readonly memory: SimulatorMemory;
  /** Returns whether the issue of an event matches a filter. */
  readonly matches: (jql: string, event: Readonly<Record<string, unknown>>) => boolean;
}

/** Creates the webhooks that administrators enter, which a secret signs, and those that apps register, which a token accompanies. */
export function createWebhooks({ send, clock, memory, matches }: WebhookOptions) {
  const entered = createEnteredWebhooks(send);
  const saved: unknown = memory.load();
  let dynamic: readonly Dynamic[] = Array.isArray(saved) ? saved : [];
  const keep = (webhooks: readonly Dynamic[]) => {
    dynamic = webhooks;
    memory.save(webhooks);
  };
  const current = () => dynamic.filter(({ expirationDate }) => expirationDate > clock.now());

  function report(webhookEvent: string, about: Readonly<Record<string, unknown>>): void {
    const event = { timestamp: clock.now(), webhookEvent, ...about };
    entered.report(({ secret }) => {
      const signature = { secret, header: 'x-hub-signature', prefix: 'sha256=' } as const;
      const { headers, body } = signWebhook(signature, event, { nowMs: clock.now() });
      if (secret !== '') return { headers, body };
      const { 'x-hub-signature': _, ...unsigned } = headers;
      return { headers: unsigned, body };
    });
    for (const url of new Set(current().map((webhook) => webhook.url))) {
      const matched = current().filter(
        (each) => each.url === url && each.events.includes(webhookEvent) && matches(each.jqlFilter, event),
      );
      if (matched.length === 0) continue;
      const body = JSON.stringify({ ...event, matchedWebhookIds: matched.map(({ id }) => id) });
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${makeToken(clock.now())}` };
      send?.({ url, headers, body });
    }
  }

  const idsIn = ({ body }: Call): readonly unknown[] => {
    const { webhookIds } = body.object();
    return Array.isArray(webhookIds) ? webhookIds : [];
  };
  const guarded =
    (handler: Routes[string]): Routes[string] =>
    (call) => {
      if (!isApp(call)) throw refuse('Only Connect and OAuth 2.0 apps can use this operation.', 403);
      return handler(call);
    };
  const routes: Routes = {
    [`GET ${ROOT}`]: guarded(() => {
      const values = current();
      return json({ startAt: 0, maxResults: 100, total: values.length, isLast: true, values });
    }),
    [`POST ${ROOT}`]: guarded(({ body }) => {
      const { url, webhooks } = body.object();
      const asked: readonly Pick<Dynamic, 'jqlFilter' | 'events'>[] = Array.isArray(webhooks) ? webhooks : [];
      const results = asked.map(({ jqlFilter, events }) => {
        if (current().length >= MOST_PER_APP) return { errors: ['The number of webhooks is limited to 5 per app.'] };
        const id = 1 + Math.max(0, ...dynamic.map((each) => each.id));
        keep([...dynamic, { id, url: String(url), jqlFilter, events, expirationDate: clock.now() + LIFETIME_MS }]);
        return { createdWebhookId: id };
      });
      return json({ webhookRegistrationResult: results });
    }),
    [`PUT ${ROOT}/refresh`]: guarded((call) => {
      const expirationDate = clock.now() + LIFETIME_MS;
      const ids = idsIn(call);
      keep(current().map((each) => (ids.includes(each.id) ? { ...each, expirationDate } : each)));
      return json({ expirationDate });
    }),
    [`DELETE ${ROOT}`]: guarded((call) => {
      const ids = idsIn(call);
      keep(dynamic.filter(({ id }) => !ids.includes(id)));
      return { status: 202 };
    }),
  };
  return { routes, report, commands: entered.commands };
}

/** Returns a JSON web token that the secret of the app signs (RFC 7515, HS256). Source: "Webhooks", OAuth 2.0 apps. */
function makeToken(nowMs: number): string {
  const [[clientId, { secret = '' }] = ['', {}]] = Object.entries(CLIENTS);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(nowMs / 1000);
  const signed = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode({ iss: clientId, iat: seconds, exp: seconds + 180 })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
