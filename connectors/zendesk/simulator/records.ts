import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  Fault,
  type Member,
  type MovableClock,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
  valueAt,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import type { Property } from './search.ts';

/** An object of the Support API. */
export interface Kind extends CollectionSpec {
  /** The member of bodies with one record. */
  readonly singular: string;
  /** The search keywords that differ from the members, and the kinds of comparison. */
  readonly searched: Readonly<Record<string, Property['type'] | readonly [path: string, type: Property['type']]>>;
  /** How a record is shown after it was deleted. */
  readonly gone: (row: TableRow) => TableRow;
}

export type Records = Readonly<Record<string, Collection<Kind>>>;

/** The column of records that were deleted. It is not shown. */
const GONE = '$gone';
export const isGone = (row: TableRow): boolean => row[GONE] === true;

/** Custom fields: their type, their key, and their values. */
interface Custom {
  readonly id: number;
  readonly key: string;
  readonly type: string;
  readonly title: string;
  readonly column: Column;
  readonly options?: readonly string[];
}

const TEXTS = ['Red', "Bob's blue", 'dark "red"', 'ÄÖÜ ß', '100%_sure', 'red wine', 'x\\y', 'two\nlines'];
const customOf = (first: number): readonly Custom[] => [
  { id: first, key: 'colour', type: 'text', title: 'Colour', column: sparse(3, cycle(TEXTS)) },
  {
    id: first + 1,
    key: 'weight',
    type: 'decimal',
    title: 'Weight',
    column: sparse(4, cycle(['0.1', '12.5', '-3', '7'])),
  },
  { id: first + 2, key: 'seats', type: 'integer', title: 'Seats', column: sparse(5, cycle([0, 1, 7, 100])) },
  { id: first + 3, key: 'is_vip', type: 'checkbox', title: 'VIP', column: cycle([true, false, false]) },
  {
    id: first + 4,
    key: 'renewal',
    type: 'date',
    title: 'Renewal',
    column: sparse(3, cycle(['2024-01-31', '2024-02-29'])),
  },
  {
    ...{ id: first + 5, key: 'plan', type: 'dropdown', title: 'Plan', options: ['plan_basic', 'plan_pro'] },
    column: sparse(4, cycle(['plan_basic', 'plan_pro'])),
  },
];
const CUSTOM = { tickets: customOf(9001), users: customOf(9101), organizations: customOf(9201) } as const;
type Owner = keyof typeof CUSTOM;
const isOwner = (name: string): name is Owner => Object.hasOwn(CUSTOM, name);
/** Drop-down fields of tickets have a type of their own. Tickets have decimals and numbers as texts. */
const typeIn = (name: Owner, { type }: Custom) => (name === 'tickets' && type === 'dropdown' ? 'tagger' : type);

const AT = '2023-01-01T00:00:00Z';

/** Returns the definitions of the custom fields of an object, and for tickets some of Zendesk's own. */
export function definitionsOf(name: Owner): readonly TableRow[] {
  const custom = CUSTOM[name].map((each, position) => ({
    ...{ id: each.id, type: typeIn(name, each), title: each.title, raw_title: each.title, description: '', position },
    ...{
      active: true,
      created_at: AT,
      updated_at: AT,
      ...(name === 'tickets' ? { removable: true } : { key: each.key, system: false }),
    },
    ...(each.options && { custom_field_options: each.options.map((value, id) => ({ id, name: value, value })) }),
  }));
  if (name !== 'tickets') return custom;
  const own = ['subject', 'description', 'status', 'priority', 'tickettype', 'group', 'assignee'].map((type, id) => ({
    ...{ id: id + 1, type, title: type, active: true, removable: false, required: false, position: id },
  }));
  return [...own, ...custom];
}

const ROWS = { tickets: 60, users: 48, organizations: 40, groups: 12, comments: 60 } as const;
const REFERENCES: Readonly<Record<string, string>> = {
  ...{ requester_id: 'users', submitter_id: 'users', assignee_id: 'users', author_id: 'users' },
  ...{ organization_id: 'organizations', group_id: 'groups', default_group_id: 'groups' },
};
const UNUSED =
  /^(?:safe_update|updated_stamp|comment|metadata|collaborators|followers|email_ccs|requester|voice_comment|photo|satisfaction_rating|signature|uploads|attachments|custom_status_id|ticket_form_id|brand_id|problem_id|via_followup_source_id|forum_topic_id|sharing_agreement_ids|macro_ids)$/;

