import { type Call, type TableRow, times } from '#connector/simulator';
import { badRequest, readTime } from './filter.ts';
import { FILE_CATEGORIES, ORDER_TYPES, PRIORITIES, type Resources } from './resources.ts';
import * as rows from './rows.ts';

type Kind = 'text' | 'id' | 'flag' | 'number' | 'time' | 'list' | 'object' | readonly (string | number)[];

interface Input {
  readonly takes: Readonly<Record<string, Kind>>;
  readonly required?: readonly string[];
  readonly longest?: Readonly<Record<string, number>>;
  /** What is kept of what was said. */
  readonly keep?: (values: TableRow, resources: Resources) => TableRow;
}

const CUSTOM = { custom_fields: 'list' } as const;

const INPUTS: Readonly<Record<'contacts' | 'tags' | 'tasks' | 'opportunities' | 'orders' | 'emails', Input>> = {
  contacts: {
    takes: {
      ...kinds('text', [
        'prefix',
        'suffix',
        'website',
        'anniversary_date',
        'birth_date',
        'contact_type',
        'family_name',
      ]),
      ...kinds('text', ['given_name', 'job_title', 'middle_name', 'preferred_locale', 'preferred_name']),
      ...kinds('text', ['referral_code', 'source_type', 'spouse_name', 'time_zone', 'assistant_name']),
      ...kinds('text', ['assistant_phone', 'billing_information']),
      ...kinds('list', ['addresses', 'email_addresses', 'fax_numbers', 'phone_numbers', 'social_accounts']),
      ...{ leadsource_id: 'id', owner_id: 'id', company: 'object', origin: 'object', ...CUSTOM },
    },
    longest: {
      ...{ given_name: 40, family_name: 40, middle_name: 100, preferred_name: 100, spouse_name: 100, website: 100 },
      ...{ job_title: 255, assistant_name: 20, assistant_phone: 15, billing_information: 100 },
    },
    keep: (values) => ({
      ...values,
      ...mapList(values, 'email_addresses', {
        opt_in_reason: null,
        is_opt_in: false,
        email_opt_status: 'NON_MARKETABLE',
      }),
      ...mapList(values, 'phone_numbers', { extension: null, number: null, type: null, number_e164: null }),
      ...mapList(values, 'addresses', {
        ...{ country: null, line1: null, line2: null, locality: null, region: null, country_code: null },
        ...{ region_code: null, postal_code: null, zip_code: null, zip_four: null },
      }),
      ...(values.company != null && { company: { company_name: null, ...Object(values.company) } }),
    }),
  },
  tags: {
    takes: { name: 'text', description: 'text', category: 'object' },
    required: ['name'],
    keep: ({ category, ...values }) => ({
      ...values,
      // Those of a longer name are kept without its end.
      ...(typeof values.name === 'string' && { name: values.name.slice(0, 255) }),
      ...(category !== undefined && { category: category && { id: String(Object(category).id) } }),
    }),
  },
  tasks: {
    takes: {
      ...{ title: 'text', description: 'text', type: 'text', priority: PRIORITIES, completed: 'flag' },
      ...{ completion_time: 'time', due_time: 'time', assigned_to_user_id: 'id', contact_id: 'id' },
      ...{ opportunity_id: 'id', accepted: 'flag', ...CUSTOM },
      remind_time_mins: [5, 10, 15, 30, 60, 120, 240, 480, 1440, 2880],
    },
    required: ['assigned_to_user_id'],
  },
  opportunities: {
    takes: {
      ...{ opportunity_title: 'text', next_action_time: 'time', next_action_notes: 'text', opportunity_notes: 'text' },
      ...{ estimated_close_time: 'time', include_in_forecast: 'flag', projected_revenue_low: 'number' },
      ...{ projected_revenue_high: 'number', contact_id: 'id', stage_id: 'id', user_id: 'id', affiliate_id: 'id' },
      ...CUSTOM,
    },
    required: ['contact_id', 'opportunity_title', 'stage_id'],
    keep: ({ contact_id, stage_id, user_id, ...values }, { contacts }) => ({
      ...values,
      ...(contact_id != null && {
        contact: rows.opportunityContact(known(contacts.table.rows(), 'contact_id', contact_id)),
      }),
      ...(stage_id != null && { stage: known(rows.STAGES, 'stage_id', stage_id) }),
      ...(user_id !== undefined && { user: user_id && known(rows.USERS, 'user_id', user_id) }),
    }),
  },
  orders: {
    takes: {
      ...{ notes: 'text', terms: 'text', title: 'text', contact_id: 'id', order_items: 'list', order_title: 'text' },
      ...{ order_time: 'time', order_type: ORDER_TYPES, promo_codes: 'list', lead_affiliate_id: 'id' },
      ...{ sales_affiliate_id: 'id', shipping_address: 'object', sent_time: 'time', due_time: 'time' },
      ...{ invoice_number: 'text', external_create_user: 'text', external_create_time: 'time' },
      ...{ external_update_time: 'time', ...CUSTOM },
    },
    required: ['contact_id', 'order_time', 'order_title', 'order_type'],
    keep: (
      { contact_id, order_title, title, order_items, promo_codes, shipping_address, ...values },
      { contacts },
    ) => ({
      ...values,
      ...(order_title !== undefined && { title: order_title }),
      ...(contact_id != null && { contact: rows.basicContact(known(contacts.table.rows(), 'contact_id', contact_id)) }),
      ...(Array.isArray(order_items) && readItems(order_items)),
      ...(Array.isArray(promo_codes) && { promo_code: promo_codes[0] ?? null }),
      ...(shipping_address != null && { shipping_information: { address: shipping_address } }),
    }),
  },
  emails: {
    takes: {
      ...{ subject: 'text', headers: 'text', contact_id: 'id', sent_to_address: 'text', sent_from_address: 'text' },
      ...{ sent_to_cc_address_list: 'list', sent_to_bcc_address_list: 'list', sent_from_reply_address: 'text' },
      ...{ sent_time: 'time', received_time: 'time', opened_time: 'time', clicked_time: 'time' },
      ...{ plain_content: 'text', html_content: 'text', original_provider_id: 'text', provider_source_id: 'text' },
      original_provider: ['UNKNOWN', 'INFUSIONSOFT', 'MICROSOFT', 'GOOGLE'],
    },
    required: ['sent_to_address'],
    keep: ({ plain_content, html_content, ...values }) => ({
      ...values,
      ...(plain_content !== undefined && { _plain_content: plain_content }),
      ...(html_content !== undefined && { _html_content: html_content }),
    }),
  },
};

