import { expect } from 'chai';
import { CLIENTS } from '../../connectors/box/simulator.ts';
import { useApp } from '../support/app.ts';

const CALLBACK_URL = 'https://app.example.com/callback';
const CLIENT_ID = 'demo-client';
const HOUR_MS = 60 * 60_000;

describe('an instance of Box', () => {
  const service = useApp();
  const secret = CLIENTS[CLIENT_ID]?.secret ?? '';
  let token: string;

  before(async () => {
    const query = { apiKey: CLIENT_ID, apiSecret: secret, callbackUrl: CALLBACK_URL, simulator: 'true' };
    const { body } = await service.call('/elements/box/oauth/url', { query });
    const answer = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    const providerData = Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams);
    const client = { 'oauth.api.key': CLIENT_ID, 'oauth.api.secret': secret, 'oauth.callback.url': CALLBACK_URL };
    ({ token } = await service.createInstance('box', { ...client, simulator: true }, { providerData }));
  });

  it('refreshes by tokens that are good once', async () => {
    for (const round of ['with the first token', 'with the second', 'with the third']) {
      const answer = await service.call('/folders/0', { token });
      expect(answer.status, `${round}: ${JSON.stringify(answer.body)}`).to.equal(200);
      const moved = await fetch(`${service.app.simulatorsUrl}/box/simulate/clock`, {
        method: 'POST',
        body: JSON.stringify({ byMs: HOUR_MS + 1000 }),
      });
      expect(moved.ok).to.equal(true);
    }
  });

  it('is searched by words, folders, days and tags, with a where beside them', async () => {
    const find = async (query: Readonly<Record<string, string>>, path = '/search') => {
      const { status, body } = await service.call(path, { token, query });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body;
    };
    const words = { text: 'report', startDate: '2024-01-01', endDate: '2026-12-31' };
    const found = await find({ ...words, where: "type = 'folder' AND size > 0" }, '/hubs/documents/search');
    expect(found.length).to.be.greaterThan(0);
    expect(found.every(({ type, size }: { type: string; size: number }) => type === 'folder' && size > 0)).to.equal(
      true,
    );
    const [{ name, id }] = found.filter(({ parent }: { parent: { id: string } }) => parent.id === '0');
    const below = await find({ path: `/${name}` });
    const items = await find({}, `/folders/${id}/items`);
    expect(below.map((each: { id: string }) => each.id)).to.include.members(
      items.map((each: { id: string }) => each.id),
    );
    const tagged = await find({ ...words, 'tags[]': 'approved' });
    expect(tagged.length).to.be.greaterThan(0);
    for (const each of tagged) expect(each.tag_names).to.include('approved');
  });

  it('is refused precisely', async () => {
    const refusals = [
      [{ startDate: 'soon' }, 400, 'a date-time'],
      [{ path: '/No such folder' }, 404, "nothing there is called 'No such folder'"],
      [{ where: "updated_at > '2026-01-01'" }, 400, 'updated_at'],
    ] as const;
    for (const [query, status, words] of refusals) {
      const answer = await service.call('/search', { token, query });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      expect(JSON.stringify(answer.body)).to.include(words);
    }
  });
});
