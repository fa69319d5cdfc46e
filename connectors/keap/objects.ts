import {
  type Codec,
  can,
  defineObject,
  type Fields,
  type Inputs,
  type Json,
  json,
  type ProviderResponse,
  path,
  records,
  type StoredUpload,
  type UploadForm,
} from '#connector';
import {
  ASKED_FLAG,
  ASKED_REFERENCE,
  ASKED_TEXT,
  ASKED_TIME,
  asked,
  DAY,
  FLAG,
  ID,
  LATEST_TIME,
  LIST,
  NUMBER,
  OBJECT,
  oneOf,
  PREFIXED,
  REFERENCE,
  TEXT,
  TIME,
  WRITTEN,
} from './fields.ts';
import { between, compared, equal, filterBy, parameterSpecs } from './filter.ts';
import { latestFirst, listOf, SINCE } from './lists.ts';
import { recordOperations, recordsOf } from './records.ts';

/** What the second version of the API has. The names of fields are those of its answers. */

const CONTACT_FIELDS = {
  id: ID,
  given_name: { ...PREFIXED, ...WRITTEN },
  family_name: { ...PREFIXED, ...WRITTEN },
  middle_name: { ...PREFIXED, ...WRITTEN },
  preferred_name: { ...TEXT, ...WRITTEN },
  prefix: { ...TEXT, ...WRITTEN },
  suffix: { ...TEXT, ...WRITTEN },
  job_title: { ...TEXT, ...WRITTEN },
  website: { ...PREFIXED, ...WRITTEN },
  contact_type: { ...TEXT, ...WRITTEN },
  birth_date: { ...DAY, ...WRITTEN },
  anniversary_date: { ...DAY, ...WRITTEN },
  spouse_name: { ...TEXT, ...WRITTEN },
  preferred_locale: { ...TEXT, ...WRITTEN, format: 'locale' },
  time_zone: { ...TEXT, ...WRITTEN, format: 'time-zone' },
  referral_code: { ...TEXT, ...WRITTEN },
  assistant_name: { ...TEXT, ...WRITTEN },
  assistant_phone: { ...TEXT, ...WRITTEN },
  billing_information: { ...TEXT, ...WRITTEN },
  'company.id': { ...ASKED_REFERENCE, ...WRITTEN },
  'company.company_name': TEXT,
  owner_id: { ...REFERENCE, ...WRITTEN },
  leadsource_id: { ...REFERENCE, ...WRITTEN },
  account_id: REFERENCE,
  email_addresses: { ...LIST, ...WRITTEN },
  phone_numbers: { ...LIST, ...WRITTEN },
  fax_numbers: { ...LIST, ...WRITTEN },
  addresses: { ...LIST, ...WRITTEN },
  social_accounts: { ...LIST, ...WRITTEN },
  custom_fields: { ...LIST, ...WRITTEN },
  tag_ids: LIST,
  links: LIST,
  utm_parameters: LIST,
  origin: OBJECT,
  score_value: TEXT,
  source_type: {
    ...oneOf(
      'API',
      'APPOINTMENT',
      'FORM_API_HOSTED',
      'FORM_API_INTERNAL',
      'IMPORT',
      'INTERNAL_FORM',
      'LANDING_PAGE',
      'MANUAL',
      'OTHER',
      'UNKNOWN',
      'WEBFORM',
    ),
    ...WRITTEN,
  },
  create_time: { ...TIME, nullable: false, sortable: true },
  created_by: TEXT,
  update_time: { ...ASKED_TIME, sortable: true },
  last_updated_by: TEXT,
} as const satisfies Fields;

const ADDRESS_PARAMETERS = ['billing', 'shipping', 'other'].flatMap((kind) =>
  ['line1', 'locality', 'region', 'postal_code', 'country_code'].map((part) => [
    `${kind}_address_${part}`,
    `The ${kind} address has this ${part.replace('_', ' ')}.`,
  ]),
);

/** The fields of a telephone number are searched together. */
const PHONES = { 'phone_fields==': 'PHONE1,PHONE2,PHONE3,PHONE4,PHONE5' };

