import type { EngineNeighbours, EngineStores } from '../../../src/events/engine.ts';

/** A delivery as it is stored. */
export interface StoredDelivery {
  readonly id: number;
  readonly subscriptionId: number;
  /** UUID of the event. */
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
  /** UUID of the event. */
  readonly eventId: string;
  readonly attempt: number;
  readonly attemptedAtMs: number;
  readonly delivered: boolean;
}

export interface StoredSubscription {
  readonly id: number;
  readonly url: string;
  readonly state: 'active' | 'deactivated';
  /** The secrets with which requests may be signed now. */
  readonly secrets: readonly string[];
}

/** The database that processes share, and the changes that callers make to it. */
export interface ModelDatabase {
  readonly stores: EngineStores;
  readonly subscriptions: EngineNeighbours['subscriptions'];
  /** Activates a subscription and releases everything that it has queued, as the API does. */
  readonly release: (subscriptionId: number) => Promise<void>;
  readonly suspend: (subscriptionId: number) => Promise<void>;
  readonly rotateSecret: (subscriptionId: number) => Promise<void>;
  readonly redeliver: (deliveryId: number) => Promise<void>;
  readonly deliveries: () => Promise<readonly StoredDelivery[]>;
  readonly attempts: () => Promise<readonly StoredAttempt[]>;
  readonly subscription: (id: number) => Promise<StoredSubscription>;
  /** Resolves when no more statements are sent. */
  readonly settle: () => Promise<unknown>;
}