export type Written = keyof typeof INPUTS;

/** Of what the mask names; members that cannot be set are passed over. @throws Fault 400 */
export function readInput(name: Written, call: Call, resources: Resources, isNew: boolean): TableRow {
  const { takes, required = [], longest = {}, keep = (values) => values } = INPUTS[name];
  const mask = readMask(call);
  const wrong = mask?.find((member) => !Object.hasOwn({ ...resources[name].table.rows()[0], ...takes }, member));
  if (wrong !== undefined) throw badRequest(`Invalid update_mask: ${wrong}`, 'update_mask');
  const given = Object.entries(call.body.object()).filter(
    ([member]) => Object.hasOwn(takes, member) && mask?.includes(member) !== false,
  );
  const values = Object.fromEntries(
    given.map(([member, value]) => [member, readValue(member, value, takes[member] ?? 'text')]),
  );
  for (const [member, value] of Object.entries(values)) {
    if (String(value).length > (longest[member] ?? Number.POSITIVE_INFINITY)) throw badRequest(`${member} is too long`);
    if (value === null && required.includes(member)) throw badRequest(`${member} is required`, member);
  }
  const missing = isNew ? required.find((member) => values[member] === undefined) : undefined;
  if (missing !== undefined) throw badRequest(`${missing} is required`, missing);
  if (name === 'contacts' && isNew && !WAYS.some((way) => [values[way] ?? []].flat().length > 0)) {
    throw badRequest('Contact must contain at least one item in email_addresses, phone_numbers, or addresses');
  }
  const kept = keep(values, resources);
  return Array.isArray(kept.custom_fields) ? { ...kept, custom_fields: fillCustom(kept.custom_fields) } : kept;
}

const WAYS = ['email_addresses', 'phone_numbers', 'addresses'];

export function readMask({ query }: Call): readonly string[] | undefined {
  return query.has('update_mask') ? query.getAll('update_mask').flatMap((each) => each.split(',')) : undefined;
}

