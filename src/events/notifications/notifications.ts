import type { Knex } from 'knex';
import type { Notifier } from '../../db/notifier.ts';
import type { PoolShares } from '../../db/pool-shares.ts';
import { prepareSql } from '../../where/index.ts';
import { showEventId } from '../event-id.ts';
import { FILTERABLE_NOTIFICATION } from '../filter.ts';
import type { DeliverySettings, OperationalType } from '../model.ts';
import { wantsType } from '../subscriptions/event-types.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { DUE_TOPIC } from '../sweep/announcement.ts';
import { createNotificationStore, type NotificationRow } from './notification-store.ts';

export type Notification = NotificationRow;

export interface NotificationQuery {
  /** A filter in the query language over `FILTERABLE_NOTIFICATION`. */
  readonly where?: string | undefined;
  readonly afterId?: number | undefined;
  readonly limit: number;
}

export interface NotificationPage {
  readonly notifications: readonly Notification[];
  /** The id to go on from; absent at the end. */
  readonly nextAfterId?: number;
}

/** What the account wants with operational events. */
export interface OperationalSettings extends Pick<DeliverySettings, 'failurePolicy'> {
  readonly callbackUrl: string | null;
}

export interface NotificationPorts {
  readonly knex: Knex;
  readonly shares: Pick<PoolShares, 'list'>;
  readonly notifier: Pick<Notifier, 'publish'>;
  readonly subscriptions: Pick<Subscriptions, 'ensure'>;
  readonly settings: (accountId: number) => Promise<OperationalSettings>;
  readonly nextEventId: () => string;
  readonly now: () => number;
}

/** Stores an event and, where the account has a callback URL for it, its delivery; both as a part of the transaction. */
export type Publisher = (via: Knex, type: OperationalType, data: object) => Promise<void>;

export interface Notifications {
  /** In a transaction of its own. */
  readonly publish: (accountId: number, type: OperationalType, data: object) => Promise<void>;
  /**
   * For events that belong to a transaction: reads what is needed before it begins. Transactions that wait for a second
   * connection each could wait for one another.
   */
  readonly prepare: (accountId: number) => Promise<Publisher>;
  /** From old to new. @throws AppError for a `where` that cannot be understood */
  readonly list: (accountId: number, query: NotificationQuery) => Promise<NotificationPage>;
}

/** Operational events of the platform: kept to be read, and sent where the account asks for it. */
export function createNotifications(ports: NotificationPorts): Notifications {
  const { knex, notifier, subscriptions, now } = ports;
  const store = createNotificationStore(knex);

  async function findTarget(accountId: number) {
    const { callbackUrl, failurePolicy } = await ports.settings(accountId);
    if (callbackUrl === null) return undefined;
    const { id: subscriptionId, eventTypes } = await subscriptions.ensure(accountId, callbackUrl);
    return { subscriptionId, eventTypes, state: failurePolicy === 'queue' ? 'queued' : 'waiting' } as const;
  }

  async function prepare(accountId: number): Promise<Publisher> {
    const target = await findTarget(accountId);
    return async (via, type, data) => {
      await store.insert(via, accountId, type, data);
      if (target === undefined || isAbout(data, target.subscriptionId) || !wantsType(target.eventTypes, type)) return;
      const { subscriptionId, state } = target;
      const eventId = ports.nextEventId();
      const createdAt = new Date(now());
      const payload = JSON.stringify({
        id: showEventId(eventId),
        type,
        timestamp: createdAt.toISOString(),
        data: { ...data, accountId },
      });
      await store.insertEvent(via, { accountId, eventId, createdAt, type, payload, subscriptionId, state });
      await notifier.publish(DUE_TOPIC, '', via);
    };
  }

  return {
    prepare,

    publish: async (accountId, type, data) => {
      const publish = await prepare(accountId);
      await knex.transaction((trx) => publish(trx, type, data));
    },

    list: async (accountId, { where, afterId, limit }) => {
      const condition = where === undefined ? undefined : prepareSql(where, FILTERABLE_NOTIFICATION);
      const rows = await ports.shares.list(accountId, (via) =>
        createNotificationStore(via).list(accountId, { condition, afterId, limit: limit + 1 }),
      );
      const notifications = rows.slice(0, limit);
      const last = notifications.at(-1);
      return { notifications, ...(rows.length > limit && last && { nextAfterId: last.id }) };
    },
  };
}

/** What happens to the very subscription that is told would be told to it, which would go round and round. */
function isAbout(data: object, subscriptionId: number): boolean {
  return 'subscriptionId' in data && data.subscriptionId === subscriptionId;
}
