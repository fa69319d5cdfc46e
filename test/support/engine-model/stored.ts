import type { EngineNeighbours, EngineStores } from '../../../src/events/engine.ts';

/** A delivery as it is stored. */
export interface StoredDelivery {
  readonly id: number;
  readonly subscriptionId: number;
  /** UUID. */
  readonly eventId: string;
  readonly ordered: boolean;
  readonly state: 'delivering' | 'waiting' | 'queued';
  readonly owner: string | null;
  readonly dueMs: number | undefined;
  readonly attempts: number;
  readonly retries: number;
  readonly firstFailedAtMs: number | undefined;
  readonly updatedAtMs: number;
}

export interface StoredAttempt {
  readonly deliveryId: number;
  readonly subscriptionId: number;
  /** UUID. */
  readonly eventId: string;
  readonly attempt: number;
  readonly attemptedAtMs: number;
  readonly delivered: boolean;
}

export interface StoredSubscription {
  readonly id: number;
  readonly url: string;
  readonly state: 'active' | 'deactivated';
  /** Those that receivers may be sent signatures by now. */
  readonly secrets: readonly string[];
}

/** What processes share, and what callers do to it. */
export interface ModelDatabase {
  readonly stores: EngineStores;
  readonly subscriptions: EngineNeighbours['subscriptions'];
  /** As the API does it: the state, and all that is queued. */
  readonly release: (subscriptionId: number) => Promise<void>;
  readonly suspend: (subscriptionId: number) => Promise<void>;
  readonly rotateSecret: (subscriptionId: number) => Promise<void>;
  readonly redeliver: (deliveryId: number) => Promise<void>;
  readonly deliveries: () => Promise<readonly StoredDelivery[]>;
  readonly attempts: () => Promise<readonly StoredAttempt[]>;
  readonly subscription: (id: number) => Promise<StoredSubscription>;
  /** Resolves when nothing is asked of it any more. */
  readonly settle: () => Promise<unknown>;
}
