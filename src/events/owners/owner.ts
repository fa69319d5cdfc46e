import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { EngineOptions } from '../options.ts';
import type { OwnerStore } from './owner-store.ts';

interface OwnerPorts {
  readonly store: OwnerStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly options: Pick<EngineOptions, 'silentMs' | 'takeOverRows' | 'auditAgeMs'>;
}

export function createOwner({ store, clock, log, options }: OwnerPorts) {
  let id: string | undefined;
  let confirmedAtMs = Number.NEGATIVE_INFINITY;
  /** Time since which every heartbeat succeeded. */
  let steadySinceMs = Number.NEGATIVE_INFINITY;

  const current = () => (clock.steady() - confirmedAtMs < options.silentMs ? id : undefined);

  async function enter(): Promise<void> {
    const next: string = randomUUID();
    const askedAtMs = clock.steady();
    await store.add(next);
    id = next;
    confirmedAtMs = askedAtMs;
  }

  return {
    /** Returns the owner's id. Undefined while other processes may have declared it dead. */
    current,
    /** Registers the process under a new id. */
    enter,

    /**
     * Renews the heartbeat of this process.
     * @returns the name under which other processes took over its leases; undefined if it still owns them
     */
    renew: async () => {
      // The new name could not be entered the last time.
      if (id === undefined) {
        await enter();
        return undefined;
      }
      // Counts from before the query, because the response of the database may be late.
      const askedAtMs = clock.steady();
      if (await store.heartbeat(id)) {
        confirmedAtMs = askedAtMs;
        return undefined;
      }
      log.warn({ owner: id }, 'other processes took over the deliveries of this one, because its heartbeats stopped');
      const lost = id;
      id = undefined;
      return lost;
    },

    /**
     * Notes a failed heartbeat. After an outage every process is overdue, so no process judges the others before they had time to report.
     */
    noteFailure: () => {
      steadySinceMs = clock.steady();
    },

    /**
     * Removes owners that were silent for long, and releases their deliveries to the sweep.
     * @returns number of deliveries
     */
    takeOver: async () => {
      if (clock.steady() - steadySinceMs >= options.silentMs) await store.removeSilent(options.silentMs);
      let total = 0;
      let taken = options.takeOverRows;
      while (taken >= options.takeOverRows) {
        taken = await store.takeOver(new Date(clock.now()), options.takeOverRows);
        total += taken;
      }
      return total;
    },

    /**
     * Releases deliveries that are this process's in the database but not in memory. A connection that breaks during a commit leaves such
     * deliveries, and no other process would take them while this one lives.
     * @returns number of released deliveries
     */
    giveBackForgotten: async (isHeld: (deliveryId: number) => boolean) => {
      const owner = current();
      if (owner === undefined) return 0;
      const { auditAgeMs: ageMs } = options;
      const stored = await store.heldBy(owner, ageMs);
      const unknown = stored.filter((delivery) => !isHeld(delivery.id));
      if (unknown.length === 0) return 0;
      const returned = await store.giveBack(owner, unknown, { now: new Date(clock.now()), ageMs });
      log.warn({ deliveries: returned }, 'returned deliveries that were missing in the memory of this process');
      return returned;
    },

    leave: async () => {
      if (id !== undefined) await store.remove(id);
    },
  };
}
