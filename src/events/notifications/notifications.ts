import type { Knex } from 'knex';
import type { Settings } from '../../accounts/settings.ts';
import { listPage, type PageQuery } from '../../db/listing.ts';
import type { Platform } from '../../platform.ts';
import { createEventIds, showEventId } from '../event-id.ts';
import type { FormulaEventType, OperationalType } from '../event-types.ts';
import { FILTERABLE_NOTIFICATION } from '../filter.ts';
import { wantsType } from '../model.ts';
import { printRecord, recordOfOwn } from '../record.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { DUE_TOPIC } from '../sweep/announcement.ts';
import { createNotificationStore, type NotificationRow } from './notification-store.ts';

export type Notification = NotificationRow;

interface NotificationQuery extends PageQuery {
  /** Whether the newest notifications come first. Default: the oldest. */
  readonly newestFirst?: boolean | undefined;
}

interface NotificationNeighbours {
  readonly subscriptions: Pick<Subscriptions, 'ensure'>;
  readonly settings: Pick<Settings, 'get'>;
}

/** Stores an event within the transaction, and its delivery if the account has a callback URL for it. */
export type Publisher = (via: Knex, type: OperationalType, data: object) => Promise<void>;

/** Stores an event for one URL, and its delivery, as a part of the transaction. */
export type EventPublisher = (via: Knex, type: FormulaEventType, data: object) => Promise<void>;

export type Notifications = ReturnType<typeof createNotifications>;

/** Creates the notifications: operational events of the platform, which are stored to be read and sent where the account requests it. */
export function createNotifications(
  platform: Pick<Platform, 'knex' | 'shares' | 'clock' | 'random'> & {
    readonly notifier: Pick<Platform['notifier'], 'publish'>;
  },
  { subscriptions, settings }: NotificationNeighbours,
) {
  const { knex, shares, notifier, clock } = platform;
  const nextEventId = createEventIds(platform);
  const store = createNotificationStore(knex);

  async function findTarget(accountId: number, notifiedUrl: string | undefined) {
    const found = await settings.get(accountId);
    const callbackUrl = found['notification.operational.callback.url'];
    if (callbackUrl === null || callbackUrl === notifiedUrl) return undefined;
    return toTarget(accountId, callbackUrl, found);
  }

  async function toTarget(accountId: number, callbackUrl: string, found: Awaited<ReturnType<Settings['get']>>) {
    const { id: subscriptionId, eventTypes } = await subscriptions.ensure(accountId, callbackUrl);
    const isQueued = found['notification.webhook.failure.policy'] === 'queue';
    return { subscriptionId, eventTypes, state: isQueued ? 'queued' : 'waiting' } as const;
  }

  async function prepare(
    accountId: number,
    { notifiedUrl }: { readonly notifiedUrl?: string | undefined } = {},
  ): Promise<Publisher> {
    const target = await findTarget(accountId, notifiedUrl);
    return async (via, type, data) => {
      await store.insert(via, accountId, type, data);
      if (target === undefined) return;
      await send(via, target, { accountId, type, data });
    };
  }

  async function send(
    via: Knex,
    { subscriptionId, eventTypes, state }: Awaited<ReturnType<typeof toTarget>>,
    {
      accountId,
      type,
      data,
    }: { readonly accountId: number; readonly type: OperationalType | FormulaEventType; readonly data: object },
  ): Promise<void> {
    if (isAbout(data, subscriptionId) || !wantsType(eventTypes, type)) return;
    const eventId = nextEventId();
    const createdAt = new Date(clock.now());
    const payload = JSON.stringify({
      id: showEventId(eventId),
      type,
      timestamp: createdAt.toISOString(),
      data: { ...data, accountId },
    });
    const record = printRecord(recordOfOwn(type, data)) ?? null;
    await store.insertEvent(via, { accountId, eventId, createdAt, type, payload, record, subscriptionId, state });
    await notifier.publish(DUE_TOPIC, '', via);
  }

  return {
    /**
     * Prepares notifications that belong to a transaction. It reads the necessary data before the transaction, because transactions that
     * each wait for a second connection could block each other. `toldAt` is a callback URL that is notified in another way.
     */
    prepare,

    /** Prepares events for a URL that belong to a transaction. They are not listed as notifications. */
    prepareEvent: async (accountId: number, url: string): Promise<EventPublisher> => {
      const target = await toTarget(accountId, url, await settings.get(accountId));
      return (via, type, data) => send(via, target, { accountId, type, data });
    },

    /** Publishes a notification in a transaction of its own. */
    publish: async (accountId: number, type: OperationalType, data: object) => {
      const publish = await prepare(accountId);
      await knex.transaction((trx) => publish(trx, type, data));
    },

    /**
     * Lists notifications.
     * @throws AppError for an invalid `where`
     */
    list: (accountId: number, query: NotificationQuery) =>
      listPage(FILTERABLE_NOTIFICATION, query, (selection) =>
        shares.list(accountId, (via) => createNotificationStore(via).list(accountId, selection)),
      ),
  };
}

/** A notification about a subscription must not be sent to that subscription, because that would never end. */
function isAbout(data: object, subscriptionId: number): boolean {
  return 'subscriptionId' in data && data.subscriptionId === subscriptionId;
}