/** Returns the members of a schema that records show, with types that the document has in words only. */
function membersOf(schema: keyof typeof official.schemas, always: string) {
  const { properties } = official.schemas[schema] as unknown as { properties: Readonly<Record<string, TableRow>> };
  const entries = Object.entries(schemaMembers(official, schema)).flatMap(([path, member]): [string, Member][] => {
    const [name = ''] = path.split('.');
    if (path.includes('.') || UNUSED.test(name) || properties[name]?.writeOnly === true) return [];
    const type = /_at$/.test(name) ? 'datetime' : REFERENCES[name] === undefined ? member.type : 'reference';
    const isNeverNull = always.split(' ').includes(name);
    const isRequired = member.isRequired === true && REFERENCES[name] === undefined;
    return [[name, { ...member, type, refersTo: REFERENCES[name], isNeverNull, isRequired }]];
  });
  return Object.fromEntries(entries);
}

const customs = (name: Owner): Column => {
  const write = ({ id, key, column }: Custom, index: number) =>
    name === 'tickets' ? { id, value: column(index) } : [key, column(index)];
  const all = (index: number) => CUSTOM[name].map((each) => write(each, index));
  return name === 'tickets' ? all : (index) => Object.fromEntries(all(index) as [string, unknown][]);
};

const tags = cycle([['vip'], [], ['new', 'x y']]);
const url =
  (path: string): Column =>
  (index) =>
    `https://demo.zendesk.com/api/v2/${path}/${index + 1}.json`;
const TIMES = { created: ['created_at'], changed: ['updated_at'], deleted: GONE } as const;
const search = { created: ['created_at', 'datetime'], updated: ['updated_at', 'datetime'] } as const;

const KINDS: Readonly<Record<keyof typeof ROWS, Kind>> = {
  tickets: {
    ...{ singular: 'ticket', rows: ROWS.tickets, ...TIMES, label: 'subject' },
    members: membersOf('TicketObject', 'requester_id submitter_id status created_at updated_at description'),
    vary: {
      ...{ url: url('tickets'), tags, custom_fields: customs('tickets'), via: () => ({ channel: 'web' }) },
      ...{ description: (index) => `Description ${index}`, generated_timestamp: () => 1_700_000_000 },
      status: cycle(['new', 'open', 'pending', 'hold', 'solved', 'closed']),
    },
    initial: (given) => ({
      ...{ status: 'open', requester_id: 1, submitter_id: 1, via: { channel: 'api' }, is_public: true, tags: [] },
      ...{
        custom_fields: [],
        raw_subject: given.subject ?? null,
        url: 'https://demo.zendesk.com/api/v2/tickets/new.json',
      },
    }),
    searched: {
      ...{ ...search, due_date: ['due_at', 'datetime'], subject: 'text', description: 'text', external_id: 'exact' },
      ...{ status: 'exact', priority: 'exact', ticket_type: ['type', 'exact'], tags: 'text' },
      ...{
        assignee: ['assignee_id', 'exact'],
        requester: ['requester_id', 'exact'],
        submitter: ['submitter_id', 'exact'],
      },
      ...{ organization: ['organization_id', 'exact'], group: ['group_id', 'exact'] },
    },
    gone: (row) => ({ ...row, status: 'deleted' }),
  },
  users: {
    ...{ singular: 'user', rows: ROWS.users, ...TIMES, label: 'name' },
    members: membersOf('UserForAdmin', 'name role active created_at updated_at'),
    vary: {
      ...{ url: url('users'), tags, user_fields: customs('users'), active: () => true, photo: () => null },
      email: sparse(7, (index) => `user${index}@example.com`),
      phone: sparse(3, (index) => `+1555000${index}`),
      ...{ role: cycle(['end-user', 'agent', 'end-user', 'admin']), role_type: () => null },
      ticket_restriction: () => null,
    },
    initial: { role: 'end-user', active: true, tags: [], user_fields: {}, verified: false, suspended: false },
    searched: {
      ...{ ...search, name: 'text', email: 'text', phone: 'text', role: 'exact', external_id: 'exact' },
      ...{ organization: ['organization_id', 'exact'], notes: 'text', details: 'text', tags: 'text' },
    },
    gone: (row) => ({ ...row, active: false }),
  },
  organizations: {
    ...{ singular: 'organization', rows: ROWS.organizations, ...TIMES, label: 'name' },
    members: membersOf('OrganizationObject', 'name created_at updated_at'),
    vary: { url: url('organizations'), tags, organization_fields: customs('organizations') },
    initial: { tags: [], domain_names: [], organization_fields: {}, shared_tickets: false, shared_comments: false },
    searched: { ...search, name: 'text', external_id: 'exact', notes: 'text', details: 'text', tags: 'text' },
    gone: (row) => ({ ...row, deleted_at: row.updated_at }),
  },
  groups: {
    ...{ singular: 'group', rows: ROWS.groups, ...TIMES, label: 'name' },
    members: membersOf('GroupObject', 'name is_public deleted created_at updated_at'),
    vary: { url: url('groups'), deleted: () => false, is_public: () => true, default: (index) => index === 0 },
    initial: { deleted: false, is_public: true, default: false, description: '' },
    searched: {},
    gone: (row) => ({ ...row, deleted: true }),
  },
  comments: {
    ...{ singular: 'comment', rows: ROWS.comments, created: ['created_at'], label: 'body' },
    members: {
      ...membersOf('TicketCommentObject', 'author_id body created_at public type'),
      ticket_id: { type: 'integer' },
    },
    vary: {
      ...{ ticket_id: (index) => (index < 2 ? 1 : index), type: () => 'Comment', public: cycle([true, false]) },
      ...{ via: () => ({ channel: 'web' }), audit_id: (index) => index + 1 },
      ...{ html_body: (index) => `<p>Text ${index}</p>`, plain_body: (index) => `Text ${index}` },
    },
    initial: ({ body }) => ({
      audit_id: 1,
      type: 'Comment',
      public: true,
      author_id: 1,
      html_body: body,
      plain_body: body,
    }),
    searched: {},
    gone: (row) => row,
  },
};

