import type { Knex } from 'knex';
import type { Notifications } from '../notifications/notifications.ts';
import type { ExhaustedRow, OutcomeStore } from './outcome-store.ts';

export interface ExhaustionPorts {
  readonly store: Pick<OutcomeStore, 'exhaust'>;
  readonly subscriptions: {
    /** Within the transaction. False: it was not active. */
    readonly deactivate: (via: Knex, accountId: number, id: number, reason: string) => Promise<boolean>;
  };
  readonly notifications: Pick<Notifications, 'prepare'>;
}

/** What the end of a schedule entails, all of it or nothing: the delivery is queued, the subscription deactivated, both are told. */
export function createExhaustion({ store, subscriptions, notifications }: ExhaustionPorts) {
  return {
    /** Answers how many others were queued with it; undefined: the lease was lost. */
    exhaust: async (row: ExhaustedRow): Promise<number | undefined> => {
      const { accountId, id: deliveryId, subscriptionId } = row.fence;
      const attempts = row.fence.attempts + 1;
      const lastError = row.attempt.error ?? 'no reason';
      const reason = `Every retry of delivery ${deliveryId} failed; the last with ${lastError}`;
      const publish = await notifications.prepare(accountId);
      return store.exhaust(row, async (via) => {
        await publish(via, 'delivery.exhausted', { deliveryId, subscriptionId, attempts, lastError });
        const deactivated = await subscriptions.deactivate(via, accountId, subscriptionId, reason);
        if (deactivated) await publish(via, 'subscription.deactivated', { subscriptionId, reason });
      });
    },
  };
}
