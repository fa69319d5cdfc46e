import { timingSafeEqual } from 'node:crypto';
import type { PlatformKeys } from '../../db/platform-keys.ts';

/** Where calls of a provider for one instance arrive. */
export type WebhookAddresses = ReturnType<typeof createWebhookAddresses>;

export interface InstancePlace {
  readonly accountId: number;
  readonly id: number;
}

/** The path below the root of the service. */
const PATH = '/events';
const TAG_BYTES = 16;
const PLACE_BYTES = 16;

/**
 * The key of an instance is its account and id, encrypted and authenticated with an initialization vector made of both (as in RFC 5297), so that it is
 * always the same and need not be kept. It does not change when encryption keys rotate.
 */
export function createWebhookAddresses({ digest }: Pick<PlatformKeys, 'digest'>, publicUrl: () => string) {
  const tagOf = (place: Buffer) => digest(place.toString('hex'), 'webhook.tag').subarray(0, TAG_BYTES);

  function mask(place: Buffer, tag: Buffer): Buffer {
    const stream = digest(tag.toString('hex'), 'webhook.mask');
    return Buffer.from(place.map((byte, index) => byte ^ (stream[index] ?? 0)));
  }

  function keyOf({ accountId, id }: InstancePlace): string {
    const place = Buffer.alloc(PLACE_BYTES);
    place.writeBigUInt64BE(BigInt(accountId));
    place.writeBigUInt64BE(BigInt(id), PLACE_BYTES / 2);
    const tag = tagOf(place);
    return Buffer.concat([tag, mask(place, tag)]).toString('base64url');
  }

  return {
    /** Its secret part. */
    keyOf,

    /** Absolute, as the provider is told it. */
    urlOf: (elementKey: string, instance: InstancePlace) => `${publicUrl()}${PATH}/${elementKey}/${keyOf(instance)}`,

    /** Undefined for what is not a key that was handed out. Asks nobody. */
    read: (instanceKey: string) => {
      const bytes = Buffer.from(instanceKey, 'base64url');
      // Other texts may decode to the same bytes.
      if (bytes.length !== TAG_BYTES + PLACE_BYTES || bytes.toString('base64url') !== instanceKey) return undefined;
      const tag = bytes.subarray(0, TAG_BYTES);
      const place = mask(bytes.subarray(TAG_BYTES), tag);
      if (!timingSafeEqual(tag, tagOf(place))) return undefined;
      const [accountId, id] = [place.readBigUInt64BE(), place.readBigUInt64BE(PLACE_BYTES / 2)].map(Number);
      return accountId === undefined || id === undefined ? undefined : { accountId, id };
    },
  };
}