const EMAIL_FIELDS = {
  id: { ...ID, filter: {} },
  subject: { ...TEXT, createable: true },
  contact_id: { ...ASKED_REFERENCE, createable: true },
  headers: { ...TEXT, createable: true },
  sent_to_address: { ...TEXT, createable: true, required: true },
  sent_to_cc_address_list: { ...LIST, createable: true },
  sent_to_bcc_address_list: { ...LIST, createable: true },
  sent_from_address: { ...TEXT, createable: true },
  sent_from_reply_address: { ...TEXT, createable: true },
  sent_time: { ...TIME, createable: true },
  received_time: { ...TIME, createable: true },
  opened_time: { ...TIME, createable: true },
  clicked_time: { ...TIME, createable: true },
  original_provider: { ...oneOf('UNKNOWN', 'INFUSIONSOFT', 'MICROSOFT', 'GOOGLE'), createable: true },
  original_provider_id: { ...TEXT, createable: true },
  provider_source_id: { ...TEXT, createable: true },
} as const satisfies Fields;

const EMAIL_PARAMETERS = {
  ...parameterSpecs({ email: 'An address that the e-mail was sent to or from.' }),
  start_created_time: { type: 'datetime', description: 'Recorded at Keap since then.' },
  end_created_time: { type: 'datetime', description: 'Recorded at Keap until then.' },
} as const;

/** Those of one contact are those of all with its id. They are read and removed among all. */
const emailsOfContact = defineObject<Inputs>({
  label: 'E-mails of the contact',
  fields: { ...EMAIL_FIELDS, contact_id: REFERENCE },
  parameters: EMAIL_PARAMETERS,
  list: listOf({
    path: 'emails',
    rows: ['emails'],
    conditions: ({ parentId = '' }) => ({ 'contact_id==': parentId }),
  }),
});

export const contacts = defineObject<Inputs>({
  label: 'Contacts',
  fields: CONTACT_FIELDS,
  parameters: parameterSpecs({
    email: 'An e-mail address, or the beginning of one with * behind it.',
    phone_number:
      'A telephone number as it is stored, or at least three characters of its beginning with * behind them.',
    city: 'Of the primary address, or its beginning with * behind it.',
    state: 'Of the primary address, or its beginning with * behind it.',
    lead_source_name: 'Of the lead source, or its beginning with * behind it.',
    ...Object.fromEntries(ADDRESS_PARAMETERS),
  }),
  limits: { maxSortFields: 1 },
  translator: filterBy({
    id: { by: { '=': 'contact_id==', IN: 'ids==' } },
    given_name: equal('given_name'),
    family_name: equal('family_name'),
    middle_name: equal('middle_name'),
    website: equal('website'),
    'company.id': equal('company_id'),
    update_time: between('start_update_time', 'end_update_time'),
  }),
  list: listOf({
    path: 'contacts',
    rows: ['contacts'],
    fields: 'all',
    conditions: ({ parameters }) => (parameters.phone_number === undefined ? {} : PHONES),
  }),
  children: { emails: emailsOfContact },
  changes: { updated: 'update_time', created: 'create_time' },
  ...recordOperations('contacts', { fields: 'all' }),
});

const BASE64: Codec = {
  read: (native) => (typeof native === 'string' ? Buffer.from(native, 'base64').toString('utf8') : native),
  write: (value) => (typeof value === 'string' ? Buffer.from(value).toString('base64') : value),
};
const CONTENT = { ...TEXT, ...BASE64, createable: true, unlisted: true } as const;
const { update: _never, ...emailRecords } = recordsOf('emails');

export const emails = defineObject<Inputs>({
  label: 'E-mails',
  description: 'Records of e-mails that were sent. Creating one sends nothing.',
  fields: { ...EMAIL_FIELDS, plain_content: CONTENT, html_content: CONTENT },
  parameters: EMAIL_PARAMETERS,
  translator: filterBy({ contact_id: equal('contact_id') }),
  list: listOf({ path: 'emails', rows: ['emails'] }),
  ...records(emailRecords),
});

