import type { Knex } from 'knex';
import type { Notifications } from '../notifications/notifications.ts';
import type { ExhaustedRow, OutcomeStore } from './outcome-store.ts';

export interface ExhaustionPorts {
  readonly store: Pick<OutcomeStore, 'exhaust' | 'queueWaiting'>;
  readonly subscriptions: {
    /** Within the transaction. False: it was not active. */
    readonly deactivate: (via: Knex, accountId: number, id: number, reason: string) => Promise<boolean>;
  };
  readonly notifications: Pick<Notifications, 'prepare'>;
}

/** What the end of a schedule entails. All or nothing: the delivery is queued, the subscription deactivated, both are told. Then what waits is queued. */
export function createExhaustion({ store, subscriptions, notifications }: ExhaustionPorts) {
  return {
    /** False: the lease was lost. */
    exhaust: async (row: ExhaustedRow): Promise<boolean> => {
      const { accountId, id: deliveryId, subscriptionId } = row.fence;
      const attempts = row.fence.attempts + 1;
      const lastError = row.attempt.error ?? 'no reason';
      const reason = `Every retry of delivery ${deliveryId} failed; the last with ${lastError}`;
      const publish = await notifications.prepare(accountId);
      const isOurs = await store.exhaust(row, async (via) => {
        await publish(via, 'delivery.exhausted', { deliveryId, subscriptionId, attempts, lastError });
        const deactivated = await subscriptions.deactivate(via, accountId, subscriptionId, reason);
        if (deactivated) await publish(via, 'subscription.deactivated', { subscriptionId, reason });
      });
      // Also where it is not ours any more: a try before may have come to its end only half-way.
      await store.queueWaiting(row.fence);
      return isOurs;
    },
  };
}
