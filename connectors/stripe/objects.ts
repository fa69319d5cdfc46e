import { randomUUID } from 'node:crypto';
import {
  type Config,
  can,
  defined,
  defineObject,
  type FieldSpec,
  type Fields,
  fieldsOf,
  type Json,
  json,
  notFound,
  type ObjectSpec,
  type Objects,
  type ProviderResponse,
  path,
  type RecordsOptions,
  records,
  rejected,
} from '#connector';
import { type Amounts, hasMajor, majorFields, majorOf, toMinor, withMajor } from './amounts.ts';
import { changesOf } from './events.ts';
import {
  AMOUNT,
  addressOf,
  all,
  BOUNDED_TIME,
  CREATED,
  CURRENCY,
  choice,
  describedFields,
  FLAG,
  ID,
  INNER_LIST,
  metadataFields,
  REFERENCE,
  TIME,
  TOKEN,
  toForm,
  WORDS,
} from './fields.ts';
import official from './official.json' with { type: 'json' };
import { anyOf, between, expansionsOf, type Filter, type Filtering, filterBy, listOf, type Source } from './search.ts';

/** The configuration key with the names of metadata that become fields. */
export const METADATA_KEYS = 'metadata.keys';

/** An object of Stripe. Its name is also its path. */
interface Described extends Filtering, Pick<Source, 'expand' | 'always'> {
  readonly label: string;
  readonly description?: string;
  readonly aliases?: readonly string[];
  readonly fields: Fields;
  /** The amounts that are also shown in units of their currency. */
  readonly amounts?: Amounts;
  readonly verbs: 'list' | 'create, update' | 'create, update, remove';
  readonly children?: Objects;
}

/** A list inside a record that only a request for it includes. */
const EXPANDED = { ...INNER_LIST, onDemand: true } as const;
/** A list can be filtered by one value. */
const LISTED = can.only('superset', '=');
const SHOWN_ID = { format: 'id' } as const;
const SEARCHED_ID = { ...TOKEN, format: 'id' } as const;

const lines = defineObject<Filter>({
  label: 'Line items',
  fields: {
    ...fieldsOf(official, 'InvoiceLineItem', {
      pick: 'id amount currency description discountable invoice livemode metadata period quantity quantity_decimal subscription subtotal',
      but: { id: ID, ...all(SHOWN_ID, 'invoice subscription') },
    }),
    price: { type: 'string', format: 'id', native: 'pricing.price_details.price' },
    product: { type: 'string', format: 'id', native: 'pricing.price_details.product' },
  },
  list: listOf({ path: '/v1/invoices/{id}/lines' }),
});

const card = (spec: FieldSpec, names: string): Fields =>
  Object.fromEntries(names.split(' ').map((name) => [`payment_method_details.card.${name}`, spec]));
/** The card of a charge. */
const CARD = {
  ...card(TOKEN, 'brand last4 fingerprint'),
  ...card({ type: 'integer', filter: can.only('exact', '=') }, 'exp_month exp_year'),
};