const TAG_FIELDS = {
  id: ID,
  name: { ...ASKED_TEXT, ...WRITTEN, nullable: false, required: true },
  description: { ...ASKED_TEXT, ...WRITTEN, filter: can.only('superset', '=', 'IS NULL') },
  'category.id': { ...ASKED_REFERENCE, ...WRITTEN, filter: can.only('exact', '=', 'IS NULL') },
  create_time: { ...ASKED_TIME, sortable: true },
  update_time: { ...ASKED_TIME, sortable: true },
} as const satisfies Fields;

export const tags = defineObject<Inputs>({
  label: 'Tags',
  fields: TAG_FIELDS,
  limits: { maxSortFields: 1 },
  translator: filterBy(
    {
      id: equal('tag_ids'),
      name: equal('name'),
      description: equal('description'),
      'category.id': equal('category_id'),
      create_time: between('since_create_time', 'until_create_time'),
      update_time: between('since_update_time', 'until_update_time'),
    },
    { description: [{ 'description==': 'NONE' }], 'category.id': [{ 'category_id==': 'NONE' }] },
  ),
  list: listOf({ path: 'tags', rows: ['tags'] }),
  changes: { updated: 'update_time', created: 'create_time' },
  ...recordOperations('tags'),
});

const TASK_FIELDS = {
  id: ID,
  title: { ...PREFIXED, ...WRITTEN },
  description: { ...TEXT, ...WRITTEN },
  type: { ...TEXT, ...WRITTEN, format: 'task-type' },
  priority: { ...asked(oneOf('CRITICAL', 'ESSENTIAL', 'NONESSENTIAL')), ...WRITTEN },
  completed: { ...ASKED_FLAG, ...WRITTEN },
  accepted: { ...FLAG, ...WRITTEN },
  due_time: { ...TIME, ...WRITTEN, filter: can.null },
  completion_time: { ...TIME, ...WRITTEN },
  remind_time_mins: {
    type: 'integer',
    ...WRITTEN,
    label: 'Minutes before it is due: 5, 10, 15, 30, 60, 120, 240, 480, 1440, 2880',
  },
  assigned_to_user_id: { ...ASKED_REFERENCE, ...WRITTEN, required: true, filter: can.only('exact', '=', 'IS NULL') },
  contact_id: { ...ASKED_REFERENCE, ...WRITTEN },
  opportunity_id: { ...ASKED_REFERENCE, ...WRITTEN },
  custom_fields: { ...LIST, ...WRITTEN },
  create_time: { ...TIME, nullable: false, sortable: true },
  created_by_user_id: REFERENCE,
  modification_time: LATEST_TIME,
  last_updated_by_user_id: REFERENCE,
} as const satisfies Fields;

export const tasks = defineObject<Inputs>({
  label: 'Tasks',
  fields: TASK_FIELDS,
  limits: { maxSortFields: 1 },
  translator: filterBy(
    {
      id: equal('task_ids'),
      title: equal('title'),
      priority: equal('priority'),
      completed: equal('is_completed'),
      assigned_to_user_id: equal('user_id'),
      contact_id: equal('contact_id'),
      opportunity_id: equal('opportunity_id'),
      modification_time: { from: SINCE },
    },
    {
      due_time: [{ 'has_due_date==': 'false' }, { 'has_due_date==': 'true' }],
      assigned_to_user_id: [{ 'user_id==': 'UNASSIGNED' }],
    },
  ),
  list: latestFirst(
    listOf({ path: 'tasks', rows: ['tasks'], fields: ['custom_fields'] }),
    'modification_time',
    'update_time',
  ),
  changes: { updated: 'modification_time', created: 'create_time' },
  ...recordOperations('tasks', { fields: ['custom_fields'] }),
});

const AMOUNT = { ...NUMBER, ...WRITTEN, filter: { ...can.only('superset', '='), ...can.order('superset') } } as const;

