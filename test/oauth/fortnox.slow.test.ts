import { expect } from 'chai';
import { CLIENTS } from '../../connectors/fortnoxoauth/simulator.ts';
import { useApp } from '../support/app.ts';

const CALLBACK_URL = 'https://app.example.com/callback';
const CLIENT_ID = 'demo-client';
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

describe('an instance of Fortnox by OAuth', () => {
  const service = useApp();
  const secret = CLIENTS[CLIENT_ID]?.secret ?? '';

  async function urlWith(more: Readonly<Record<string, string>> = {}): Promise<string> {
    const query = { apiKey: CLIENT_ID, apiSecret: secret, callbackUrl: CALLBACK_URL, ...more };
    return (await service.call('/elements/fortnoxoauth/oauth/url', { query })).body.oauthUrl;
  }

  /** What the user comes back with. */
  async function authorize(more: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    const url = await urlWith({ simulator: 'true', ...more });
    const answer = await fetch(`${url}&auto=approve`, { redirect: 'manual' });
    expect(answer.status, url).to.equal(302);
    return Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams);
  }

  const create = (providerData: object) => {
    const client = { 'oauth.api.key': CLIENT_ID, 'oauth.api.secret': secret, 'oauth.callback.url': CALLBACK_URL };
    return service.createInstance('fortnoxoauth', { ...client, simulator: true }, { providerData });
  };

  async function moveClock(byMs: number): Promise<void> {
    const place = `${service.app.simulatorsUrl}/fortnoxoauth/simulate/clock`;
    expect((await fetch(place, { method: 'POST', body: JSON.stringify({ byMs }) })).ok).to.equal(true);
  }

  it('logs in at the page that Fortnox documents, with a state of its own where the caller has none', async () => {
    const { origin, pathname, searchParams } = new URL(await urlWith());
    const { state, ...parameters } = Object.fromEntries(searchParams);
    expect(origin + pathname).to.equal('https://apps.fortnox.se/oauth-v1/auth');
    expect(state).to.match(/^[\w-]{43}$/);
    expect(parameters).to.deep.equal({
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK_URL,
      scope: 'customer supplier article order invoice',
      access_type: 'offline',
    });
    const others = [new URL(await urlWith()), new URL(await urlWith({ state: 'mine' }))];
    const [again, mine] = others.map((url) => url.searchParams.get('state'));
    expect(again).to.not.equal(state);
    expect(mine).to.equal('mine');
  });

  it('is made of the code alone, and with the state that came along', async () => {
    for (const more of [undefined, { state: 'mine' }]) {
      const { code, state } = await authorize(more);
      const { token } = await create({ code });
      const { status, body } = await service.call('/customers/1', { token });
      expect([status, body.CustomerNumber]).to.deep.equal([200, '1']);
      expect(state).to.have.length.above(0);
    }
    expect((await create(await authorize())).valid).to.equal(true);
  });

  it('lives on by refresh tokens that are good once', async () => {
    const { token } = await create(await authorize());
    for (const round of ['with the first token', 'with the second', 'with the third']) {
      const found = await service.call('/hubs/erp/invoices', { token, query: { pageSize: 1 } });
      expect(found.status, `${round}: ${JSON.stringify(found.body)}`).to.equal(200);
      await moveClock(HOUR_MS + 1000);
    }
  });

  it('says that somebody must log in when 45 days have gone by', async () => {
    const { id, token } = await create(await authorize());
    await moveClock(46 * DAY_MS);
    const { status, body } = await service.call('/customers', { token });
    expect([status, body.code], JSON.stringify(body)).to.deep.equal([424, 'INSTANCE_CREDENTIALS_FAILED']);
    expect(body.message).to.include('Authenticate it again').and.include('Invalid refresh token');
    expect((await service.call(`/instances/${id}`)).body.valid).to.equal(false);
  });
});
