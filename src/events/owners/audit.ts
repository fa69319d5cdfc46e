import type { Logger } from '../../log.ts';
import type { EngineOptions } from '../options.ts';
import type { OwnerStore } from './owner-store.ts';

export interface AuditPorts {
  readonly store: Pick<OwnerStore, 'heldBy' | 'giveBack'>;
  readonly owner: () => string | undefined;
  readonly isHeld: (deliveryId: number) => boolean;
  readonly onFound: (deliveries: number) => void;
  readonly now: () => number;
  readonly log: Logger;
  readonly options: Pick<EngineOptions, 'auditMs' | 'auditAgeMs'>;
}

/**
 * Gives back what the database says is ours and memory does not know: a connection that breaks during a commit leaves such deliveries, and nobody
 * else would take them while this process lives.
 */
export function createAudit({ store, owner, isHeld, onFound, now, log, options }: AuditPorts) {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();

  async function compare(): Promise<void> {
    const id = owner();
    if (id === undefined) return;
    const stored = await store.heldBy(id, options.auditAgeMs);
    const unknown = stored.filter((delivery) => !isHeld(delivery.id));
    if (unknown.length === 0) return;
    const returned = await store.giveBack(id, unknown, new Date(now()));
    log.warn({ deliveries: returned }, 'gave back deliveries that this process had lost from memory');
    onFound(returned);
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      running = compare().catch((error) => log.warn({ err: error }, 'could not compare deliveries with memory'));
      void running.then(schedule);
    }, options.auditMs);
  }

  return {
    start: schedule,
    stop: async (): Promise<void> => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
