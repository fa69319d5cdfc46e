import { expect } from 'chai';
import type { DiscoveryContext, ProviderRequest, WebhookCall } from '#connector';
import { objectOf, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import pipedrive from './index.ts';
import { discoverObjects } from './objects.ts';
import { createSimulator, DEMO_API_TOKEN } from './simulator.ts';
import { hooks } from './webhooks.ts';

const KEY = 'dcf558aac1ae4e8c4f849ba5e668430d8df9be12';

/** Returns a context whose provider responds by path, and the requests. */
function contextOf(bodies: Readonly<Record<string, unknown>>) {
  const requests: ProviderRequest[] = [];
  const context: DiscoveryContext = {
    offload: async () => Promise.reject(new Error('Nothing is offloaded.')),
    config: {},
    signal: new AbortController().signal,
    send: async (request) => {
      requests.push(request);
      return { status: 200, headers: {}, body: bodies[request.path ?? ''] };
    },
  };
  return { context, requests };
}

describe('lists of Pipedrive', () => {
  /** Returns the requests for a filter where a search finds the given ids. */
  async function asked(where: string, found: readonly number[], next: string | null = null) {
    const items = found.map((id) => ({ result_score: 1, item: { id } }));
    const { context, requests } = contextOf({
      '/api/v2/personFields': { data: [] },
      '/api/v2/persons/search': { data: { items }, additional_data: { next_cursor: next } },
      '/api/v2/persons': { data: [], additional_data: { next_cursor: null } },
    });
    const outline = objectOf(await discoverObjects(), 'persons');
    const persons = await outline.describe?.(context);
    if (persons?.list === undefined || !('run' in persons.list)) throw new Error('A list with a search was expected.');
    requests.length = 0;
    const { plan } = prepareQuery({ where }, persons);
    await persons.list.run(context, { filter: plan.native, parameters: {}, fields: [], orderBy: [], limit: 5 });
    return requests.map(({ path, query }) => [path, query]);
  }

  it('search for texts, and read the records by their ids', async () => {
    const search = [
      '/api/v2/persons/search',
      { term: 'a&b@example.com', fields: 'email', exact_match: true, limit: 100 },
    ];
    const where = "email = 'a&b@example.com'";
    expect(await asked(where, [])).to.deep.equal([search]);
    expect(await asked(where, [7, 8])).to.deep.equal([search, ['/api/v2/persons', { ids: '7,8', limit: 5 }]]);
    // More are found than a list can have ids.
    expect(await asked(where, [7, 8], 'next')).to.deep.equal([search, ['/api/v2/persons', { limit: 5 }]]);
  });

  it('combine all parameters but ids', async () => {
    const both = "owner_id = 3 AND update_time >= '2026-01-31T10:00:00.5Z' AND update_time < '2026-02-01'";
    expect(await asked(both, [])).to.deep.equal([
      [
        '/api/v2/persons',
        { owner_id: '3', updated_since: '2026-01-31T10:00:01Z', updated_until: '2026-02-01T00:00:00Z', limit: 5 },
      ],
    ]);
    const [[, query] = []] = await asked('id = 3 AND owner_id = 4', []);
    expect(Object.keys(Object(query))).to.have.lengthOf(2);
  });
});

describe('custom fields of Pipedrive', () => {
  it('have their keys as names, and the types of their values', async () => {
    const field = { field_code: KEY, field_name: 'Score', is_custom_field: true };
    const { context } = contextOf({
      '/api/v2/dealFields': {
        data: [
          { ...field, field_type: 'double' },
          { field_code: 'title', field_name: 'Title', field_type: 'varchar', is_custom_field: false },
        ],
      },
    });
    const deals = await objectOf(await discoverObjects(), 'deals').describe?.(context);
    expect(deals?.fields[KEY]).to.deep.equal({
      ...{ type: 'number', native: `custom_fields.${KEY}`, nativeType: 'double', label: 'Score', custom: true },
      ...{ createable: true, updateable: true },
    });
  });
});

describe('Pipedrive', () => {
  it('is called with an API token in its own header', async () => {
    const provider = await startProvider(pipedrive, createSimulator, { 'oauth.user.token': DEMO_API_TOKEN });
    try {
      const connection = provider.connect();
      const { records } = await connection.list(await connection.describe('users'), { limit: 3 });
      expect(records.length).to.be.greaterThan(2);
      expect(connection.requests).to.deep.equal(['GET https://api.pipedrive.com/v1/users']);
    } finally {
      await provider.stop();
    }
  });

  it('is called at the address of the company, which the log-in tells', () => {
    const address = 'https://demo.pipedrive.com';
    expect(pipedrive.baseUrl({ 'pipedrive.address': address })).to.equal(address);
  });

  it('reads the errors of webhooks, and the limit of a window', () => {
    const body = { status: 'error', success: false, errors: { subscription_url: ['invalid or non-reachable URL'] } };
    expect(pipedrive.classify?.({ status: 400, headers: {}, body })?.message).to.equal(
      'subscription_url: invalid or non-reachable URL',
    );
    const headers = { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '1' };
    expect(pipedrive.rateLimit?.(headers)).to.deep.equal({ limit: 20, remaining: 7, resetSeconds: 1 });
  });

  it('reads webhooks v2', () => {
    const meta = {
      action: 'change',
      entity: 'deal',
      entity_id: '7',
      id: 'b4c6e5a0',
      timestamp: '2026-01-31T01:15:39.902Z',
    };
    const callOf = (changes: object): WebhookCall => ({
      ...{ method: 'POST', url: '', headers: {} },
      body: Buffer.from(JSON.stringify({ meta: { ...meta, ...changes }, data: { id: 7 }, previous: null })),
    });
    const read = (changes: object) =>
      hooks.events(callOf(changes), {}).map(({ raw: _, at, ...rest }) => ({ ...rest, at: at?.toISOString() }));
    expect(read({})).to.deep.equal([
      { id: 'b4c6e5a0', objectId: '7', at: meta.timestamp, action: 'updated', objectName: 'deals' },
    ]);
    expect(read({ entity: 'project' })).to.deep.equal([]);
    expect(() => read({ action: 'merge' })).to.throw("There is no action 'merge'.");
  });
});
