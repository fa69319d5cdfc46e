import { expect } from 'chai';
import { CLIENTS, MERCHANT_ID } from '../../connectors/clover/simulator.ts';
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
