import { expect } from 'chai';
import { useApp } from '../support/app.ts';

interface ElementDetail {
  readonly key: string;
  readonly authentication: { readonly siteAddressKey?: string };
  readonly simulator: { readonly configuration: Readonly<Record<string, unknown>> };
}

const CALLBACK_URL = 'https://app.example.com/callback';

describe('what an element says of its simulator', () => {
  const service = useApp({ SIMULATORS_PORT: '0' });

  it('makes an instance of each of them', async () => {
    const elements = await service.get('/elements?pageSize=200');
    for (const { key } of elements) {
      const element = await service.get(`/elements/${key}`);
      const { configuration } = element.simulator;
      const isOAuth = element.authentication.type === 'oauth2';
      const made = await service.send('POST', '/instances', {
        element: { key },
        name: key,
        configuration: { ...configuration, ...(isOAuth && { 'oauth.callback.url': CALLBACK_URL }) },
        ...(isOAuth && { providerData: await authorize(element) }),
      });
      expect(made.status, `${key} ${JSON.stringify(made.body)}`).to.equal(200);
    }
  });

  /** What comes to the callback URL. */
  async function authorize({ key, authentication, simulator: { configuration } }: ElementDetail) {
    const { siteAddressKey = '' } = authentication;
    const begun = await service.send('POST', `/elements/${key}/oauth/url`, {
      apiKey: configuration['oauth.api.key'],
      callbackUrl: CALLBACK_URL,
      siteAddress: configuration[siteAddressKey],
      simulator: true,
      state: key,
    });
    expect(begun.status, `${key} ${JSON.stringify(begun.body)}`).to.equal(200);
    const chosen = await fetch(`${begun.body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    const { headers } = chosen;
    expect(headers.get('location'), `${key}: ${begun.body.oauthUrl} ${await chosen.text()}`).to.be.a('string');
    return Object.fromEntries(new URL(headers.get('location') ?? '').searchParams);
  }
});

describe('an element without a running simulator', () => {
  const service = useApp({ SIMULATORS_PORT: 'off' });

  it('says nothing of one', async () => {
    expect(await service.get('/elements/bamboohr')).not.to.have.property('simulator');
  });
});
