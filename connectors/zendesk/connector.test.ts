import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { objectOf, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import zendesk from './index.ts';
import { queryOf, type Terms, translator } from './search.ts';
import { createSimulator, DEMO_API_TOKEN, DEMO_EMAIL } from './simulator.ts';

const config = { 'zendesk.subdomain': 'Acme' };

describe('Zendesk', () => {
  it('sends an API token as the password of the e-mail address, and an access token as bearer', () => {
    const { auth } = zendesk;
    const headers = auth.type === 'oauth2' ? auth.headers : undefined;
    const withEmail = headers?.('secret', { ...config, 'zendesk.email': 'a@example.com' });
    expect(withEmail).to.deep.equal({ authorization: `Basic ${btoa('a@example.com/token:secret')}` });
    expect(headers?.('secret', config)).to.deep.equal({ authorization: 'Bearer secret' });
  });

  it('reaches only the host of the subdomain', () => {
    expect(zendesk.baseUrl(config)).to.equal('https://acme.zendesk.com');
    expect(typeof zendesk.hosts === 'function' && zendesk.hosts(config)).to.deep.equal(['acme.zendesk.com']);
  });

  it('takes an anonymous user for rejected credentials', () => {
    const body = { user: { id: null, name: 'Anonymous user', authenticity_token: 'x' } };
    expect(zendesk.classify?.({ status: 200, headers: {}, body })).to.include({ kind: 'credentials' });
    expect(zendesk.classify?.({ status: 200, headers: {}, body: { user: { id: 1 } } })).to.equal(undefined);
  });

  it('repeats what Zendesk says about fields', () => {
    const details = { name: [{ description: 'Name: is too short', error: 'InvalidValue' }] };
    const body = { error: 'RecordInvalid', description: 'Record validation errors', details };
    expect(zendesk.classify?.({ status: 422, headers: {}, body })).to.include({ message: 'Name: is too short' });
  });

  it('sends no two conditions on one keyword, which Zendesk joins by OR', () => {
    const status = { name: 'status', native: 'status', type: 'string' } as const;
    const both = [
      { start: 'status:', values: ['new', 'open'] },
      { start: 'status:', values: ['open'] },
    ];
    expect(queryOf(both.slice(0, 1))).to.equal('status:new status:open');
    expect(translator.fault?.(both)).to.equal('Zendesk joins two conditions on one keyword by OR');
    const negated = translator.in?.(
      status,
      [
        { kind: 'string', value: 'new' },
        { kind: 'string', value: 'open' },
      ],
      true,
    );
    expect(translator.fault?.(negated ?? [])).to.equal(undefined);
  });
});

describe('Zendesk with an API token', () => {
  it('searches by keywords, custom fields included, and requests ids at once', async () => {
    const settings = { 'zendesk.subdomain': 'demo', 'zendesk.email': DEMO_EMAIL, 'oauth.user.token': DEMO_API_TOKEN };
    const provider = await startProvider(zendesk, createSimulator, settings);
    try {
      const connection = provider.connect();
      const users = objectOf((await connection.discover()).objects, 'users');
      const asked = async (where: string) => {
        const { plan } = prepareQuery({ where, orderBy: undefined }, users);
        const filter = plan.queries[0]?.native as Terms | undefined;
        await connection.list(users, { ...(filter && { filter }), fields: [], limit: 7 });
        const { pathname, searchParams } = new URL(connection.requests.at(-1)?.split(' ')[1] ?? '');
        return [pathname.replace('/api/v2', ''), searchParams.get('query') ?? searchParams.get('ids')];
      };
      expect(await asked("name = 'Dana Demo' AND custom_field_plan IN ('gold', 'free')")).to.deep.equal([
        '/search/export',
        'name:"Dana Demo" plan:gold plan:free',
      ]);
      expect(await asked("updated_at >= '2026-01-31T10:00:00.5Z'")).to.deep.equal([
        '/search/export',
        'updated>2026-01-31T10:00:00Z',
      ]);
      expect(await asked('id IN (1, 2)')).to.deep.equal(['/users/show_many', '1,2']);
      // A quote could end the value, so the text is never sent.
      expect(await asked(`name = 'x" role:admin'`)).to.deep.equal(['/users', null]);
    } finally {
      await provider.stop();
    }
  });
});

describe('webhooks of Zendesk', () => {
  const now = Date.parse('2026-11-28T12:00:00Z');
  const event = { account_id: 1, id: 'e1', type: 'zen:event-type:ticket.soft_deleted', time: '2026-11-28T11:59:59Z' };

  function callAt(at: string, secret = 'key'): WebhookCall {
    const body = Buffer.from(JSON.stringify({ ...event, detail: { id: '5' } }));
    const signature = createHmac('sha256', secret).update(at).update(body).digest('base64');
    const headers = { 'x-zendesk-webhook-signature': signature, 'x-zendesk-webhook-signature-timestamp': at };
    return { method: 'POST', url: 'https://causeway.example/events', headers, body };
  }

  it('are signed over the time and the body', () => {
    const verify = zendesk.webhooks?.verify;
    const verdict = (call: WebhookCall) => typeof verify === 'function' && verify(call, { secret: 'key', now, config });
    expect(verdict(callAt('2026-11-28T11:59:00Z'))).to.equal('genuine');
    expect(verdict(callAt('2026-11-28T11:00:00Z'))).to.equal('stale');
    expect(verdict(callAt('2026-11-28T11:59:00Z', 'other'))).to.equal('forged');
  });

  it('name the deleted ticket', () => {
    const [read] = zendesk.webhooks?.events(callAt('2026-11-28T11:59:00Z'), config) ?? [];
    expect(read).to.include({ id: 'e1', action: 'deleted', objectName: 'tickets', objectId: '5' });
  });
});
