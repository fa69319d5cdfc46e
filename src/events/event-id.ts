import type { Clock } from '../clock.ts';
import type { Random } from '../platform.ts';

/** Platform parts that new event ids need. */
interface EventIdPlatform {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'bytes'>;
}

const SHOWN_PREFIX = 'evt_';
const SHOWN = /^evt_[0-9a-f]{32}$/;
const RANDOM_BYTES = 8;
const IDS_PER_REFILL = 256;
const COUNTER_LIMIT = 0x1000;

/**
 * Creates a source of UUIDs of version 7 (RFC 9562, section 5.7). They ascend within the process; those of the same millisecond count up in
 * `rand_a`.
 */
export function createEventIds({ clock, random }: EventIdPlatform): () => string {
  let bytes: Buffer = Buffer.alloc(0);
  let position = 0;
  let lastMs = 0;
  let counter = 0;

  function nextTick(): void {
    const nowMs = clock.now();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      counter = 0;
      return;
    }
    counter++;
    if (counter < COUNTER_LIMIT) return;
    lastMs++;
    counter = 0;
  }

  function nextRandom(): string {
    if (position >= bytes.length) {
      bytes = random.bytes(RANDOM_BYTES * IDS_PER_REFILL);
      position = 0;
    }
    bytes[position] = ((bytes[position] ?? 0) & 0x3f) | 0x80;
    const text = bytes.toString('hex', position, position + RANDOM_BYTES);
    position += RANDOM_BYTES;
    return text;
  }

  return () => {
    nextTick();
    const time = lastMs.toString(16).padStart(12, '0');
    const tail = nextRandom();
    const count = counter.toString(16).padStart(3, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}

/** Returns an event id in the form that receivers and callers see: `evt_…`. */
export function showEventId(uuid: string): string {
  return SHOWN_PREFIX + uuid.replaceAll('-', '');
}

/** Returns the UUID of an event id as receivers see it; undefined for any other text. */
export function parseEventId(shown: string): string | undefined {
  if (!SHOWN.test(shown)) return undefined;
  const hex = shown.slice(SHOWN_PREFIX.length);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
