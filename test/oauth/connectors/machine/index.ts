import { defineConnector, defineObject } from '#connector';

/** The API beside the authorization server of the tests, for machines: client credentials, no user. */
export default defineConnector({
  key: 'machine',
  id: 990102,
  name: 'Machine',
  description: 'A provider of the tests with client credentials.',
  hub: 'general',
  auth: {
    type: 'oauth2',
    grant: 'clientCredentials',
    tokenUrl: (config) => `${String(config['base.url'])}/token`,
    scopes: ['items.read'],
  },
  configuration: [{ key: 'base.url', type: 'url', required: true, description: 'Where it is.' }],
  baseUrl: (config) => `${String(config['base.url'])}/api`,
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  objects: {
    items: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      list: { request: () => ({ path: '/items' }), read: () => ({ records: [{ id: 1 }] }), maxPageSize: 100 },
    }),
  },
});
