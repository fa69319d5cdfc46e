import { expect } from 'chai';
import { useApp } from '../../test/support/app.ts';
import { CLIENTS } from './simulator.ts';

const CALLBACK_URL = 'https://app.example.com/callback';
const DAY_MS = 24 * 3_600_000;

describe('an instance of Keap', () => {
  const service = useApp();

  async function logIn(): Promise<string> {
    const client = { apiKey: 'demo-client', apiSecret: CLIENTS['demo-client']?.secret ?? '' };
    const query = { ...client, callbackUrl: CALLBACK_URL, simulator: 'true' };
    const { body } = await service.call('/elements/keap/oauth/url', { query });
    expect(new URL(body.oauthUrl).searchParams.get('scope')).to.equal('full');
    const response = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    const code = new URL(response.headers.get('location') ?? '').searchParams.get('code');
    const configuration = {
      'oauth.api.key': client.apiKey,
      'oauth.api.secret': client.apiSecret,
      'oauth.callback.url': CALLBACK_URL,
      simulator: true,
    };
    return (await service.createInstance('keap', configuration, { providerData: { code } })).token;
  }

  it('outlives its access token by refresh tokens that are good once', async () => {
    const token = await logIn();
    for (const round of ['first', 'second', 'third']) {
      const { status, body: rows } = await service.call('/affiliates/commissions', { token, query: { pageSize: 1 } });
      expect(status, `${round}: ${JSON.stringify(rows)}`).to.equal(200);
      await fetch(`${service.app.simulatorsUrl}/keap/simulate/clock`, {
        method: 'POST',
        body: JSON.stringify({ byMs: DAY_MS + 1_000 }),
      });
    }
    const [contact] = (await service.call('/contacts', { token, query: { pageSize: 1 } })).body;
    const emails = await service.call(`/contacts/${contact.id}/emails`, { token });
    expect(emails.body.map((row: { contact_id: string }) => row.contact_id)).to.include(contact.id);
  });

  it('takes the names of its first version in filters, and shows them in the metadata', async () => {
    const token = await logIn();
    const rowsOf = async (path: string, where?: string) => {
      const query = { pageSize: 1000, ...(where !== undefined && { where }) };
      const { status, body } = await service.call(path, { token, query });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body;
    };
    for (const [path, time] of [
      ['/orders', 'creation_time'],
      ['/affiliates/commissions', 'date_earned'],
    ] as const) {
      const all: readonly Record<string, string>[] = await rowsOf(path);
      const since = all.map((row) => row[time] ?? '').sort()[Math.floor(all.length / 2)] ?? '';
      const later = all.filter((row) => (row[time] ?? '') >= since);
      expect(later.length, path).to.be.within(1, all.length - 1);
      expect(await rowsOf(path, `since = '${since}'`), path).to.deep.equal(await rowsOf(path, `${time} >= '${since}'`));
      expect(await rowsOf(path, `since = '${since}'`), path).to.have.length(later.length);
    }
    const { body: metadata } = await service.call('/objects/orders/metadata', { token });
    const created = metadata.fields.find(({ name }: { readonly name: string }) => name === 'creation_time');
    expect(created.aliases).to.deep.equal([
      { name: 'since', means: '>=' },
      { name: 'until', means: '<=' },
    ]);
  });

  it('lists files by whose they are, as its first version does, as the same records', async () => {
    const token = await logIn();
    const filesOf = async (where?: string) => {
      const query = { pageSize: 1000, ...(where !== undefined && { where }) };
      const { status, body } = await service.call('/files', { token, query });
      expect(status, JSON.stringify(body)).to.equal(200);
      const rows: readonly Record<string, string>[] = body;
      // The versions print the same time with and without milliseconds.
      const at = (time = '') => new Date(time).toISOString();
      return rows
        .map((row) => ({ ...row, created_time: at(row.created_time), updated_time: at(row.updated_time) }))
        .sort((one, other) => Number(Object(one).id) - Number(Object(other).id));
    };
    const all = await filesOf();
    const users = await filesOf("permission = 'USER'");
    const companies = await filesOf("permission = 'COMPANY'");
    expect([users.length > 0, companies.length > 0, users.length + companies.length]).to.deep.equal([
      true,
      true,
      all.length,
    ]);
    expect(await filesOf("permission = 'BOTH'")).to.deep.equal(all);
    const conditions = "is_public = TRUE AND category = 'DOCUMENTS'";
    expect(await filesOf(`permission = 'BOTH' AND ${conditions}`)).to.deep.equal(await filesOf(conditions));
    const where = "permission = 'USER' AND user_id = '17'";
    const { status, body } = await service.call('/files', { token, query: { where } });
    expect([status, body.message]).to.deep.equal([422, "Keap does not accept 'user_id' together with 'permission'."]);
  });
});
