import { can, codec, defined, type FieldSpec, type Fields, fieldsOf, type Json, json, kinds } from '#connector';
import official from './official.json' with { type: 'json' };
import { CUSTOM, PLAIN } from './search.ts';

/** Texts are found by their words, without regard to case, so rows are checked again. */
const WORDS = {
  type: 'string',
  collation: 'ci',
  domain: { text: { askable: (text) => PLAIN.test(text) && text.toLowerCase() !== 'none', certain: () => false } },
  filter: can.only('superset', '=', 'IN'),
} as const satisfies FieldSpec;

const TEXT = { ...WORDS, filter: can.only('superset', '=', 'IN', 'LIKE'), likeForms: ['prefix'] } as const;

const EMAIL: Partial<FieldSpec> = {
  domain: {
    text: { askable: (text) => /^[A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9.-]+$/.test(text), certain: () => false },
  },
  filter: can.only('superset', '=', 'IN'),
  collation: 'ci',
};

const NULLS = can.only('superset', 'IS NULL', 'IS NOT NULL');
/** Negations are supersets, because the reference does not say how it joins several of them. */
const CHOICE = {
  domain: { closed: true },
  filter: { ...can.only('exact', '=', 'IN'), ...can.only('superset', '!=', 'NOT IN') },
} as const satisfies Partial<FieldSpec>;
const OPTION: Partial<FieldSpec> = { ...CHOICE, filter: { ...CHOICE.filter, ...NULLS } };

/** The search also finds a person or an organization whose name is the number. */
const REFERENCE: Partial<FieldSpec> = {
  range: ['1', '999999999999999'],
  filter: { ...can.only('superset', '=', 'IN'), ...NULLS },
};
const PERSON: Partial<FieldSpec> = { ...REFERENCE, filter: can.only('superset', '=', 'IN') };
const ID: Partial<FieldSpec> = {
  nullable: false,
  createable: false,
  updateable: false,
  range: ['1', '999999999999999'],
  filter: can.only('exact', '=', 'IN'),
};
const TIME: FieldSpec = {
  type: 'datetime',
  ...codec.instant(),
  domain: { first: '1990-01-01', last: '2999-12-31', step: 'second' },
  filter: can.order('superset'),
};
const TIMES = { created_at: { ...TIME, nullable: false }, updated_at: { ...TIME, nullable: false } };

export const FIELDS = {
  tickets: fieldsOf(official, 'TicketObject', {
    pick: `id external_id type subject description priority status recipient requester_id submitter_id assignee_id organization_id group_id
      collaborator_ids follower_ids email_cc_ids problem_id has_incidents due_at tags via satisfaction_rating custom_status_id
      ticket_form_id brand_id is_public allow_channelback created_at updated_at url comment`,
    create: 'TicketCreateInput',
    update: 'TicketUpdateInput',
    but: {
      ...TIMES,
      id: ID,
      external_id: WORDS,
      subject: TEXT,
      description: { createable: true, required: true },
      comment: { createable: false, required: false },
      status: { ...CHOICE, nullable: false },
      priority: OPTION,
      type: OPTION,
      requester_id: PERSON,
      submitter_id: PERSON,
      assignee_id: REFERENCE,
      organization_id: REFERENCE,
      group_id: REFERENCE,
    },
  }),
  users: fieldsOf(official, 'UserForAdmin', {
    pick: `id name email phone role alias external_id organization_id default_group_id custom_role_id details notes signature locale
      time_zone iana_time_zone tags verified suspended moderator restricted_agent last_login_at created_at updated_at url`,
    create: 'UserForAdmin',
    update: 'UserForAdmin',
    but: {
      ...TIMES,
      id: ID,
      name: { ...TEXT, nullable: false },
      email: EMAIL,
      role: {
        nullable: false,
        values: ['end-user', 'agent', 'admin'],
        domain: { closed: true },
        // Whether the search takes administrators for agents is not documented.
        filter: can.only('superset', '=', 'IN'),
      },
      external_id: WORDS,
      organization_id: REFERENCE,
      last_login_at: { type: 'datetime', ...codec.instant() },
    },
  }),
  organizations: fieldsOf(official, 'OrganizationObject', {
    pick: 'id name external_id domain_names details notes group_id shared_tickets shared_comments tags created_at updated_at url',
    create: 'OrganizationObject',
    update: 'OrganizationObject',
    but: { ...TIMES, id: ID, name: { ...TEXT, nullable: false }, external_id: WORDS },
  }),
  groups: fieldsOf(official, 'GroupObject', {
    pick: 'id name description default is_public created_at updated_at url',
    create: 'GroupObject',
    update: 'GroupObject',
    but: { id: { ...ID, filter: {} }, name: { nullable: false } },
  }),
  comments: fieldsOf(official, 'TicketCommentObject', {
    pick: 'id type body html_body plain_body public author_id attachments audit_id via metadata created_at',
    but: { id: { nullable: false } },
  }),
} as const satisfies Readonly<Record<string, Fields>>;

const COMPARED = { ...can.only('superset', '=', 'IN'), ...can.order('superset') };
const NUMBERS = { domain: { digits: { significant: 15 } }, filter: COMPARED } as const;

/** Custom fields by their type. Source: "Ticket fields", "User fields", "Organization fields". */
const kindOf = kinds<string, Json>({
  table: {
    text: TEXT,
    regexp: TEXT,
    textarea: { type: 'string' },
    checkbox: { type: 'boolean', filter: can.only('superset', '=') },
    date: { type: 'date', filter: COMPARED, read: codec.day.read },
    integer: { type: 'integer', ...NUMBERS, read: codec.integer.read },
    decimal: { type: 'number', ...NUMBERS, read: codec.decimal.read },
    tagger: options,
    dropdown: options,
    multiselect: { type: 'array' },
  },
  unknown: { type: 'string' },
});

function options({ custom_field_options: given }: Json): FieldSpec {
  const values = json.objects(given ?? [], 'the options of a field').map(({ value }) => json.text(value, 'an option'));
  return { type: 'string', values, filter: { ...can.only('superset', '=', 'IN'), ...NULLS }, domain: { text: TAGS } };
}

/** Options are tags: texts without blanks. */
const TAGS = { nonEmpty: true, askable: (text: string) => /^[a-z0-9_]+$/.test(text) && text !== 'none' } as const;

/** Types of ticket fields that are members of every ticket. */
const SYSTEM = /^(?:subject|description|status|custom_status|tickettype|priority|group|assignee)$/;

/** Returns the custom fields of an object. Those of tickets have numbers, all others have keys. */
export function customFields(described: readonly Json[]): Fields {
  const active = described.filter(({ type, active }) => active !== false && !SYSTEM.test(String(type)));
  return Object.fromEntries(
    active.map((field): [string, FieldSpec] => [
      CUSTOM + (json.findText(field.key) ?? json.key(field.id, 'the id of a field')),
      defined({
        ...kindOf(String(field.type), field),
        label: json.findText(field.title),
        nativeType: json.findText(field.type),
        createable: true,
        updateable: true,
        custom: true,
      }),
    ]),
  );
}
