import { defineConnector } from '#connector';

/** With a host per customer, a sandbox and quirks; nothing is ever sent to it. */
export default defineConnector({
  key: 'sited',
  id: 990103,
  name: 'Sited',
  description: 'A provider of the tests with a host per customer.',
  hub: 'general',
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `https://${String(config.site ?? loginHost(config))}/authorize?prompt=login`,
    tokenUrl: (config) => `https://${String(config.site ?? loginHost(config))}/token`,
    scopes: ['read', 'write'],
    scopeSeparator: ',',
    pkce: false,
    authorizeParameters: { access_type: 'offline' },
    siteAddressKey: 'site',
    sandboxKey: 'sited.sandbox',
  },
  configuration: [
    { key: 'site', type: 'string', description: 'The host of the account.' },
    { key: 'sited.sandbox', type: 'boolean', default: false, description: 'The sandbox.' },
  ],
  baseUrl: (config) => `https://${String(config.site ?? loginHost(config))}`,
  hosts: ['*.sited.example'],
  probe: { path: '/' },
  objects: {},
});

function loginHost(config: Readonly<Record<string, unknown>>): string {
  return config['sited.sandbox'] === true ? 'test.sited.example' : 'login.sited.example';
}
