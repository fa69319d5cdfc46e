import { expect } from 'chai';
import { useApp } from '../../test/support/app.ts';
import { CLIENTS, MERCHANT_ID } from './simulator.ts';

describe('an instance of Clover', () => {
  const service = useApp();
  const callbackUrl = 'https://app.example.com/callback';
  const [apiKey = ''] = Object.keys(CLIENTS);
  const ask = (element: string, merchantId: string) =>
    service.call(`/elements/${element}/oauth/url`, {
      query: { apiKey, callbackUrl, merchantId, simulator: 'true' },
    });

  it('has the merchant that the authorization URL was asked for with', async () => {
    const begun = await ask('clover', MERCHANT_ID);
    expect(begun.status, JSON.stringify(begun.body)).to.equal(200);
    const { headers } = await fetch(`${begun.body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    const code = new URL(headers.get('location') ?? '').searchParams.get('code');
    const configuration = {
      'oauth.api.key': apiKey,
      'oauth.api.secret': CLIENTS[apiKey]?.secret ?? '',
      'oauth.callback.url': callbackUrl,
      simulator: true,
    };
    const made = await service.createInstance('clover', configuration, { providerData: { code } });
    const { body: settings } = await service.call(`/instances/${made.id}/configuration`);
    expect(settings).to.include({ merchantId: MERCHANT_ID });
    const { status } = await service.call('/orders', { token: made.token, query: { pageSize: '1' } });
    expect(status).to.equal(200);
  });

  it('is not begun for what is no merchant, nor for one where there are none', async () => {
    const responses = [await ask('clover', 'tc4'), await ask('quickbooks', MERCHANT_ID)];
    expect(responses.map(({ status, body }) => [status, body.message])).to.deep.equal([
      [400, 'merchantId is not valid for Clover. It looks like TC4DGCJW1K4EW.'],
      [400, 'QuickBooks Online has no merchantId: leave it out.'],
    ]);
  });
});
