import type { ApiAnswer, ApiCall, TestApp } from '../../support/app.ts';

export const CLIENT_ID = 'demo-client';
export const CALLBACK_URL = 'https://app.example.com/callback';

type Clients = Readonly<Record<string, { readonly secret?: string | undefined }>>;

/** The login at a provider's simulator, and instances made of it. */
export function simulatedProvider(service: TestApp, element: string, clients: Clients, more: object = {}) {
  const secret = clients[CLIENT_ID]?.secret ?? '';
  const client = { 'oauth.api.key': CLIENT_ID, 'oauth.api.secret': secret, 'oauth.callback.url': CALLBACK_URL };
  const configuration = { ...client, simulator: true, ...more };

  const askForUrl = (query: ApiCall['query'] = {}, headers: ApiCall['headers'] = {}): Promise<ApiAnswer> => {
    const client = { apiKey: CLIENT_ID, apiSecret: secret, callbackUrl: CALLBACK_URL, simulator: 'true' };
    return service.call(`/elements/${element}/oauth/url`, { query: { ...client, ...query }, headers });
  };
  async function urlFor(query?: ApiCall['query'], headers?: ApiCall['headers']): Promise<string> {
    const { body } = await askForUrl(query, headers);
    if (body.oauthUrl === undefined) throw new Error(JSON.stringify(body));
    return body.oauthUrl;
  }
  /** @returns the parameters that a user comes back with. */
  async function authorize(
    query?: ApiCall['query'],
    headers?: ApiCall['headers'],
  ): Promise<Readonly<Record<string, string>>> {
    const response = await fetch(`${await urlFor(query, headers)}&auto=approve`, { redirect: 'manual' });
    return Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams);
  }
  const create = (providerData: object) => service.createInstance(element, configuration, { providerData });
  return {
    askForUrl,
    urlFor,
    authorize,
    create,
    /** As `create`, for answers that are not 200. */
    post: (providerData: object, settings: object = {}, headers: ApiCall['headers'] = {}): Promise<ApiAnswer> => {
      const body = { element: { key: element }, name: 'x', configuration: { ...configuration, ...settings } };
      return service.call('/instances', { method: 'POST', body: { ...body, providerData }, headers });
    },
    connect: async (query?: ApiCall['query']) => create(await authorize(query)),
    moveClock: async (byMs: number): Promise<void> => {
      const place = `${service.app.simulatorsUrl}/${element}/simulate/clock`;
      const moved = await fetch(place, { method: 'POST', body: JSON.stringify({ byMs }) });
      if (!moved.ok) throw new Error(`${place} answered ${moved.status}`);
    },
  };
}
