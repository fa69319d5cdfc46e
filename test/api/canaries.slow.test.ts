import { randomBytes } from 'node:crypto';
import { delimiter } from 'node:path';
import { expect } from 'chai';
import { OAUTH_CONNECTORS } from '../oauth/support/setup.ts';
import { type ApiAnswer, type ApiCall, ENCRYPTION_KEYS, useApp } from '../support/app.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { json, type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { useCollector } from '../support/otlp/collector.ts';
import { until } from '../support/until.ts';
import { createSource, QUICK, sendEvent, waitForDeliveries } from './events/receiving.ts';
import { QUOTATIONS, quoting, tracesOf } from './support/canaries.ts';
import { arrive } from './support/oauth-proxies.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { traceOfRequest } from './support/span-tree.ts';
import { readEverything } from './support/tenants.ts';

/** With characters that every encoding writes differently. */
const canary = (name: string) => `canary ${name}+"q/${randomBytes(8).toString('hex')}`;
const headerCanary = (name: string) => `canary-${name}/${randomBytes(8).toString('hex')}`;
const ROUNDS = Object.keys(QUOTATIONS).length;

describe('canary secrets, planted on every path', function canaries() {
  this.timeout(60_000);
  const collector = useCollector();
  const connectors = [OUTSIDE_CONNECTORS, OAUTH_CONNECTORS].join(delimiter);
  const collectorSecret = headerCanary('collector');
  const service = useApp(
    () => ({
      CONNECTORS_PATH: connectors,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${encodeURIComponent(collectorSecret)}`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_BSP_MAX_QUEUE_SIZE: '100000',
    }),
    { engineOptions: QUICK, recorderOptions: { flushMs: 20 } },
  );
  const planted = new Map<string, string>();
  const answers: { readonly what: string; readonly answer: ApiAnswer }[] = [];
  let provider: MisbehavingServer;
  let authorizationServer: AuthorizationServer;

  function plant(name: string, secret: string): string {
    planted.set(name, secret);
    return secret;
  }

  /** Keeps the answer for the search. What the contract shows secrets in is asked for by `service.call`. */
  async function search(path: string, call: ApiCall = {}): Promise<ApiAnswer> {
    const response = await service.call(path, call);
    answers.push({ what: `${call.method ?? 'GET'} ${path}`, answer: response });
    return response;
  }

  /** From here on headers and bodies of what its provider is sent and answers are kept. */
  const trace = (id: number) => service.send('PUT', `/instances/${id}/trace-logging`);
  const post = (path: string, body: unknown, more: ApiCall = {}) => search(path, { method: 'POST', body, ...more });
  const patch = (path: string, body: unknown, more: ApiCall = {}) => search(path, { method: 'PATCH', body, ...more });

  /**
   * Everything a caller can do wrong with a secret that the call also brings in its place: `key` is its configuration key. What stands nowhere
   * in its place is no secret of that call, and nothing more than a text of its caller.
   */
  async function misplace(secret: string, key = 'oauth.api.secret'): Promise<void> {
    const configuration = {
      'base.url': 'https://shop.example.com/odata/v4/private',
      username: 'x',
      simulator: true,
      [key]: secret,
    };
    const body = { element: { key: 'odata' }, name: 'x', configuration };
    await post('/instances', { ...body, configuration: { ...configuration, [secret]: 1 } });
    await post('/instances', { ...body, element: { key: secret } });
    await post('/instances', { ...body, configuration: { ...configuration, 'base.url': [secret] } });
    await post('/instances', { ...body, [secret]: secret });
    await post('/instances', { ...body, providerData: { code: secret, error_description: secret } });
    await post('/instances', `{"configuration": {"password": ${JSON.stringify(secret)}`);
    await patch(`/instances/${encodeURIComponent(secret)}`, body);
    await patch('/instances/1/configuration', { [key]: secret, [secret]: secret });
    await post('/elements/oauthProxies', { name: secret, apiKey: 'x', apiSecret: secret, [secret]: 1 });
    await post('/elements/oauthProxies', { name: 'x', apiKey: 'x', apiSecret: secret, configuration: secret });
    const query = { apiSecret: secret, apiKey: 'x', callbackUrl: 'https://app.example.com/' };
    await search(`/elements/${encodeURIComponent(secret)}/oauth/url`, { query });
    await search(`/elements/${encodeURIComponent(secret)}`, { query });
    await search('/elements/granted/oauth/url', { query: { ...query, [secret]: 1 } });
    await search('/elements/granted/oauth/url', { query: { ...query, oauthProxyName: secret } });
    await search('/elements/granted/oauth/url', { query, headers: { accept: encodeURIComponent(secret) } });
  }

  /** With a secret of the header: of a caller, or with `token` of an instance. */
  async function misplaceInQueries(path: string, secret: string, call: ApiCall = {}): Promise<void> {
    await search(path, { ...call, query: { where: `${JSON.stringify(secret)} = '${secret.replaceAll("'", "''")}'` } });
    await search(path, { ...call, query: { where: `nmae = '${secret}'`, nextPage: secret } });
    await search(`${path}?${encodeURIComponent(secret)}=1`, call);
    await search(`${path}/${encodeURIComponent(secret)}`, call);
    await search(`/${encodeURIComponent(secret)}`, call);
    await search(path, { ...call, headers: { 'idempotency-key': 'x', accept: secret } });
  }

  before('the servers', async () => {
    provider = await startMisbehavingServer();
    authorizationServer = await startAuthorizationServer();
    plant('organization secret', service.organizationSecret);
    plant('user secret', service.userSecret);
    plant('collector secret', collectorSecret);
    plant('encryption key', ENCRYPTION_KEYS.slice('test:'.length));
  });

  after(async () => {
    await provider.close();
    await authorizationServer.close();
  });

  it('in headers of authorization, right and wrong', async () => {
    const wrong = plant('wrong user secret', headerCanary('authorization'));
    const { userSecret, organizationSecret } = service;
    for (const authorization of [
      `User ${wrong}, Organization ${organizationSecret}`,
      `User ${userSecret}, Organization ${wrong}`,
      `User ${userSecret}, Element ${wrong}`,
      `Bearer ${wrong}`,
      wrong,
      `User ${userSecret}, Organization ${organizationSecret}, Planet ${wrong}`,
    ]) {
      expect((await search('/elements', { headers: { authorization } })).status).to.equal(401);
    }
    await misplace(userSecret);
    await misplaceInQueries('/instances', userSecret);
  });

  it('in an instance with a password, its token, and a provider that quotes the password', async () => {
    const password = plant('password', canary('basic'));
    provider.answer('/api/', json({ value: [] }));
    const configuration = { 'base.url': `${provider.url}/api`, username: 'canary-user', password };
    const body = { element: { key: 'odata' }, name: 'Shop', configuration };
    const headers = { 'idempotency-key': 'canary-key' };
    const created = await service.send('POST', '/instances', body, { headers });
    expect(created.status).to.equal(200);
    const { id } = created.body;
    const token = plant('instance token', created.body.token);
    await trace(id);
    expect(await service.change('POST', '/instances', body, { headers })).to.deep.equal(created.body);
    await misplace(password, 'password');
    await misplaceInQueries('/items', password, { token });
    await misplaceInQueries('/items', token, { token });
    await search(`/instances/${id}/configuration`);
    for (const code of [401, 403, 422, 500]) {
      provider.answer('/api/', ...quoting(password, [code]));
      provider.answer('/api/$metadata', ...quoting(password, [code]));
      for (let round = 0; round < ROUNDS; round++) {
        await search('/items', { token });
        await post('/instances', body);
        await patch(`/instances/${id}/configuration`, { password: plant('new password', canary(`new ${code}`)) });
      }
    }
    await search(`/${encodeURIComponent(token)}`, { token });
    await search('/items', { token: `${token}x` });
  });

  it('in an instance with a key of its own kind', async () => {
    const key = plant('api key', headerCanary('custom'));
    await misplace(key, 'api.key');
    provider.answer('/me', json({}));
    const configuration = { 'base.url': provider.url, 'api.key': key };
    const { id, token } = await service.createInstance('impatient', configuration);
    plant('second token', token);
    await trace(id);
    provider.answer('/items', ...quoting(key, [403, 422, 503]));
    for (let round = 0; round < 3 * ROUNDS; round++) {
      await search('/items', { token });
      await post('/items', { name: key }, { token });
      await post('/items', { [key]: 1 }, { token });
    }
    await search(`/items/${encodeURIComponent(key)}`, { token });
    await search(`/instances/${id}/configuration`);
    provider.answer('/items', ...quoting(key, [401]));
    await search('/items', { token });
    await search('/instances', { query: { where: 'valid = false', fields: 'id,valid' } });
  });

  it('in bulk jobs of an instance whose provider quotes its key of every row, and of a page', async () => {
    const key = plant('key of bulk jobs', headerCanary('bulk'));
    provider.answer('/me', json({}));
    const { id, token } = await service.createInstance('impatient', { 'base.url': provider.url, 'api.key': key });
    plant('token of bulk jobs', token);
    await trace(id);
    const callbackUrl = `${provider.url}/told`;
    const send = (metaData: object, file: string, path = '/bulk/items') => {
      const body = new FormData();
      body.append('metaData', JSON.stringify(metaData));
      body.append('file', new Blob([file]), 'rows.csv');
      return search(path, { method: 'POST', body, token });
    };
    const create = { format: 'csv', action: 'create', callbackUrl };
    for (const secret of [key, token]) {
      await send({ ...create, [secret]: secret }, 'name\n');
      await send({ format: secret, action: secret, callbackUrl: secret }, 'name\n');
      await send({ ...create, action: 'update', identifierFieldName: secret }, 'name\n');
      await send({ ...create, callbackUrl: `ftp://${secret}/` }, 'name\n');
      await send(create, `name,${secret}\n`);
      await send(create, 'name\n', `/bulk/${encodeURIComponent(secret)}`);
      await misplaceInQueries('/bulk/jobs', secret, { token });
    }
    const statuses = [400, 409, 422];
    const count = statuses.length * ROUNDS;
    provider.answer('/items', ...quoting(key, statuses));
    const upload = await send(create, `name\n${Array.from({ length: count }, (_, row) => `Row ${row}\n`).join('')}`);
    const download = async () => {
      provider.answer('/items', ...quoting(key, [422]));
      return post('/bulk/query', { objectName: 'items', callbackUrl }, { token });
    };
    for (const [job, fault] of [
      [upload, count],
      [await download(), 1],
    ] as const) {
      const path = `/bulk/${job.body.id}`;
      await until(async () => (await service.call(`${path}/status`, { token })).body.bulkFinishTime !== undefined);
      await search(`${path}/status`, { token });
      const { body: errors } = await search(`${path}/errors`, { token });
      expect(errors).to.have.length(fault);
      expect(JSON.stringify(errors)).to.include("Not with '");
    }
    for (const accept of ['text/csv', 'application/json', 'application/x-ndjson']) {
      const what = `/bulk/${upload.body.id}/items`;
      const response = await service.call(what, { token, headers: { accept }, asBytes: true });
      const body = response.body.toString();
      expect(body).to.include("Not with '");
      answers.push({ what, answer: { ...response, body } });
    }
    await search('/bulk/jobs', { token });
    await until(async () => provider.requests.filter(({ url }) => url === '/told').length > 1);
    const told = provider.requests.filter(({ url }) => url === '/told').map(({ body }) => body);
    expect(findTraces(told.join('\n'))).to.deep.equal([]);
  });

  it('in the exchange of a code: the code, the secret beside it, and the token', async () => {
    const code = plant('code of an exchange', headerCanary('code'));
    const secret = plant('secret of an exchange', headerCanary('secret'));
    const token = plant('token of an exchange', headerCanary('token'));
    const configuration = { 'base.url': provider.url, 'authorization.code': code, 'client.secret': secret };
    const body = { element: { key: 'coded' }, name: 'x', configuration };
    const askOften = async () => {
      for (let round = 0; round < 2 * ROUNDS; round++) await post('/instances', body);
    };
    await misplace(code, 'authorization.code');
    for (const quoted of [code, secret]) {
      provider.answer('/exchange', ...quoting(quoted, [403, 503]));
      await askOften();
    }
    provider.answer('/exchange', json({ token }));
    for (const quoted of [code, secret, token]) {
      provider.answer('/me', ...quoting(quoted, [401, 500]));
      await askOften();
    }
  });

  it('in the OAuth flow: client secret, code, verifier, tokens, and a refresh that is refused', async () => {
    const { url, clientId, clientSecret, callbackUrl } = authorizationServer;
    plant('client secret', clientSecret);
    const query = { apiKey: clientId, callbackUrl, siteAddress: url, state: 'abc' };
    const asked = await search('/elements/granted/oauth/url', { query: { ...query, apiSecret: clientSecret } });
    const back = await authorizationServer.authorize(asked.body.oauthUrl);
    const code = plant('code', back.searchParams.get('code') ?? '');
    await fetch(`${service.app.url}/oauth/callback${back.search}`).then((page) => page.text());
    const configuration = {
      'oauth.api.key': clientId,
      'oauth.api.secret': clientSecret,
      'oauth.callback.url': callbackUrl,
    };
    const body = { element: { key: 'granted' }, name: 'Ada', configuration, providerData: { code } };
    const created = await service.send('POST', '/instances', body);
    expect(created.status).to.equal(200);
    const token = plant('third token', created.body.token);
    await trace(created.body.id);
    plant('verifier', authorizationServer.tokenRequests.at(-1)?.parameters.code_verifier ?? '');
    expect((await post('/instances', body)).status, 'a code twice').to.equal(400);
    expect((await search('/items', { token })).status).to.equal(200);
    plant('access token', authorizationServer.apiTokens.at(-1) ?? '');
    authorizationServer.expireAccessTokens();
    expect((await search('/items', { token })).status).to.equal(200);
    const refreshToken = plant(
      'refresh token',
      authorizationServer.tokenRequests.at(-1)?.parameters.refresh_token ?? '',
    );
    const second = plant('second access token', authorizationServer.apiTokens.at(-1) ?? '');
    for (const secret of [clientSecret, code, refreshToken, second]) {
      for (const quote of Object.values(QUOTATIONS)) {
        const refusal = { error: 'temporarily_unavailable', error_description: `Not with '${quote(secret)}' here` };
        authorizationServer.expireAccessTokens();
        authorizationServer.mishap({ refuse: { status: 503, body: refusal } });
        await search('/items', { token });
        authorizationServer.mishap({ refuse: { status: 400, body: { ...refusal, error: 'invalid_request' } } });
        await post('/instances', body);
      }
      await misplace(secret);
    }
    await authorizationServer.revokeGrants();
    authorizationServer.expireAccessTokens();
    await search('/items', { token });
    await search(`/instances/${created.body.id}/configuration`);
  });

  it('in an OAuth proxy and on the way through it', async () => {
    const apiSecret = plant('proxy secret', canary('proxy'));
    const body = { name: 'canary', apiKey: 'client', apiSecret };
    const proxy = await service.change('POST', '/elements/oauthProxies', body);
    await post('/elements/oauthProxies', body);
    await search('/elements/oauthProxies');
    await search(`/elements/oauthProxies/${proxy.id}`);
    const code = plant('code on the way', headerCanary('code'));
    await arrive(proxy, `code=${code}&state=${encodeURIComponent('https://unknown.example.com/')}`);
    await misplace(apiSecret);
    const next = plant('next proxy secret', canary('next proxy'));
    await patch(`/elements/oauthProxies/${proxy.id}`, { apiSecret: next });
    await search(`/elements/oauthProxies/${proxy.id}`, { method: 'DELETE' });
  });

  it('in events: signing secrets, and a receiver that quotes them', async () => {
    const key = plant('signature key', canary('signature'));
    const url = `${provider.url}/hook`;
    const source = await createSource(service, url, { 'event.notification.signature.key': key });
    const found = await service.get('/notifications/subscriptions', { query: { where: `url = '${url}'` } });
    const subscriptionPath = `/notifications/subscriptions/${found[0].id}`;
    const secret = plant('signing secret', (await service.get(subscriptionPath)).secret.replace('whsec_', ''));
    provider.answer('/hook', ...[key, secret, `whsec_${secret}`].flatMap((one) => quoting(one, [500])));
    // The first event to use up its retries deactivates the subscription, whatever the others have had of theirs by then.
    const attempts = () => provider.requests.filter(({ url: path }) => path === '/hook').length;
    for (let event = 0; attempts() < 3 * ROUNDS; event++) {
      if (event > 0) await service.send('PATCH', subscriptionPath, { state: 'active' });
      await sendEvent(service, source.id, { event });
      await waitForDeliveries(service, "status = 'queued'", event + 1);
    }
    await search('/notifications/subscriptions');
    await search('/notifications/subscriptions/deliveries');
    await search('/notifications');
    await search(`/instances/${source.id}/configuration`);
    await misplace(key, 'event.notification.signature.key');
    const rotated = await service.change('PATCH', subscriptionPath, { rotateSecret: true });
    plant('rotated signing secret', rotated.secret.replace('whsec_', ''));
    await search(`/instances/${source.id}`, { method: 'DELETE' });
  });

  it('in the audit log, which tells of all this', async () => {
    for (const section of ['', '/authentication', '/element-instances', '/elements', '/users', '/settings'])
      await search(`/audit-logs${section}`, { query: { pageSize: 5000 } });
    const told = JSON.stringify(answers.at(-6)?.answer.body);
    expect(told).to.include('"action":"rotate"').and.include('"configuration.password":{"to":"********"}');
    expect(told).to.include('"apiSecret":{"to":"********","from":"********"}');
  });

  it('in passwords of users, right and wrong, and in a session of the console', async () => {
    const password = plant('password of a user', canary('log-in'));
    const wrong = plant('wrong password of a user', canary('wrong log-in'));
    const refused = plant('refused password of a user', `${canary('x')}${'x'.repeat(256)}`);
    await service.send('PUT', '/users/me/password', { password });
    const put = (body: object, headers = {}) => search('/users/me/password', { method: 'PUT', body, headers });
    expect((await put({ password: refused })).status).to.equal(400);
    await put({ password: wrong, [wrong]: 1 });
    await put({ password: [wrong], currentPassword: { wrong } });
    const logIn = (body: object, headers = {}) =>
      fetch(`${service.app.baseUrl}/console/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    for (const body of [
      { email: 'admin@localhost', password: wrong },
      { email: 'admin@localhost', password: wrong, [wrong]: 1 },
      { email: wrong, password: wrong },
      { email: [wrong], password: wrong },
    ]) {
      const response = await logIn(body);
      answers.push({
        what: 'a log-in',
        answer: { status: response.status, headers: response.headers, body: await response.text() },
      });
      expect(response.status).to.be.oneOf([400, 401]);
    }
    const begun = await logIn({ email: 'admin@localhost', password });
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
    const token = plant('token of a session', cookie.slice(cookie.indexOf('=') + 1));
    const { csrfToken } = Object(await begun.json());
    // Without a header of authorization, which would count instead.
    const browse = async (path: string, method: string, body?: object) => {
      const headers = { cookie, 'x-csrf-token': csrfToken, 'content-type': 'application/json' };
      const response = await fetch(service.app.baseUrl + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      answers.push({
        what: path,
        answer: { status: response.status, headers: response.headers, body: await response.text() },
      });
    };
    await browse(`/elements/${token}`, 'GET');
    await browse('/users/me/password', 'PUT', { password: wrong, currentPassword: wrong });
    await browse('/users/me/password', 'PUT', { password: wrong, currentPassword: wrong, [token]: 1 });
    await browse(`/elements/${token}`, 'DELETE');
    await service.send('PUT', '/users/me/password', { password });
    await browse(`/elements/${token}`, 'GET');
  });

  it('in the activity of all of that, with what was traced of it', async () => {
    const { headers } = await service.call('/elements');
    const last = `/activity/${headers.get('elements-request-id')}`;
    await until(async () => (await service.call(last)).status === 200);
    const { body: found } = await search('/activity', { query: { pageSize: 5000 } });
    expect(found.length).to.be.greaterThan(answers.length / 2);
    await search('/usage', { query: { pageSize: 5000 } });
    const withCalls = found.filter(({ providerCalls }: ApiAnswer['body']) => providerCalls.length > 0);
    for (const { requestId } of withCalls) await search(`/activity/${requestId}`);
    const traced = answers.filter(({ answer: response }) =>
      JSON.stringify(response.body).includes('"responseHeaders"'),
    );
    expect(traced.length).to.be.greaterThan(100);
  });

  it('are in no line of the log', () => {
    const log = service.logged.join('\n');
    expect(service.logged.length).to.be.greaterThan(answers.length);
    expect(findTraces(log)).to.deep.equal([]);
  });

  it('are in no answer, head or body, save where the contract shows them', () => {
    const traces = answers.flatMap(({ what, answer: { headers, body } }) =>
      findTraces(JSON.stringify([[...headers], body])).map((trace) => `${trace} in ${what}`),
    );
    expect(traces).to.deep.equal([]);
    expect(answers.length).to.be.greaterThan(300);
  });

  it('are in no span', async () => {
    const last = await service.call('/instances');
    await traceOfRequest(collector, last);
    // Of every request one, and of most of them others below it.
    expect(collector.spans.length).to.be.greaterThan(2 * answers.length);
    expect(findTraces(collector.bytes().toString('latin1'))).to.deep.equal([]);
  });

  it('are in no column of any table, jobs and stored answers included', async () => {
    const everything = await readEverything(service);
    expect(everything)
      .to.include('pgboss.job')
      .and.include('oauth_token')
      .and.include('delivery_attempt')
      .and.include('activity_wire')
      .and.include('bulk_row_error');
    expect(findTraces(everything)).to.deep.equal([]);
  });

  function findTraces(text: string): string[] {
    return [...planted].flatMap(([name, secret]) => {
      expect(secret, name).to.have.length.greaterThan(10);
      return tracesOf(secret).flatMap((trace) => {
        const at = text.indexOf(trace);
        return at < 0 ? [] : [`${name}: ${text.slice(Math.max(0, at - 120), at + trace.length + 40)}`];
      });
    });
  }
});
