import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { sign } from './simulator/scrip.ts';
import { SCRIP, scrips } from './webhooks.ts';

const SECRET = 'a-secret-of-Request-Tracker';
const NOW = Date.parse('2026-01-31T08:30:00Z');
const SET = { id: 901, type: 'Set', field: 'Priority', new: '7', created: '2026-01-31 08:29:59' };

function callOf({ headers, body }: { readonly headers: WebhookCall['headers']; readonly body: string }): WebhookCall {
  return { method: 'POST', url: 'https://x.example/', headers, body: Buffer.from(body) };
}

function verdictOf(call: WebhookCall, { secret = SECRET, now = NOW } = {}) {
  const { verify } = scrips;
  return verify === 'unsigned' ? verify : verify(call, { secret, now, config: {} });
}

const notify = (body: unknown) => scrips.events(callOf(sign(Object(body), SECRET, NOW)), {});

describe('a scrip of Request Tracker', () => {
  it('stands in the README as the element tells it', async () => {
    const readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
    expect(readme).to.include(`\`\`\`perl\n${SCRIP}\n\`\`\``);
    expect(scrips.setup).to.include(SCRIP);
  });

  it('signs the moment and the bytes of a call', () => {
    const call = callOf(sign({ ticket: 7, transactions: [SET] }, SECRET, NOW));
    const flipped = Uint8Array.from(call.body, (byte, index) => (index === 12 ? byte ^ 1 : byte));
    expect([
      verdictOf(call),
      verdictOf(call, { now: NOW + 301_000 }),
      verdictOf({ ...call, body: flipped }),
      verdictOf({ ...call, headers: { ...call.headers, 'x-causeway-timestamp': String(NOW / 1000 + 1) } }),
      verdictOf(call, { secret: 'another' }),
      verdictOf({ ...call, headers: {} }),
    ]).to.deep.equal(['genuine', 'stale', 'forged', 'forged', 'forged', 'unsigned']);
  });

  it('tells what happened to which ticket, each request by an id of its own', () => {
    const raw = { ticket: 7, transactions: [SET] };
    expect(notify(raw)).to.deep.equal([
      {
        id: '7:901',
        action: 'updated',
        objectName: 'tickets',
        objectId: '7',
        at: new Date('2026-01-31T08:29:59Z'),
        raw,
      },
    ]);
    const actionOf = (...transactions: readonly object[]) => notify({ ticket: '7', transactions })[0]?.action;
    expect(actionOf({ id: 900, type: 'Create' }, SET)).to.equal('created');
    expect(actionOf(SET, { ...SET, type: 'Status', new: 'open' })).to.equal('updated');
    expect(actionOf(SET, { ...SET, type: 'Status', new: 'deleted' })).to.equal('deleted');
    expect(actionOf({ ...SET, type: 'Comment', new: 'deleted' })).to.equal('updated');
    expect(notify({ ticket: 7, transactions: [] })).to.deep.equal([]);
  });

  it('is not understood in any other form', () => {
    expect(() => notify([])).to.throw();
    expect(() => notify({})).to.throw('lacks the id of a ticket.');
    expect(() => notify({ ticket: 7 })).to.throw('lacks the transactions.');
    expect(() => notify({ ticket: 7, transactions: [{}] })).to.throw('lacks the id of a transaction.');
  });
});
