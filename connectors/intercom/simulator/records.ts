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
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { ADMINS, ATTRIBUTES, TICKET_STATES, TICKET_TYPES, WORKSPACE } from './account.ts';

/** A kind of record, and the forms of its requests and responses. */
export interface Kind extends CollectionSpec {
  readonly path: string;
  /** The schema of one record, and that of a record in a list. */
  readonly schema: string;
  readonly listed?: string;
  /** The type of a list, and its member with the records. */
  readonly list: readonly [type: string, rows: string];
  /** The word of the topics of webhooks. */
  readonly topic: (row: TableRow) => string;
  readonly removed: (row: TableRow) => TableRow;
  /** Returns the stored values of a body. */
  readonly store: (body: TableRow, old: TableRow | undefined, records: Records) => TableRow;
}

export type Records = Readonly<Record<string, Collection<Kind>>>;

/** Ids of 24 hexadecimal digits. */
const hex = (first: bigint) => (index: number) => (first + BigInt(index)).toString(16);
const number = (first: number) => (index: number) => String(first + index);
const CONTACT_ID = hex(0x6762f0dd1bb69f9f2193bb01n);
const ROWS = 140;
const TYPES: Readonly<Record<string, Members[string]['type']>> = {
  ...{
    integer: 'integer',
    float: 'number',
    decimal: 'number',
    boolean: 'boolean',
    date: 'datetime',
    datetime: 'datetime',
  },
};

/** Returns the members of a schema. Times are seconds since 1970, and only what a request has can be set. */
function membersFor(schema: string, holder: string, object: string, request: string, left: RegExp): Members {
  const own = Object.entries(schemaMembers(official, schema)).filter(([path]) => !left.test(path));
  const written = schemaMembers(official, request);
  const added = (ATTRIBUTES[object] ?? []).map(({ name, type, options }): [string, Members[string]] => [
    `${holder}.${name}`,
    { type: TYPES[type] ?? 'string', ...(options && { values: options }) },
  ]);
  const timed = own.map(([path, member]): [string, Members[string]] => {
    const isTime = member.type === 'integer' && /(?:_at|_since|_until)$/.test(path);
    return [path, { ...member, ...(isTime && { type: 'datetime' }), isReadOnly: !Object.hasOwn(written, path) }];
  });
  return Object.fromEntries([...timed, ...added]);
}

const STAMPS = { created: ['created_at'], changed: ['updated_at'] };
const admin = sparse(4, (index) => Number(pick(ADMINS, index).id));
const contactList = (id: unknown) => ({ type: 'contact.list', contacts: [{ type: 'contact', id, external_id: null }] });

/** Attributes that a request leaves out stay as they are. */
function merged(holder: string, body: TableRow, old?: TableRow): TableRow {
  return body[holder] === undefined ? {} : { [holder]: { ...Object(old?.[holder]), ...Object(body[holder]) } };
}

