import { can, codec, type FieldSpec, json } from '#connector';

/** The value of a time that was never set. */
const NOT_SET = '1970-01-01T00:00:00Z';

const ANY_INTEGER = { type: 'integer', ...codec.integer, nullable: false } as const satisfies FieldSpec;
const INTEGER = { ...ANY_INTEGER, range: ['-2147483648', '2147483647'] } as const satisfies FieldSpec;

/** Operators of equality. TicketSQL has no IN, so lists become comparisons. */
const EQUALITIES = ['=', '!='] as const;
const BOUNDS = ['<', '<=', '>', '>='] as const;
const COMPARED = can.only('exact', ...EQUALITIES, ...BOUNDS);

/** A number of a column that databases store in four bytes. */
export const integer = (native: string) =>
  ({ ...INTEGER, native, sortable: true, filter: COMPARED }) as const satisfies FieldSpec;

/** The id of a record. Ids begin at 1. */
export const ID = { ...integer('id'), range: ['1', '2147483647'] } as const satisfies FieldSpec;

/** A number that can be neither filtered nor sorted. */
export const count = (native: string) => ({ ...ANY_INTEGER, native }) as const satisfies FieldSpec;

/** A reference to another record. Responses show `{ type, id, _url }` or the id, and the field has the id. 0 means no record. */
export const reference = (native: string) =>
  ({ type: 'integer', native, read: readNumber, write: (value) => value ?? 0 }) as const satisfies FieldSpec;

/** A user. The name identifies the record. */
export const user = (native: string) =>
  ({
    type: 'string',
    native,
    read: nameOf,
    filter: can.only('superset', '='),
    // Request Tracker would read digits as the id of a user.
    domain: {
      text: { nonEmpty: true, askable: (text) => /^(?!\d+$)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) },
    },
  }) as const satisfies FieldSpec;

/** Several users and groups by their names, which are mostly e-mail addresses. */
export const watchers = (native: string) =>
  ({
    type: 'array',
    native,
    nullable: false,
    read: (value) => (Array.isArray(value) ? value.map(nameOf) : []),
  }) as const satisfies FieldSpec;

/** Operators of texts. Each database handles letter case in its own way, so Request Tracker may return more rows. */
const FOUND = can.only('superset', '=', 'LIKE');

/**
 * A text that always exists. It may be empty, which databases may also store as null. Request Tracker shows U+FFFD for characters that it
 * stores but cannot show, such as U+10FFFF, and a search for U+FFFD does not find them.
 */
export const text = (native: string) =>
  ({
    type: 'string',
    native,
    nullable: false,
    read: (value) => value ?? '',
    write: (value) => value ?? '',
    filter: FOUND,
    likeExcept: '\\\ufffd',
    domain: { text: { askable: (wanted) => !/^$|[\0\ufffd]/.test(wanted) } },
  }) as const satisfies FieldSpec;

/** A text whose empty value means that it is missing. */
export const shown = (native: string) => ({ type: 'string', native, ...codec.blank() }) as const satisfies FieldSpec;
export const found = (native: string) =>
  ({
    ...text(native),
    ...shown(native),
    nullable: true,
    domain: { text: { ...text(native).domain.text, nonEmpty: true } },
  }) as const satisfies FieldSpec;

/**
 * The status of a ticket. Request Tracker stores statuses in lower case, and ignores case in comparisons. Lists leave out deleted tickets,
 * and two words stand for several statuses.
 */
export const STATUS = {
  type: 'string',
  native: 'Status',
  nullable: false,
  filter: can.only('exact', ...EQUALITIES),
  domain: {
    text: {
      nonEmpty: true,
      possible: (text) => text === text.toLowerCase().trim() && !/^(?:deleted|__(?:in)?active__|cf\..*)$/.test(text),
    },
  },
} as const satisfies FieldSpec;

/** The queue of a ticket. Conditions find it by its id, but cannot compare ids by order. */
export const QUEUE = {
  ...reference('Queue'),
  nullable: false,
  range: INTEGER.range,
  filter: can.only('exact', ...EQUALITIES),
} as const satisfies FieldSpec;

/**
 * A time. Responses contain UTC, but conditions use the time zone of the user who logged in. Bounds of one day before or after cover every
 * zone.
 */
const INSTANT = {
  type: 'datetime',
  domain: { step: 'second', first: '1970-01-01T00:00:01Z' },
  read: (value: unknown) => (value === NOT_SET || value === '' ? null : value),
  write: codec.blank(codec.localTime()).write,
} as const satisfies FieldSpec;

const BOUNDED = can.only('superset', '=', ...BOUNDS);

/** A time that Request Tracker sets. */
export const moment = (native: string) =>
  ({ ...INSTANT, native, nullable: false, sortable: true, filter: BOUNDED }) as const satisfies FieldSpec;
/** A time that may be missing. The database returns a missing value in two forms, so it cannot be sorted by. */
export const date = (native: string) =>
  ({ ...INSTANT, native, filter: { ...can.null, ...BOUNDED } }) as const satisfies FieldSpec;
export const shownMoment = (native: string) => ({ ...INSTANT, native }) as const satisfies FieldSpec;

export const flag = (native: string) =>
  ({ type: 'boolean', native, ...codec.blank(codec.flag(1, 0)) }) as const satisfies FieldSpec;

/** The custom fields by name, each with a list of values. */
export const CUSTOM = {
  type: 'object',
  native: 'CustomFields',
  nullable: false,
  read: (value: unknown) =>
    Object.fromEntries(
      (Array.isArray(value) ? value : []).map((field) => [json.at(field, 'name'), json.at(field, 'values')]),
    ),
} as const satisfies FieldSpec;

function nameOf(value: unknown): unknown {
  return json.isObject(value) ? value.id : value === '' ? null : value;
}

function readNumber(value: unknown): unknown {
  const number = codec.integer.read(nameOf(value));
  return number === 0 ? null : number;
}
