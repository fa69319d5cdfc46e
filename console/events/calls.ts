import { api, askPage, type Page, type Schemas } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';

export type Delivery = Schemas['Delivery'];
export type DeliveryStatus = Schemas['DeliveryStatus'];
export type Subscription = Schemas['Subscription'];

export const DELIVERY_STATUSES = [
  'queued',
  'retrying',
  'delivering',
  'delivered',
] as const satisfies readonly DeliveryStatus[];

/** Maximum number of entries in a list of choices. Nobody reads a longer one. */
const MOST_LISTED = 1_000;

interface DeliveryQuery {
  readonly where: string | undefined;
  readonly pageSize: number;
  readonly nextPage?: string | undefined;
}

/** Lists deliveries without their payloads, newest first. */
export function listDeliveries(
  { where, pageSize, nextPage }: DeliveryQuery,
  signal: AbortSignal,
): Promise<Page<Delivery>> {
  const query = { newestFirst: true, hydrate: false, pageSize, ...(where && { where }), ...(nextPage && { nextPage }) };
  return askPage(api.GET('/notifications/subscriptions/deliveries', { signal, params: { query } }));
}

/** Returns the subscriptions of the account, for a list of choices. */
export function useSubscriptions(): Loaded<readonly Subscription[]> {
  return useLoad(async (signal) => {
    const params = { query: { pageSize: MOST_LISTED } };
    return (await askPage(api.GET('/notifications/subscriptions', { signal, params }))).rows;
  }, []);
}

/** The privilege that a user needs to change deliveries and subscriptions, and to see a secret. */
export const CHANGING = 'createElementInstances';
