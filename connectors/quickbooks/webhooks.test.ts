import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { type ChangeEvent, deliver, REALM_ID, VERIFIER_TOKEN } from './simulator.ts';
import { appWebhooks } from './webhooks.ts';

const FORMS = ['CloudEvents', 'eventNotifications'] as const;
const OWN = { realmId: REALM_ID };
const AT_MS = Date.parse('2026-01-31T08:30:00.250Z');
const CHANGED: ChangeEvent = { entity: 'Invoice', id: '130', operation: 'Update', atMs: AT_MS };

function callOf({ headers, body }: { readonly headers: WebhookCall['headers']; readonly body: string }): WebhookCall {
  return { method: 'POST', url: 'https://x.example/', headers, body: Buffer.from(body) };
}

function verdictOf(call: WebhookCall, secret = VERIFIER_TOKEN) {
  const { verify } = appWebhooks;
  return verify === 'unsigned' ? verify : verify(call, { secret, now: 0, config: {} });
}

function notify(body: unknown, config = OWN) {
  return appWebhooks.events(callOf({ headers: {}, body: JSON.stringify(body) }), config);
}

describe('webhooks of QuickBooks Online', () => {
  for (const form of FORMS) {
    describe(`in the form of ${form}`, () => {
      const deliveryOf = (...changes: readonly ChangeEvent[]) => callOf(deliver(changes, form));
      const summaryOf = (...changes: readonly ChangeEvent[]) =>
        appWebhooks
          .events(deliveryOf(...changes), OWN)
          .map(({ action, objectName, objectId }) => `${objectName}.${action} ${objectId}`);

      it('are signed with the token of the app, over their bytes', () => {
        const call = deliveryOf(CHANGED);
        const flipped = Uint8Array.from(call.body, (byte, index) => (index === 7 ? byte ^ 1 : byte));
        expect([
          verdictOf(call),
          verdictOf({ ...call, body: flipped }),
          verdictOf(call, 'another token'),
          verdictOf({ ...call, headers: {} }),
        ]).to.deep.equal(['genuine', 'forged', 'forged', 'unsigned']);
      });

      it('tell of records, each change of one by an id of its own', () => {
        const [event, later, ...none] = appWebhooks.events(deliveryOf(CHANGED, { ...CHANGED, atMs: AT_MS + 1 }), OWN);
        const { raw, ...reported } = event ?? {};
        expect(reported).to.deep.equal({
          id: `${REALM_ID}:invoice:130:updated:2026-01-31T08:30:00.250Z`,
          action: 'updated',
          objectName: 'invoices',
          objectId: '130',
          at: new Date(AT_MS),
        });
        expect(raw).to.include(form === 'CloudEvents' ? { type: 'qbo.invoice.updated.v1' } : { name: 'Invoice' });
        expect([later?.id, none]).to.deep.equal([`${REALM_ID}:invoice:130:updated:2026-01-31T08:30:00.251Z`, []]);
      });

      it('tell of other companies nothing', () => {
        expect(appWebhooks.events(deliveryOf(CHANGED), { realmId: '1' })).to.deep.equal([]);
      });

      it('tell of the objects that there are, and what was done', () => {
        const operations = ['Create', 'Update', 'Void', 'Emailed', 'Delete'] as const;
        const sales = operations.map((operation) => ({ ...CHANGED, entity: 'SalesReceipt', operation }));
        expect(summaryOf(...sales, { ...CHANGED, entity: 'JournalEntry' })).to.deep.equal(
          ['created', 'updated', 'updated', 'updated', 'deleted'].map((action) => `sales-receipts.${action} 130`),
        );
        const merged = { ...CHANGED, entity: 'Customer', id: '7', operation: 'Merge', deletedId: '8' } as const;
        expect(summaryOf(merged)).to.deep.equal(['customers.updated 7', 'customers.deleted 8']);
      });
    });
  }

  it('may tell of several companies at once, and of operations that nobody has heard of', () => {
    const entity = { name: 'Bill', id: '1', operation: 'Approve', lastUpdated: '2026-01-31T08:30:00-0800' };
    const notifications = ['1', REALM_ID].map((realmId) => ({ realmId, dataChangeEvent: { entities: [entity] } }));
    const reported = notify({ eventNotifications: notifications });
    expect(reported.map(({ action, at }) => [action, at])).to.deep.equal([
      ['unknown', new Date('2026-01-31T16:30:00Z')],
    ]);
  });

  it('are not understood in any other form', () => {
    expect(() => notify({})).to.throw('The response lacks the notifications.');
    expect(() => notify([7])).to.throw('The response lacks the events.');
    expect(() => notify([{ type: 'qbo.bill.created.v1' }])).to.throw('The response lacks the company of an event.');
    expect(notify([{ type: 'payroll.changed', intuitaccountid: REALM_ID }])).to.deep.equal([]);
  });
});