const OPPORTUNITY_FIELDS = {
  id: ID,
  opportunity_title: { ...PREFIXED, ...WRITTEN, required: true },
  'contact.id': { ...ASKED_REFERENCE, ...WRITTEN, required: true },
  'contact.email': TEXT,
  'contact.first_name': TEXT,
  'contact.last_name': TEXT,
  'contact.company_name': TEXT,
  'contact.phone_number': TEXT,
  'contact.city': PREFIXED,
  'contact.state': PREFIXED,
  'stage.id': { ...ASKED_REFERENCE, ...WRITTEN, required: true },
  'stage.name': TEXT,
  'user.id': { ...ASKED_REFERENCE, ...WRITTEN },
  next_action_time: { ...TIME, ...WRITTEN },
  next_action_notes: { ...TEXT, ...WRITTEN },
  opportunity_notes: { ...TEXT, ...WRITTEN },
  estimated_close_time: { ...TIME, ...WRITTEN },
  include_in_forecast: { ...FLAG, ...WRITTEN },
  projected_revenue_low: AMOUNT,
  projected_revenue_high: AMOUNT,
  affiliate_id: { ...ASKED_REFERENCE, ...WRITTEN },
  lead_source: PREFIXED,
  status_id: REFERENCE,
  custom_fields: { ...LIST, ...WRITTEN },
  created_time: { ...TIME, nullable: false, sortable: true },
  created_by: TEXT,
  last_updated_time: LATEST_TIME,
  last_updated_by: TEXT,
} as const satisfies Fields;

/** What is answered only when it is named. */
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
  limits: { maxSortFields: 1, maxInSize: 100 },
  translator: {
    ...opportunityFilter,
    fault: (native) =>
      'ids==' in native && 'opportunity_id==' in native
        ? 'the provider takes no id beside a list of ids'
        : opportunityFilter.fault?.(native),
  },
  list: latestFirst(
    listOf({ path: 'opportunities', rows: ['opportunities'], fields: OPPORTUNITY_EXTRAS }),
    'last_updated_time',
    'update_time',
  ),
  changes: { updated: 'last_updated_time', created: 'created_time' },
  ...recordOperations('opportunities', {
    fields: OPPORTUNITY_EXTRAS,
    names: { contact: 'contact_id', stage: 'stage_id', user: 'user_id' },
  }),
});

const GIVEN = { createable: true } as const;

const ORDER_FIELDS = {
  id: { ...ID, filter: can.only('exact', '=', '!=', 'IN') },
  title: { ...PREFIXED, ...WRITTEN, required: true },
  'contact.id': { ...ASKED_REFERENCE, ...WRITTEN, required: true },
  'contact.email': TEXT,
  'contact.given_name': TEXT,
  'contact.family_name': TEXT,
  order_time: { ...TIME, ...WRITTEN, required: true, nullable: false, sortable: true },
  order_type: { ...asked(oneOf('ONLINE', 'OFFLINE')), ...WRITTEN, required: true },
  status: oneOf('DRAFT', 'SENT', 'VIEWED', 'PAID'),
  source_type: oneOf('API', 'CHECKOUT_FORM', 'INVOICE', 'MANUAL_PAYMENT', 'QUICKBOOKS', 'UNKNOWN'),
  order_items: { ...LIST, ...GIVEN },
  notes: { ...TEXT, ...WRITTEN },
  terms: { ...TEXT, ...WRITTEN },
  total: { ...OBJECT, label: 'Amount in the smallest unit of its currency' },
  total_paid: OBJECT,
  total_due: OBJECT,
  refund_total: OBJECT,
  refund_status: TEXT,
  credit_status: TEXT,
  promo_code: TEXT,
  lead_affiliate_id: { ...REFERENCE, ...WRITTEN },
  sales_affiliate_id: { ...REFERENCE, ...WRITTEN },
  shipping_information: OBJECT,
  payment_plan: OBJECT,
  invoice_id: ASKED_REFERENCE,
  invoice_number: { ...TEXT, ...WRITTEN },
  allow_payment: FLAG,
  allow_paypal: FLAG,
  synced: FLAG,
  files: LIST,
  custom_fields: { ...LIST, ...WRITTEN },
  sent_time: { ...TIME, ...WRITTEN },
  due_time: { ...TIME, ...WRITTEN },
  creation_time: ASKED_TIME,
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
  limits: { maxSortFields: 1 },
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
  ...recordOperations('orders', { names: { title: 'order_title', contact: 'contact_id' } }),
});

