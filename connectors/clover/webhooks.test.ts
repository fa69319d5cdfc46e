import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { appWebhooks } from './webhooks.ts';

const MERCHANT = 'TC4DGCJW1K4EW';
const CODE = 'ce7643c1-83ea-4218-abe6-da876c9c7a0a';
const AUTH = '0307e264-b33a-4913-88aa-37b10014a0b8';

function callOf(body: unknown, auth?: string): WebhookCall {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { method: 'POST', url: 'https://x.example/', headers: { 'x-clover-auth': auth }, body: Buffer.from(text) };
}

describe('webhooks of Clover', () => {
  it('are shown to be Clover’s by the code of the app', () => {
    const { verify } = appWebhooks;
    const verdictOf = (auth?: string) =>
      verify === 'unsigned' ? verify : verify(callOf({}, auth), { secret: AUTH, now: 0, config: {} });
    expect([verdictOf(AUTH), verdictOf(`${AUTH.slice(0, -1)}9`), verdictOf()]).to.deep.equal([
      'genuine',
      'forged',
      'unsigned',
    ]);
  });

  it('begin with a code that people enter at Clover', () => {
    const known = { secret: '' };
    expect(appWebhooks.handshake?.(callOf({ verificationCode: CODE }), known)).to.deep.equal({
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: '',
      notice: `Clover sent the verification code ${CODE}: enter it in its developer dashboard, at the webhook of the app.`,
    });
    for (const other of [
      '',
      '{',
      { verificationCode: 7 },
      { verificationCode: '<b>' },
      { verificationCode: CODE, merchants: {} },
    ]) {
      expect(appWebhooks.handshake?.(callOf(other), known), JSON.stringify(other)).to.equal(undefined);
    }
  });

  it('tell of the merchant’s own objects, one by one', () => {
    const raw = { objectId: 'O:GHIVJT2ABCRSC', type: 'CREATE', ts: 1_537_970_958_000 };
    const removed = { objectId: 'I:A', type: 'DELETE', ts: 1_537_970_959_000 };
    const body = {
      appId: 'DRKVJT2ZRRRSC',
      merchants: { [MERCHANT]: [raw, removed, { objectId: 'A:APP', type: 'UPDATE', ts: 1 }], XYZVJT2ZRRRSC: [raw] },
    };
    const config = { merchantId: MERCHANT };
    expect(appWebhooks.events(callOf(body), config)).to.deep.equal([
      {
        id: 'O:GHIVJT2ABCRSC:CREATE:1537970958000',
        action: 'created',
        objectName: 'orders',
        objectId: 'GHIVJT2ABCRSC',
        at: new Date('2018-09-26T14:09:18.000Z'),
        raw,
      },
      {
        id: 'I:A:DELETE:1537970959000',
        action: 'deleted',
        objectName: 'items',
        objectId: 'A',
        at: new Date('2018-09-26T14:09:19.000Z'),
        raw: removed,
      },
    ]);
    expect(appWebhooks.events(callOf({ merchants: {} }), config)).to.deep.equal([]);
    expect(() => appWebhooks.events(callOf({}), config)).to.throw('The response lacks the merchants.');
  });
});