const contacts: Kind = {
  ...{ path: '/contacts', schema: 'contact', list: ['list', 'data'], ...STAMPS, rows: ROWS },
  members: membersFor(
    'contact',
    'custom_attributes',
    'contacts',
    'update_contact_request',
    /^(?:avatar|tags|notes|companies|social|merge|location\.type|custom_attributes$)/,
  ),
  makeId: CONTACT_ID,
  vary: {
    type: () => 'contact',
    role: cycle(['user', 'user', 'lead']),
    workspace_id: () => WORKSPACE.id_code,
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
  label: 'name',
  topic: ({ role }) => `contact.${role}`,
  removed: ({ id, external_id }) => ({ type: 'contact', id, external_id, deleted: true }),
  store: (body, old) => merged('custom_attributes', body, old),
};

const companies: Kind = {
  ...{ path: '/companies', schema: 'company', list: ['list', 'data'], ...STAMPS, rows: ROWS },
  members: membersFor(
    'company',
    'custom_attributes',
    'companies',
    'create_or_update_company_request',
    /^(?:plan|tags|segments|notes|custom_attributes$)/,
  ),
  makeId: hex(0x63a07ddf05a32042dffac901n),
  vary: {
    ...{ type: () => 'company', app_id: () => WORKSPACE.id_code, company_id: (index) => `c-${index}` },
    plan: sparse(3, (index) => planOf(`Plan ${index % 3}`)),
  },
  initial: { type: 'company', app_id: WORKSPACE.id_code, custom_attributes: {}, session_count: 0, user_count: 0 },
  label: 'name',
  topic: () => 'company',
  removed: ({ id }) => ({ id, object: 'company', deleted: true }),
  store: (body, old) => ({
    ...merged('custom_attributes', body, old),
    ...(typeof body.plan === 'string' && { plan: planOf(body.plan) }),
  }),
};

function planOf(name: string): TableRow {
  return { type: 'plan', id: '1', name };
}

function authorOf(contact: TableRow): TableRow {
  return { type: contact.role, id: contact.id, name: contact.name ?? null, email: contact.email ?? null };
}

const conversations: Kind = {
  ...{ path: '/conversations', schema: 'conversation', listed: 'conversation_list_item', ...STAMPS, rows: ROWS },
  list: ['conversation.list', 'conversations'],
  members: membersFor(
    'conversation',
    'custom_attributes',
    'conversations',
    'update_conversation_request',
    /^(?:company|tags|conversation_|contacts|teammates|first_contact|sla|statistics|linked|ai_agent\b|ai_agent\.|sales_agent|channel|external|monitor|score|source\.(?:recipients|reply_to|attachments|email_|url)|custom_attributes$)/,
  ),
  makeId: number(515),
  vary: {
    ...{ state: cycle(['open', 'closed', 'snoozed']), open: cycle([true, false, true]), read: cycle([true, false]) },
    priority: cycle(['none', 'high', 'low', 'urgent', 'none']),
    ...{ type: () => 'conversation', admin_assignee_id: admin, team_assignee_id: sparse(3, () => 5) },
    'source.type': () => 'conversation',
    'source.id': number(403_918_346),
    'source.author.type': () => 'user',
    'source.author.id': CONTACT_ID,
    'source.author.email': sparse(3, (index) => `person${index}@example.com`),
    contacts: (index) => contactList(CONTACT_ID(index)),
  },
  initial: {
    ...{ type: 'conversation', state: 'open', open: true, read: false, priority: 'none', custom_attributes: {} },
    ai_agent_participated: false,
  },
  label: 'title',
  topic: () => 'conversation.user',
  removed: ({ id }) => ({ id, object: 'conversation', deleted: true }),
  store: (body, old, { contacts: people }) => {
    if (old !== undefined) return merged('custom_attributes', body, old);
    const contact = people?.get(String(Object(body.from).id)) ?? {};
    const subject = String(body.subject ?? '');
    return {
      source: {
        ...{ type: 'conversation', id: String(Date.now()), delivered_as: 'customer_initiated', subject },
        ...{ body: `<p>${escapeMarkup(String(body.body))}</p>`, author: authorOf(contact), redacted: false },
      },
      contacts: contactList(contact.id),
    };
  },
};

const tickets: Kind = {
  ...{ path: '/tickets', schema: 'ticket', list: ['ticket.list', 'tickets'], ...STAMPS, rows: ROWS },
  members: membersFor(
    'ticket',
    'ticket_attributes',
    'tickets',
    'update_ticket_request',
    /^(?:ticket_state|ticket_type|contacts|linked|ticket_parts|ticket_attributes$)/,
  ),
  makeId: number(633),
  vary: {
    ...{ type: () => 'ticket', ticket_id: number(1), admin_assignee_id: admin, team_assignee_id: sparse(3, () => 5) },
    category: cycle(TICKET_TYPES.map(({ category }) => category)),
    open: cycle([true, true, false]),
    ticket_type: cycle(TICKET_TYPES),
    ticket_state: cycle(TICKET_STATES),
    contacts: (index) => contactList(CONTACT_ID(index)),
  },
  initial: { type: 'ticket', open: true, is_shared: false, ticket_state: TICKET_STATES[0], ticket_attributes: {} },
  made: { contacts: contactList(CONTACT_ID(0)) },
  label: 'previous_ticket_state_id',
  topic: () => 'ticket',
  removed: ({ id }) => ({ id, object: 'ticket', deleted: true }),
  store: (body, old, { contacts: people }) => ({
    ...merged('ticket_attributes', body, old),
    ...(body.assignee_id !== undefined && { admin_assignee_id: Number(body.assignee_id) }),
    ...(body.ticket_state_id !== undefined && { ticket_state: found(TICKET_STATES, body.ticket_state_id) }),
    ...(old === undefined && newTicket(body, people)),
  }),
};

function newTicket(body: TableRow, people: Records[string] | undefined): TableRow {
  const type = found(TICKET_TYPES, body.ticket_type_id);
  const [given]: readonly TableRow[] = [body.contacts].flat().map(Object);
  const [key, value] = Object.entries(given ?? {})[0] ?? ['', undefined];
  const contact = people?.table.rows().find((row) => row[key] === value);
  if (contact === undefined) throw new Fault(404, 'not_found', 'Contact not found');
  return { ticket_type: type, category: type.category, contacts: contactList(contact.id) };
}

function found<Item extends { readonly id: string }>(items: readonly Item[], id: unknown): Item {
  const item = items.find((each) => each.id === String(id));
  if (item === undefined) throw new Fault(404, 'not_found', 'Resource Not Found');
  return item;
}

const KINDS = { contacts, companies, conversations, tickets };

/** Creates the records of the workspace. */
export function createRecords(
  clock: MovableClock,
  onChange: (kind: Kind, name: string, change: TableChange) => void,
): Records {
  const records = createCollections<keyof typeof KINDS, Kind>({
    clock,
    of: KINDS,
    writeTime: (ms) => Math.floor(ms / 1000),
    readTime: (value) => (typeof value === 'number' ? value * 1000 : undefined),
    refuse: ([complaint]) => new Fault(400, 'parameter_invalid', complaint?.message ?? ''),
    absent: ({ schema }) => new Fault(404, 'not_found', `${schema} not found`),
    onChange: (name, change) => onChange(KINDS[name], name, change),
  });
  return records;
}
