import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createWebhookAddresses } from '../../src/events/webhooks/address.ts';

const digestWith = (key: string) => (text: string, context: string) =>
  createHmac('sha256', key).update(`${context}\0${text}`).digest();

describe('the address of an instance for webhooks', () => {
  const { keyOf, urlOf, read } = createWebhookAddresses({ digest: digestWith('one') }, () => 'https://x.example');
  const other = createWebhookAddresses({ digest: digestWith('other') }, () => 'https://x.example');
  const place = fc.record({
    accountId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  });

  it('leads back to the instance, is the same every time, and another in another database', () => {
    fc.assert(
      fc.property(place, (instance) => {
        const key = keyOf(instance);
        expect(read(key)).to.deep.equal(instance);
        expect([keyOf(instance), urlOf('shop', instance)]).to.deep.equal([key, `https://x.example/events/shop/${key}`]);
        expect([other.keyOf(instance) === key, other.read(key)]).to.deep.equal([false, undefined]);
      }),
    );
  });

  it('is nobody’s when any bit of it is another', () => {
    fc.assert(
      fc.property(place, fc.nat(255), (instance, bit) => {
        const bytes = Buffer.from(keyOf(instance), 'base64url');
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(read(bytes.toString('base64url'))).to.equal(undefined);
      }),
    );
  });

  it('shows nothing of account and instance', () => {
    const keys = [1, 2, 3, 4].map((id) => Buffer.from(keyOf({ accountId: 1, id }), 'base64url'));
    const beginnings = new Set(keys.map((key) => key.readUInt16BE()));
    const ends = new Set(keys.map((key) => key.readUInt16BE(16)));
    expect([beginnings.size, ends.size]).to.deep.equal([4, 4]);
  });

  it('is nobody’s in any other form', () => {
    for (const text of ['', 'x', 'a'.repeat(43), 'a'.repeat(10_000), '../', `${keyOf({ accountId: 1, id: 1 })}=`])
      expect(read(text), text.slice(0, 20)).to.equal(undefined);
  });
});
