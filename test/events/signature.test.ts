import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { instanceSignature, signatureHeaders, signingKeys } from '../../src/events/message.ts';

const OLD = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const NEW = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
const text = JSON.stringify({ id: 'evt_1', data: { name: 'Žofie 🦊' } });

function headersFor(secrets: readonly string[], nowMs = Date.now()) {
  return signatureHeaders({ id: 'evt_1', nowMs, body: Buffer.from(text), keys: signingKeys({ secrets }) });
}

describe('signatures of deliveries', () => {
  it('are accepted by the published library', () => {
    expect(new Webhook(NEW).verify(text, headersFor([NEW]))).to.deep.equal(JSON.parse(text));
  });

  it('are accepted under both secrets while a rotation lasts', () => {
    const headers = headersFor([NEW, OLD]);
    expect(headers['webhook-signature']).to.match(/^v1,\S+ v1,\S+$/);
    for (const secret of [NEW, OLD]) new Webhook(secret).verify(text, headers);
  });

  it('are refused for another body, another id or another secret', () => {
    const headers = headersFor([NEW]);
    expect(() => new Webhook(NEW).verify(`${text} `, headers)).to.throw('No matching signature found');
    expect(() => new Webhook(NEW).verify(text, { ...headers, 'webhook-id': 'evt_2' })).to.throw('No matching');
    expect(() => new Webhook(OLD).verify(text, headers)).to.throw('No matching signature found');
  });

  it('carry the time of the attempt, so that a receiver refuses a replay', () => {
    const headers = headersFor([NEW], Date.now() - 10 * 60_000);
    expect(() => new Webhook(NEW).verify(text, headers)).to.throw('Message timestamp too old');
  });

  it('of the instance cover the raw body alone', () => {
    const expected = createHmac('sha256', 'a key of the caller').update(text, 'utf8').digest('base64');
    expect(instanceSignature(Buffer.from(text), 'a key of the caller')).to.equal(`sha256=${expected}`);
  });
});
