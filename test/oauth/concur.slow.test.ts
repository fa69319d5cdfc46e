import { expect } from 'chai';
import { CLIENTS, GEOLOCATION } from '../../connectors/concur/simulator.ts';
import { useApp } from '../support/app.ts';

const CALLBACK_URL = 'https://app.example.com/callback';
const CLIENT_ID = 'demo-client';
const HOUR_MS = 60 * 60_000;

describe('an instance of SAP Concur', () => {
  const service = useApp();
  const secret = CLIENTS[CLIENT_ID]?.secret ?? '';
  const CONFIGURATION = {
    'oauth.api.key': CLIENT_ID,
    'oauth.api.secret': secret,
    'oauth.callback.url': CALLBACK_URL,
    simulator: true,
  };

  /** What the user comes back with. */
  async function authorize(): Promise<Readonly<Record<string, string>>> {
    const query = { apiKey: CLIENT_ID, apiSecret: secret, callbackUrl: CALLBACK_URL, simulator: 'true' };
    const { body } = await service.call('/elements/concur/oauth/url', { query });
    const answer = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    return Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams);
  }

  it('is at the data center that its token names, and refreshes there', async () => {
    const { token, id } = await service.createInstance('concur', CONFIGURATION, { providerData: await authorize() });
    const { body } = await service.call(`/instances/${id}`);
    expect(body.configuration).to.include({ geolocation: GEOLOCATION });
    for (const round of ['with the first token', 'with the second', 'with the third']) {
      const answer = await service.call('/reports', { token, query: { pageSize: 1 } });
      expect(answer.status, `${round}: ${JSON.stringify(answer.body)}`).to.equal(200);
      const moved = await fetch(`${service.app.simulatorsUrl}/concur/simulate/clock`, {
        method: 'POST',
        body: JSON.stringify({ byMs: HOUR_MS + 1000 }),
      });
      expect(moved.ok).to.equal(true);
    }
  });

  it('answers reports below its hub, by fields and by what is true of their entries, and names what it does not know', async () => {
    const { token } = await service.createInstance('concur', CONFIGURATION, { providerData: await authorize() });
    const list = async (where: string, path = '/hubs/expense/reports') => {
      const { status, body } = await service.call(path, { token, query: { where } });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body;
    };
    const approved = "approvalStatusCode IN ('A_APPR', 'A_PEND') AND lastModifiedDate >= '2024-06-01T00:00:00Z'";
    const [own, all] = [await list(approved), await list(`${approved} AND user = 'ALL' AND hasVAT = TRUE`)];
    expect([own.length, all.length].every((count) => count > 0)).to.equal(true);
    const entries = await list('hasVAT = TRUE', `/reports/${own[0].id}/entries`);
    expect(entries.every(({ reportID }: { reportID: string }) => reportID === own[0].id)).to.equal(true);
    const refused = await service.call('/reports', { token, query: { where: "approvalStatus = 'A_APPR'" } });
    expect(refused.status).to.equal(400);
    expect(JSON.stringify(refused.body)).to.include("'approvalStatus'").and.to.include('approvalStatusCode');
  });
});
