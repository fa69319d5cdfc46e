import type { Connector, OAuth2Auth } from '../../src/connector/contract.ts';
import type { OAuthConnector } from '../../src/instances/oauth/fields.ts';

/** The least that a connector declares, with what a test changes: a shop that sells nothing. */
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
