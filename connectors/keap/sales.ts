import {
  can,
  codec,
  decimalsOfCurrency,
  defineObject,
  type FieldSpec,
  type Fields,
  type Inputs,
  json,
} from '#connector';
import {
  ASKED_REFERENCE,
  ASKED_TIME,
  all,
  asked,
  FLAG,
  GIVEN,
  ID,
  LATEST_TIME,
  LIST,
  NUMBER,
  OBJECT,
  oneOf,
  PREFIXED,
  REFERENCE,
  SEARCHED,
  TEXT,
  TIME,
  WRITTEN,
} from './fields.ts';
import { between, compared, equal, filterBy, parameterSpecs } from './filter.ts';
import { LIMITS, latestFirst, listOf, SINCE } from './lists.ts';
import { recordsOf } from './records.ts';

const AMOUNT = { ...NUMBER, ...WRITTEN, filter: { ...can.only('superset', '='), ...can.order('superset') } } as const;

const OPPORTUNITY_FIELDS = {
  id: ID,
  opportunity_title: { ...PREFIXED, ...WRITTEN, required: true },
  'contact.id': { ...ASKED_REFERENCE, ...WRITTEN, required: true },
  ...all(TEXT, 'contact.email contact.first_name contact.last_name contact.company_name contact.phone_number'),
  'contact.city': PREFIXED,
  'contact.state': PREFIXED,
  'stage.id': { ...ASKED_REFERENCE, ...WRITTEN, required: true },
  'stage.name': TEXT,
  'user.id': { ...ASKED_REFERENCE, ...WRITTEN, aliases: { user_id: '=' } },
  ...all({ ...TEXT, ...WRITTEN }, 'next_action_notes opportunity_notes'),
  ...all({ ...TIME, ...WRITTEN }, 'next_action_time estimated_close_time'),
  include_in_forecast: { ...FLAG, ...WRITTEN },
  projected_revenue_low: AMOUNT,
  projected_revenue_high: AMOUNT,
  affiliate_id: { ...ASKED_REFERENCE, ...WRITTEN },
  lead_source: PREFIXED,
  status_id: REFERENCE,
  custom_fields: { ...LIST, ...WRITTEN },
  created_time: { ...TIME, nullable: false, sortable: true },
  ...all(TEXT, 'created_by last_updated_by'),
  last_updated_time: LATEST_TIME,
} as const satisfies Fields;

/** Members that Keap includes only when `fields` names them. */
const OPPORTUNITY_EXTRAS = ['custom_fields', 'created_by', 'last_updated_by', 'status_id'];

const opportunityFilter = filterBy({
  id: { by: { '=': 'opportunity_id==', IN: 'ids==' } },
  opportunity_title: equal('opportunity_title'),
  'contact.id': equal('contact_id'),
  'contact.city': equal('contact_city'),
  'contact.state': equal('contact_state'),
  'stage.id': equal('stage_id'),
  'user.id': equal('user_id'),
  affiliate_id: equal('affiliate_id'),
  lead_source: equal('lead_source_name'),
  projected_revenue_low: compared('projected_revenue_low'),
  projected_revenue_high: compared('projected_revenue_high'),
  last_updated_time: { from: SINCE },
});

export const opportunities = defineObject<Inputs>({
  label: 'Opportunities',
  fields: OPPORTUNITY_FIELDS,
  limits: LIMITS,
  translator: {
    ...opportunityFilter,
    fault: (native) =>
      'ids==' in native && 'opportunity_id==' in native
        ? 'the provider accepts no id together with a list of ids'
        : opportunityFilter.fault?.(native),
  },
  list: latestFirst(
    listOf({ path: 'opportunities', rows: ['opportunities'], fields: OPPORTUNITY_EXTRAS }),
    'last_updated_time',
    'update_time',
  ),
  changes: { updated: 'last_updated_time', created: 'created_time' },
  ...recordsOf('opportunities', {
    fields: OPPORTUNITY_EXTRAS,
    names: { contact: 'contact_id', stage: 'stage_id', user: 'user_id' },
  }),
});

/** Returns a field that shows an amount in units of its currency: 19.99 for 1999 USD, and 1999 for 1999 JPY. */
function majorOf(native: string): FieldSpec {
  const read = (value: unknown) => {
    const [amount, currency] = ['amount', 'currency_code'].map((name) => json.at(value, name));
    return codec.minorUnits(decimalsOfCurrency(String(currency))).read(amount) ?? null;
  };
  return { type: 'number', native, label: 'Amount in units of its currency', read };
}

const ORDER_FIELDS = {
  id: { ...ID, filter: can.only('exact', '=', '!=', 'IN') },
  title: { ...PREFIXED, ...WRITTEN, required: true },
  'contact.id': { ...ASKED_REFERENCE, ...WRITTEN, required: true },
  ...all(TEXT, 'contact.email contact.given_name contact.family_name'),
  order_time: { ...TIME, ...WRITTEN, required: true, nullable: false, sortable: true },
  order_type: { ...asked(oneOf('ONLINE OFFLINE')), ...WRITTEN, required: true },
  status: oneOf('DRAFT SENT VIEWED PAID'),
  source_type: oneOf('API CHECKOUT_FORM INVOICE MANUAL_PAYMENT QUICKBOOKS UNKNOWN'),
  order_items: { ...LIST, ...GIVEN },
  ...all({ ...TEXT, ...WRITTEN }, 'notes terms invoice_number'),
  ...all(
    { ...OBJECT, label: 'Amount in the smallest unit of its currency' },
    'total total_paid total_due refund_total',
  ),
  total_major: majorOf('total'),
  total_paid_major: majorOf('total_paid'),
  total_due_major: majorOf('total_due'),
  refund_total_major: majorOf('refund_total'),
  ...all(OBJECT, 'shipping_information payment_plan'),
  ...all(TEXT, 'refund_status credit_status promo_code'),
  ...all({ ...REFERENCE, ...WRITTEN }, 'lead_affiliate_id sales_affiliate_id'),
  invoice_id: ASKED_REFERENCE,
  ...all(FLAG, 'allow_payment allow_paypal synced'),
  files: LIST,
  custom_fields: { ...LIST, ...WRITTEN },
  ...all({ ...TIME, ...WRITTEN }, 'sent_time due_time'),
  creation_time: { ...ASKED_TIME, aliases: SEARCHED },
  modification_time: { ...ASKED_TIME, sortable: true },
} as const satisfies Fields;

export const orders = defineObject<Inputs>({
  label: 'Orders',
  fields: ORDER_FIELDS,
  parameters: {
    paid: { type: 'boolean', description: 'Whether the order is paid.' },
    ...parameterSpecs({
      product_id: 'An item of the order is this product.',
      invoice_xid: 'The external id of the invoice.',
      shipping_locality: 'The town that the order is shipped to.',
      shipping_region_code: 'The region that the order is shipped to, such as US-AZ.',
      shipping_postal_code: 'The postal code that the order is shipped to.',
      shipping_country_code: 'The country that the order is shipped to, such as USA.',
    }),
  },
  limits: LIMITS,
  translator: filterBy({
    id: compared('id', 'ids'),
    title: equal('title'),
    'contact.id': equal('contact_id'),
    order_type: equal('order_type'),
    invoice_id: equal('invoice_id'),
    creation_time: between('created_since_time', 'created_until_time'),
    modification_time: between('modified_since_time', 'modified_until_time'),
  }),
  list: listOf({ path: 'orders', rows: ['orders'] }),
  changes: { updated: 'modification_time', created: 'creation_time' },
  ...recordsOf('orders', { names: { title: 'order_title', contact: 'contact_id' } }),
});
