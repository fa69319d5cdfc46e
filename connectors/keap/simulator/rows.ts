import {
  type Column,
  cycle,
  DAY_MS,
  dayAfter,
  HOSTILE_TEXTS,
  makeRows,
  pick,
  sparse,
  type TableRow,
} from '#connector/simulator';

/** The user whose token it is. */
export const USER_ID = '1';

/** With gaps. */
export function idAt(index: number): string {
  return String(index + 1 + 3 * Math.floor(index / 7));
}

/** v2 writes whole seconds. */
export function wholeSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

const FIRST_MS = Date.parse('2024-01-10T08:00:00Z');

/** Two rows in a row have the same time. */
const moment =
  (days = 1, laterMs = 0): Column =>
  (index) =>
    wholeSeconds(FIRST_MS + laterMs + Math.floor(index / 2) * (days * DAY_MS + 61_000));

const text = (longest = 255, start = 0): Column =>
  cycle(
    HOSTILE_TEXTS.map((each) => each.slice(0, longest)),
    1,
    start,
  );
const contactIds: Column = (index) => idAt((index * 5) % 40);
const email = (index: number) => `Person${index % 40}@example.com`;

interface Custom {
  readonly id: string;
  readonly label: string;
  readonly field_type: 'TEXT' | 'WHOLE_NUMBER' | 'DATE_TIME';
  readonly field_name: string;
}

/** The same for each of the objects that have some. */
export const CUSTOM_FIELDS: readonly Custom[] = [
  { id: '6', label: 'Job description', field_type: 'TEXT', field_name: 'JobDescription' },
  { id: '8', label: 'Score', field_type: 'WHOLE_NUMBER', field_name: 'Score0' },
  { id: '12', label: 'Renewal', field_type: 'DATE_TIME', field_name: 'RenewDate' },
];

const customFields: Column = (index) => [
  { id: '6', content: sparse(4, text())(index) },
  { id: '8', content: sparse(5, (each) => (each * 7) % 50)(index) },
  { id: '12', content: sparse(3, moment(3))(index) },
];

const NUMBERS = ['(480) 227-4399', '4802274400', '+49 30 901820', '555-0100'];
const CITIES = ['Chandler', 'CHANDLER', 'München', "Coeur d'Alene"];
const STATES = ['Arizona', 'AZ', 'Bayern', 'Idaho'];

function addressAt(index: number) {
  return {
    ...{
      country: 'United States of America',
      country_code: 'USA',
      field: pick(['BILLING', 'SHIPPING', 'OTHER'], index),
    },
    ...{ line1: `${index} "Main" St.`, line2: null, locality: pick(CITIES, index), region: pick(STATES, index) },
    ...{ region_code: 'US-AZ', postal_code: '85001', zip_code: '85001', zip_four: null },
  };
}

export const contacts = makeRows(90, {
  id: idAt,
  given_name: sparse(11, text(40)),
  family_name: sparse(9, text(40, 3)),
  middle_name: sparse(2, text(100, 5)),
  company: sparse(3, (index) => ({ id: String(200 + (index % 4)), company_name: text(100, 7)(index) })),
  email_addresses: (index) =>
    index % 8 === 7
      ? []
      : ['EMAIL1', 'EMAIL2'].slice(0, 1 + (index % 2)).map((field, place) => ({
          ...{ email: place === 0 ? email(index) : `other${index}@example.org`, field, opt_in_reason: null },
          ...{ is_opt_in: index % 3 === 0, email_opt_status: index % 3 === 0 ? 'SINGLE_OPT_IN' : 'NON_MARKETABLE' },
        })),
  phone_numbers: (index) =>
    index % 4 === 3
      ? []
      : [{ extension: '', number: pick(NUMBERS, index), type: 'Work', field: 'PHONE1', number_e164: null }],
  fax_numbers: () => [],
  addresses: (index) => (index % 5 === 4 ? [] : [addressAt(index)]),
  tag_ids: (index) => [idAt(index % 6), idAt(index % 11)],
  job_title: sparse(3, text(255, 9), 0),
  website: sparse(2, (index) => `https://example.com/${index}`),
  contact_type: cycle(['Prospect', 'Customer', null]),
  birth_date: sparse(4, (index) => dayAfter('1984-02-27', index)),
  anniversary_date: sparse(3, (index) => dayAfter('2015-06-20', index * 31)),
  ...Object.fromEntries(
    [
      ...['prefix', 'suffix', 'preferred_name', 'spouse_name', 'notes', 'groups', 'assistant_name', 'assistant_phone'],
      ...['billing_information', 'account_id', 'referral_code'],
    ].map((name, place) => [name, sparse(2, text(15, place), place % 2)]),
  ),
  leadsource_id: cycle(['0', '12', '14']),
  owner_id: sparse(3, () => USER_ID),
  score_value: sparse(6, (index) => String(index % 5)),
  source_type: cycle(['API', 'MANUAL', 'WEBFORM', 'UNKNOWN']),
  time_zone: sparse(2, () => 'America/Phoenix'),
  preferred_locale: sparse(2, () => 'en_US', 0),
  social_accounts: () => [],
  links: () => [],
  utm_parameters: () => [],
  origin: (index) => ({ date: moment()(index), ip_address: null }),
  custom_fields: customFields,
  created_by: () => USER_ID,
  last_updated_by: () => USER_ID,
  create_time: moment(),
  update_time: moment(1, 3_600_000),
  _lead_source_name: cycle([null, 'Google Ads', 'google organic']),
});

