import {
  type ChangesInput,
  type ChangesPage,
  can,
  codec,
  type DiscoveryContext,
  defined,
  defineObject,
  each,
  type Fields,
  fieldsOf,
  type Inputs,
  inputs,
  isNotFound,
  json,
  list,
  type ObjectSpec,
  type Objects,
  type Operation,
  path,
  records,
} from '#connector';
import {
  FLAG,
  ID,
  INTEGER,
  readConversationAttributes,
  readDataAttributes,
  readTicketAttributes,
  TEXT,
  TIME,
} from './attributes.ts';
import official from './official.json' with { type: 'json' };
import { AFTER, listOf, SEARCHING, type Search } from './search.ts';

const KEY = { ...ID, nullable: false } as const;
const STAMP = { ...TIME, nullable: false } as const;
const SHOWN_TIME = { type: 'datetime', ...codec.epochSeconds } as const;
/** A value that one of a closed list. The search has a term for each. */
const CHOICE = { nullable: false, domain: { closed: true }, filter: can.only('superset', '=', '!=', 'IN') } as const;
const KEPT = { clearable: false } as const;

/** A search finds a new contact some minutes later. Source: "Contact Creation Delay". */
const CHANGES = { updated: 'updated_at', created: 'created_at', overlapSeconds: 600 } as const;

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

