import {
  type Collection,
  type CollectionSpec,
  createCollections,
  cycle,
  escapeMarkup,
  Fault,
  type Members,
  type MovableClock,
  pick,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
  times,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { ADMINS, ATTRIBUTES, TICKET_STATES, TICKET_TYPES, WORKSPACE } from './account.ts';

/** A kind of record, and the forms of its requests and responses. */
export interface Kind extends CollectionSpec {
  /** The schema of one record, and that of a record in a list. */
  readonly schema: string;
  readonly listed?: string;
  /** The type of a list, and its member with the records. */
  readonly list: readonly [type: string, rows: string];
  /** The member with the attributes of the workspace. */
  readonly holder: string;
  /** Returns stored values that a body has in another form. */
  readonly store?: (body: TableRow, isNew: boolean, contacts: readonly TableRow[]) => TableRow;
}

export type Records = Readonly<Record<keyof typeof KINDS, Collection<Kind>>>;

type Written = Members[string];
const TYPES: Readonly<Record<string, Written['type']>> = {
  ...{ integer: 'integer', float: 'number', decimal: 'number', boolean: 'boolean' },
  ...{ date: 'datetime', datetime: 'datetime' },
};

/** Returns the members of a schema, without those left out. Only members of the request can be set. */
function membersFor(name: string, schema: string, request: string, holder: string, left: string): Members {
  const written = schemaMembers(official, request);
  const isLeft = (path: string) => `${left} ${holder}`.split(' ').some((each) => `${path}.`.startsWith(`${each}.`));
  const own = Object.entries(schemaMembers(official, schema)).flatMap(([path, member]): [string, Written][] => {
    // Times are seconds since 1970.
    const isTime = member.type === 'integer' && /(?:_at|_since|_until)$/.test(path);
    const all = { ...member, ...(isTime && { type: 'datetime' as const }), isReadOnly: !Object.hasOwn(written, path) };
    return isLeft(path) ? [] : [[path, all]];
  });
  const added = (ATTRIBUTES[name] ?? []).map(({ name: attribute, type, options: values }): [string, Written] => [
    `${holder}.${attribute}`,
    { type: TYPES[type] ?? 'string', ...(values && { values }) },
  ]);
  return Object.fromEntries([...own, ...added]);
}

/** Ids of 24 hexadecimal digits, and ids of decimal digits. */
const hex = (first: bigint) => (index: number) => (first + BigInt(index)).toString(16);
const number = (first: number) => (index: number) => String(first + index);
const contactId = hex(0x6762f0dd1bb69f9f2193bb01n);
const COMMON = { rows: 140, created: ['created_at'], changed: ['updated_at'], holder: 'custom_attributes' } as const;
const contactList = (id: unknown) => ({ type: 'contact.list', contacts: [{ type: 'contact', id, external_id: null }] });
const planOf = (name: unknown) => ({ type: 'plan', id: '1', name });
const ASSIGNED = {
  admin_assignee_id: sparse(4, (index) => Number(pick(ADMINS, index).id)),
  team_assignee_id: sparse(3, () => 5),
  contacts: (index: number) => contactList(contactId(index)),
};

/** Returns the parts of a conversation in the form of Intercom. */
const partList = (all: readonly TableRow[]) => ({
  ...{ type: 'conversation_part.list', conversation_parts: all, total_count: all.length },
});
const authorOf = ({ type, id, name, email }: (typeof ADMINS)[number]) => ({ type, id, name, email });
/** A part of a conversation: a reply, a note or an assignment, which has no text. */
function partAt(index: number, part: number): TableRow {
  const at = 1_734_537_559 + index * 3600 + part;
  const part_type = pick(['comment', 'note', 'assignment'], part);
  return {
    ...{ type: 'conversation_part', id: String(1000 * (index + 1) + part), part_type },
    ...{ body: part_type === 'assignment' ? null : `<p>Part ${part} of "${index}"</p>` },
    ...{ created_at: at, updated_at: at, notified_at: at, assigned_to: null, attachments: [], external_id: null },
    ...{ author: authorOf(pick(ADMINS, index + part)), redacted: false },
  };
}

/**
 * Returns a conversation's parts with a new reply.
 * @throws Fault 404 for an author that the workspace does not have
 */
export function withReply(
  { id, conversation_parts }: TableRow,
  body: TableRow,
  { contacts, at }: { readonly contacts: readonly TableRow[]; readonly at: number },
) {
  const known: readonly TableRow[] = Object(conversation_parts).conversation_parts ?? [];
  const admin = body.type === 'admin' && ADMINS.find((each) => each.id === body.admin_id);
  const { name = null, email, ...contact } = admin || found(contacts, 'id', body.intercom_user_id);
  const author = { type: body.type, id: contact.id, name, ...(email != null && { email }) };
  const part = { ...partAt(0, 0), id: `${id}${known.length}`, part_type: body.message_type, author };
  return partList([
    ...known,
    { ...part, body: `<p>${escapeMarkup(String(body.body))}</p>`, created_at: at, updated_at: at, notified_at: at },
  ]);
}

const KINDS: Readonly<Record<'contacts' | 'companies' | 'conversations' | 'tickets', Kind>> = {
  contacts: {
    ...{ ...COMMON, schema: 'contact', list: ['list', 'data'], makeId: contactId, label: 'name' },
    members: membersFor(
      ...(['contacts', 'contact', 'update_contact_request', COMMON.holder] as const),
      'avatar tags notes companies social_profiles merge_history location.type',
    ),
    vary: {
      ...{ type: () => 'contact', role: cycle(['user', 'user', 'lead']), workspace_id: () => WORKSPACE.id_code },
      email: sparse(9, (index) => `${index % 2 === 0 ? 'Person' : 'person'}${index}@example${index % 3}.com`),
      email_domain: sparse(9, (index) => `example${index % 3}.com`),
      owner_id: sparse(4, (index) => pick(ADMINS, index).id),
    },
    initial: ({ email }) => ({
      ...{ type: 'contact', role: 'user', workspace_id: WORKSPACE.id_code, custom_attributes: {} },
      ...{ has_hard_bounced: false, marked_email_as_spam: false, unsubscribed_from_emails: false },
      email_domain: typeof email === 'string' ? email.split('@')[1] : null,
    }),
    made: { role: 'user' },
  },
  companies: {
    ...{ ...COMMON, schema: 'company', list: ['list', 'data'], label: 'name' },
    makeId: hex(0x63a07ddf05a32042dffac901n),
    members: membersFor(
      ...(['companies', 'company', 'create_or_update_company_request', COMMON.holder] as const),
      'plan tags segments notes',
    ),
    vary: {
      ...{ type: () => 'company', app_id: () => WORKSPACE.id_code, company_id: (index) => `c-${index}` },
      plan: sparse(3, (index) => planOf(`Plan ${index % 3}`)),
    },
    initial: { type: 'company', app_id: WORKSPACE.id_code, custom_attributes: {}, session_count: 0, user_count: 0 },
    store: ({ plan }) => (typeof plan === 'string' ? { plan: planOf(plan) } : {}),
  },
  conversations: {
    ...{ ...COMMON, schema: 'conversation', listed: 'conversation_list_item', makeId: number(515), label: 'title' },
    list: ['conversation.list', 'conversations'],
    members: membersFor(
      ...(['conversations', 'conversation', 'update_conversation_request', COMMON.holder] as const),
      `company tags conversation_rating conversation_parts contacts teammates first_contact_reply sla_applied statistics
      linked_objects ai_agent sales_agent channel external_references monitor_evaluations scorecards source.recipients
      source.reply_to source.attachments source.email_message_metadata source.url`.replaceAll(/\s+/g, ' '),
    ),
    vary: {
      ...{ ...ASSIGNED, type: () => 'conversation', priority: cycle(['none', 'high', 'low', 'urgent', 'none']) },
      ...{ state: cycle(['open', 'closed', 'snoozed']), open: cycle([true, false, true]), read: cycle([true, false]) },
      'source.type': () => 'conversation',
      'source.id': number(403_918_346),
      'source.author.type': () => 'user',
      'source.author.id': contactId,
      'source.author.email': sparse(3, (index) => `person${index}@example.com`),
      conversation_parts: (index) => partList(times(index % 4, (part) => partAt(index, part))),
    },
    initial: {
      conversation_parts: partList([]),
      ...{ type: 'conversation', state: 'open', open: true, read: false, priority: 'none', custom_attributes: {} },
      ai_agent_participated: false,
    },
    store: ({ from, body, subject = '' }, isNew, contacts) => {
      if (!isNew) return {};
      const { id, role, name = null, email = null } = found(contacts, 'id', Object(from).id);
      const html = `<p>${escapeMarkup(String(body))}</p>`;
      const source = { type: 'conversation', id: '403918330', delivered_as: 'customer_initiated', redacted: false };
      return {
        source: { ...source, subject, body: html, author: { type: role, id, name, email } },
        contacts: contactList(id),
      };
    },
  },
  tickets: {
    ...{ ...COMMON, schema: 'ticket', list: ['ticket.list', 'tickets'], holder: 'ticket_attributes' },
    ...{ makeId: number(633), label: 'previous_ticket_state_id', made: { contacts: contactList(contactId(0)) } },
    members: membersFor(
      ...(['tickets', 'ticket', 'update_ticket_request', 'ticket_attributes'] as const),
      'ticket_state ticket_type contacts linked_objects ticket_parts',
    ),
    vary: {
      ...{ ...ASSIGNED, type: () => 'ticket', ticket_id: number(1), open: cycle([true, true, false]) },
      category: cycle(TICKET_TYPES.map(({ category }) => category)),
      ...{ ticket_type: cycle(TICKET_TYPES), ticket_state: cycle(TICKET_STATES) },
    },
    initial: { type: 'ticket', open: true, is_shared: false, ticket_state: TICKET_STATES[0], ticket_attributes: {} },
    store: ({ assignee_id, ticket_state_id, ticket_type_id, contacts: given }, isNew, contacts) => {
      const changed = {
        ...(assignee_id !== undefined && { admin_assignee_id: Number(assignee_id) }),
        ...(ticket_state_id !== undefined && { ticket_state: found(TICKET_STATES, 'id', ticket_state_id) }),
      };
      if (!isNew) return changed;
      const ticket_type = found(TICKET_TYPES, 'id', ticket_type_id);
      // A contact is named by one of three members.
      const [[key, value] = ['id', undefined]] = Object.entries(Object([given].flat()[0]));
      const { id } = found(contacts, key, value);
      return { ...changed, ticket_type, category: ticket_type.category, contacts: contactList(id) };
    },
  },
};

function found<Item extends TableRow>(items: readonly Item[], key: string, value: unknown): Item {
  const item = items.find((each) => each[key] === String(value));
  if (item === undefined) throw new Fault(404, 'not_found', 'Resource Not Found');
  return item;
}

/** Creates the records of the workspace. */
export function createRecords(clock: MovableClock, onChange: (kind: Kind, change: TableChange) => void): Records {
  return createCollections<keyof typeof KINDS, Kind>({
    clock,
    of: KINDS,
    writeTime: (ms) => Math.floor(ms / 1000),
    readTime: (value) => (typeof value === 'number' ? value * 1000 : undefined),
    refuse: ([complaint]) => new Fault(400, 'parameter_invalid', complaint?.message ?? ''),
    absent: ({ schema }) => new Fault(404, 'not_found', `${schema} not found`),
    onChange: (name, change) => onChange(KINDS[name], change),
  });
}
