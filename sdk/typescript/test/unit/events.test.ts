import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { SignatureError, verifyElementsEvent, verifyEvent } from '../../src/index.js';

const SECRET = `whsec_${Buffer.from('a secret of twenty-four!').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another of twenty-four b').toString('base64')}`;
const BODY = JSON.stringify({ id: 'evt_1', type: 'employees.updated', data: { objectId: '118' } });

function signed(secret: string, at = new Date()) {
  return {
    'Webhook-Id': 'evt_1',
    'Webhook-Timestamp': String(Math.floor(at.getTime() / 1000)),
    'Webhook-Signature': new Webhook(secret).sign('evt_1', at, BODY),
  };
}

describe('verifying an event', () => {
  it('takes what one of the secrets signed, as text and as bytes, with either kind of headers', () => {
    const headers = signed(SECRET);
    assert.equal(verifyEvent(BODY, headers, SECRET).data.objectId, '118');
    assert.equal(verifyEvent(Buffer.from(BODY), new Headers(headers), [OTHER, SECRET]).type, 'employees.updated');
  });

  it('refuses what is changed, old, not signed or signed by another', () => {
    const headers = signed(SECRET);
    assert.throws(() => verifyEvent(BODY.replace('118', '119'), headers, SECRET), SignatureError);
    assert.throws(() => verifyEvent(BODY, signed(SECRET, new Date(Date.now() - 3_600_000)), SECRET), SignatureError);
    assert.throws(() => verifyEvent(BODY, {}, SECRET), SignatureError);
    assert.throws(() => verifyEvent(BODY, headers, [OTHER]), SignatureError);
    assert.throws(() => verifyEvent(BODY, headers, []), SignatureError);
  });

  it('knows the format of Cloud Elements', async () => {
    const signature = (key: string) => ({
      'Elements-Webhook-Signature': `sha256=${createHmac('sha256', key).update(BODY).digest('base64')}`,
    });
    assert.equal((await verifyElementsEvent(BODY, signature('key'), ['old', 'key'])).id, 'evt_1');
    await assert.rejects(verifyElementsEvent(`${BODY} `, signature('key'), 'key'), SignatureError);
    await assert.rejects(verifyElementsEvent(BODY, signature('other'), 'key'), SignatureError);
    await assert.rejects(
      verifyElementsEvent(BODY, { 'Elements-Webhook-Signature': 'sha256=%%%' }, 'key'),
      SignatureError,
    );
    await assert.rejects(verifyElementsEvent(BODY, {}, 'key'), SignatureError);
  });
});
