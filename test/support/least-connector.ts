import type { Connector, OAuth2Auth } from '../../src/connector/contract.ts';
import type { OAuthConnector } from '../../src/instances/oauth/fields.ts';

/** Returns a connector with the least that one must declare, with the changes of a test: a shop that sells nothing. */
export function leastConnector(changes: Partial<Connector> & { readonly auth: OAuth2Auth }): OAuthConnector;
export function leastConnector(changes?: Partial<Connector>): Connector;
export function leastConnector(changes: Partial<Connector> = {}): Connector {
  return {
    key: 'shop',
    id: 1,
    name: 'Shop',
    description: 'Things for sale',
    hub: 'general',
    auth: { type: 'none' },
    configuration: [],
    baseUrl: () => 'https://shop.example.com',
    hosts: ['shop.example.com'],
    objects: {},
    probe: { path: '/' },
    ...changes,
  };
}