export const tags = makeRows(60, {
  id: idAt,
  name: (index) => `${text(200)(index)} ${index % 45}`.trim(),
  description: cycle([null, '', 'High-value customers', "O'Brien's"]),
  category: cycle([null, { id: '10' }, { id: '12' }]),
  create_time: moment(2),
  update_time: moment(2, 60_000),
});

export const tasks = makeRows(75, {
  id: idAt,
  title: sparse(10, (index) => (index % 3 === 0 ? `Follow up ${index % 5}` : text()(index))),
  description: sparse(3, text(255, 4)),
  type: cycle(['Call', 'Email', 'Other', null]),
  priority: cycle(['CRITICAL', 'ESSENTIAL', 'NONESSENTIAL']),
  completed: (index) => index % 3 === 0,
  create_time: moment(),
  modification_time: moment(1, 120_000),
  completion_time: (index) => (index % 3 === 0 ? moment(1, 100_000)(index) : null),
  due_time: sparse(4, moment(2)),
  remind_time_mins: sparse(2, cycle([5, 60, 2880])),
  assigned_to_user_id: sparse(5, cycle([USER_ID, '17'])),
  created_by_user_id: () => USER_ID,
  last_updated_by_user_id: () => USER_ID,
  contact_id: sparse(6, contactIds),
  opportunity_id: sparse(3, (index) => idAt(index % 20)),
  accepted: (index) => index % 2 === 0,
  custom_fields: customFields,
});

export const STAGES: readonly TableRow[] = ['New Opportunity', 'Qualifying', 'Won'].map((name, index) => ({
  ...{ id: String(18 + 2 * index), name, reasons: [] },
  details: { probability: index * 50, stage_order: 10 * (index + 1), target_num_days: 1, checklist_items: [] },
}));

export const USERS: readonly TableRow[] = [
  { id: USER_ID, first_name: 'Integration', last_name: 'User' },
  { id: '17', first_name: "D'Arcy", last_name: '李' },
];

export function opportunityContact(contact: TableRow): TableRow {
  const [{ email: address = '' } = {}, { number = '' } = {}, home = {}] = (
    ['email_addresses', 'phone_numbers', 'addresses'] as const
  ).map((list) => Object([contact[list] ?? []].flat()[0]));
  return {
    ...{ id: contact.id, email: address, first_name: contact.given_name, last_name: contact.family_name },
    ...{ company_name: Object(contact.company).company_name ?? '', job_title: contact.job_title, phone_number: number },
    ...{ city: home.locality ?? null, state: home.region ?? null },
  };
}

