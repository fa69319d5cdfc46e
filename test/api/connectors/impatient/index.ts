import { defineConnector, defineObject, type ProviderResponse, path } from '#connector';

/** As a connector outside this repository is written. It gives its provider half a second. */
export default defineConnector({
  key: 'impatient',
  id: 990001,
  name: 'Impatient',
  description: 'A provider of the tests.',
  hub: 'general',
  auth: { type: 'custom', headers: (config) => ({ 'x-api-key': String(config['api.key']) }) },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where it is.' },
    { key: 'api.key', type: 'string', required: true, secret: true, description: 'Its key.' },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  timeoutMs: 500,
  objects: {
    items: defineObject<never>({
      fields: {
        id: { type: 'integer', nullable: false },
        name: { type: 'string', createable: true, updateable: true },
      },
      list: {
        request: ({ cursor }) => ({ path: '/items', query: { cursor } }),
        read: ({ body }) => readPage(body),
        maxPageSize: 100,
      },
      get: { request: ({ id }) => ({ path: path`/items/${id}` }), read: readBody },
      create: { request: ({ values }) => ({ method: 'POST', path: '/items', json: values }), read: readBody },
      update: {
        request: ({ id, values }) => ({ method: 'PATCH', path: path`/items/${id}`, json: values }),
        read: readBody,
      },
      remove: { request: ({ id }) => ({ method: 'DELETE', path: path`/items/${id}` }), read: () => undefined },
    }),
    // A name that the platform has a path of its own for.
    accounts: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      list: { request: () => ({ path: '/accounts' }), read: ({ body }) => readPage(body), maxPageSize: 100 },
    }),
  },
});

interface Page {
  readonly records: readonly unknown[];
  readonly next?: string;
}

function readPage(body: unknown): Page {
  if (!isPage(body)) throw new Error('The provider answered no page.');
  return body;
}

function isPage(body: unknown): body is Page {
  return typeof body === 'object' && body !== null && 'records' in body && Array.isArray(body.records);
}

function readBody({ body }: ProviderResponse): unknown {
  return body;
}
