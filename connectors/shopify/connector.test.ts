import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';
import { buildSchema, parse, validate } from 'graphql';
import type { ObjectSpec, WebhookCall } from '#connector';
import { prepareQuery } from '../../src/where/index.ts';
import { DESCRIBED } from './described.ts';
import { classify } from './graphql.ts';
import { discoverObjects } from './objects.ts';
import { hooks } from './webhooks.ts';

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, 'official.graphql'), 'utf8'));
const CONFIG = { 'shopify.shop': 'demo' };

/** Discovers an object with one metafield. */
async function describeObject(name: string): Promise<ObjectSpec> {
  const definition = { namespace: 'custom', key: 'colour', name: 'Colour', type: { name: 'single_line_text_field' } };
  const object = (await discoverObjects())[name];
  const found = await object?.describe?.({
    config: CONFIG,
    signal: new AbortController().signal,
    send: async () => ({ status: 200, headers: {}, body: { data: { list: { nodes: [definition] } } } }),
    offload: () => Promise.reject(new Error('Nothing is offloaded.')),
  });
  return found ?? expect.fail(`There is no object '${name}'.`);
}

/** Returns the queries of all operations of an object, for all of its fields. */
function queriesOf({ list, get, create, update, remove, fields }: ObjectSpec): readonly string[] {
  const all = Object.entries(fields).map(([name, spec]) => ({ ...spec, name, native: spec.native ?? name }));
  const input = { id: '1', parentId: '1', values: { note: 'x' }, fields: all, parameters: {}, orderBy: [], limit: 5 };
  return [list, get, create, update, remove].flatMap((operation) => {
    if (operation === undefined || !('request' in operation)) return [];
    return String(Object(operation.request(input, CONFIG).json).query);
  });
}

describe('operations of Shopify', () => {
  for (const name of Object.keys(DESCRIBED)) {
    it(`are valid by the official schema: ${name}`, async () => {
      const object = await describeObject(name);
      const queries = [object, ...Object.values(object.children ?? {})].flatMap(queriesOf);
      expect(queries).to.have.lengthOf.at.least(2);
      for (const query of queries) expect(validate(SCHEMA, parse(query)), query).to.eql([]);
    });
  }
});

describe('searches of Shopify', () => {
  for (const [name, where, text] of [
    ['orders', "id > 5 AND displayFinancialStatus = 'PARTIALLY_PAID'", '(id:>5 AND financial_status:partially_paid)'],
    ['orders', "updatedAt >= '2026-01-31T10:00:00Z'", "updated_at:>='2026-01-31T10:00:00Z'"],
    ['orders', "email = 'Bo) OR (id:*@example.com'", 'email:"Bo) OR (id:*@example.com"'],
    ['orders', 'name = \'a" OR id:"1\'', undefined],
    ['customers', 'email IS NULL AND numberOfOrders != 2', '(-email:* AND -orders_count:2)'],
    ['customers', "updatedAt < '2026-01-31T10:00:00Z'", "updated_at:<='2026-01-31T10:00:00Z'"],
    ['products', "title LIKE 'Snow%' AND vendor LIKE 'a b%'", '(title:Snow* AND vendor:a*)'],
    ['products', "title LIKE 'Zoë’s%' AND vendor LIKE '😀%'", '(title:Zoë* AND id:>=0)'],
    ['products', "status IN ('ACTIVE', 'DRAFT')", '(status:active OR status:draft)'],
  ] as const) {
    it(`${name}: ${where}`, async () => {
      expect(prepareQuery({ where }, await describeObject(name)).plan.native).to.equal(text);
    });
  }
});

describe('responses of Shopify', () => {
  it('are failures with the status 200', () => {
    const judge = (body: object) => classify({ status: 200, headers: {}, body });
    const throttleStatus = { maximumAvailable: 2000, currentlyAvailable: 100, restoreRate: 100 };
    const throttled = {
      errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
      extensions: { cost: { requestedQueryCost: 502, throttleStatus } },
    };
    expect(judge(throttled)).to.eql({ kind: 'rateLimited', message: 'Throttled', retryAfterMs: 5000 });
    const refused = (message: string) => judge({ data: { result: { userErrors: [{ field: ['id'], message }] } } });
    expect(refused('Product does not exist')).to.include({ kind: 'notFound' });
    expect(refused("Title can't be blank")).to.include({ kind: 'rejected', message: "Title can't be blank" });
    expect(judge({ data: { result: { userErrors: [] } } })).to.equal(undefined);
  });
});

describe('webhooks of Shopify', () => {
  const body = '{"id":820982911946154508,"title":"Zoë"}';
  const call = (topic: string, shop = 'demo.myshopify.com', secret = 'hush'): WebhookCall => ({
    method: 'POST',
    url: 'https://causeway.example/events',
    headers: {
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
      ...{ 'x-shopify-topic': topic, 'x-shopify-shop-domain': shop, 'x-shopify-webhook-id': 'w1' },
    },
    body: Buffer.from(body),
  });

  it("are verified as by Shopify's own library", async () => {
    const { webhooks } = shopifyApi({
      ...{ apiKey: 'key', apiSecretKey: 'hush', hostName: 'causeway.example', isEmbeddedApp: false },
      ...{ apiVersion: ApiVersion.July26, logger: { level: LogSeverity.Error } },
    });
    for (const each of [call('orders/create'), call('orders/create', undefined, 'other')]) {
      const verdict = hooks.verify !== 'unsigned' && hooks.verify(each, { secret: 'hush', now: 0, config: CONFIG });
      const headers = { ...each.headers, 'x-shopify-api-version': '2026-07' };
      const judged = await webhooks.validate({ rawBody: body, rawRequest: { headers } });
      expect(verdict).to.equal(judged.valid ? 'genuine' : 'forged');
    }
    expect(
      hooks.verify !== 'unsigned' && hooks.verify(call('orders/create'), { secret: 'hush', now: 0, config: CONFIG }),
    ).to.equal('genuine');
  });

  it('are read with all digits, and only those of the shop', () => {
    const [event] = hooks.events(call('draft_orders/delete'), CONFIG);
    expect(event).to.include({
      action: 'deleted',
      objectName: 'draftOrders',
      objectId: '820982911946154508',
      id: 'w1',
    });
    expect(hooks.events(call('orders/updated', 'other.myshopify.com'), CONFIG)).to.eql([]);
    expect(hooks.events(call('app/uninstalled'), CONFIG)).to.eql([]);
  });
});
