import { expect } from 'chai';
import { DEMO_CONFIGURATION } from '../../connectors/servicenow/simulator.ts';
import { CLIENTS } from '../../connectors/servicenowoauth/simulator.ts';
import { useApp } from '../support/app.ts';

const CLIENT_ID = 'demo-client';
const HALF_AN_HOUR_MS = 30 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

describe('an instance of ServiceNow', () => {
  const service = useApp();
  const secret = CLIENTS[CLIENT_ID]?.secret ?? '';
  const CLIENT = {
    'oauth.api.key': CLIENT_ID,
    'oauth.api.secret': secret,
    'oauth.callback.url': 'https://app.example.com/callback',
  };
  const url = (siteAddress?: string) => {
    const app = { apiKey: CLIENT_ID, apiSecret: secret, callbackUrl: 'https://app.example.com/callback', state: 's' };
    const query = { ...app, simulator: 'true', ...(siteAddress !== undefined && { siteAddress }) };
    return service.call('/elements/servicenowoauth/oauth/url', { query });
  };

  it('by OAuth is of the host that the login was asked for, and of no other provider', async () => {
    expect((await url('https://demo.service-now.com/')).body.oauthUrl).to.match(/\/servicenowoauth\/oauth_auth\.do\?/);
    for (const site of [undefined, 'evil.example', 'demo.service-now.com.evil.example']) {
      const { status, body } = await url(site);
      expect([status, body.code], site).to.deep.equal([400, 'REQUEST_INVALID']);
    }
  });

  /** An instance of somebody who has logged in. */
  async function createInstance() {
    const { body } = await url('demo.service-now.com');
    const answer = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    const providerData = Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams);
    return service.createInstance('servicenowoauth', { ...CLIENT, simulator: true }, { providerData });
  }

  async function moveClock(byMs: number): Promise<void> {
    const place = `${service.app.simulatorsUrl}/servicenowoauth/simulate/clock`;
    await fetch(place, { method: 'POST', body: JSON.stringify({ byMs }) });
  }

  it('by OAuth lives on when its access token has expired, with the same refresh token', async () => {
    const { token, id } = await createInstance();
    const { body: instance } = await service.call(`/instances/${id}`);
    expect(instance.configuration['company.name']).to.equal('demo.service-now.com');
    for (const round of ['with the first access token', 'with the second', 'with the third']) {
      const found = await service.call('/hubs/helpdesk/incidents', { token, query: { pageSize: 1 } });
      expect(found.status, `${round}: ${JSON.stringify(found.body)}`).to.equal(200);
      await moveClock(HALF_AN_HOUR_MS + 1000);
    }
  });

  it('by OAuth says that somebody must log in when its refresh token has expired', async () => {
    const { token } = await createInstance();
    await moveClock(101 * DAY_MS);
    const { status, body } = await service.call('/incidents', { token });
    expect([status, body.code], JSON.stringify(body)).to.deep.equal([424, 'INSTANCE_CREDENTIALS_FAILED']);
    expect(body.message).to.include('Authenticate it again');
  });

  it('has comments, files and hours of an incident below it, under names that are the same on every help desk', async () => {
    const { token } = await service.createInstance('servicenow', { ...DEMO_CONFIGURATION, simulator: true });
    const call = async (path: string, call: Parameters<typeof service.call>[1] = {}) => {
      const answer = await service.call(path, { token, ...call });
      expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).to.equal(200);
      return answer.body;
    };
    const values = { short_description: 'x^NQactive=true', caller_id: 'a'.repeat(32), comments: 'Hello, "all"' };
    const made = await call('/incidents', { method: 'POST', body: values });
    expect(made).to.include({
      short_description: values.short_description,
      caller_id: values.caller_id,
      comments: null,
    });
    const where = `short_description = '${values.short_description}'`;
    expect((await call('/incidents', { query: { where } })).length).to.equal(1);

    const path = `/hubs/helpdesk/incidents/${made.sys_id}`;
    expect((await call(`${path}/comments`, { query: { where: "element = 'comments'" } }))[0].value).to.equal(
      values.comments,
    );
    expect(await call(`${path}/time-entries`)).to.deep.equal([]);

    const form = new FormData();
    form.set('table_name', 'incident');
    form.set('table_sys_id', made.sys_id);
    form.set('file', new Blob(['Some text.'], { type: 'text/plain' }), 'it\'s "quoted".txt');
    const { sys_id: id } = await call('/attachments', { method: 'POST', body: form });
    expect((await call(`${path}/attachments`))[0]).to.include({ sys_id: id, file_name: 'it\'s "quoted".txt' });
    const file = await service.call(`/attachments/${id}`, { token, headers: { accept: 'text/plain' }, asBytes: true });
    expect([file.status, String(file.body)]).to.deep.equal([200, 'Some text.']);
    const { status } = await service.call('/incidents', {
      token,
      method: 'POST',
      body: { ...values, sys_created_by: 'me' },
    });
    expect(status).to.equal(400);
  });
});
