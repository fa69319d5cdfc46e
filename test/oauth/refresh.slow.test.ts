import { expect } from 'chai';
import pg from 'pg';
import { waitUntil } from '../api/support/wait-until.ts';
import { type ApiAnswer, type StartedApp, startTestApp } from '../support/app.ts';
import type { TokenMishap } from '../support/authorization-server.ts';
import { OAUTH_CONNECTORS, useOAuth } from './support/setup.ts';

/** The tokens live longer at the provider than it says, so that they end for us when a test wants it. */
const SHORT_LIVED: TokenMishap = { rewrite: (answer) => ({ ...answer, expires_in: 1 }) };

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
  async function connect(...mishaps: readonly TokenMishap[]) {
    setup.server.mishap(...mishaps);
    const { code = '' } = await authorize();
    const { body: instance } = await create({ code });
    const before = setup.server.tokenRequests.length;
    const refreshTokens = () =>
      setup.server.tokenRequests.slice(before).map(({ parameters }) => String(parameters.refresh_token));
    const call = (app: Pick<StartedApp, 'call'> = service) => app.call('/items', { token: instance.token });
    const isValid = async () => (await service.call(`/instances/${instance.id}`)).body.valid;
    return { instance, refreshTokens, call, isValid };
  }

  async function untilExpired(instanceId: number): Promise<void> {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    const query = 'select 1 from oauth_token where instance_id = $1 and access_expires_at < now()';
    await waitUntil(async () => (await client.query(query, [instanceId])).rowCount === 1);
    await client.end();
  }

  const statuses = (answers: readonly ApiAnswer[]) => [...new Set(answers.map(({ status }) => status))];
  const fifty = (call: (app: Pick<StartedApp, 'call'>) => Promise<ApiAnswer>) =>
    Promise.all(Array.from({ length: 50 }, (_, index) => call(index % 2 === 0 ? service : other)));

  it('is refreshed time and again, each time with the refresh token that came last', async () => {
    const { call, refreshTokens } = await connect();
    for (let round = 1; round <= 3; round++) {
      setup.server.expireAccessTokens();
      expect((await call()).status).to.equal(200);
      expect(refreshTokens()).to.have.length(round);
    }
    expect(new Set(refreshTokens())).to.have.property('size', 3);
  });

  it('is refreshed once for 50 calls of two processes that meet a refused token, and all of them succeed', async () => {
    const { call, refreshTokens } = await connect();
    await Promise.all([call(service), call(other)]);
    setup.server.expireAccessTokens();
    expect(statuses(await fifty(call))).to.deep.equal([200]);
    expect(refreshTokens()).to.have.length(1);
  });

  it('is refreshed once for 50 calls of two processes that meet an expired token, and none is refused', async () => {
    const { call, instance, refreshTokens } = await connect(SHORT_LIVED);
    await untilExpired(instance.id);
    setup.server.expireAccessTokens();
    const sent = setup.server.apiTokens.length;
    expect(statuses(await fifty(call))).to.deep.equal([200]);
    expect(refreshTokens()).to.have.length(1);
    expect(setup.server.apiTokens.slice(sent)).to.have.length(50);
  });

  it('survives a provider whose clock is ahead: its tokens end before they should', async () => {
    const { call, refreshTokens } = await connect({ rewrite: (answer) => ({ ...answer, expires_in: 86_400 }) });
    setup.server.expireAccessTokens();
    expect((await call()).status).to.equal(200);
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
    const answer = await service.call(`/instances/${instance.id}`, { method: 'PATCH', body });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include({ id: instance.id, token: instance.token, valid: true });
    await waitUntil(async () => (await call(other)).status === 200);
    expect((await call()).status).to.equal(200);
    expect(await isValid()).to.equal(true);
  });

  it('ends for the instance alone whose stored tokens cannot be read, until it is authenticated again', async () => {
    const { call, instance } = await connect();
    const whole = await connect();
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    await client.query(`update oauth_token set tokens = left(tokens, -4) || 'AAAA' where instance_id = $1`, [
      instance.id,
    ]);
    await client.end();
    const answer = await call(other);
    expect(answer.status).to.equal(424);
    expect(answer.body.message).to.equal(
      `The stored tokens of instance ${instance.id} cannot be read. Authenticate it again.`,
    );
    expect((await whole.call(other)).status).to.equal(200);
    const { code } = await authorize();
    const body = { providerData: { code } };
    const repaired = await service.call(`/instances/${instance.id}`, { method: 'PATCH', body });
    expect(repaired.body).to.include({ id: instance.id, valid: true });
    await waitUntil(async () => (await call(other)).status === 200);
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

  it('does not end when the token endpoint is down: callers hear when to come back', async () => {
    const { call, instance, isValid, refreshTokens } = await connect(SHORT_LIVED);
    await untilExpired(instance.id);
    setup.server.mishap({ refuse: { status: 503 } });
    const answer = await call();
    expect(answer.status).to.equal(502);
    expect(answer.body).to.include({ code: 'PROVIDER_UNAVAILABLE' });
    expect(answer.headers.get('retry-after')).to.equal('1');
    expect(await isValid()).to.equal(true);
    expect((await call()).status, 'before the second is over nobody asks again').to.equal(502);
    expect(refreshTokens()).to.have.length(1);
  });

  it('says what happened when an answer with new tokens was lost, and the old ones are refused', async () => {
    const { call, isValid } = await connect();
    setup.server.expireAccessTokens();
    setup.server.mishap({ lose: true });
    expect((await call()).status).to.equal(502);
    expect(await isValid()).to.equal(true);
    await waitUntil(async () => (await call()).status !== 502);
    const answer = await call();
    expect(answer.status).to.equal(424);
    expect(answer.body.message).to.include('was cut off before its result could be stored');
    expect(await isValid()).to.equal(false);
  });
});
