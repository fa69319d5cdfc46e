import {
  type Call,
  Fault,
  json,
  nestedValues,
  type SimulatedResponse,
  type TableRow,
  times,
} from '#connector/simulator';
import { type Name, nounOf, type Records } from './account.ts';
import { invalid, missing } from './fault.ts';
import { readForm } from './form.ts';

type All = Readonly<Record<Name, Records>>;

/** Returns the values of the form in a request. Values that are emptied become null, and metadata is merged key by key. */
function valuesOf(call: Call, { schema }: Records, old: TableRow): TableRow {
  const { expand: _, ...sent } = nestedValues(call.body.form());
  const { metadata, ...values } = readForm(sent, schema);
  if (!('metadata' in sent)) return values;
  const merged = sent.metadata === '' ? {} : { ...Object(old.metadata ?? {}), ...Object(metadata ?? {}) };
  // A key is removed by an empty value. Source: "Metadata".
  const kept = Object.entries(merged).filter(([, value]) => value !== null && value !== '');
  return { ...values, metadata: Object.fromEntries(kept) };
}

/** Creates a record, in the state in which Stripe has it at first. */
export function create(call: Call, records: Records, all: All): SimulatedResponse {
  const sent = nestedValues(call.body.form());
  const values = valuesOf(call, records, {});
  for (const [param, name] of REFERENCES) {
    const id = sent[param];
    if (typeof id === 'string' && id !== '') find(all[name], id, param);
  }
  const initial = INITIAL[records.name](values, sent, all);
  // These members have another form in requests.
  const { items, recurring } = initial;
  const own = {
    ...(items !== undefined && { items }),
    ...(recurring !== undefined && { recurring: { ...Object(recurring), ...Object(values.recurring) } }),
  };
  return json(records.table.insert({ ...initial, ...values, ...own }));
}

/** Parameters that name other records. */
const REFERENCES = [
  ['customer', 'customers'],
  ['product', 'products'],
  ['charge', 'charges'],
  ['payment_intent', 'payment_intents'],
] as const satisfies readonly (readonly [string, Name])[];

type Initial = (values: TableRow, sent: Readonly<Record<string, unknown>>, all: All) => TableRow;

/** The members of new records that their creator does not set. */
const INITIAL: Readonly<Record<Name, Initial>> = {
  customers: () => ({ balance: 0, delinquent: false, tax_exempt: 'none', preferred_locales: [] }),
  products: () => ({ active: true, type: 'service' }),
  prices: ({ unit_amount, recurring }) => ({
    active: true,
    billing_scheme: 'per_unit',
    tax_behavior: 'unspecified',
    type: recurring == null ? 'one_time' : 'recurring',
    ...(recurring != null && {
      recurring: { interval_count: 1, usage_type: 'licensed', meter: null, trial_period_days: null },
    }),
    unit_amount_decimal: unit_amount == null ? null : String(unit_amount),
  }),
  subscriptions: (_values, { items }, all) => ({
    status: 'active',
    collection_method: 'charge_automatically',
    currency: 'usd',
    items: {
      object: 'list',
      url: '/v1/subscription_items',
      data: [items].flat().map((item, index) => {
        const { price, quantity = '1' } = Object(item ?? {});
        return {
          id: `si_New${index}`,
          object: 'subscription_item',
          quantity: Number(quantity),
          price: find(all.prices, String(price), 'items[0][price]'),
        };
      }),
    },
  }),
  payment_intents: () => ({
    status: 'requires_payment_method',
    capture_method: 'automatic_async',
    confirmation_method: 'automatic',
    payment_method_types: ['card'],
  }),
  charges: (_values, sent) => {
    if (sent.source === undefined && sent.customer === undefined) throw invalid('Must provide source or customer.');
    return {
      status: 'succeeded',
      paid: true,
      captured: true,
      payment_method_details: { type: 'card', card: { last4: '4242', brand: 'visa', exp_month: 8, exp_year: 2030 } },
    };
  },
  invoices: ({ customer }) => {
    if (customer == null) throw invalid('You must pass a customer to create an invoice.', 'customer');
    return {
      status: 'draft',
      currency: 'usd',
      collection_method: 'charge_automatically',
      billing_reason: 'manual',
      lines: { object: 'list', url: '', data: times(0, String) },
    };
  },
  refunds: ({ amount }, { charge, payment_intent }, all) => {
    if (charge === undefined && payment_intent === undefined)
      throw invalid('One of the following params should be provided for this request: payment_intent or charge.');
    if (charge === undefined) return { status: 'succeeded', currency: 'usd', amount };
    const refunded = find(all.charges, String(charge), 'charge');
    const left = Number(refunded.amount) - Number(refunded.amount_refunded);
    const taken = Number(amount ?? left);
    if (taken > left) throw new Fault(400, 'charge_already_refunded', `Charge ${charge} has already been refunded.`);
    const total = Number(refunded.amount_refunded) + taken;
    all.charges.table.update(String(charge), { amount_refunded: total, refunded: total >= Number(refunded.amount) });
    return { status: 'succeeded', currency: refunded.currency, amount: taken, payment_intent: refunded.payment_intent };
  },
};

/** Changes a record. */
export function update(call: Call, records: Records): SimulatedResponse {
  const id = call.params.id ?? '';
  const old = records.get(id);
  const values = valuesOf(call, records, old);
  // The items of a subscription are changed by their own ids, which this simulator does not do.
  const { items: _, ...kept } = values;
  return json(records.table.update(id, kept) ?? old);
}

/** Deletes a record. */
export function remove(call: Call, records: Records, all: All): SimulatedResponse {
  const id = call.params.id ?? '';
  const row = records.get(id);
  if (records.name === 'invoices' && row.status !== 'draft') {
    throw invalid('You can only delete draft invoices. To void an invoice, use its own endpoint.');
  }
  if (records.name === 'products' && all.prices.table.rows().some(({ product }) => product === id)) {
    throw invalid('This product cannot be deleted because it has one or more user-created prices.');
  }
  records.table.remove(id);
  return json({ id, object: row.object, deleted: true });
}

/**
 * Returns a record that a parameter names.
 * @throws Fault 400
 */
function find(records: Records, id: string, param: string): TableRow {
  const row = records.table.find(id);
  if (row === undefined) throw missing(nounOf(records), id, param);
  return row;
}