const READERS: Readonly<Record<Extract<Kind, string>, (value: unknown, member: string) => unknown>> = {
  text: (value) => (typeof value === 'string' ? value : undefined),
  id: (value) => (/^\d+$/.test(String(value)) ? String(value) : undefined),
  flag: (value) => (typeof value === 'boolean' ? value : undefined),
  number: (value) => (typeof value === 'number' ? value : undefined),
  time: (value, member) => rows.wholeSeconds(Date.parse(readTime(member, String(value)))),
  list: (value) => (Array.isArray(value) ? value : undefined),
  object: (value) => (typeof value === 'object' && !Array.isArray(value) ? value : undefined),
};

function readValue(member: string, value: unknown, kind: Kind): unknown {
  if (value === null) return null;
  const read = typeof kind === 'string' ? READERS[kind](value, member) : kind.find((each) => each === value);
  if (read === undefined) throw badRequest(`Invalid value for ${member}`, member);
  return read;
}

function kinds(kind: Kind, names: readonly string[]): Readonly<Record<string, Kind>> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}

function mapList(values: TableRow, member: string, nothing: TableRow): TableRow {
  const list = values[member];
  return Array.isArray(list) ? { [member]: list.map((each) => ({ ...nothing, ...Object(each) })) } : {};
}

function known(all: readonly TableRow[], member: string, id: unknown): TableRow {
  const row = all.find((each) => each.id === id);
  if (row === undefined) throw badRequest(`${member} ${id} does not exist`, member);
  return row;
}

/** What is not said is empty. */
function fillCustom(given: readonly unknown[]): readonly TableRow[] {
  const values = given.map((each): TableRow => Object(each));
  const unknown = values.find(({ id }) => !rows.CUSTOM_FIELDS.some((field) => field.id === String(id)));
  if (unknown !== undefined) throw badRequest(`Custom field ${unknown.id} does not exist`, 'custom_fields');
  return rows.CUSTOM_FIELDS.map(({ id }) => ({
    id,
    content: values.find((value) => String(value.id) === id)?.content ?? null,
  }));
}

function readItems(items: readonly unknown[]): TableRow {
  const lines = items.map((item) => {
    const { name, quantity, price_per_unit: price = 0, product_id } = Object(item);
    if (!Number.isSafeInteger(quantity) || quantity < 1) throw badRequest('quantity must be at least 1', 'order_items');
    return { name: name ?? 'Product', quantity, cents: Math.round(Number(price) * 100), product: String(product_id) };
  });
  const total = rows.money(lines.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0));
  const order_items = times(lines.length, (index) => {
    const line = lines[index] ?? { name: '', quantity: 0, cents: 0, product: '' };
    return rows.orderItem(String(9000 + index), line.product, line);
  });
  return { order_items, total, total_due: total };
}

/** The parts of an upload. @throws Fault 400 */
export async function readUpload(call: Call, isNew: boolean): Promise<{ values: TableRow; bytes?: Uint8Array }> {
  if (call.body.type !== 'multipart/form-data') throw badRequest('The request is not a multipart request');
  const form = await call.body.multipart();
  const mask = readMask(call) ?? ['file', 'file_name', 'is_public'];
  const text = (name: string) => {
    const part = form.get(name);
    return typeof part === 'string' && (isNew || mask.includes(name)) ? part : undefined;
  };
  const file = form.get('file');
  const [name, association, contact, open] = ['file_name', 'file_association', 'contact_id', 'is_public'].map(text);
  if (isNew && (file === null || name === undefined)) throw badRequest('file and file_name are required');
  if (isNew && !['CONTACT', 'USER', 'COMPANY'].includes(association ?? '')) {
    throw badRequest('file_association is not valid', 'file_association');
  }
  if (association === 'CONTACT' && contact === undefined) throw badRequest('contact_id is required', 'contact_id');
  const bytes = file instanceof Blob && mask.includes('file') ? await file.bytes() : undefined;
  return {
    values: {
      ...(name !== undefined && { file_name: name }),
      ...(open !== undefined && { is_public: open === 'true' }),
      ...(isNew && { category: FILE_CATEGORIES[2], contact_id: association === 'CONTACT' ? contact : null }),
      ...(isNew && { file_box_type: association === 'CONTACT' ? 'CONTACT' : 'APPLICATION' }),
      ...(bytes !== undefined && { file_size: bytes.length }),
    },
    ...(bytes !== undefined && { bytes }),
  };
}
