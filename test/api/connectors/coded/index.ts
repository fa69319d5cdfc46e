import { defineConnector, defineObject, json } from '#connector';

/** A provider whose users have a code, which it exchanges once for a token. */
export default defineConnector({
  key: 'coded',
  id: 990004,
  name: 'Coded',
  description: 'A provider of the tests.',
  hub: 'erp',
  auth: {
    type: 'custom',
    headers: (config) => ({ 'x-token': String(config['access.token']), 'x-secret': String(config['client.secret']) }),
    exchange: {
      code: 'authorization.code',
      token: 'access.token',
      request: (config) => ({
        path: '/exchange',
        headers: { 'x-code': String(config['authorization.code']), 'x-secret': String(config['client.secret']) },
      }),
      read: ({ body }) => json.text(json.at(body, 'token'), 'the token'),
    },
  },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where it is.' },
    { key: 'authorization.code', type: 'string', secret: true, description: 'The code of the user.' },
    { key: 'client.secret', type: 'string', required: true, secret: true, description: 'The secret of the client.' },
    { key: 'access.token', type: 'string', secret: true, description: 'A token that there is already.' },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  timeoutMs: 500,
  objects: {
    items: defineObject<never>({
      fields: { id: { type: 'integer', nullable: false } },
      list: {
        request: () => ({ path: '/items' }),
        read: ({ body }) => ({ records: json.array(json.at(body, 'items'), 'the items') }),
        maxPageSize: 100,
      },
    }),
  },
});
