import type { Logger } from '../../log.ts';

/** Tells others, at most once in that time: what comes meanwhile is told with the next. */
export function createAnnouncement(send: () => Promise<void>, everyMs: number, log: Logger): () => void {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    setTimeout(() => {
      scheduled = false;
      // Lost, it is made up for by the regular look of the others.
      send().catch((error) => log.warn({ err: error }, 'could not announce due deliveries'));
    }, everyMs);
  };
}
