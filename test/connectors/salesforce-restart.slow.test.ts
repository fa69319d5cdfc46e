import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type StartedApp, startTestApp } from '../support/app.ts';
import { createTemporaryFolder, createTestDatabase } from '../support/database.ts';

const CALLBACK_URL = 'https://app.example.com/callback';

/** An instance on the simulator, by a login of its own. @returns its id and token */
async function connect({ call }: StartedApp, clientId: string, clientSecret: string) {
  const query = { apiKey: clientId, apiSecret: clientSecret, callbackUrl: CALLBACK_URL, simulator: 'true' };
  const { body } = await call('/elements/salesforce/oauth/url', { query });
  const response = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code');
  const created = await call('/instances', {
    method: 'POST',
    body: {
      element: { key: 'salesforce' },
      name: clientId,
      providerData: { code },
      configuration: {
        'oauth.api.key': clientId,
        'oauth.api.secret': clientSecret,
        'oauth.callback.url': CALLBACK_URL,
        simulator: true,
      },
    },
  });
  expect(created.status, JSON.stringify(created.body)).to.equal(200);
  return { id: Number(created.body.id), token: String(created.body.token) };
}

describe('an account on the simulator of Salesforce, after a restart of the service', () => {
  let environment: Readonly<Record<string, string>>;
  let service: StartedApp;

  before(async function start() {
    this.timeout(60_000);
    environment = { DATABASE_URL: await createTestDatabase(), DATA_DIR: await createTemporaryFolder() };
    service = await startTestApp(environment);
  });

  after(async () => {
    await service.stop();
    await rm(environment.DATA_DIR ?? '', { recursive: true });
  });

  it('still works: its session, its refresh token, and that of a client whose tokens rotate', async function restart() {
    this.timeout(60_000);
    const kept = await connect(service, 'demo-client', 'demo-secret');
    const rotated = await connect(service, 'rotating-client', 'rotating-secret');
    const list = ({ token }: typeof kept) => service.call('/User', { token, query: { pageSize: 1 } });
    const endSessions = () =>
      fetch(`${service.app.simulatorsUrl}/salesforce/simulate/end-sessions`, { method: 'POST' });
    await endSessions();
    expect((await list(rotated)).status).to.equal(200);

    await service.stop();
    service = await startTestApp(environment);
    expect((await list(rotated)).status).to.equal(200);
    await endSessions();
    for (const account of [kept, rotated]) {
      const { status, body } = await list(account);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect((await service.call(`/instances/${account.id}`)).body.valid).to.equal(true);
    }
    const file = await stat(join(environment.DATA_DIR ?? '', 'simulators', 'salesforce.json'));
    expect(file.mode & 0o777).to.equal(0o600);
  });
});