const contacts = defineObject<Search>({
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
  ...records({
    get: (id) => ({ path: path`/contacts/${id}` }),
    create: { request: (values) => ({ method: 'POST', path: '/contacts', json: values }) },
    update: { request: (id, values) => ({ method: 'PUT', path: path`/contacts/${id}`, json: values }), record: bodyOf },
    remove: (id) => ({ method: 'DELETE', path: path`/contacts/${id}` }),
  }),
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

const companies = defineObject<Inputs>({
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
  ...records({
    get: (id) => ({ path: path`/companies/${id}` }),
    create: { request: (values) => ({ method: 'POST', path: '/companies', json: toCompany(values) }) },
    update: {
      request: (id, values) => ({ method: 'PUT', path: path`/companies/${id}`, json: toCompany(values) }),
      record: bodyOf,
    },
    remove: (id) => ({ method: 'DELETE', path: path`/companies/${id}` }),
  }),
});

const CONTACT_IDS = {
  type: 'array',
  native: 'contacts.contacts',
  read: (value: unknown) => (Array.isArray(value) ? value.map((contact) => json.at(contact, 'id')) : value),
  write: (value: unknown) => (Array.isArray(value) ? value.map((id) => ({ id })) : value),
} as const;

const conversations = defineObject<Search>({
  label: 'Conversations',
  fields: {
    ...fieldsOf(official, 'conversation_list_item', {
      pick: `id title created_at updated_at waiting_since snoozed_until open state read priority admin_assignee_id
        team_assignee_id tags teammates conversation_rating statistics first_contact_reply sla_applied
        ai_agent_participated`,
      update: 'update_conversation_request',
      but: {
        id: KEY,
        ...each(STAMP, 'created_at updated_at'),
        ...each(TIME, 'waiting_since snoozed_until'),
        ...each({ ...FLAG, nullable: false }, 'open ai_agent_participated'),
        read: { ...FLAG, ...KEPT, nullable: false, updateable: true },
        title: { ...KEPT, updateable: true },
        state: CHOICE,
        priority: { filter: can.only('superset', '=', 'IN') },
        ...each(INTEGER, 'admin_assignee_id team_assignee_id'),
      },
    }),
    body: { type: 'string', native: 'source.body', createable: true, required: true },
    subject: { ...TEXT, native: 'source.subject', createable: true },
    source_type: { ...ID, native: 'source.type' },
    author_id: { ...ID, native: 'source.author.id', createable: true, required: true },
    author_type: { ...ID, native: 'source.author.type', createable: true, required: true },
    author_name: { ...TEXT, native: 'source.author.name' },
    author_email: { ...TEXT, native: 'source.author.email' },
    contact_ids: CONTACT_IDS,
  },
  ...SEARCHING,
  list: listOf('conversations', { rows: 'conversations', pages: true }),
  ...records({
    get: (id) => ({ path: path`/conversations/${id}` }),
    create: {
      request: ({ source }) => ({
        method: 'POST',
        path: '/conversations',
        json: defined({
          from: { type: json.at(source, 'author', 'type'), id: json.at(source, 'author', 'id') },
          body: json.at(source, 'body'),
          subject: json.at(source, 'subject'),
        }),
      }),
      // The response is the first message.
      id: ({ body }) => json.text(json.at(body, 'conversation_id'), 'the id of the conversation'),
    },
    update: {
      request: (id, values) => ({ method: 'PUT', path: path`/conversations/${id}`, json: values }),
      record: bodyOf,
    },
    remove: (id) => ({ method: 'DELETE', path: path`/conversations/${id}` }),
  }),
  changes: { ...CHANGES, feed: deletions(), reports: ['created', 'updated', 'deleted'] },
});

const tickets = defineObject<Search>({
  label: 'Tickets',
  aliases: ['incidents'],
  fields: {
    ...fieldsOf(official, 'ticket', {
      pick: `id ticket_id category ticket_state ticket_type admin_assignee_id team_assignee_id created_at updated_at open
        snoozed_until is_shared previous_ticket_state_id`,
      update: 'update_ticket_request',
      but: {
        id: KEY,
        category: CHOICE,
        ...each(STAMP, 'created_at updated_at'),
        snoozed_until: { ...TIME, ...KEPT, updateable: true },
        open: { ...FLAG, ...KEPT, nullable: false, updateable: true },
        is_shared: { ...KEPT, updateable: true },
        // The search has them as texts.
        ...each(
          { type: 'integer', nativeType: 'string', filter: ID.filter ?? {} },
          'admin_assignee_id team_assignee_id',
        ),
      },
    }),
    title: { ...TEXT, native: 'ticket_attributes._default_title_', createable: true, updateable: true },
    description: { ...TEXT, native: 'ticket_attributes._default_description_', createable: true, updateable: true },
    ticket_type_id: { ...ID, native: 'ticket_type.id', createable: true, required: true },
    state: {
      type: 'string',
      native: 'ticket_state.category',
      values: ['submitted', 'in_progress', 'waiting_on_customer', 'resolved'],
    },
    state_label: { type: 'string', native: 'ticket_state.internal_label' },
    ticket_state_id: { type: 'string', native: 'ticket_state.id', updateable: true, ...KEPT },
    contact_ids: { ...CONTACT_IDS, createable: true, required: true },
  },
  ...SEARCHING,
  list: listOf('tickets', { rows: 'tickets', pages: false }),
  ...records({
    get: (id) => ({ path: path`/tickets/${id}` }),
    create: { request: (values) => ({ method: 'POST', path: '/tickets', json: toTicket(values) }) },
    update: {
      request: (id, values) => ({ method: 'PUT', path: path`/tickets/${id}`, json: toTicket(values) }),
      record: bodyOf,
    },
    remove: (id) => ({ method: 'DELETE', path: path`/tickets/${id}` }),
  }),
  changes: CHANGES,
});

const admins = defineObject({
  label: 'Admins',
  description: 'Teammates of the workspace.',
  aliases: ['users'],
  fields: fieldsOf(official, 'admin', {
    pick: 'id name email job_title away_mode_enabled away_mode_reassign has_inbox_seat team_ids role',
    but: { id: { nullable: false } },
  }),
  list: list({
    request: () => ({ path: '/admins' }),
    rows: (body) => json.array(json.at(body, 'admins'), 'the admins'),
    paging: { kind: 'whole' },
  }),
  ...records({ get: (id) => ({ path: path`/admins/${id}` }) }),
});

const ticketTypes = defineObject({
  label: 'Ticket types',
  fields: fieldsOf(official, 'ticket_type', {
    pick: 'id category name description icon archived created_at updated_at ticket_states',
    but: { id: { nullable: false }, ...each(SHOWN_TIME, 'created_at updated_at') },
  }),
  list: list({
    request: () => ({ path: '/ticket_types' }),
    rows: (body) => json.array(json.at(body, 'data'), 'the ticket types'),
    paging: { kind: 'whole' },
  }),
});

/** The objects of a workspace. Those with attributes that people can add are described when they are first used. */
export async function discoverObjects(): Promise<Objects> {
  return {
    contacts: outlineOf(contacts, (context) => readDataAttributes(context, 'contact')),
    companies: outlineOf(companies, (context) => readDataAttributes(context, 'company')),
    conversations: outlineOf(conversations, readConversationAttributes),
    tickets: outlineOf(tickets, readTicketAttributes),
    admins,
    ticket_types: ticketTypes,
  };
}

function outlineOf(object: ObjectSpec, read: (context: DiscoveryContext) => Promise<Fields>): ObjectSpec {
  const { changes, ...rest } = object;
  const reports = changes?.reports ?? ['created', 'updated'];
  return {
    ...rest,
    fields: {},
    ...(changes !== undefined && { changes: { reports } }),
    describe: async (context) => ({ ...object, fields: { ...object.fields, ...(await read(context)) } }),
  };
}

function bodyOf({ body }: { readonly body: unknown }): unknown {
  return json.object(body, 'a record');
}

type Values = Readonly<Record<string, unknown>>;

/** Requests name a plan by its name. */
function toCompany({ plan, ...values }: Values): Values {
  return defined({ ...values, plan: json.at(plan, 'name') });
}

/** Requests have ids where records have objects. */
function toTicket({ ticket_type, ticket_state, contacts: list, ...values }: Values): Values {
  return defined({
    ...values,
    ticket_type_id: json.at(ticket_type, 'id'),
    ticket_state_id: json.at(ticket_state, 'id'),
    contacts: json.at(list, 'contacts'),
  });
}

const MOST_DELETED = 60;

/** Lists the deleted conversations, the latest first, until one was deleted before the wanted time. */
function deletions(): Operation<ChangesInput, ChangesPage> {
  return {
    request: ({ cursor = '1' }) => ({
      path: '/conversations/deleted',
      query: { page: cursor, per_page: MOST_DELETED, order: 'desc' },
    }),
    read: ({ body }, { since, cursor = '1' }) => {
      const found = json.objects(json.at(body, 'conversations'), 'the deleted conversations').map((each) => ({
        id: json.key(each.id, 'the id of a conversation'),
        action: 'deleted' as const,
        at: new Date(Number(each.deleted_at) * 1000).toISOString(),
      }));
      const changes = found.filter(({ at }) => Date.parse(at) >= Math.floor(Date.parse(since) / 1000) * 1000);
      const isLast = changes.length < found.length || found.length < MOST_DELETED;
      return { changes, ...(!isLast && { next: String(Number(cursor) + 1) }) };
    },
  };
}
