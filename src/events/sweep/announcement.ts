import type { Clock, EndWait } from '../../clock.ts';
import type { Logger } from '../../log.ts';

/**
 * Topic of the message that deliveries become due. Every process that sends receives it. The payload names buckets and times, see
 * `toPayload`; an empty one means all deliveries, now.
 */
export const DUE_TOPIC = 'delivery-due';

/** Topic of the message that the queue of a subscription was released. Its owners push at once, even after failures. */
export const RELEASED_TOPIC = 'delivery-released';

export function createAnnouncement(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  send: () => Promise<void>,
  everyMs: number,
) {
  let endWait: EndWait | undefined;
  let stopped = false;
  let sending: Promise<void> = Promise.resolve();

  /** Publishes the message. If it is lost, the other processes find the deliveries in their next regular read. */
  async function announce(): Promise<void> {
    endWait = undefined;
    try {
      await send();
    } catch (error) {
      log.warn({ err: error }, 'could not announce due deliveries');
    }
  }

  return {
    /** Announces at most once per interval. Announcements in between are combined. */
    announce: () => {
      if (stopped) return;
      endWait ??= clock.after(everyMs, () => {
        sending = announce();
      });
    },
    /** Stops announcing. Resolves when no message is being sent. */
    stop: async () => {
      stopped = true;
      endWait?.();
      await sending;
    },
  };
}

/** Writes buckets with the time, in milliseconds since 1970, at which a delivery in them becomes due. A time in the past means now. */
export function toPayload(news: ReadonlyMap<number, number>): string {
  return [...news].map(([bucket, atMs]) => `${bucket}:${Math.max(0, atMs)}`).join(',');
}

/** Reads what `toPayload` wrote. */
export function readPayload(payload: string): readonly { readonly bucket: number; readonly atMs: number }[] {
  return payload.split(',').map((entry) => {
    const [bucket = Number.NaN, atMs = 0] = entry.split(':').map(Number);
    return { bucket, atMs };
  });
}
