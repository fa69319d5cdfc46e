import { expect } from 'chai';
import type { AccessTokens, ProviderCall } from '../../src/connector/client/index.ts';
import type { Connector, OAuth2Auth } from '../../src/connector/contract.ts';
import { AppError } from '../../src/errors.ts';
import { expectFailure, failureOf } from '../support/failures.ts';
import { json, redirect, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { useClient } from './client-setup.ts';

const AUTH: OAuth2Auth = { type: 'oauth2', tokenUrl: () => 'https://provider.example.com/token' };

describe('the provider client with access tokens', () => {
  const setup = useClient();
  let refused: string[];

  beforeEach(async () => {
    refused = [];
  });

  /** `token-1`, and after a refusal the next one. */
  const tokens: AccessTokens = {
    current: async () => `token-${refused.length + 1}`,
    replace: async (token) => {
      refused.push(token);
      return `token-${refused.length + 1}`;
    },
  };

  function callWith(auth: Partial<OAuth2Auth> = {}, connector: Partial<Connector> = {}): ProviderCall {
    return setup.call({ connector: { auth: { ...AUTH, ...auth }, ...connector }, tokens });
  }

  const sentTokens = () => setup.server.requests.map(({ headers }) => headers.authorization);

  const quoting = (quoted: string) => json({ error: { message: `Not with ${quoted}` } }, 422);

  it('sends the token as Bearer, and takes it out of what the provider says', async () => {
    setup.server.answer('/api/a', quoting('Bearer token-1'), quoting('token-1'));
    for (const shown of ['Not with [redacted]', 'Not with [redacted]']) {
      const error = await failureOf(setup.client.send(callWith(), { path: '/a' }));
      expect(error.providerMessage).to.equal(shown);
    }
    expect(sentTokens()).to.deep.equal(['Bearer token-1', 'Bearer token-1']);
  });

  it('neither sends a token with an anonymous request nor replaces it when that is refused', async () => {
    setup.server.answer('/api/a', status(401));
    const request = { path: '/a', anonymous: true, headers: { 'x-own': '1' } };
    const error = await failureOf(setup.client.send(callWith(), request));
    expect([error.code, refused, sentTokens()]).to.deep.equal(['INSTANCE_CREDENTIALS_FAILED', [], [undefined]]);
  });

  it('knows of a replaced token no more than that one', async () => {
    setup.server.answer('/api/a', status(401), quoting('token-1 or token-2'));
    const error = await failureOf(setup.client.send(callWith(), { path: '/a' }));
    expect(error.providerMessage).to.equal('Not with token-1 or [redacted]');
  });

  it('sends the headers the connector makes of the token and the configuration', async () => {
    setup.server.answer('/api/a', json(1));
    const headers = (token: string, config: object) => ({ 'X-Token': `${token} of ${Object.keys(config)}` });
    await setup.client.send(callWith({ headers }), { path: '/a' });
    expect(setup.server.requests[0]?.headers).to.include({ 'x-token': 'token-1 of apiKey' });
    expect(sentTokens()).to.deep.equal([undefined]);
    setup.server.answer('/api/a', quoting('token-1 of apiKey'));
    const error = await failureOf(setup.client.send(callWith({ headers }), { path: '/a' }));
    expect(error.providerMessage).to.equal('Not with [redacted]');
  });

  it('works out the headers once for each token', async () => {
    let workedOut = 0;
    const headers = (token: string) => ({ 'x-token': `${token} ${++workedOut}` });
    setup.server.answer('/api/a', json(1), json(1), status(401), json(1));
    const call = callWith({ headers });
    for (let sent = 0; sent < 3; sent++) await setup.client.send(call, { path: '/a' });
    expect(workedOut).to.equal(2);
  });

  for (const method of ['GET', 'POST', 'PATCH', 'DELETE'] as const) {
    it(`sends a ${method} again with another token after a refusal, and the same body`, async () => {
      setup.server.answer('/api/a', status(401), json({ id: 1 }));
      const body = method === 'GET' || method === 'DELETE' ? {} : { json: { name: 'Ada' } };
      const response = await setup.client.send(callWith(), { method, path: '/a', ...body });
      expect(response).to.deep.include({ body: { id: 1 } });
      expect(sentTokens()).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
      expect(new Set(setup.server.requests.map((request) => request.body))).to.have.property('size', 1);
      expect(refused).to.deep.equal(['token-1']);
      expect(setup.calls()).to.equal(2);
    });
  }

  it('knows a refusal by what the connector calls one', async () => {
    setup.server.answer('/api/a', json({ error: 'session expired' }), json({ id: 1 }));
    const classify: Connector['classify'] = ({ body }) =>
      JSON.stringify(body).includes('expired') ? { kind: 'credentials' } : undefined;
    await setup.client.send(callWith({}, { classify }), { path: '/a' });
    expect(sentTokens()).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
  });

  it('takes the second refusal as one of the credentials', async () => {
    setup.server.answer('/api/a', status(401));
    const error = await failureOf(setup.client.send(callWith(), { path: '/a' }));
    expect(error).to.include({ code: 'INSTANCE_CREDENTIALS_FAILED', status: 424 });
    expect(sentTokens()).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
  });

  it('does not send again what would be the same', async () => {
    setup.server.answer('/api/a', status(401));
    const only: AccessTokens = { current: async () => 'only-token', replace: async () => 'only-token' };
    const error = await failureOf(setup.client.send({ ...callWith(), tokens: only }, { path: '/a' }));
    expect(error).to.include({ code: 'INSTANCE_CREDENTIALS_FAILED' });
    expect(sentTokens()).to.deep.equal(['Bearer only-token']);
  });

  it('keeps its retries for other failures: another token takes none', async () => {
    setup.server.answer('/api/a', status(503), status(503), status(401), status(503), status(503), json(1));
    await setup.client.send(callWith(), { path: '/a' });
    expect(sentTokens()).to.deep.equal([
      ...Array.from({ length: 3 }, () => 'Bearer token-1'),
      ...Array.from({ length: 3 }, () => 'Bearer token-2'),
    ]);
  });

  it('fails as the tokens do, without sending anything', async () => {
    const failure = new AppError('PROVIDER_UNAVAILABLE', 'No token now.');
    const call = { ...callWith(), tokens: { ...tokens, current: () => Promise.reject(failure) } };
    expect(await failureOf(setup.client.send(call, { path: '/a' }))).to.equal(failure);
    expect(setup.server.requests).to.have.length(0);
  });

  it('does not show the token to another origin that the provider redirects to', async () => {
    const other = await startMisbehavingServer();
    try {
      other.answer('/b', json(1));
      setup.server.answer('/api/a', redirect(`${other.url}/b`));
      const hosts = [setup.server.host, other.host];
      await setup.client.send(callWith({ headers: (token) => ({ 'x-token': token }) }, { hosts }), { path: '/a' });
      expect(setup.server.requests[0]?.headers).to.include({ 'x-token': 'token-1' });
      expect(other.requests[0]?.headers).to.not.have.property('x-token');
    } finally {
      await other.close();
    }
  });

  for (const kind of ['a 401', 'what the connector calls a refusal'] as const) {
    it(`does not take ${kind} of another origin for a refused token, as it was shown none`, async () => {
      const other = await startMisbehavingServer();
      try {
        other.answer('/b', kind === 'a 401' ? status(401) : status(403));
        setup.server.answer('/api/a', redirect(`${other.url}/b`));
        const classify: Connector['classify'] = ({ status: code }) =>
          code === 403 ? { kind: 'credentials' } : undefined;
        const call = callWith({}, { hosts: [setup.server.host, other.host], classify });
        await expectFailure(
          setup.client.send(call, { path: '/a' }),
          'PROVIDER_PROTOCOL',
          `BambooHR redirected to ${other.host}, which requires credentials. Causeway sends them only to ${setup.server.host}, the host of the request.`,
        );
        expect(refused).to.deep.equal([]);
        expect([setup.server.requests.length, other.requests.length]).to.deep.equal([1, 1]);
      } finally {
        await other.close();
      }
    });
  }

  it('previews a request without any token', () => {
    const { connector, config } = callWith();
    expect(setup.client.preview({ connector, config }, { path: '/a' })).to.deep.equal({
      method: 'GET',
      url: `${setup.server.url}/api/a`,
    });
  });
});
