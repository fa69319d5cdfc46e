import {
  can,
  defineObject,
  each,
  fieldsOf,
  type Inputs,
  inputs,
  type Json,
  json,
  list,
  notFound,
  path,
  rejected,
} from '#connector';
import { SHOWN_TIME } from './attributes.ts';
import official from './official.json' with { type: 'json' };

const WRITTEN = { createable: true, required: true } as const;

/**
 * The parts of conversations: replies, notes, and what happened, such as an assignment. Intercom finds a part only in its conversation, so
 * its id holds both ids.
 */
export const conversationParts = defineObject<Inputs>({
  label: 'Conversation parts',
  description:
    'Replies, notes and changes of conversations. A list needs the conversation: `conversation_id`, or the path of the conversation.',
  aliases: ['replies'],
  fields: {
    conversation_id: {
      ...{ type: 'string', nullable: false, label: 'Id of the conversation', ...WRITTEN },
      filter: can.only('exact', '='),
    },
    ...fieldsOf(official, 'conversation_part', {
      pick: 'id part_type body created_at updated_at notified_at assigned_to attachments external_id redacted state tags metadata',
      but: {
        id: { nullable: false },
        part_type: { createable: true, label: 'Type, such as comment or note' },
        body: WRITTEN,
        ...each(SHOWN_TIME, 'created_at updated_at notified_at'),
      },
    }),
    author_id: { type: 'string', native: 'author.id', ...WRITTEN },
    author_type: {
      type: 'string',
      native: 'author.type',
      ...WRITTEN,
      label: 'Type of the author: admin, user, lead or bot',
    },
    author_name: { type: 'string', native: 'author.name' },
    author_email: { type: 'string', native: 'author.email', format: 'email' },
  },
  translator: inputs({ conversation_id: 'conversation_id' }),
  requiredFilters: ['conversation_id'],
  list: list<Inputs>({
    request: ({ filter, parentId = String(filter?.conversation_id ?? '') }) => ({
      path: path`/conversations/${parentId}`,
    }),
    rows: partsIn,
    paging: { kind: 'whole' },
  }),
  get: {
    request: ({ id }) => ({ path: path`/conversations/${divide(id)[0]}` }),
    read: ({ body }, { id }) => {
      const part = partsIn(body).find((each) => each.id === id);
      if (part === undefined) throw notFound('The conversation has no such part.');
      return part;
    },
  },
  create: {
    request: ({ values }) => ({
      method: 'POST',
      path: path`/conversations/${String(values.conversation_id)}/reply`,
      json: replyOf(values),
    }),
    // The response is the conversation, and its last part of this author is the new one.
    read: ({ body }, { values }) => {
      const part = partsIn(body).findLast((each) => idOf(each) === idOf(values) && each.body != null);
      if (part === undefined) throw new Error('The response lacks the new part.');
      return part;
    },
  },
});

function idOf(part: Json): unknown {
  return json.at(part, 'author', 'id');
}

/** Returns the parts of a conversation, the latest 500 at most. */
function partsIn(body: unknown): readonly Json[] {
  const conversation_id = json.key(json.at(body, 'id'), 'the id of the conversation');
  return json
    .objects(json.at(body, 'conversation_parts', 'conversation_parts'), 'the parts of the conversation')
    .map((part) => ({ ...part, conversation_id, id: `${conversation_id}-${json.key(part.id, 'the id of a part')}` }));
}

/**
 * Returns the body of a reply. Source: `reply_conversation_request`.
 * @throws AppError PROVIDER_REJECTED for a note of a contact, and for another type
 */
function replyOf({ author, body, part_type }: Json): Json {
  const message_type = part_type ?? 'comment';
  const [type, id] = ['type', 'id'].map((name) => json.at(author, name));
  if (message_type !== 'comment' && message_type !== 'note') {
    throw rejected("A new part is a comment or a note: 'part_type' must be one of them.");
  }
  if (type === 'admin') return { message_type, type, admin_id: id, body };
  if (message_type === 'note') throw rejected("A note is written by an admin: 'author_type' must be admin.");
  return { message_type, type: 'user', intercom_user_id: id, body };
}

/** Returns the conversation and the part's own id. */
function divide(id: string): readonly [conversation: string, part: string] {
  const [, conversation = '', part = ''] = /^([^-]+)-(.+)$/s.exec(id) ?? [];
  if (part === '') throw notFound('There is no such part of a conversation: its id is `<conversation>-<id>`.');
  return [conversation, part];
}
