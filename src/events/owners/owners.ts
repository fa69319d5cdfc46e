import type { Logger } from '../../log.ts';
import type { EngineOptions } from '../options.ts';
import type { OwnerStore } from './owner-store.ts';

export interface OwnerPorts {
  readonly store: OwnerStore;
  /** A UUID. */
  readonly newId: () => string;
  readonly now: () => number;
  readonly log: Logger;
  /** The leases under this id are no longer ours. */
  readonly onLost: (id: string) => void;
  readonly onTakenOver: (deliveries: number) => void;
  readonly options: Pick<EngineOptions, 'heartbeatMs' | 'silentMs' | 'takeOverRows'>;
}

/** The name under which this process holds deliveries, and the heartbeat that keeps them. */
export interface Owner {
  readonly start: () => Promise<void>;
  /** Undefined while it is not certain that others take this process for alive. */
  readonly current: () => string | undefined;
  readonly stop: () => Promise<void>;
}

export function createOwner(ports: OwnerPorts): Owner {
  const { store, newId, now, log, options } = ports;
  let id: string | undefined;
  let confirmedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when every heartbeat came through. */
  let steadySinceMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let beating: Promise<void> = Promise.resolve();

  async function enter(): Promise<void> {
    const next = newId();
    const askedAtMs = performance.now();
    await store.add(next);
    id = next;
    confirmedAtMs = askedAtMs;
  }

  /** Counts from before the question: the database may have answered late. */
  async function confirm(): Promise<void> {
    if (id === undefined) return enter();
    const askedAtMs = performance.now();
    if (await store.heartbeat(id)) {
      confirmedAtMs = askedAtMs;
      return;
    }
    log.warn({ owner: id }, 'other processes took this one for dead; its deliveries go on elsewhere');
    ports.onLost(id);
    id = undefined;
    await enter();
  }

  async function beat(): Promise<void> {
    try {
      await confirm();
      await takeOver();
    } catch (error) {
      // After an outage every process is overdue: none may judge the others before they had time to speak.
      steadySinceMs = performance.now();
      log.warn({ err: error }, 'a heartbeat failed');
    }
  }

  async function takeOver(): Promise<void> {
    if (performance.now() - steadySinceMs >= options.silentMs) await store.removeSilent(options.silentMs);
    let total = 0;
    let taken = options.takeOverRows;
    while (taken >= options.takeOverRows) {
      taken = await store.takeOver(new Date(now()), options.takeOverRows);
      total += taken;
    }
    if (total > 0) ports.onTakenOver(total);
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      beating = beat();
      void beating.then(schedule);
    }, options.heartbeatMs);
  }

  return {
    start: async () => {
      await enter();
      await takeOver();
      schedule();
    },
    current: () => (performance.now() - confirmedAtMs < options.silentMs ? id : undefined),
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await beating;
      if (id !== undefined) await store.remove(id);
    },
  };
}
