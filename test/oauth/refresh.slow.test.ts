import { expect } from 'chai';
import { expectProblem } from '../api/support/expect-problem.ts';
import { withDatabase } from '../api/support/tenants.ts';
import { type ApiAnswer, type StartedApp, startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { OAUTH_CONNECTORS, useOAuth } from './support/setup.ts';

describe('the access of an instance', () => {
  const setup = useOAuth();
  const { service, authorize, create } = setup;
  let other: StartedApp;

  before('a second process over the same database', async function startOther() {
    this.timeout(60_000);
    other = await startTestApp({ DATABASE_URL: service.databaseUrl, CONNECTORS_PATH: OAUTH_CONNECTORS });
  });
  after(() => other.stop());

  /** An instance, and the refreshes asked for since. */
  async function connect() {
    const { code = '' } = await authorize();
    const { body: instance } = await create({ code });
    const before = setup.server.tokenRequests.length;
    const refreshTokens = () =>
      setup.server.tokenRequests.slice(before).map(({ parameters }) => String(parameters.refresh_token));
    const call = (app: Pick<StartedApp, 'call'> = service) => app.call('/items', { token: instance.token });
    const isValid = async () => (await service.call(`/instances/${instance.id}`)).body.valid;
    return { instance, refreshTokens, call, isValid };
  }

  const statuses = (answers: readonly ApiAnswer[]) => [...new Set(answers.map(({ status }) => status))];
  const fifty = (call: (app: Pick<StartedApp, 'call'>) => Promise<ApiAnswer>) =>
    Promise.all(Array.from({ length: 50 }, (_, index) => call(index % 2 === 0 ? service : other)));

  it('is refreshed once for 50 calls of two processes that meet a refused token, and all of them succeed', async () => {
    const { call, refreshTokens } = await connect();
    await Promise.all([call(service), call(other)]);
    setup.server.expireAccessTokens();
    expect(statuses(await fifty(call))).to.deep.equal([200]);
    expect(refreshTokens()).to.have.length(1);
  });

  it('ends when the user revokes it: the provider is asked once, and not again', async () => {
    const { call, isValid, refreshTokens } = await connect();
    await setup.server.revokeGrants();
    const answers = await fifty(call);
    expect(statuses(answers)).to.deep.equal([424]);
    expect(answers[0]?.body).to.include({ code: 'INSTANCE_CREDENTIALS_FAILED' });
    expect(answers[0]?.body.message).to.include('The provider refuses to refresh the access of this instance');
    expect(await isValid()).to.equal(false);
    expect(statuses([await call(service), await call(other)])).to.deep.equal([424]);
    expect(refreshTokens()).to.have.length(1);
  });

  it('comes back with a new code, under the same id and token', async () => {
    const { call, instance, isValid } = await connect();
    await setup.server.revokeGrants();
    await call();
    const { code } = await authorize();
    const body = { providerData: { code } };
    const response = await service.call(`/instances/${instance.id}`, { method: 'PATCH', body });
    expect(response.status).to.equal(200);
    expect(response.body).to.include({ id: instance.id, token: instance.token, valid: true });
    await until(async () => (await call(other)).status === 200);
    expect((await call()).status).to.equal(200);
    expect(await isValid()).to.equal(true);
  });

  it('ends for the instance alone whose stored tokens cannot be read, until it is authenticated again', async () => {
    const { call, instance } = await connect();
    const whole = await connect();
    await withDatabase(service, (knex) =>
      knex.raw("update oauth_token set tokens = left(tokens, -4) || 'AAAA' where instance_id = ?", [instance.id]),
    );
    const response = await call(other);
    expect(response.status).to.equal(424);
    expect(response.body.message).to.equal(
      `The stored tokens of instance ${instance.id} cannot be read. Authenticate it again.`,
    );
    expect((await whole.call(other)).status).to.equal(200);
    const { code } = await authorize();
    const body = { providerData: { code } };
    const repaired = await service.call(`/instances/${instance.id}`, { method: 'PATCH', body });
    expect(repaired.body).to.include({ id: instance.id, valid: true });
    await until(async () => (await call(other)).status === 200);
  });

  it('ends when a thief used its refresh token, as the provider then takes back everything', async () => {
    const { call, isValid, refreshTokens } = await connect();
    setup.server.expireAccessTokens();
    await call();
    const [used = ''] = refreshTokens();
    const { clientId, clientSecret, url } = setup.server;
    const stolen = await fetch(`${url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: used }),
    });
    expect(stolen.status).to.equal(400);
    expect((await call()).status).to.equal(424);
    expect(await isValid()).to.equal(false);
  });

  describe('at a request that is passed through', () => {
    async function connectToPass() {
      const { instance } = await connect();
      return (method: string, length?: number) => {
        const body = length === undefined ? undefined : JSON.stringify('x'.repeat(length));
        return service.call('/passthrough/items', { method, token: instance.token, body });
      };
    }
    const callsOf = ({ headers }: ApiAnswer) => headers.get('elements-provider-calls');

    it('is refreshed when the provider refuses it, and the request is sent again', async () => {
      const pass = await connectToPass();
      expect((await pass('GET')).status).to.equal(200);
      setup.server.expireAccessTokens();
      const response = await pass('POST', 100);
      expect([response.status, callsOf(response)]).to.deep.equal([200, '2']);
      expect(response.body).to.have.property('records');
    });

    it('is refreshed for the next one, where the body of this one was not kept', async () => {
      const pass = await connectToPass();
      setup.server.expireAccessTokens();
      const refused = await pass('POST', 2 * 1024 * 1024);
      expect([refused.status, callsOf(refused)]).to.deep.equal([401, '1']);
      expect(callsOf(await pass('GET'))).to.equal('1');
    });
  });

  it('is refreshed for the next one, where the provider refuses it with a file, which is to be sent again', async () => {
    const { instance, isValid } = await connect();
    const send = () => {
      const form = new FormData();
      form.set('file', new Blob(['hello']), 'a.txt');
      return service.call('/items', { method: 'POST', token: instance.token, body: form });
    };
    expect((await send()).status).to.equal(200);
    setup.server.expireAccessTokens();
    const refused = await send();
    expectProblem(refused, 'PROVIDER_UNAVAILABLE', /rejected the access token .* Send the file again/);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(await isValid()).to.equal(true);
    const sent = await send();
    expect([sent.status, sent.headers.get('elements-provider-calls')]).to.deep.equal([200, '1']);
  });
});
