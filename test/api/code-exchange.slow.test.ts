import { expect } from 'chai';
import { type ApiAnswer, useSharedApp } from '../support/app.ts';
import {
  type Behaviour,
  brokenJson,
  hang,
  json,
  resetBeforeAnswer,
  startMisbehavingServer,
  status,
  useMisbehavingServer,
} from '../support/misbehaving-server.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { countRows } from './support/tenants.ts';

const SECRET = 'secret-of-the-client';
const MASK = '********';

describe('a code that is exchanged once for a token', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const provider = useMisbehavingServer();
  let code: string;
  let token: string;
  let codes = 0;

  /** As the provider of the connector `coded` does it: each code once, for a token of its own. */
  const exchange: Behaviour = (response, request) => {
    const isGood = request.headers['x-code'] === code && request.headers['x-secret'] === SECRET && !spent.has(code);
    spent.add(String(request.headers['x-code']));
    const refusal = json(
      { error: `Code ${request.headers['x-code']} of ${request.headers['x-secret']} is no good` },
      403,
    );
    return (isGood ? json({ token }) : refusal)(response, request);
  };
  const spent = new Set<string>();
  const forToken: Behaviour = (response, request) =>
    (request.headers['x-token'] === token ? json({ items: [{ id: 1 }] }) : status(401))(response, request);
  beforeEach(() => {
    code = `code-of-the-user-${++codes}`;
    token = `token-of-the-provider-${codes}`;
    provider.answer('/exchange', exchange);
    provider.answer('/me', forToken);
    provider.answer('/items', forToken);
  });

  const settings = () => ({ 'base.url': provider.url, 'client.secret': SECRET });
  const create = (configuration: object) =>
    service.send('POST', '/instances', {
      element: { key: 'coded' },
      name: 'x',
      configuration: { ...settings(), ...configuration },
    });
  const createWithCode = async () => (await create({ 'authorization.code': code })).body;
  const change = (id: number, configuration: object, method = 'PATCH') =>
    service.send(method, `/instances/${id}`, { ...(method === 'PUT' && { name: 'x' }), configuration });
  const shown = async (id: number) => await service.get(`/instances/${id}/configuration`);
  const sentTo = (path: string) => provider.requests.filter(({ url }) => url === path).length;
  const expectAbsent = ({ body }: ApiAnswer, ...secrets: readonly string[]) => {
    for (const secret of [SECRET, ...secrets]) {
      expect(JSON.stringify(body)).not.to.include(secret);
      expect(service.logged.join('\n')).not.to.include(secret);
    }
  };
  /** What the new code is worth. */
  const renew = () => {
    const old = [code, token] as const;
    code = `another-code-${++codes}`;
    token = `another-token-${codes}`;
    return old;
  };

  it('is shown as two keys of an element of type custom, neither of which is required', async () => {
    const body = await service.get('/elements/coded');
    expect(body.authentication.type).to.equal('custom');
    const keys = body.configuration.map(({ key, required, secret }: Record<string, unknown>) => [
      key,
      required,
      secret,
    ]);
    expect(keys).to.deep.include.members([
      ['authorization.code', false, true],
      ['client.secret', true, true],
      ['access.token', false, true],
    ]);
  });

  it('makes an instance that keeps the token, and not the code', async () => {
    const response = await create({ 'authorization.code': code });
    expect(await shown(response.body.id)).to.deep.equal({ ...settings(), 'client.secret': MASK, 'access.token': MASK });
    expect(await service.get('/items', { token: response.body.token })).to.deep.equal([{ id: 1 }]);
    expectAbsent(response, code, token);
    const sent = provider.requests.find(({ url }) => url === '/exchange');
    expect(sent?.headers).to.include({ 'x-code': code, 'x-secret': SECRET }).and.not.have.property('x-token');
  });

  it('needs no code where a token is given', async () => {
    const exchanges = sentTo('/exchange');
    expect((await create({ 'access.token': token })).status).to.equal(200);
    const refused = await create({ 'access.token': 'not-the-token' });
    const message = 'Coded rejects these credentials. Check base.url, client.secret, access.token. Nothing was stored.';
    expectProblem(refused, 'PROVIDER_CREDENTIALS_INVALID', message);
    expect(sentTo('/exchange')).to.equal(exchanges);
  });

  it('is asked for where neither is given, beside what else is missing', async () => {
    const missing = "'authorization.code' is required: The code of the user.";
    for (const none of [{}, { 'authorization.code': '' }, { 'authorization.code': MASK }, { 'access.token': null }]) {
      expectFaults(await create({ ...none, 'client.secret': null }), {
        'body.configuration.authorization.code': missing,
        'body.configuration.client.secret': "'client.secret' is required: The secret of the client.",
      });
    }
    expectProblem(await create({}), 'REQUEST_INVALID', `The configuration of Coded: ${missing}`);
  });

  it('is named when the provider refuses it, quoted by nobody, sent once, and nothing is stored', async () => {
    await createWithCode();
    const [instances, exchanges] = [await countRows(service, 'instance'), sentTo('/exchange')];
    const response = await create({ 'authorization.code': code });
    const message =
      "Coded refuses the code in 'authorization.code' or the other settings. A code can be used once, and only for a short time. Get a new one. Nothing was stored.";
    expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', message);
    expect(faultsOf(response)).to.deep.equal({ 'body.configuration.authorization.code': 'is refused' });
    expect(response.body.providerMessage).to.equal('Code [redacted] of [redacted] is no good');
    expectAbsent(response, code, token);
    expect([await countRows(service, 'instance'), sentTo('/exchange')]).to.deep.equal([instances, exchanges + 1]);
  });

  for (const [what, trouble, error] of [
    ['503', status(503), 'PROVIDER_UNAVAILABLE'],
    ['an answer that never comes', hang, 'PROVIDER_TIMEOUT'],
    ['a cut connection', resetBeforeAnswer, 'PROVIDER_UNAVAILABLE'],
    ['broken JSON', brokenJson, 'PROVIDER_PROTOCOL'],
    ['no token in the answer', json({ token: null }), 'PROVIDER_PROTOCOL'],
  ] as const) {
    it(`may be used up by ${what}, so that it is not sent again`, async () => {
      provider.answer('/exchange', trouble);
      const before = sentTo('/exchange');
      const response = await create({ 'authorization.code': code });
      const hint =
        "The code in 'authorization.code' may be used up. If it is refused, get a new one. Nothing was stored.";
      expectProblem(response, error);
      expect(response.body.message.endsWith(hint)).to.equal(true);
      expect(sentTo('/exchange')).to.equal(before + 1);
    });
  }

  it('is not lost to a provider that is out of order right after the exchange', async () => {
    for (const trouble of [status(503), status(429, { 'retry-after': '60' }), hang]) {
      renew();
      provider.answer('/me', trouble);
      const { status: made, body } = await create({ 'authorization.code': code });
      expect([made, body.valid]).to.deep.equal([200, true]);
      expect((await service.call('/items', { token: body.token })).status).to.equal(200);
    }
  });

  it('is worth nothing where the provider then refuses the token', async () => {
    provider.answer('/me', status(403));
    const response = await create({ 'authorization.code': code });
    const message =
      'Coded rejects these credentials. Check base.url, authorization.code, client.secret. Nothing was stored.';
    expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', message);
  });

  for (const method of ['PATCH', 'PUT']) {
    it(`${method} keeps the token without one, and replaces it by one`, async () => {
      const { id, token: ofInstance } = await createWithCode();
      const exchanges = sentTo('/exchange');
      const configuration = await shown(id);
      const kept = await change(id, { ...settings(), 'access.token': MASK }, method);
      expect(kept.body.configuration).to.deep.equal(configuration);
      expect((await change(id, settings(), method)).body.configuration).to.deep.equal(configuration);
      expect(sentTo('/exchange')).to.equal(exchanges);
      const old = renew();
      const replaced = await change(id, { ...configuration, 'authorization.code': code }, method);
      expect(replaced.body.configuration).to.deep.equal(configuration);
      expectAbsent(replaced, ...old, code, token);
      expect((await service.call('/items', { token: ofInstance })).status).to.equal(200);
    });
  }

  it('leaves the token of before in force when it is refused', async () => {
    const instance = await createWithCode();
    const response = await change(instance.id, { 'authorization.code': 'a-code-of-nobody' });
    expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID', /^Coded refuses the code in 'authorization\.code'/);
    expect((await service.call('/items', { token: instance.token })).status).to.equal(200);
  });

  it('is not needed for another secret, which the provider sees with the token', async () => {
    const { id } = await createWithCode();
    const exchanges = sentTo('/exchange');
    expect((await change(id, { 'client.secret': 'another-secret' })).status).to.equal(200);
    expect(provider.requests.at(-1)?.headers).to.include({ 'x-secret': 'another-secret', 'x-token': token });
    provider.answer('/me', status(401));
    expectProblem(await change(id, { 'client.secret': 'a-third-secret' }), 'PROVIDER_CREDENTIALS_INVALID');
    expect(sentTo('/exchange')).to.equal(exchanges);
  });

  it('is wanted, with the secret, by another address: neither that nor the token goes there', async () => {
    const { id } = await createWithCode();
    const elsewhere = await startMisbehavingServer();
    elsewhere.answer('/exchange', exchange);
    elsewhere.answer('/me', forToken);
    try {
      const move = { 'base.url': elsewhere.url };
      const places = ['body.configuration.client.secret', 'body.configuration.access.token'];
      expect(faultsOf(await change(id, move))).to.have.keys(places);
      renew();
      const withCode = await change(id, { ...move, 'authorization.code': code });
      expect(faultsOf(withCode)).to.have.keys(places.slice(0, 1));
      expect(elsewhere.requests).to.deep.equal([]);
      const moved = await change(id, { ...move, 'authorization.code': code, 'client.secret': SECRET });
      expect(moved.status).to.equal(200);
    } finally {
      await elsewhere.close();
    }
  });

  it('is asked for again when the token is taken away', async () => {
    const { id } = await createWithCode();
    const response = await change(id, { 'access.token': null });
    expect(faultsOf(response)).to.have.keys('body.configuration.authorization.code');
  });
});