export const opportunities = makeRows(60, {
  id: idAt,
  opportunity_title: text(),
  contact: (index) => opportunityContact(pick(contacts, (index * 5) % 40)),
  stage: cycle(STAGES),
  user: cycle([...USERS, null]),
  next_action_time: sparse(3, moment(4)),
  next_action_notes: sparse(2, text(255, 2)),
  opportunity_notes: cycle(['', null, 'two\nlines']),
  estimated_close_time: sparse(4, moment(5)),
  include_in_forecast: (index) => index % 2 === 0,
  projected_revenue_low: cycle([0, 0.1, 500.25]),
  projected_revenue_high: cycle([0, 1000, 99_999.99, null]),
  affiliate_id: sparse(2, () => '3', 0),
  lead_source: cycle([null, 'Web Form', 'web form', '']),
  created_time: moment(),
  last_updated_time: moment(1, 600_000),
  custom_fields: customFields,
  ...{ created_by: () => USER_ID, last_updated_by: () => USER_ID, status_id: () => '1' },
});

export function money(amount: number): TableRow {
  return { amount, currency_code: 'USD', formatted_amount: `$${(amount / 100).toFixed(2)}` };
}

export function basicContact({ id, given_name, family_name, email_addresses }: TableRow): TableRow {
  const { email: address = null } = Object([email_addresses ?? []].flat()[0]);
  return { id, email: address, given_name, family_name };
}

export function orderItem(id: string, productId: string, { name, quantity, cents }: OrderLine): TableRow {
  return {
    ...{ id, name, description: null, notes: null, quantity, item_type: 'PRODUCT', discount: null, special: null },
    ...{ cost_per_unit: money(0), price_per_unit: money(cents), subscription_id: null, subscription_plan: null },
    product: { id: productId, name, sku: '', description: null, shippable: false, taxable: false },
  };
}

export interface OrderLine {
  readonly name: string;
  readonly quantity: number;
  readonly cents: number;
}

export const orders = makeRows(64, {
  id: idAt,
  title: text(255, 1),
  status: cycle(['DRAFT', 'SENT', 'VIEWED', 'PAID']),
  total: (index) => money((index % 9) * 1050),
  contact: (index) => basicContact(pick(contacts, (index * 5) % 40)),
  notes: sparse(2, text(255, 6)),
  terms: cycle([null, '', 'Net 30']),
  order_type: cycle(['ONLINE', 'OFFLINE']),
  source_type: cycle(['API', 'CHECKOUT_FORM', 'INVOICE', 'UNKNOWN']),
  creation_time: moment(),
  modification_time: moment(1, 900_000),
  order_time: moment(2, 86_399_000),
  lead_affiliate_id: cycle(['0', '3']),
  sales_affiliate_id: cycle(['0', '5']),
  total_paid: (index) => money(index % 4 === 3 ? (index % 9) * 1050 : 0),
  total_due: (index) => money((index % 9) * 1050),
  refund_total: () => money(0),
  shipping_information: sparse(2, (index) => ({
    ...{ id: idAt(index), address: addressAt(index), company: null, given_name: "D'Arcy", family_name: '' },
    ...{ phone_number: '', invoice_to_company: false },
  })),
  ...{ allow_payment: () => true, allow_paypal: () => false, synced: () => false },
  order_items: (index) => [
    orderItem(idAt(2 * index), String(40 + (index % 3)), { name: 'Widget', quantity: 1, cents: (index % 9) * 1050 }),
  ],
  payment_plan: () => null,
  invoice_number: () => null,
  files: () => [],
  ...{ credit_status: () => null, promo_code: sparse(2, () => 'SUMMER20'), refund_status: () => null },
  invoice_id: (index) => String(1000 + index),
  custom_fields: customFields,
  ...{ sent_time: sparse(2, moment()), due_time: sparse(3, moment(3)) },
  ...{ external_create_user: () => null, external_create_time: () => null, external_update_time: () => null },
  _invoice_xid: (index) => `f411a79c-9a92-4960-91d9-${String(index).padStart(12, '0')}`,
});

