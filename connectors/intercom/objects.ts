import {
  type DiscoveryContext,
  defineObject,
  each,
  type Fields,
  fieldsOf,
  json,
  list,
  type ObjectSpec,
  type Objects,
  path,
  records,
} from '#connector';
import { readConversationAttributes, readDataAttributes, readTicketAttributes, SHOWN_TIME } from './attributes.ts';
import { conversations, tickets } from './inbox.ts';
import official from './official.json' with { type: 'json' };
import { conversationParts } from './parts.ts';
import { companies, contacts } from './people.ts';

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
    conversation_parts: conversationParts,
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