const DESCRIBED: Readonly<Record<string, Described>> = {
  customers: {
    label: 'Customers',
    fields: {
      ...describedFields({
        schema: 'Customer',
        pick: 'name email phone description balance currency business_name individual_name default_source delinquent invoice_prefix next_invoice_sequence preferred_locales tax_exempt subscriptions',
        but: {
          ...all(WORDS, 'name email phone'),
          default_source: SHOWN_ID,
          delinquent: { type: 'boolean' },
          subscriptions: EXPANDED,
        },
      }),
      ...addressOf('address'),
      ...shippingFields('name phone'),
    },
    // A request that creates a customer names no currency.
    amounts: { all: 'balance', updateable: 'balance' },
    verbs: 'create, update, remove',
    search: 'created email name phone',
    inputs: { created: between('created'), email: 'email' },
    expand: 'subscriptions',
  },
  charges: {
    label: 'Charges',
    fields: {
      ...describedFields({
        schema: 'Charge',
        pick: 'amount amount_captured amount_refunded currency customer status description captured paid disputed refunded balance_transaction payment_intent payment_method receipt_email receipt_number receipt_url failure_code failure_message statement_descriptor statement_descriptor_suffix billing_details outcome refunds',
        but: {
          amount: AMOUNT,
          currency: CURRENCY,
          customer: SEARCHED_ID,
          status: choice('Charge', 'status'),
          ...all({ ...FLAG, nullable: false }, 'disputed refunded'),
          payment_intent: REFERENCE,
          ...all(SHOWN_ID, 'balance_transaction payment_method'),
          refunds: EXPANDED,
        },
      }),
      ...CARD,
    },
    amounts: { all: 'amount amount_captured amount_refunded', createable: 'amount' },
    verbs: 'create, update',
    search: `amount created currency customer disputed refunded status ${Object.keys(CARD).join(' ')}`,
    inputs: { created: between('created'), customer: 'customer', payment_intent: 'payment_intent' },
    expand: 'refunds',
  },
  subscriptions: {
    label: 'Subscriptions',
    description: 'Subscriptions in every status. To end one, set `cancel_at_period_end` or `cancel_at`.',
    fields: describedFields({
      schema: 'Subscription',
      pick: 'status customer currency collection_method description items latest_invoice default_payment_method default_source application_fee_percent days_until_due cancel_at cancel_at_period_end canceled_at ended_at start_date billing_cycle_anchor trial_start trial_end schedule',
      but: {
        status: choice('Subscription', 'status'),
        customer: REFERENCE,
        collection_method: choice('Subscription', 'collection_method', LISTED),
        items: INNER_LIST,
        ...all(TIME, 'cancel_at canceled_at ended_at start_date billing_cycle_anchor trial_start trial_end'),
        ...all(SHOWN_ID, 'latest_invoice default_payment_method default_source schedule'),
      },
    }),
    verbs: 'create, update',
    search: 'created status',
    inputs: {
      created: between('created'),
      customer: 'customer',
      status: 'status',
      collection_method: 'collection_method',
    },
    // Otherwise the list leaves out those that are canceled.
    always: { status: 'all' },
  },
  invoices: {
    label: 'Invoices',
    fields: {
      ...describedFields({
        schema: 'Invoice',
        pick: 'number status customer customer_name customer_email currency total subtotal amount_due amount_paid amount_remaining starting_balance ending_balance attempt_count attempted auto_advance automatically_finalizes_at billing_reason collection_method default_payment_method default_source description due_date effective_at footer hosted_invoice_url invoice_pdf next_payment_attempt period_start period_end receipt_number statement_descriptor lines payments',
        but: {
          ...all(WORDS, 'number receipt_number'),
          status: choice('Invoice', 'status', { ...can.null, ...can.equal('superset') }),
          customer: SEARCHED_ID,
          currency: CURRENCY,
          total: AMOUNT,
          collection_method: choice('Invoice', 'collection_method', LISTED),
          due_date: BOUNDED_TIME,
          ...all(TIME, 'automatically_finalizes_at effective_at next_payment_attempt period_start period_end'),
          ...all(SHOWN_ID, 'default_payment_method default_source'),
          lines: { ...INNER_LIST, createable: false },
          payments: EXPANDED,
        },
      }),
      subscription: { ...SEARCHED_ID, native: 'parent.subscription_details.subscription' },
    },
    amounts: {
      all: 'total subtotal amount_due amount_paid amount_remaining starting_balance ending_balance',
    },
    verbs: 'create, update, remove',
    search: 'created currency customer number receipt_number status subscription total',
    inputs: {
      created: between('created'),
      due_date: between('due_date'),
      customer: 'customer',
      subscription: 'subscription',
      status: 'status',
      collection_method: 'collection_method',
    },
    expand: 'payments',
    children: { lines },
  },
  payment_intents: {
    label: 'Payment intents',
    description: 'Payments from their beginning. A successful one has a charge.',
    aliases: ['payments'],
    fields: describedFields({
      schema: 'PaymentIntent',
      pick: 'amount amount_capturable amount_received currency customer status description capture_method confirmation_method canceled_at cancellation_reason latest_charge payment_method payment_method_types receipt_email statement_descriptor statement_descriptor_suffix setup_future_usage transfer_group',
      but: {
        // `amount_major` can take its place.
        amount: { ...AMOUNT, required: false },
        currency: CURRENCY,
        customer: SEARCHED_ID,
        status: choice('PaymentIntent', 'status'),
        canceled_at: TIME,
        ...all(SHOWN_ID, 'latest_charge payment_method'),
      },
    }),
    amounts: {
      all: 'amount amount_capturable amount_received',
      createable: 'amount',
      updateable: 'amount',
      required: 'amount',
    },
    verbs: 'create, update',
    search: 'amount created currency customer status',
    inputs: { created: between('created'), customer: 'customer' },
  },
  products: {
    label: 'Products',
    fields: describedFields({
      schema: 'Product',
      pick: 'name active description default_price images shippable statement_descriptor tax_code type unit_label updated url',
      but: {
        id: { ...REFERENCE, nullable: false, createable: true },
        ...all(WORDS, 'name description url'),
        ...all(FLAG, 'active shippable'),
        ...all(SHOWN_ID, 'default_price tax_code'),
        updated: { ...TIME, nullable: false },
      },
    }),
    verbs: 'create, update, remove',
    search: 'active description name shippable url',
    inputs: { id: anyOf('ids'), created: between('created'), active: 'active', shippable: 'shippable', url: 'url' },
  },
  prices: {
    label: 'Prices',
    fields: describedFields({
      schema: 'Price',
      pick: 'active currency unit_amount unit_amount_decimal product type billing_scheme lookup_key nickname recurring tax_behavior tiers_mode',
      but: {
        active: { ...FLAG, nullable: false },
        currency: CURRENCY,
        lookup_key: WORDS,
        product: SEARCHED_ID,
        type: choice('Price', 'type'),
        unit_amount_decimal: { type: 'string', format: 'decimal' },
      },
    }),
    amounts: { all: 'unit_amount', createable: 'unit_amount' },
    verbs: 'create, update',
    search: 'active currency lookup_key product type',
    inputs: {
      created: between('created'),
      active: 'active',
      currency: 'currency',
      lookup_key: anyOf('lookup_keys'),
      product: 'product',
      type: 'type',
    },
  },
  refunds: {
    label: 'Refunds',
    fields: describedFields({
      schema: 'Refund',
      pick: 'amount currency status charge payment_intent reason description balance_transaction failure_reason receipt_number pending_reason',
      but: { ...all(REFERENCE, 'charge payment_intent'), balance_transaction: SHOWN_ID },
    }),
    amounts: { all: 'amount' },
    verbs: 'create, update',
    inputs: { created: between('created'), charge: 'charge', payment_intent: 'payment_intent' },
  },
  events: {
    label: 'Events',
    description: 'Changes of the last 30 days, as Stripe reports them.',
    fields: {
      ...fieldsOf(official, 'Event', {
        pick: 'id type api_version created livemode pending_webhooks account data',
        but: { id: ID, created: CREATED, type: { ...REFERENCE, format: 'event-type', nullable: false } },
      }),
      object_id: { type: 'string', format: 'id', native: 'data.object.id' },
    },
    verbs: 'list',
    inputs: { created: between('created'), type: anyOf('types') },
  },
};

