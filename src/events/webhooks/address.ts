import { timingSafeEqual } from 'node:crypto';
import type { PlatformKeys } from '../../db/platform-keys.ts';
import type { InstanceKey } from '../../instances/instance.ts';

/** URLs at which a provider's webhooks for one instance arrive. */
export type WebhookAddresses = ReturnType<typeof createWebhookAddresses>;

/** The path below the root of the service. */
const PATH = '/events';
const TAG_BYTES = 16;
const KEY_BYTES = 16;

/**
 * Creates the addresses for webhooks. The key of an instance is its account and id, encrypted and authenticated with an initialization
 * vector made of both (as in RFC 5297). So the key is always the same and needs no storage. It does not change when encryption keys rotate.
 */
export function createWebhookAddresses({ digest }: Pick<PlatformKeys, 'digest'>, publicUrl: () => string) {
  const tagOf = (plainKey: Buffer) => digest(plainKey.toString('hex'), 'webhook.tag').subarray(0, TAG_BYTES);

  function mask(plainKey: Buffer, tag: Buffer): Buffer {
    const stream = digest(tag.toString('hex'), 'webhook.mask');
    return Buffer.from(plainKey.map((byte, index) => byte ^ (stream[index] ?? 0)));
  }

  function keyOf({ accountId, id }: InstanceKey): string {
    const plainKey = Buffer.alloc(KEY_BYTES);
    plainKey.writeBigUInt64BE(BigInt(accountId));
    plainKey.writeBigUInt64BE(BigInt(id), KEY_BYTES / 2);
    const tag = tagOf(plainKey);
    return Buffer.concat([tag, mask(plainKey, tag)]).toString('base64url');
  }

  return {
    /** Returns the secret part of the address. */
    keyOf,

    /** Returns the absolute URL that the provider receives. */
    urlOf: (elementKey: string, instance: InstanceKey) => `${publicUrl()}${PATH}/${elementKey}/${keyOf(instance)}`,

    /** Reads the key of an address, without a query. Undefined for a key that was never issued. */
    read: (instanceKey: string) => {
      const bytes = Buffer.from(instanceKey, 'base64url');
      // Other texts may decode to the same bytes.
      if (bytes.length !== TAG_BYTES + KEY_BYTES || bytes.toString('base64url') !== instanceKey) return undefined;
      const tag = bytes.subarray(0, TAG_BYTES);
      const plainKey = mask(bytes.subarray(TAG_BYTES), tag);
      if (!timingSafeEqual(tag, tagOf(plainKey))) return undefined;
      const [accountId, id] = [plainKey.readBigUInt64BE(), plainKey.readBigUInt64BE(KEY_BYTES / 2)].map(Number);
      return accountId === undefined || id === undefined ? undefined : { accountId, id };
    },
  };
}
