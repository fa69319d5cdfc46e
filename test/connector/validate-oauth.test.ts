import { expect } from 'chai';
import type { Connector, OAuth2Auth } from '../../src/connector/index.ts';
import { findProblems } from '../../src/connector/validate.ts';
import { leastConnector } from '../support/least-connector.ts';

const AUTH: OAuth2Auth = {
  type: 'oauth2',
  authorizeUrl: () => 'https://login.example.com/authorize',
  tokenUrl: () => 'https://login.example.com/token',
};

function problemsOf(auth: Partial<OAuth2Auth>, changes: Partial<Connector> = {}): readonly string[] {
  const connector = leastConnector({
    auth: { ...AUTH, ...auth },
    configuration: [
      { key: 'site', type: 'url', description: 'The site' },
      { key: 'shop.sandbox', type: 'boolean', default: false, description: 'The sandbox' },
    ],
    baseUrl: () => 'https://login.example.com',
    hosts: ['*.example.com'],
    ...changes,
  });
  return findProblems([connector]);
}

const VALUE = { from: 'token', name: 'url', type: 'url', description: 'Where it is' } as const;
const HTTP = () => 'http://login.example.com/token';
const ELSEWHERE = () => 'https://example.org/token';

describe('an OAuth declaration without problems', () => {
  const DECLARATIONS: Readonly<Record<string, Partial<OAuth2Auth>>> = {
    'for the authorization code': {},
    'for client credentials, without a page': { grant: 'clientCredentials', authorizeUrl: undefined },
    'with a sandbox, a site and values': {
      sandboxKey: 'shop.sandbox',
      siteAddressKey: 'site',
      values: { 'shop.url': VALUE },
      authorizeParameters: { access_type: 'offline' },
      accessTokenSeconds: 3600,
    },
  };
  for (const [name, auth] of Object.entries(DECLARATIONS)) {
    it(name, () => expect(problemsOf(auth)).to.deep.equal([]));
  }

  it('may have addresses that only the settings of an instance make', () => {
    const configuration = [{ key: 'site', type: 'url', required: true, description: 'The site' }] as const;
    expect(problemsOf({ tokenUrl: (config) => `${config.site}/token` }, { configuration })).to.deep.equal([]);
    expect(problemsOf({ tokenUrl: HTTP }, { hosts: () => [] })).to.deep.equal([]);
  });
});

describe('an OAuth declaration with a problem', () => {
  const PROBLEMS: readonly (readonly [Partial<OAuth2Auth>, string])[] = [
    [{ authorizeUrl: undefined }, 'it has no authorizeUrl'],
    [{ accessTokenSeconds: 0 }, 'accessTokenSeconds is not above 0'],
    [{ setup: [] }, 'the set-up of the application has no steps: leave it out'],
    [{ authorizeParameters: { state: 'x' } }, "authorizeParameters sets 'state', which belongs to the flow"],
    [{ tokenParameters: { grant_type: 'x' } }, "tokenParameters sets 'grant_type', which belongs to the flow"],
    [{ siteAddressKey: 'x' }, "siteAddressKey 'x' is not a configuration key of the type string or url"],
    [{ merchantIdKey: 'site' }, "merchantIdKey 'site' is not a configuration key with a pattern and an example"],
    [{ sandboxKey: 'site' }, "sandboxKey 'site' is not a configuration key of the type boolean"],
    [{ values: { site: VALUE } }, "the value 'site' is a configuration key already"],
    [{ values: { 'oauth.x': VALUE } }, "the value 'oauth.x' belongs to the platform"],
    [{ values: { x: { ...VALUE, name: '' } } }, "the value 'x' has no name at the provider"],
    [
      { grant: 'clientCredentials', values: { x: { ...VALUE, from: 'callback' } } },
      "the value 'x' comes with a callback, and client credentials have no callback",
    ],
    [{ tokenUrl: () => '/token' }, 'tokenUrl returns no URL'],
    [{ tokenUrl: HTTP }, 'tokenUrl is not https'],
    [{ authorizeUrl: ELSEWHERE }, 'authorizeUrl leads to example.org, which is not one of its hosts'],
  ];
  for (const [auth, problem] of PROBLEMS) {
    it(problem, () => expect(problemsOf(auth)).to.deep.equal([`shop: ${problem}`]));
  }

  it("takes a key of the platform's", () => {
    const configuration = [{ key: 'oauth.api.key', type: 'string', description: 'x' }] as const;
    expect(problemsOf({}, { configuration })).to.deep.equal([
      "shop: the configuration key 'oauth.api.key' belongs to the platform",
    ]);
  });
});