/** Returns the objects of an account, with a field for each key of metadata that the configuration names. */
export function objectsOf(config: Config): Objects {
  const keys =
    json
      .findText(config[METADATA_KEYS])
      ?.split(',')
      .map((key) => key.trim()) ?? [];
  const entries = Object.entries(DESCRIBED).map(
    ([name, described]) => [name, objectOf(name, described, keys)] as const,
  );
  return Object.fromEntries(entries);
}

function objectOf(name: string, described: Described, keys: readonly string[]): ObjectSpec {
  const { label, description, aliases, verbs, expand, always, children, search, amounts } = described;
  const readRecord = amounts && ((row: unknown) => withMajor(json.object(row, 'a record'), amounts));
  const source: Source = defined({ path: `/v1/${name}`, expand, always, readRecord });
  const { create, update, remove, ...reading } = operationsOn(source, amounts);
  const fields = { ...described.fields, ...(amounts && majorFields(described.fields, amounts, search)) };
  return defineObject<Filter>({
    ...defined({ label, description, aliases, children }),
    fields: { ...fields, ...(fields.metadata !== undefined && metadataFields(keys, search !== undefined)) },
    ...filterBy(described),
    list: listOf(source),
    ...reading,
    ...(verbs !== 'list' && { create, update }),
    ...(verbs.endsWith('remove') && { remove }),
    changes: verbs === 'list' ? { updated: 'created', created: 'created', reports: ['created'] } : changesOf(name),
  });
}

function operationsOn(source: Source, amounts: Amounts | undefined) {
  const post = (target: string, values: Json) => ({
    method: 'POST' as const,
    path: target,
    // Stripe executes requests with the same key once, so a request without a response can be sent again.
    headers: { 'idempotency-key': randomUUID() },
    idempotent: true,
    form: toForm(values),
  });
  const one = (id: string) => source.path + path`/${id}`;
  const record = (response: ProviderResponse) => {
    const found = readRecord(response);
    return amounts === undefined ? found : withMajor(found, amounts);
  };
  const operations = records({
    get: (id, natives) => ({ path: one(id), query: expansionsOf(source, natives) }),
    record,
    create: { request: (values) => post(source.path, createdValues(values, amounts)) },
    update: { request: (id, values) => post(one(id), values), record },
    remove: (id) => ({ method: 'DELETE', path: one(id) }),
  } satisfies RecordsOptions);
  if (amounts === undefined) return operations;
  /** An amount in units of its currency needs the currency, which the stored record has. */
  const update: NonNullable<ObjectSpec['update']> = {
    run: async ({ send }, { id, values }) => {
      const isKnown = values.currency !== undefined || !hasMajor(values);
      const { currency } = isKnown ? values : readRecord(await send({ path: one(id) }));
      return record(await send(post(one(id), toMinor(values, currency))));
    },
  };
  return { ...operations, update };
}

function createdValues(all: Json, amounts: Amounts | undefined): Json {
  const values = toMinor(withoutNulls(all), all.currency);
  const { required } = amounts ?? {};
  if (required === undefined || values[required] !== undefined) return values;
  throw rejected(`'${required}' or '${majorOf(required)}' is required.`);
}

/** Returns the record in a response. Stripe still shows that a deleted customer existed. */
function readRecord({ body }: ProviderResponse): Json {
  const record = json.object(body, 'a record');
  if (record.deleted === true) throw notFound('Stripe has deleted the record.');
  return record;
}

function withoutNulls(values: Json): Json {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

function shippingFields(names: string): Fields {
  const own = names
    .split(' ')
    .map((name): [string, FieldSpec] => [`shipping.${name}`, { type: 'string', createable: true, updateable: true }]);
  return { ...Object.fromEntries(own), ...addressOf('shipping.address') };
}
