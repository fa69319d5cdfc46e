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
  /** The keywords of the search: the member, and how it is compared. */
  readonly searched: Readonly<Record<string, readonly [path: string, type: Property['type']]>>;
  /** Returns what is shown of a record after it was deleted. */
  readonly gone?: (row: TableRow) => TableRow;
  /** The id of the first custom field. Absent: the object has none. */
  readonly custom?: number;
}

export type Of = Collection<Kind>;
export type Records = Readonly<Record<string, Of>>;

const GONE = '$gone';
/** The column of the values of custom fields by key, which each object shows in its own form. */
const CUSTOM = '$custom';
export const isGone = (row: TableRow): boolean => row[GONE] === true;

const TEXTS = ['Red', "Bob's blue", 'dark "red"', 'ÄÖÜ ß', '100%_sure', 'red wine', 'x\\y', 'two\nlines'];
const PLANS = ['plan_basic', 'plan_pro'];
/** The custom fields of each object: key, type, comparison and values. */
const FIELDS: readonly (readonly [key: string, type: string, compared: Property['type'], column: Column])[] = [
  ['colour', 'text', 'text', sparse(3, cycle(TEXTS))],
  ['weight', 'decimal', 'number', sparse(4, cycle(['0.1', '12.5', '-3', '7']))],
  ['seats', 'integer', 'number', sparse(5, cycle([0, 1, 7, 100]))],
  ['is_vip', 'checkbox', 'boolean', cycle([true, false, false])],
  ['renewal', 'date', 'date', sparse(3, cycle(['2024-01-31', '2024-02-29']))],
  ['plan', 'dropdown', 'exact', sparse(4, cycle(PLANS))],
];

/** Returns the definitions of the custom fields of an object, and for tickets one of Zendesk's own. */
export function definitionsOf({ custom: first = 0, singular }: Kind): readonly TableRow[] {
  const isTicket = singular === 'ticket';
  const all = FIELDS.map(([key, type], index) => ({
    ...{ id: first + index, title: key, active: true, position: index },
    type: isTicket && type === 'dropdown' ? 'tagger' : type,
    ...(isTicket ? { removable: true } : { key, system: false }),
    ...(key === 'plan' && { custom_field_options: PLANS.map((value, id) => ({ id, name: value, value })) }),
  }));
  return isTicket ? [{ id: 1, type: 'status', title: 'Status', active: true, removable: false }, ...all] : all;
}

const REFERENCES: Readonly<Record<string, string>> = {
  ...{ requester_id: 'users', submitter_id: 'users', assignee_id: 'users', author_id: 'users' },
  ...{ organization_id: 'organizations', group_id: 'groups', default_group_id: 'groups' },
};
/** Members that records show although nothing depends on them, with forms of their own. */
const UNUSED =
  /^(?:metadata|collaborators|photo|satisfaction_rating|signature|uploads|attachments|via|url|custom_fields|(?:user|organization)_fields|.*_form_id|brand_id|custom_status_id|custom_role_id|.*_source_id|problem_id)$/;

/** Returns the members of a schema, with types that the document has in words only. `always` are never null. */
function membersOf(schema: keyof typeof official.schemas, always: string) {
  const { properties } = Object(official.schemas[schema]);
  const entries = Object.entries(schemaMembers(official, schema)).flatMap(([name, member]): [string, Member][] => {
    if (name.includes('.') || UNUSED.test(name) || properties[name].writeOnly === true) return [];
    const refersTo = REFERENCES[name];
    const type = refersTo !== undefined ? 'reference' : /_at$/.test(name) ? 'datetime' : member.type;
    const isRequired = member.isRequired === true && refersTo === undefined;
    return [[name, { ...member, type, refersTo, isRequired, isNeverNull: always.split(' ').includes(name) }]];
  });
  return Object.fromEntries(entries);
}

const TIMES = { created: ['created_at'], changed: ['updated_at'], deleted: GONE } as const;
const tags = cycle([['vip'], [], ['new', 'x y']]);
const custom: Column = (index) => Object.fromEntries(FIELDS.map(([key, , , column]) => [key, column(index)]));
const searched = (type: Property['type'], names: string) =>
  Object.fromEntries(names.split(' ').map((name) => [name.replace(/_(?:at|id)$/, ''), [name, type] as const]));
const COMMON = searched('datetime', 'created_at updated_at');
const STATUSES = ['new', 'open', 'pending', 'hold', 'solved', 'closed'];

