import type { Clock, EndWait } from '../../clock.ts';
import type { Logger } from '../../log.ts';

/** Says that deliveries became due, and nothing more. Heard by every process that sends. */
export const DUE_TOPIC = 'delivery-due';

/** The topic for subscriptions whose queue was released, by id. Their owners push at once, whatever failed before. */
export const RELEASED_TOPIC = 'delivery-released';

export function createAnnouncement(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  send: () => Promise<void>,
  everyMs: number,
) {
  let endWait: EndWait | undefined;
  let stopped = false;
  let sending: Promise<void> = Promise.resolve();

  /** Lost, it is made up for by the regular look of the others. */
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
    /** Resolves when nothing is sent any more. */
    stop: async () => {
      stopped = true;
      endWait?.();
      await sending;
    },
  };
}
