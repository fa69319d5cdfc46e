import { defineConnector, defineObject, type ProviderResponse, path } from '#connector';

/** A provider whose records have files. */
export default defineConnector({
  key: 'filing',
  id: 990002,
  name: 'Filing',
  description: 'A provider of the tests.',
  hub: 'documents',
  auth: { type: 'custom', headers: (config) => ({ 'x-api-key': String(config['api.key']) }) },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where it is.' },
    { key: 'api.key', type: 'string', required: true, secret: true, description: 'Its key.' },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  classify: ({ status, body }) =>
    status === 200 && isRefusal(body) ? { kind: 'rejected', message: body.refused } : undefined,
  objects: {
    invoices: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      get: { request: ({ id }) => ({ path: path`/invoices/${id}` }), read: readBody },
      media: {
        types: ['application/pdf', 'application/xml'],
        request: ({ id }) => ({ path: path`/invoices/${id}` }),
      },
    }),
    files: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      get: { request: ({ id }) => ({ path: path`/files/${id}/info` }), read: readBody },
      media: { types: ['*'], request: ({ id }) => ({ path: path`/files/${id}`, headers: { Accept: '*/*' } }) },
    }),
    scans: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      media: { types: ['image/png'], request: ({ id }) => ({ path: path`/scans/${id}` }) },
    }),
    notes: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      get: { request: ({ id }) => ({ path: path`/notes/${id}` }), read: readBody },
    }),
    entries: defineObject<never>({
      description: 'What was filed, newest first.',
      fields: { id: { type: 'integer', nullable: false } },
      limits: { resultWindow: 40 },
      list: {
        maxPageSize: 20,
        request: ({ cursor = '0', limit }) => ({ path: '/entries', query: { offset: cursor, limit } }),
        read: ({ body }, { cursor = '0', limit }) => ({
          records: Array.isArray(body) ? body : [],
          next: String(Number(cursor) + limit),
        }),
      },
    }),
  },
});

function readBody({ body }: ProviderResponse): unknown {
  return body;
}

function isRefusal(body: unknown): body is { readonly refused: string } {
  return typeof body === 'object' && body !== null && 'refused' in body && typeof body.refused === 'string';
}
