import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  createConform,
  cycle,
  type MovableClock,
  pick,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
  times,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { missing } from './fault.ts';

/** Brings a record into the form of a schema. Rows are made from all members alike, so some have values that their schema cannot hold. */
export const conform = createConform(official, { replacesWrong: true });

/** A kind of record. */
interface Kind {
  readonly schema: string;
  readonly prefix: string;
  /** The word of its events, and the actions that have one. The first is that of a creation. */
  readonly event: string;
  readonly actions: string;
}

const ALL = 'created updated deleted';
/** The records of the account. Events that do not exist are left out, such as those of a changed payment intent. */
export const KINDS = {
  customers: { schema: 'Customer', prefix: 'cus', event: 'customer', actions: ALL },
  products: { schema: 'Product', prefix: 'prod', event: 'product', actions: ALL },
  prices: { schema: 'Price', prefix: 'price', event: 'price', actions: ALL },
  subscriptions: { schema: 'Subscription', prefix: 'sub', event: 'customer.subscription', actions: ALL },
  payment_intents: { schema: 'PaymentIntent', prefix: 'pi', event: 'payment_intent', actions: 'created' },
  charges: { schema: 'Charge', prefix: 'ch', event: 'charge', actions: 'succeeded updated' },
  invoices: { schema: 'Invoice', prefix: 'in', event: 'invoice', actions: ALL },
  refunds: { schema: 'Refund', prefix: 're', event: 'refund', actions: 'created updated' },
} as const satisfies Readonly<Record<string, Kind>>;

export type Name = keyof typeof KINDS;

const FIRST_SECONDS = 1_703_894_400;
const HOUR_SECONDS = 3600;

const idOf = (prefix: string, index: number) => `${prefix}_Sim${String(index).padStart(10, '0')}`;
/** A reference to a record, which is null in some rows. */
const refer = (name: Name, nth: number): Column => sparse(nth, (index) => idOf(KINDS[name].prefix, (index * 7) % 40));
/** Pairs of rows have the same time. */
const seconds =
  (step: number): Column =>
  (index) =>
    FIRST_SECONDS + Math.floor(index / 2) * step;
const later = (nth: number): Column => sparse(nth, (index) => FIRST_SECONDS + index * 7 * HOUR_SECONDS);
const CURRENCIES = cycle(['usd', 'eur', 'jpy', 'kwd', 'isk']);
const METADATA = cycle<TableRow>(
  [{}, { order_id: '6735' }, { order_id: 'O\'Neil "x" \\', tier: 'gold' }, { tier: 'Gold' }],
  1,
  1,
);