const KINDS: Readonly<Record<string, Kind>> = {
  tickets: {
    ...{ singular: 'ticket', rows: 60, custom: 9001, label: 'subject', gone: () => ({ status: 'deleted' }), ...TIMES },
    members: membersOf('TicketObject', 'requester_id submitter_id status created_at updated_at'),
    vary: { tags, [CUSTOM]: custom, status: cycle(STATUSES), description: (index) => `Description ${index}` },
    initial: { status: 'open', requester_id: 1, submitter_id: 1, [CUSTOM]: {} },
    searched: {
      ...{
        ...COMMON,
        due_date: ['due_at', 'datetime'],
        ticket_type: ['type', 'exact'],
        external_id: ['external_id', 'exact'],
      },
      ...searched('text', 'subject description'),
      ...searched('exact', 'status priority assignee_id requester_id submitter_id organization_id group_id'),
    },
  },
  users: {
    ...{ singular: 'user', rows: 48, custom: 9101, label: 'name', gone: () => ({ active: false }), ...TIMES },
    members: membersOf('UserForAdmin', 'name role active created_at updated_at'),
    vary: {
      ...{ tags, [CUSTOM]: custom, active: () => true, role: cycle(['end-user', 'agent', 'end-user', 'admin']) },
      email: sparse(7, (index) => `user${index}@example.com`),
      phone: sparse(3, (index) => `+1555000${index}`),
    },
    initial: { role: 'end-user', active: true, verified: false, suspended: false, [CUSTOM]: {} },
    searched: {
      ...{ ...COMMON, external_id: ['external_id', 'exact'] },
      ...searched('text', 'name email phone notes details'),
      ...searched('exact', 'role organization_id'),
    },
  },
  organizations: {
    ...{ singular: 'organization', rows: 40, custom: 9201, label: 'name', ...TIMES },
    gone: ({ updated_at }) => ({ deleted_at: updated_at }),
    members: membersOf('OrganizationObject', 'name created_at updated_at'),
    vary: { tags, [CUSTOM]: custom },
    initial: { [CUSTOM]: {} },
    searched: { ...COMMON, external_id: ['external_id', 'exact'], ...searched('text', 'name notes details') },
  },
  groups: {
    ...{ singular: 'group', rows: 12, label: 'name', searched: {}, ...TIMES },
    members: membersOf('GroupObject', 'name is_public deleted created_at updated_at'),
    vary: { deleted: () => false },
    initial: { deleted: false, is_public: true, default: false },
  },
  comments: {
    ...{ singular: 'comment', rows: 60, created: ['created_at'], searched: {} },
    members: membersOf('TicketCommentObject', 'author_id body html_body plain_body audit_id created_at public type'),
    vary: { ticket_id: (index) => (index < 2 ? 1 : index) },
    initial: ({ body }) => ({
      public: true,
      author_id: 1,
      audit_id: 1,
      type: 'Comment',
      html_body: body,
      plain_body: body,
    }),
  },
};

/** Creates the records of an account, with hostile texts. */
export function createRecords(clock: MovableClock, onChange: (name: string, change: TableChange) => void): Records {
  return createCollections<string, Kind>({
    ...{ of: KINDS, clock, onChange },
    refuse: (complaints) =>
      new Fault(422, 'RecordInvalid', 'Record validation errors', {
        fields: complaints.map(({ member, message }) => `${member}: ${message}`),
      }),
    absent: () => new Fault(404, 'RecordNotFound', 'Not found'),
  });
}

/** Returns a record as Zendesk shows it. */
export function show({ gone, singular, custom: first }: Kind, row: TableRow): TableRow {
  const { [GONE]: _, [CUSTOM]: held, ticket_id: __, ...shown } = row;
  const values = FIELDS.map(([key, type]) => [key, Object(held)[key] ?? (type === 'checkbox' ? false : null)] as const);
  return {
    ...{ ...shown, ...(isGone(row) && gone?.(row)) },
    ...(first !== undefined &&
      (singular === 'ticket'
        ? { custom_fields: values.map(([, value], index) => ({ id: first + index, value })) }
        : { [`${singular}_fields`]: Object.fromEntries(values) })),
  };
}

/** Returns the values of a body with all custom fields, as they were before where the body does not name them. */
export function withCustom(
  { custom: first, singular }: Kind,
  values: TableRow,
  body: TableRow,
  old: TableRow = {},
): TableRow {
  if (first === undefined) return values;
  const list: readonly TableRow[] =
    singular === 'ticket' && Array.isArray(body.custom_fields) ? body.custom_fields : [];
  const listed = list.map(({ id, value }) => [FIELDS[Number(id) - first]?.[0], value] as const);
  const given = { ...Object.fromEntries(listed), ...Object(body[`${singular}_fields`]) };
  return { ...values, [CUSTOM]: { ...Object(old[CUSTOM]), ...given } };
}

const ORDERS: Readonly<Record<string, readonly string[]>> = {
  status: STATUSES,
  priority: ['low', 'normal', 'high', 'urgent'],
};

/** Returns what a keyword of the search compares. */
export function propertyOf({ searched, custom: first, singular }: Kind, keyword: string): Property | undefined {
  const [path, type] = (Object.hasOwn(searched, keyword) ? searched[keyword] : undefined) ?? [];
  if (path !== undefined && type !== undefined) {
    return { type, read: (row) => valueAt(row, path), ...(ORDERS[keyword] && { order: ORDERS[keyword] }) };
  }
  const isNamed = (key: string, index: number) =>
    keyword === (singular === 'ticket' ? `custom_field_${(first ?? 0) + index}` : key);
  const field = first === undefined ? undefined : FIELDS.find(([key], index) => isNamed(key, index));
  return (
    field && {
      type: field[2],
      read: (row) => Object(row[CUSTOM])[field[0]] ?? (field[1] === 'checkbox' ? false : null),
    }
  );
}
