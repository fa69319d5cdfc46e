import { can, codec, type FieldSpec, json } from '#connector';

/** A moment that was never set. */
const NOT_SET = '1970-01-01T00:00:00Z';

const ANY_INTEGER = { type: 'integer', ...codec.integer, nullable: false } as const satisfies FieldSpec;
const INTEGER = { ...ANY_INTEGER, range: ['-2147483648', '2147483647'] } as const satisfies FieldSpec;

/** Lists become comparisons: TicketSQL has no IN. */
const EQUALITIES = ['=', '!='] as const;
const BOUNDS = ['<', '<=', '>', '>='] as const;
const COMPARED = can.only('exact', ...EQUALITIES, ...BOUNDS);

/** A number of a column that databases keep in four bytes. */
export const integer = (native: string) =>
  ({ ...INTEGER, native, sortable: true, filter: COMPARED }) as const satisfies FieldSpec;

/** Records are numbered from 1. */
export const ID = { ...integer('id'), range: ['1', '2147483647'] } as const satisfies FieldSpec;

/** A number that is shown and no more. */
export const count = (native: string) => ({ ...ANY_INTEGER, native }) as const satisfies FieldSpec;

/** Another record, shown as `{ type, id, _url }` or as its number, which is its number here. Zero is none. */
export const reference = (native: string) =>
  ({ type: 'integer', native, read: readNumber, write: (value) => value ?? 0 }) as const satisfies FieldSpec;

/** A user, whose name stands for the record. */
export const user = (native: string) =>
  ({
    type: 'string',
    native,
    read: nameOf,
    filter: can.only('superset', '='),
    // Digits would be taken for the number of a user.
    domain: {
      text: { nonEmpty: true, askable: (text) => /^(?!\d+$)[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) },
    },
  }) as const satisfies FieldSpec;

/** Several users and groups by their names, mostly addresses. */
export const watchers = (native: string) =>
  ({
    type: 'array',
    native,
    nullable: false,
    read: (value) => (Array.isArray(value) ? value.map(nameOf) : []),
  }) as const satisfies FieldSpec;

/** Databases mind letter case each in its way, so that more rows may come than are meant. */
const FOUND = can.only('superset', '=', 'LIKE');

/**
 * A text that is there, if only as an empty one, which databases may also keep as nothing. U+FFFD is shown in place of signs that Request
 * Tracker keeps and cannot show, such as U+10FFFF, and is not found where they are.
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

/** A text of which an empty one is none. */
export const shown = (native: string) => ({ type: 'string', native, ...codec.blank() }) as const satisfies FieldSpec;
export const found = (native: string) =>
  ({
    ...text(native),
    ...shown(native),
    nullable: true,
    domain: { text: { ...text(native).domain.text, nonEmpty: true } },
  }) as const satisfies FieldSpec;

/**
 * Request Tracker keeps statuses in lower case, and compares without minding it. Lists leave out deleted tickets, and two words stand for
 * several statuses.
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

/** A queue is looked for by its number, and not compared with it. */
export const QUEUE = {
  ...reference('Queue'),
  nullable: false,
  range: INTEGER.range,
  filter: can.only('exact', ...EQUALITIES),
} as const satisfies FieldSpec;

/** Shown in UTC, and compared in the time zone of whoever logs in: a day before or after an instant is sure to be so in any zone. */
const INSTANT = {
  type: 'datetime',
  domain: { step: 'second', first: '1970-01-01T00:00:01Z' },
  read: (value: unknown) => (value === NOT_SET || value === '' ? null : value),
  write: codec.blank(codec.localTime()).write,
} as const satisfies FieldSpec;

const BOUNDED = can.only('superset', '=', ...BOUNDS);

/** An instant that is set by what happens. */
export const moment = (native: string) =>
  ({ ...INSTANT, native, nullable: false, sortable: true, filter: BOUNDED }) as const satisfies FieldSpec;
/** One that may not be set, which comes from the database in two forms, so that its order is not one. */
export const date = (native: string) =>
  ({ ...INSTANT, native, filter: { ...can.null, ...BOUNDED } }) as const satisfies FieldSpec;
export const shownMoment = (native: string) => ({ ...INSTANT, native }) as const satisfies FieldSpec;

export const flag = (native: string) =>
  ({ type: 'boolean', native, ...codec.blank(codec.flag(1, 0)) }) as const satisfies FieldSpec;

/** Custom fields by their names: a list of values each. */
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
