import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { sign } from './simulator/webhooks.ts';
import { issueWebhooks } from './webhooks.ts';

const SECRET = 'a-secret-of-Redmine-7';
const NOW = Date.parse('2026-07-31T08:30:00Z');
/** An event as `Redmine::Acts::Webhookable` and `Issue::Webhookable` of Redmine 7.0 create it. */
const UPDATED = {
  type: 'issue.updated',
  timestamp: '2026-07-31T08:29:58Z',
  data: {
    issue: { id: 196, project: { id: 4, name: 'Test' }, subject: 'Zürich', updated_on: '2026-07-31T08:29:58Z' },
    journal: { id: 195, created_on: '2026-07-31T08:29:58Z', notes: 'Fixed', user: { id: 3, name: 'A' }, details: [] },
  },
};
/** An event from the README of the plugin, shortened. */
const PLUGIN = { payload: { issue: { id: 191, updated_on: '2014-03-01T15:17:48Z', subject: 'x' }, action: 'opened' } };

function callOf(
  { headers, body }: { readonly headers: WebhookCall['headers']; readonly body: string },
  query = '',
): WebhookCall {
  return { method: 'POST', url: `https://x.example/events/redmine/k${query}`, headers, body: Buffer.from(body) };
}

function verdictOf(call: WebhookCall, { secret = SECRET, now = NOW } = {}) {
  const { verify } = issueWebhooks;
  return verify === 'unsigned' ? verify : verify(call, { secret, now, config: {} });
}

const notify = (body: unknown) => issueWebhooks.events(callOf(sign(body, '')), {});

describe('webhooks of Redmine', () => {
  it('are signed over their bytes, as Redmine 7 does it', () => {
    const body = JSON.stringify(UPDATED);
    const hex = createHmac('sha256', SECRET).update(body).digest('hex');
    const call = callOf({ headers: { 'x-redmine-signature-256': `sha256=${hex}` }, body });
    const flipped = Uint8Array.from(call.body, (byte, index) => (index === 12 ? byte ^ 1 : byte));
    const day = 86_400_000;
    expect([
      verdictOf(call),
      verdictOf({ ...call, body: flipped }),
      verdictOf(call, { secret: 'another' }),
      verdictOf({ ...call, headers: {} }),
      verdictOf(call, { now: NOW + day + 1_000 }),
      verdictOf(callOf(sign('{"no": "time"}', SECRET))),
      verdictOf(callOf(sign('no JSON', SECRET))),
    ]).to.deep.equal(['genuine', 'forged', 'forged', 'unsigned', 'stale', 'stale', 'stale']);
  });

  it('of the plugin have the secret in their address', () => {
    const plain = sign(PLUGIN, '');
    expect([
      verdictOf(callOf(plain, `?token=${SECRET}`)),
      verdictOf(callOf(plain, `?token=${SECRET.slice(1)}x`)),
      verdictOf(callOf(plain)),
      // A token does not replace a wrong signature.
      verdictOf(callOf(sign(PLUGIN, 'another'), `?token=${SECRET}`)),
    ]).to.deep.equal(['genuine', 'forged', 'unsigned', 'forged']);
  });

  it('tell of issues and time entries, and of nothing else', () => {
    const at = new Date('2026-07-31T08:29:58Z');
    expect(notify(UPDATED)).to.deep.equal([
      { action: 'updated', objectName: 'issues', objectId: '196', at, raw: UPDATED },
    ]);
    const of = (type: string) =>
      notify({
        type,
        timestamp: UPDATED.timestamp,
        data: { time_entry: { id: 7 }, news: { id: 1 }, issue: { id: 9 } },
      }).map(({ action, objectName, objectId }) => `${objectName}.${action} ${objectId}`);
    expect(of('time_entry.created')).to.deep.equal(['time-entries.created 7']);
    expect(of('issue.deleted')).to.deep.equal(['issues.deleted 9']);
    expect(of('issue.moved')).to.deep.equal(['issues.unknown 9']);
    for (const other of ['news.created', 'version.updated', 'wiki_page.deleted', 'constructor.created']) {
      expect(of(other), other).to.deep.equal([]);
    }
  });

  it('tell of issues in the form of the plugin', () => {
    const { payload } = PLUGIN;
    const at = new Date('2014-03-01T15:17:48Z');
    expect(notify(PLUGIN)).to.deep.equal([
      { action: 'created', objectName: 'issues', objectId: '191', at, raw: payload },
    ]);
    expect(notify({ payload: { ...payload, action: 'updated' } })[0]?.action).to.equal('updated');
    expect(notify({ payload: { ...payload, action: 'closed' } })[0]?.action).to.equal('unknown');
  });

  it('are not understood in any other form', () => {
    expect(() => notify([])).to.throw('lacks what happened.');
    expect(() => notify({})).to.throw('lacks the type of the event.');
    expect(() => notify({ type: 'issue.created', data: {} })).to.throw('lacks the id of the record.');
    expect(() => notify({ payload: {} })).to.throw('lacks the id of the issue.');
  });
});