const FILE_FIELDS = {
  id: { ...ID, filter: {} },
  file_name: { ...ASKED_TEXT, ...WRITTEN, label: 'Name; that of the file unless it is given' },
  category: asked(
    oneOf('ATTACHMENTS', 'CART', 'DOCUMENTS', 'HIDDEN', 'INVOICE', 'LOGO', 'TICKETS', 'WEB_FORM', 'FUNNEL'),
  ),
  file_box_type: asked(
    oneOf(
      'APPLICATION',
      'IMAGE',
      'FAX',
      'ATTACHMENT',
      'TICKET',
      'CONTACT',
      'DIGITAL_PRODUCT',
      'IMPORT',
      'HIDDEN',
      'WEB_FORM',
      'STYLED_CART',
      'RESAMPLED_IMAGE',
      'TEMPLATE_THUMBNAIL',
      'FUNNEL',
      'LOGO_THUMBNAIL',
      'UNLAYER',
      'BRANDING_CENTER_LOGO',
    ),
  ),
  is_public: { ...ASKED_FLAG, ...WRITTEN },
  contact_id: { ...ASKED_REFERENCE, createable: true },
  file_association: {
    ...oneOf('CONTACT', 'USER', 'COMPANY'),
    createable: true,
    unlisted: true,
    label: 'Whose file it becomes: of the contact if there is one, otherwise of the user. It is not shown again',
  },
  created_by_id: REFERENCE,
  remote_file_key: TEXT,
  file_size: { type: 'integer', label: 'Bytes' },
  created_time: TIME,
  updated_time: LATEST_TIME,
} as const satisfies Fields;

export const files = defineObject<Inputs>({
  label: 'Files',
  description: 'The file box: what is stored of files, and with `Accept` the file itself.',
  fields: FILE_FIELDS,
  translator: filterBy({
    file_name: equal('file_name'),
    category: equal('category'),
    file_box_type: equal('file_box_type'),
    is_public: equal('is_public'),
    contact_id: equal('contact_id'),
    updated_time: { from: SINCE },
  }),
  list: latestFirst(listOf({ path: 'files', rows: ['files'] }), 'updated_time', 'updated_time'),
  changes: { updated: 'updated_time', created: 'created_time' },
  ...records({ get: fileOf, remove: (id) => ({ ...fileOf(id), method: 'DELETE' }) }),
  media: {
    types: ['*'],
    request: ({ id }) => ({ path: path`/rest/v2/files/${id}:data` }),
    about: { request: ({ id }) => fileOf(id), read: describeFile },
  },
  upload: {
    create: {
      request: ({ values, file }) => {
        const file_association = values.contact_id == null ? 'USER' : 'CONTACT';
        return { path: '/rest/v2/files', form: formOf({ file_name: file.name, file_association, ...values }) };
      },
      read: readStored,
    },
    // A new version keeps its name unless another is given. The change of a file is a POST, too.
    replace: { request: ({ id, values }) => ({ ...fileOf(id), form: formOf(values) }), read: readStored },
  },
});

function formOf(values: Json): UploadForm {
  const given = Object.entries(values).filter(([, value]) => value !== null);
  return { parts: given.map(([name, value]) => ({ name, value: String(value) })), file: 'file' };
}

function readStored({ body }: ProviderResponse): StoredUpload {
  return { record: json.object(body, 'the stored file') };
}

function fileOf(id: string) {
  return { path: path`/rest/v2/files/${id}` };
}

function describeFile({ body }: ProviderResponse) {
  return { name: json.text(json.at(body, 'file_name'), 'the name of the file') };
}
