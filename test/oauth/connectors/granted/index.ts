import { defineConnector, defineObject, type ProviderResponse, path } from '#connector';

/** The API beside the authorization server of the tests (`startAuthorizationServer`); `siteAddress` says where it runs. */
export default defineConnector({
  key: 'granted',
  id: 990101,
  name: 'Granted',
  description: 'A provider of the tests with OAuth 2.0.',
  hub: 'general',
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `${String(config['base.url'])}/auth`,
    tokenUrl: (config) => `${String(config['base.url'])}/token`,
    scopes: ['openid', 'items.read'],
    authorizeParameters: { prompt: 'consent' },
    siteAddressKey: 'base.url',
  },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where it is.' },
    { key: 'page.limit', type: 'number', description: 'A setting that no credential depends on.' },
  ],
  baseUrl: (config) => `${String(config['base.url'])}/api`,
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  objects: {
    items: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false }, name: { type: 'string' } },
      list: { request: () => ({ path: '/items' }), read: readPage, maxPageSize: 100 },
      get: { request: ({ id }) => ({ path: path`/items/${id}` }), read: ({ body }) => body },
      upload: {
        create: {
          request: () => ({ path: '/items' }),
          read: (response) => ({ record: readPage(response).records[0] }),
        },
      },
    }),
  },
});

function readPage({ body }: ProviderResponse): { readonly records: readonly unknown[] } {
  if (typeof body === 'object' && body !== null && 'records' in body && Array.isArray(body.records)) {
    return { records: body.records };
  }
  throw new Error('The provider answered no page.');
}
