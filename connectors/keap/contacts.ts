import { type Codec, defineObject, type Fields, type Inputs } from '#connector';
import {
  ASKED_REFERENCE,
  ASKED_TIME,
  all,
  DAY,
  GIVEN,
  ID,
  LIST,
  OBJECT,
  oneOf,
  PREFIXED,
  REFERENCE,
  TEXT,
  TIME,
  WRITTEN,
} from './fields.ts';
import { between, equal, filterBy, parameterSpecs } from './filter.ts';
import { LIMITS, listOf } from './lists.ts';
import { recordsOf } from './records.ts';

const CONTACT_FIELDS = {
  id: ID,
  ...all({ ...PREFIXED, ...WRITTEN }, 'given_name family_name middle_name website'),
  ...all({ ...TEXT, ...WRITTEN }, 'preferred_name prefix suffix job_title contact_type spouse_name'),
  ...all({ ...TEXT, ...WRITTEN }, 'referral_code assistant_name assistant_phone billing_information'),
  ...all({ ...DAY, ...WRITTEN }, 'birth_date anniversary_date'),
  preferred_locale: { ...TEXT, ...WRITTEN, format: 'locale' },
  time_zone: { ...TEXT, ...WRITTEN, format: 'time-zone' },
  'company.id': { ...ASKED_REFERENCE, ...WRITTEN },
  'company.company_name': TEXT,
  ...all({ ...REFERENCE, ...WRITTEN }, 'owner_id leadsource_id'),
  account_id: REFERENCE,
  ...all({ ...LIST, ...WRITTEN }, 'email_addresses phone_numbers fax_numbers addresses social_accounts custom_fields'),
  ...all(LIST, 'tag_ids links utm_parameters'),
  origin: OBJECT,
  source_type: {
    ...oneOf(
      'API APPOINTMENT FORM_API_HOSTED FORM_API_INTERNAL IMPORT INTERNAL_FORM LANDING_PAGE MANUAL OTHER UNKNOWN WEBFORM',
    ),
    ...WRITTEN,
  },
  ...all(TEXT, 'score_value created_by last_updated_by'),
  create_time: { ...TIME, nullable: false, sortable: true },
  update_time: { ...ASKED_TIME, sortable: true },
} as const satisfies Fields;

const ADDRESS_PARAMETERS = ['billing', 'shipping', 'other'].flatMap((kind) =>
  ['line1', 'locality', 'region', 'postal_code', 'country_code'].map((part) => [
    `${kind}_address_${part}`,
    `The ${kind} address has this ${part.replace('_', ' ')}.`,
  ]),
);

/** The fields of a telephone number, which one search covers. */
const PHONES = { 'phone_fields==': 'PHONE1,PHONE2,PHONE3,PHONE4,PHONE5' };

const EMAIL_FIELDS = {
  id: { ...ID, filter: {} },
  contact_id: { ...ASKED_REFERENCE, ...GIVEN },
  sent_to_address: { ...TEXT, ...GIVEN, required: true },
  ...all({ ...TEXT, ...GIVEN }, 'subject headers sent_from_address sent_from_reply_address'),
  ...all({ ...TEXT, ...GIVEN }, 'original_provider_id provider_source_id'),
  ...all({ ...LIST, ...GIVEN }, 'sent_to_cc_address_list sent_to_bcc_address_list'),
  ...all({ ...TIME, ...GIVEN }, 'sent_time received_time opened_time clicked_time'),
  original_provider: { ...oneOf('UNKNOWN INFUSIONSOFT MICROSOFT GOOGLE'), ...GIVEN },
} as const satisfies Fields;

const EMAIL_PARAMETERS = {
  ...parameterSpecs({ email: 'An address that the e-mail was sent to or from.' }),
  start_created_time: { type: 'datetime', description: 'Recorded at Keap since this time.' },
  end_created_time: { type: 'datetime', description: 'Recorded at Keap until this time.' },
} as const;

/** The e-mails of one contact: all e-mails with its id. They are read and removed through `emails`. */
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
    email: 'An e-mail address, or its beginning followed by *.',
    phone_number: 'A telephone number as it is stored, or at least its first three characters followed by *.',
    city: 'City of the primary address, or its beginning followed by *.',
    state: 'State of the primary address, or its beginning followed by *.',
    lead_source_name: 'Name of the lead source, or its beginning followed by *.',
    ...Object.fromEntries(ADDRESS_PARAMETERS),
  }),
  limits: LIMITS,
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
  ...recordsOf('contacts', { fields: 'all' }),
});

const BASE64: Codec = {
  read: (native) => (typeof native === 'string' ? Buffer.from(native, 'base64').toString('utf8') : native),
  write: (value) => (typeof value === 'string' ? Buffer.from(value).toString('base64') : value),
};
const CONTENT = { ...TEXT, ...BASE64, ...GIVEN, unlisted: true } as const;
const { update: _never, ...emailRecords } = recordsOf('emails');

export const emails = defineObject<Inputs>({
  label: 'E-mails',
  description: 'Records of e-mails that were sent. Creating one sends nothing.',
  fields: { ...EMAIL_FIELDS, plain_content: CONTENT, html_content: CONTENT },
  parameters: EMAIL_PARAMETERS,
  translator: filterBy({ contact_id: equal('contact_id') }),
  list: listOf({ path: 'emails', rows: ['emails'] }),
  ...emailRecords,
});
