import { expect } from 'chai';
import { CLIENTS, MERCHANT_ID } from '../../connectors/clover/simulator.ts';
import { withDatabase } from '../api/support/tenants.ts';
import { useApp } from '../support/app.ts';

const CALLBACK_URL = 'https://app.example.com/callback';
const CLIENT_ID = 'demo-client';
const HALF_HOUR_MS = 30 * 60_000;

describe('an instance of Clover', () => {
  const service = useApp();

  async function connect(): Promise<string> {
    const secret = CLIENTS[CLIENT_ID]?.secret ?? '';
    const query = { apiKey: CLIENT_ID, apiSecret: secret, callbackUrl: CALLBACK_URL, simulator: 'true' };
    const { body } = await service.call('/elements/clover/oauth/url', { query });
    if (body.oauthUrl === undefined) throw new Error(JSON.stringify(body));
    const answer = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code');
    const configuration = {
      'oauth.api.key': CLIENT_ID,
      'oauth.api.secret': secret,
      'oauth.callback.url': CALLBACK_URL,
      merchantId: MERCHANT_ID,
      simulator: true,
    };
    const { token } = await service.createInstance('clover', configuration, { providerData: { code } });
    return token;
  }

  it('is of the region that the login was asked for', async () => {
    const callbackUrl = 'https://app.example.com/of-a-region';
    const urlFor = async (more: Readonly<Record<string, string>>) => {
      const query = { apiKey: CLIENT_ID, callbackUrl, state: 'x', ...more };
      return (await service.call('/elements/clover/oauth/url', { query })).body.oauthUrl;
    };
    expect(new URL(await urlFor({})).host).to.equal('www.clover.com');
    expect(new URL(await urlFor({ siteAddress: 'la' })).host).to.equal('www.la.clover.com');
    expect(new URL(await urlFor({ siteAddress: 'https://www.eu.clover.com/' })).host).to.equal('www.eu.clover.com');
    const url = await urlFor({ siteAddress: 'eu', simulator: 'true', state: 'simulated' });
    const answer = await fetch(`${url}&auto=approve`, { redirect: 'manual' });
    const { code } = Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams);
    const configuration = {
      'oauth.api.key': CLIENT_ID,
      'oauth.api.secret': CLIENTS[CLIENT_ID]?.secret,
      'oauth.callback.url': callbackUrl,
      merchantId: MERCHANT_ID,
      simulator: true,
    };
    const { id, token } = await service.createInstance('clover', configuration, {
      providerData: { code, state: 'simulated' },
    });
    expect((await service.call(`/instances/${id}`)).body.configuration).to.include({ 'clover.region': 'eu' });
    expect((await service.call('/items', { token, query: { pageSize: 1 } })).status).to.equal(200);
  });

  it('has an access token that ends when the answer says so', async () => {
    await fetch(`${service.app.simulatorsUrl}/clover/simulate/clock`, { method: 'POST', body: '{"byMs":86400000}' });
    const token = await connect();
    expect(token).to.be.a('string');
    const { rows } = await withDatabase(service, (knex) =>
      knex.raw(
        'select extract(epoch from access_expires_at - now()) as seconds from oauth_token order by instance_id desc limit 1',
      ),
    );
    expect(Number(rows[0].seconds)).to.be.within(29 * 60, 30 * 60);
  });

  it('outlives its access token, at the address of its own that Clover has for refreshing', async () => {
    const token = await connect();
    const list = () => service.call('/items', { token, query: { pageSize: 1 } });
    expect((await list()).status).to.equal(200);
    for (const round of ['once', 'and with the refresh token that came of it']) {
      const moved = await fetch(`${service.app.simulatorsUrl}/clover/simulate/clock`, {
        method: 'POST',
        body: JSON.stringify({ byMs: HALF_HOUR_MS + 1_000 }),
      });
      expect(moved.ok).to.equal(true);
      const { status, body } = await list();
      expect(status, `${round}: ${JSON.stringify(body)}`).to.equal(200);
    }
  });
});
