import type { Tables } from '../../../generated/tables.ts';
import type { RowOf } from '../../db/row.ts';

/** An event to store, with its delivery. */
export interface NewRow
  extends RowOf<'delivery', 'account_id' | 'event_id' | 'created_at' | 'type' | 'subscription_id' | 'ordered'> {
  readonly instanceId: number;
  /** Body of the event as JSON in UTF-8. */
  readonly payload: Buffer;
  /** Record of the event as JSON, see `printRecord`. */
  readonly record?: string | undefined;
  /** Hash of the deduplication key; undefined without a key. Rows of one call have different keys. */
  readonly keyHash: Buffer | undefined;
  /**
   * Value of the `traceparent` header (W3C Trace Context) under which the event was accepted; undefined if it is not
   * traced.
   */
  readonly traceparent?: string | undefined;
  /** Requested state. A delivery to a deactivated subscription is stored as `queued`. */
  readonly state: RowOf<'delivery', 'state'>['state'];
  /** Whether the endpoint gets the event because its filter could not be decided. */
  readonly unfiltered?: boolean | undefined;
  /** Deliveries of the same event to other subscriptions. */
  readonly others?: readonly OtherDelivery[] | undefined;
}

/** A delivery of an event that has another one. */
export type OtherDelivery = Pick<NewRow, 'subscriptionId' | 'ordered' | 'state' | 'unfiltered'>;

export interface StoredDelivery {
  readonly deliveryId: number;
  readonly state: NewRow['state'];
}

export interface StoredRow extends StoredDelivery {
  /** The other deliveries of the event, by subscription. Absent if it has none. */
  readonly others?: ReadonlyMap<number, StoredDelivery>;
}

/** Columns of a stored delivery, with its event and its subscription. */
export type StoredColumns = Pick<Tables['delivery'], 'event_id' | 'id' | 'state' | 'subscription_id'>;