export const transactions = makeRows(80, {
  _id: idAt,
  amount: cycle([10, 10.5, 0.1, -10, 99_999.99]),
  status: cycle(['APPROVED', 'PENDING', 'ERROR', 'FAILED', 'NONE']),
  description: sparse(3, text()),
  contact: (index) => basicContact(pick(contacts, (index * 5) % 40)),
  order_ids: (index) => (index % 6 === 5 ? [] : [idAt(index % 30)]),
  contact_id: contactIds,
  transaction_method: cycle(['CAPTURE', 'REFUND', 'VOID', 'MANUAL']),
  transaction_time: moment(),
  external_reference_id: sparse(2, (index) => `txn_${index}`),
  external_response_code: () => null,
  error_details: cycle([null, null, "Card was 'declined'"]),
  payment_id: sparse(2, (index) => idAt(index)),
  is_successful: (index) => index % 5 === 0,
  merchant_account_id: sparse(4, cycle(['4', '6'])),
  merchant_account_type: cycle(['STRIPE', 'PAYPAL', 'UNSUPPORTED']),
  payment_method: () => null,
});

export const emails = makeRows(70, {
  id: idAt,
  subject: sparse(9, text()),
  headers: sparse(2, () => 'X-Custom-Header: value'),
  contact_id: sparse(7, contactIds),
  sent_to_address: (index) => email((index * 5) % 40),
  sent_to_cc_address_list: (index) => (index % 3 === 0 ? ['cc1@example.com', 'cc2@example.com'] : []),
  sent_to_bcc_address_list: () => [],
  sent_from_address: () => 'sender@example.com',
  sent_from_reply_address: sparse(2, () => 'reply@example.com'),
  sent_time: sparse(5, moment()),
  received_time: sparse(3, moment(1, 60_000)),
  opened_time: sparse(2, moment(1, 90_000)),
  clicked_time: () => null,
  original_provider_id: (index) => `msg_${index}`,
  original_provider: cycle(['UNKNOWN', 'INFUSIONSOFT', 'GOOGLE']),
  provider_source_id: () => null,
  _plain_content: (index) => encode(pick(HOSTILE_TEXTS, index)),
  _html_content: (index) => encode(`<h1>${index}</h1>`),
  _created_time: moment(1, 5_000),
});

export function encode(plain: string): string {
  return Buffer.from(plain).toString('base64');
}

export const files = makeRows(60, {
  id: idAt,
  category: cycle(['DOCUMENTS', 'ATTACHMENTS', 'HIDDEN']),
  file_name: (index) => (index % 4 === 0 ? 'document.pdf' : `${text(60)(index)}.txt`),
  is_public: (index) => index % 3 === 0,
  contact_id: sparse(3, contactIds),
  created_by_id: cycle([USER_ID, '17']),
  remote_file_key: (index) => `files/${idAt(index)}`,
  file_box_type: cycle(['APPLICATION', 'CONTACT', 'IMAGE', 'TICKET']),
  _permission: cycle(['USER', 'COMPANY']),
  file_size: (index) => Buffer.byteLength(contentOf(idAt(index))),
  created_time: moment(),
  updated_time: moment(1, 60_000),
});

/** What the files of the beginning hold. */
export function contentOf(id: string): string {
  return `The content of ${id}: ${pick(HOSTILE_TEXTS, Number(id))}`;
}

export const appointments = makeRows(66, {
  id: idAt,
  title: text(),
  description: sparse(3, text(255, 8)),
  location: cycle([null, '', "Dana's office"]),
  contact_id: sparse(4, contactIds),
  user_id: sparse(5, cycle([USER_ID, '17'])),
  start_time: moment(2),
  end_time: moment(2, 3_600_000),
  create_time: moment(),
  update_time: moment(1, 30_000),
  _remind_time: sparse(2, cycle([5, 60, 2880])),
});

/** They have no id. */
export const commissions = makeRows(60, {
  _key: String,
  _affiliate_id: cycle(['3', '5']),
  description: sparse(5, text()),
  amount_earned: cycle([25, 0.1, 12.5]),
  contact_first_name: (index) => pick(contacts, index % 40).given_name,
  contact_last_name: (index) => pick(contacts, index % 40).family_name,
  invoice_id: (index) => String(1000 + (index % 40)),
  time_earned: moment(3),
  contact_id: (index) => idAt(index % 40),
  sales_affiliate_id: cycle(['3', '5']),
  sales_affiliate_name: cycle(['Jane Smith', "Sean O'Brien"]),
  product_name: cycle(['Premium Membership', null]),
});