/** Columns that the schemas cannot say: references, and values that belong together. */
const VARIED: Readonly<Record<Name, Readonly<Record<string, Column>>>> = {
  customers: {
    email: sparse(5, (index) => pick(['amy@rocketrides.io', 'Amy@RocketRides.io', `c${index}@example.com`], index)),
    address: () => ({ city: 'Graz' }),
  },
  products: {
    name: (index) => pick(['Sky', 'The Sky and the Sea', 'sky blue', "O'Neil"], index),
    default_price: () => null,
  },
  prices: {
    product: (index) => idOf('prod', index % 40),
    unit_amount: (index) => 99 + index,
    unit_amount_decimal: (index) => String(99 + index),
  },
  subscriptions: {
    customer: (index) => idOf('cus', (index * 7) % 40),
    items: (index) => ({
      object: 'list',
      url: '/v1/subscription_items',
      data: [
        {
          id: `si_${index}`,
          object: 'subscription_item',
          quantity: 1,
          price: { id: idOf('price', index % 40), product: idOf('prod', index % 40) },
        },
      ],
    }),
    latest_invoice: refer('invoices', 4),
  },
  payment_intents: {
    customer: refer('customers', 4),
    amount: (index) => 100 * (index % 30),
    latest_charge: refer('charges', 3),
  },
  charges: {
    customer: refer('customers', 4),
    payment_intent: refer('payment_intents', 3),
    amount: (index) => 100 * (index % 30) + 50,
    amount_refunded: () => 0,
    refunded: () => false,
    'payment_method_details.type': () => 'card',
    'payment_method_details.card.last4': cycle(['4242', '0005', '0341']),
    'payment_method_details.card.exp_month': (index) => 1 + (index % 12),
    'payment_method_details.card.exp_year': (index) => 2027 + (index % 4),
    'billing_details.address': (index) =>
      index % 3 === 0 ? null : { postal_code: pick(['8010', 'sw1a 1aa', '90210'], index) },
  },
  invoices: {
    customer: refer('customers', 6),
    number: sparse(7, (index) => `7FE1103-${String(index).padStart(4, '0')}`),
    last_finalization_error: (index) =>
      index % 9 === 0 ? { type: 'invalid_request_error', code: 'customer_tax_location_invalid' } : null,
    parent: (index) =>
      index % 3 === 0
        ? null
        : {
            type: 'subscription_details',
            quote_details: null,
            subscription_details: { subscription: idOf('sub', index % 40) },
          },
    lines: (index) => ({
      object: 'list',
      url: `/v1/invoices/${idOf('in', index)}/lines`,
      data: times(1 + (index % 3), (line) => ({
        id: `il_${index}_${line}`,
        invoice: idOf('in', index),
        currency: 'usd',
        amount: 100 * line,
      })),
    }),
  },
  refunds: { charge: refer('charges', 5), payment_intent: refer('payment_intents', 5), amount: (index) => 10 + index },
};

const ROWS = 48;
/** Times that only some rows have. */
const TIMES =
  /^(?:due_date|effective_at|canceled_at|cancel_at|ended_at|trial_(?:start|end)|next_payment_attempt|automatically_finalizes_at|webhooks_delivered_at|next_pending_invoice_item_invoice)$/;
const STEADY = /^(?:created|updated|start_date|period_(?:start|end)|billing_cycle_anchor)$/;

export type Records = Collection<CollectionSpec & Kind, Name>;

function specOf(name: Name, clock: MovableClock): CollectionSpec & Kind {
  const kind: Kind = KINDS[name];
  const { schema, prefix } = kind;
  const members = schemaMembers(official, schema);
  const now = () => Math.floor(clock.now() / 1000);
  const steady = Object.keys(members).filter((path) => STEADY.test(path));
  const timed = Object.keys(members).filter((path) => TIMES.test(path));
  return {
    ...kind,
    members,
    rows: ROWS,
    vary: {
      ...Object.fromEntries(steady.map((path) => [path, seconds(11 * HOUR_SECONDS)])),
      ...Object.fromEntries(timed.map((path, index) => [path, later(2 + (index % 4))])),
      ...{ currency: CURRENCIES, metadata: METADATA, livemode: () => false },
      ...VARIED[name],
    },
    makeId: (index) => idOf(prefix, index),
    initial: () => Object.fromEntries(steady.map((path) => [path, now()])),
    created: ['created'],
    touch: () => (schema === 'Product' ? { updated: now() } : {}),
    shape: (row) => conform({ ...row, object: undefined }, schema),
    label: Object.hasOwn(members, 'description') ? 'description' : 'nickname',
  };
}

/** Creates the records of an account. */
export function createRecords(
  clock: MovableClock,
  onChange: (name: Name, change: TableChange) => void,
): Readonly<Record<Name, Records>> {
  const names = Object.keys(KINDS) as readonly Name[];
  return createCollections({
    of: Object.fromEntries(names.map((name) => [name, specOf(name, clock)])) as Record<Name, CollectionSpec & Kind>,
    clock,
    writeTime: (ms) => Math.floor(ms / 1000),
    refuse: () => undefined,
    absent: (kind, id) => missing(nounOf(kind), id, 'id'),
    onChange,
  });
}

/** Returns the word for a record in messages. */
export function nounOf({ event }: Pick<Kind, 'event'>): string {
  return event.slice(event.lastIndexOf('.') + 1);
}
