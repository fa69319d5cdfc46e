import {
  type ChangesInput,
  type ChangesPage,
  can,
  defined,
  defineObject,
  each,
  fieldsOf,
  json,
  type Operation,
  path,
  records,
} from '#connector';
import { CHOICE, FLAG, ID, INTEGER, KEPT, KEY, STAMP, TEXT, TIME } from './attributes.ts';
import official from './official.json' with { type: 'json' };
import { conversationParts } from './parts.ts';
import { CHANGES, listOf, operationsOn, SEARCHING, type Search, type Values } from './search.ts';

const CONTACT_IDS = {
  type: 'array',
  native: 'contacts.contacts',
  read: (value: unknown) => (Array.isArray(value) ? value.map((contact) => json.at(contact, 'id')) : value),
  write: (value: unknown) => (Array.isArray(value) ? value.map((id) => ({ id })) : value),
} as const;

export const conversations = defineObject<Search>({
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
  ...operationsOn('conversations'),
  // The response to a creation is the first message.
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
      id: ({ body }) => json.text(json.at(body, 'conversation_id'), 'the id of the conversation'),
    },
  }),
  changes: { ...CHANGES, feed: deletions(), reports: ['created', 'updated', 'deleted'] },
  // Below a conversation, a list needs no filter.
  children: { parts: { ...conversationParts, requiredFilters: [] } },
});

export const tickets = defineObject<Search>({
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
  ...operationsOn('tickets', toTicket),
  changes: CHANGES,
});

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
