import { expect } from 'chai';
import type { OAuth2Auth } from '../../../src/connector/index.ts';
import {
  type AuthorizationRequest,
  agreeOnSettings,
  authorizationUrl,
  readCallbackValues,
} from '../../../src/instances/oauth/authorize.ts';
import type { OAuthConnector } from '../../../src/instances/oauth/fields.ts';
import { leastConnector } from '../../support/least-connector.ts';

const AUTH: OAuth2Auth = {
  type: 'oauth2',
  authorizeUrl: () => 'https://login.shop.example/authorize?tenant=1',
  tokenUrl: () => 'https://login.shop.example/token',
  scopes: ['a', 'b'],
};

const connectorWith = (auth: Partial<OAuth2Auth> = {}): OAuthConnector =>
  leastConnector({
    auth: { ...AUTH, ...auth },
    baseUrl: () => 'https://login.shop.example',
    hosts: ['login.shop.example'],
  });

describe('an authorization, without a network', () => {
  const request: AuthorizationRequest = {
    connector: connectorWith(),
    config: {},
    clientId: 'my-client',
    callbackUrl: 'https://app.example.com/cb',
    state: 'the state',
    // RFC 7636, appendix B.
    verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    simulator: undefined,
  };

  it('begins at the page of the provider, with the challenge of its verifier', () => {
    const url = new URL(authorizationUrl(request));
    expect(url.origin + url.pathname).to.equal('https://login.shop.example/authorize');
    expect(Object.fromEntries(url.searchParams)).to.deep.equal({
      tenant: '1',
      response_type: 'code',
      client_id: 'my-client',
      redirect_uri: 'https://app.example.com/cb',
      scope: 'a b',
      state: 'the state',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
  });

  it('begins without a challenge, a state or a scope where there is none', () => {
    const connector = connectorWith({ scopes: [] });
    const bare = { ...request, connector, state: undefined, verifier: undefined, config: { 'oauth.scope': '' } };
    const { searchParams } = new URL(authorizationUrl(bare));
    expect(searchParams.has('code_challenge')).to.equal(false);
    expect(searchParams.has('state')).to.equal(false);
  });

  it('ends with the settings that its URL was made with, unless those that are open lead elsewhere', () => {
    const given = { base: {}, given: {}, state: 'x' };
    const open = [{ 'oauth.scope': 'a' }, { 'oauth.scope': 'b' }] as const;
    expect(agreeOnSettings(connectorWith(), open, given)).to.deep.equal({});
    expect(() => agreeOnSettings(connectorWith(), [{ sandbox: true }, {}], given)).to.throw(
      'Several authorizations of Shop are open with this client, callback URL and state, and they differ in sandbox.',
    );
  });

  it('ends with what the provider told beside the code, of its own hosts only', () => {
    const value = { from: 'callback', name: 'api', type: 'url', description: '' } as const;
    const connector = connectorWith({ values: { 'shop.api': value } });
    const at = { config: {}, simulator: undefined };
    const told = readCallbackValues(connector, { code: 'x', api: 'https://login.shop.example/v1/' }, at);
    expect(told).to.deep.equal({ 'shop.api': 'https://login.shop.example/v1' });
    expect(() => readCallbackValues(connector, { code: 'x', api: 'https://evil.example' }, at)).to.throw(
      "providerData: 'api' leads to the host evil.example, which is not a host of Shop.",
    );
  });
});
