import { defineConnector, defineObject } from '#connector';

/** It tells the customer's realm beside the code, and where its API is with the token. */
export default defineConnector({
  key: 'realm',
  id: 990104,
  name: 'Realm',
  description: 'A provider of the tests that tells more than a code.',
  hub: 'general',
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `${String(config['base.url'])}/authorize`,
    tokenUrl: (config) => `${String(config['base.url'])}/token`,
    clientAuthentication: 'body',
    siteAddressKey: 'base.url',
    values: {
      'realm.id': { from: 'callback', name: 'realmId', type: 'string', pattern: /\d+/, description: 'The company.' },
      'api.url': { from: 'token', name: 'api', type: 'url', description: 'Where the API is.' },
    },
  },
  configuration: [{ key: 'base.url', type: 'url', required: true, description: 'Where it is.' }],
  baseUrl: (config) => String(config['api.url'] ?? config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  objects: {
    items: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      list: { request: () => ({ path: '/items' }), read: () => ({ records: [{ id: 1 }] }), maxPageSize: 100 },
    }),
  },
});