/** Creates the records of an account, with hostile texts. */
export function createRecords(clock: MovableClock, onChange: (name: string, change: TableChange) => void): Records {
  return createCollections<string, Kind>({
    of: KINDS,
    clock,
    // A due date can have no time, and texts of users can be cleared by an empty text.
    refuse: (complaints) =>
      new Fault(422, 'RecordInvalid', 'Record validation errors', {
        fields: complaints.map(({ member, message }) => `${member}: ${message}`),
      }),
    absent: () => new Fault(404, 'RecordNotFound', 'Not found'),
    onChange,
  });
}

/** Returns a record as Zendesk shows it. */
export function show({ gone }: Kind, { [GONE]: isDeleted, ticket_id: _, ...row }: TableRow): TableRow {
  return isDeleted === true ? gone(row) : row;
}

/** Adds custom fields that the values do not name, as they were before. */
export function withCustom(name: string, values: TableRow, old: TableRow = {}): TableRow {
  if (!isOwner(name)) return values;
  const member =
    name === 'tickets' ? 'custom_fields' : `${values.user_fields || name === 'users' ? 'user' : 'organization'}_fields`;
  const given = values[member];
  const before = old[member];
  const known = (from: unknown, { id, key }: Custom): unknown =>
    Array.isArray(from) ? from.find((each) => Number(each.id) === id)?.value : Object(from)[key];
  const entries = CUSTOM[name].map((each) => {
    const value = known(given, each);
    return [
      each,
      value === undefined ? (known(before, each) ?? (each.type === 'checkbox' ? false : null)) : value,
    ] as const;
  });
  return {
    ...values,
    [member]:
      name === 'tickets'
        ? entries.map(([{ id }, value]) => ({ id, value }))
        : Object.fromEntries(entries.map(([{ key }, value]) => [key, value])),
  };
}

const CUSTOM_TYPES: Readonly<Record<string, Property['type']>> = {
  ...{ text: 'text', decimal: 'number', integer: 'number', checkbox: 'boolean', date: 'date', dropdown: 'exact' },
};
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  status: ['new', 'open', 'pending', 'hold', 'solved', 'closed'],
  priority: ['low', 'normal', 'high', 'urgent'],
};

/** Returns what a keyword of the search compares. */
export function propertyOf({ name, searched }: Collection<Kind>, keyword: string): Property | undefined {
  const known = Object.hasOwn(searched, keyword) ? searched[keyword] : undefined;
  if (known !== undefined) {
    const [path, type] = typeof known === 'string' ? [keyword, known] : known;
    const read = (row: TableRow) => {
      const value = valueAt(row, path);
      return Array.isArray(value) ? value.join(' ') : value;
    };
    return { type, read, ...(ORDERS[keyword] && { order: ORDERS[keyword] }) };
  }
  if (!isOwner(name)) return undefined;
  const custom = CUSTOM[name].find(({ id, key }) => keyword === (name === 'tickets' ? `custom_field_${id}` : key));
  if (custom === undefined) return undefined;
  const at = CUSTOM[name].indexOf(custom);
  const read = (row: TableRow) =>
    name === 'tickets'
      ? valueAt(Object(Object(row.custom_fields)[at]), 'value')
      : valueAt(row, `${KINDS[name].singular}_fields.${custom.key}`);
  return { type: CUSTOM_TYPES[custom.type] ?? 'exact', read };
}

export const OWNERS = Object.keys(CUSTOM) as readonly Owner[];
