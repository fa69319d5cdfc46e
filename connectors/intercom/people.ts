import {
  can,
  defined,
  defineObject,
  each,
  fieldsOf,
  type Inputs,
  inputs,
  isNotFound,
  json,
  list,
  path,
} from '#connector';
import { CHOICE, FLAG, ID, KEPT, KEY, SHOWN_TIME, STAMP, TEXT, TIME } from './attributes.ts';
import official from './official.json' with { type: 'json' };
import { AFTER, CHANGES, listOf, operationsOn, SEARCHING, type Search, type Values } from './search.ts';

const notes = defineObject({
  label: 'Notes',
  fields: fieldsOf(official, 'note', {
    pick: 'id created_at author body',
    but: { id: { nullable: false }, created_at: SHOWN_TIME },
  }),
  list: list({
    request: ({ parentId = '', page }) => ({ path: path`/contacts/${parentId}/notes`, query: page }),
    rows: (body) => json.array(json.at(body, 'data'), 'the notes'),
    paging: AFTER,
  }),
});

export const contacts = defineObject<Search>({
  label: 'Contacts',
  description: 'Users and leads.',
  aliases: ['customers'],
  fields: {
    ...fieldsOf(official, 'contact', {
      pick: `id external_id workspace_id role email email_domain phone name owner_id has_hard_bounced marked_email_as_spam
        unsubscribed_from_emails created_at updated_at signed_up_at last_seen_at last_replied_at last_contacted_at
        last_email_opened_at last_email_clicked_at language_override browser browser_version browser_language os
        android_app_name android_app_version android_device android_last_seen_at ios_app_name ios_app_version ios_device
        ios_last_seen_at tags notes companies social_profiles`,
      create: 'create_contact_request',
      update: 'update_contact_request',
      but: {
        id: KEY,
        ...each(TEXT, 'name email_domain language_override browser browser_language os android_device ios_device'),
        ...each(FLAG, 'has_hard_bounced marked_email_as_spam'),
        ...each(
          TIME,
          'last_replied_at last_contacted_at last_email_opened_at last_email_clicked_at android_last_seen_at ios_last_seen_at',
        ),
        ...each({ ...TIME, createable: true, updateable: true }, 'signed_up_at last_seen_at'),
        ...each({ ...STAMP, sortable: true }, 'created_at updated_at'),
        name: { ...TEXT, createable: true, updateable: true },
        email: { ...TEXT, ...KEPT, createable: true, updateable: true, required: false, format: 'email' },
        external_id: { ...ID, ...KEPT, createable: true, updateable: true, required: false },
        role: { ...CHOICE, ...KEPT, values: ['user', 'lead'], createable: true, updateable: true, required: false },
        owner_id: { ...ID, createable: true, updateable: true },
        unsubscribed_from_emails: { ...FLAG, createable: true, updateable: true },
      },
    }),
    country: { ...TEXT, native: 'location.country' },
    region: { ...TEXT, native: 'location.region' },
    city: { ...TEXT, native: 'location.city' },
  },
  ...SEARCHING,
  list: listOf('contacts', { rows: 'data', pages: true }),
  ...operationsOn('contacts'),
  changes: CHANGES,
  children: { notes },
});

const companyPages = list<Inputs>({
  request: ({ filter, page }) =>
    filter === undefined
      ? { method: 'POST', path: '/companies/list', idempotent: true, query: { ...page, order: 'desc' } }
      : { path: '/companies', query: filter },
  // The description has a list for one company, too, and the guides show the company itself.
  rows: (body) => (json.at(body, 'type') === 'company' ? [body] : json.array(json.at(body, 'data'), 'the companies')),
  paging: { kind: 'number', page: 'page', size: 'per_page', max: 60 },
});

export const companies = defineObject<Inputs>({
  label: 'Companies',
  description: 'Companies with at least one contact. Others can only be read by their ids.',
  aliases: ['accounts'],
  fields: {
    ...fieldsOf(official, 'company', {
      pick: `id company_id name remote_created_at created_at updated_at last_request_at size website industry monthly_spend
        session_count user_count tags segments`,
      create: 'create_or_update_company_request',
      update: 'update_company_request',
      but: {
        id: { nullable: false },
        company_id: { createable: true, filter: can.only('superset', '=') },
        ...each({ ...KEPT, createable: true, updateable: true, type: 'string' }, 'name website industry'),
        ...each({ ...KEPT, createable: true, updateable: true, type: 'integer' }, 'size monthly_spend'),
        ...each(SHOWN_TIME, 'created_at updated_at last_request_at'),
        remote_created_at: { ...SHOWN_TIME, createable: true },
      },
    }),
    plan: { type: 'string', native: 'plan.name', createable: true, updateable: true, ...KEPT },
  },
  limits: { resultWindow: 10_000 },
  translator: inputs({ company_id: 'company_id' }),
  list: {
    ...companyPages,
    run: async ({ send, config, signal }, input) => {
      try {
        return companyPages.read(await send(companyPages.request(input, config)), input);
      } catch (error) {
        signal.throwIfAborted();
        // Intercom answers 404 when no company has the `company_id`.
        if (input.filter !== undefined && isNotFound(error)) return { records: [] };
        throw error;
      }
    },
  },
  ...operationsOn('companies', toCompany),
});

/** Requests name a plan by its name. */
function toCompany({ plan, ...values }: Values): Values {
  return defined({ ...values, plan: json.at(plan, 'name') });
}
