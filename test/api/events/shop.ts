import { createHmac } from 'node:crypto';
import {
  type Connector,
  defineConnector,
  defineObject,
  handshakes,
  json,
  type ProviderEvent,
  type Webhooks,
  webhooks,
} from '../../../src/connector/index.ts';
import type { ApiAnswer } from '../../support/app.ts';
import { json as respond, useMisbehavingServer } from '../../support/misbehaving-server.ts';

/** What a shop sends: what happened to some of its items. */
export interface ShopEvent {
  readonly id?: string;
  readonly what: string;
  readonly item: string;
  readonly at?: string;
  readonly record?: Readonly<Record<string, unknown>>;
}

const items = defineObject({
  fields: {
    id: { type: 'string', nullable: false },
    name: { type: 'string' },
  },
  get: {
    request: ({ id }) => ({ path: `/items/${id}` }),
    read: ({ body }) => body,
  },
});

function readEvents(call: Parameters<Webhooks['events']>[0]): readonly ProviderEvent[] {
  return json.objects(json.at(webhooks.json(call), 'events'), 'the events').map((raw) => {
    const at = json.findText(raw.at);
    return {
      action: raw.what as ProviderEvent['action'],
      objectName: 'items',
      objectId: json.text(raw.item, 'the item'),
      raw,
      ...(json.findText(raw.id) !== undefined && { id: json.text(raw.id, 'the id') }),
      ...(at !== undefined && { at: new Date(at) }),
      ...(json.isObject(raw.record) && { record: raw.record }),
    };
  });
}

function shop(key: string, id: number, declared: Partial<Webhooks>): Connector {
  return defineConnector({
    key,
    id,
    name: 'Shop',
    description: 'Things for sale',
    hub: 'general',
    auth: { type: 'none' },
    configuration: [{ key: 'hooks.secret', type: 'string', secret: true, description: 'What the shop signs with' }],
    baseUrl: () => 'https://shop.example.com',
    hosts: ['shop.example.com'],
    objects: { items },
    probe: { path: '/' },
    webhooks: { verify: 'unsigned', events: readEvents, ...declared },
  });
}

/** It signs its calls, or does not; and it may want an answer of its own. */
export const SHOPS: readonly Connector[] = [
  shop('shop', 9001, {
    verify: webhooks.hmac({
      header: 'x-shop-signature',
      algorithm: 'sha256',
      encoding: 'hex',
      signed: ({ headers, body }) => [`${headers['x-shop-time']}.`, body],
      signedAt: ({ headers }) => headers['x-shop-time'],
    }),
    secretKey: 'hooks.secret',
    handshake: handshakes.echo({ query: 'challenge' }),
    maxBytes: 200_000,
  }),
  shop('market', 9002, {
    handshake: ({ url }) => {
      const code = new URL(url).searchParams.get('code');
      return code === null ? undefined : { status: 200, headers: {}, body: '', notice: `Enter ${code} at the market.` };
    },
    response: { status: 202, headers: { 'content-type': 'text/xml' }, body: '<Response/>' },
  }),
  // Each call names the key that it is signed with.
  shop('bazaar', 9003, {
    verify: webhooks.hmac({ header: 'x-shop-signature', algorithm: 'sha256', encoding: 'hex' }),
    signingKey: {
      request: (call) => {
        const url = json.findText(json.at(webhooks.json(call), 'key_url'));
        return url === undefined ? undefined : { url };
      },
      read: ({ body }) => json.text(json.at(body, 'key'), 'the key'),
    },
  }),
];

/** The API of the shops, in place of the simulators, while the tests of the suite that calls this run. */
export function useShopServer() {
  const server = useMisbehavingServer({
    otherwise: (response, request) => {
      const key = /\/keys\/(\w+)$/.exec(request.url ?? '')?.[1];
      if (key !== undefined) {
        const status = key === 'later' ? 503 : key === 'none' ? 404 : 200;
        respond({ key: `secret ${key}` }, status)(response, request);
        return;
      }
      const id = /\/items\/(\w+)$/.exec(request.url ?? '')?.[1];
      const isMissing = id?.startsWith('missing') === true;
      respond(isMissing ? { error: 'none' } : { id, name: `Item ${id}` }, isMissing ? 404 : 200)(response, request);
    },
  });
  return {
    server,
    ids: (): readonly string[] => server.requests.flatMap(({ url }) => /\/items\/(\w+)$/.exec(url)?.[1] ?? []),
    overrides: {
      connectors: SHOPS,
      get simulatorsUrl() {
        return server.url;
      },
    },
  };
}

/** Headers as the shop signs. */
export function sign(body: string, secret: string, atMs = Date.now()): Readonly<Record<string, string>> {
  const time = String(Math.floor(atMs / 1000));
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return { 'content-type': 'application/json', 'x-shop-time': time, 'x-shop-signature': signature };
}

export const SHOP_SECRET = 'secret of the shop';

export function bodyOf(...events: readonly ShopEvent[]): string {
  return JSON.stringify({ events });
}

/** As the provider calls: without any authorization. */
export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> {
  const response = await fetch(url, { method: 'POST', body, headers });
  return { status: response.status, headers: response.headers, body: await readBody(response) };
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  return response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text;
}
