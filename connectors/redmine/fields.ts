import { can, codec, type FieldSpec } from '#connector';

/** Redmine ignores a condition on a field that no tracker uses, so that such fields are checked again. */
const MAYBE = 'superset';

/** A number of a column that databases keep in four bytes. */
const NUMBER = { type: 'integer', range: ['-2147483648', '2147483647'] } as const satisfies FieldSpec;
const COUNTED = { ...NUMBER, range: ['1', '2147483647'] } as const satisfies FieldSpec;

const EQUALITIES = ['=', '!=', 'IN', 'NOT IN'] as const;
const BOUNDS = ['<', '<=', '>', '>='] as const;

/** Records are numbered from 1. */
export const ID = { ...COUNTED, nullable: false } as const satisfies FieldSpec;
/** There is no `!=` of numbers. */
export const FOUND_ID = {
  ...ID,
  // A condition on several numbers is one text with all of them.
  nativeType: 'integer',
  sortable: true,
  filter: can.only('exact', '=', 'IN', ...BOUNDS),
} as const satisfies FieldSpec;
/** Where it is one of a list. */
export const LISTED_ID = {
  ...ID,
  sortable: true,
  filter: can.only('exact', ...EQUALITIES),
} as const satisfies FieldSpec;

export const number = (native: string) => ({ ...NUMBER, native }) as const satisfies FieldSpec;

/** Percent, of a field that trackers may not use. */
export const percent = (native: string) =>
  ({
    ...number(native),
    nullable: false,
    range: ['0', '100'],
    sortable: true,
    filter: can.only(MAYBE, '=', ...BOUNDS),
  }) as const satisfies FieldSpec;

/** Another record, shown as `{ id, name }`. */
export const reference = (name: string) => ({ ...COUNTED, native: `${name}.id` }) as const satisfies FieldSpec;
export const always = (name: string) =>
  ({ ...reference(name), nullable: false, filter: can.only('exact', ...EQUALITIES) }) as const satisfies FieldSpec;
/** With `!` come rows that have none, too. They are checked again anyway, and a field takes one condition. */
export const maybe = (name: string) =>
  ({
    ...reference(name),
    nulls: 'unknown',
    filter: { ...can.only(MAYBE, ...EQUALITIES), 'IS NULL': MAYBE, 'IS NOT NULL': MAYBE },
  }) as const;
export const nameOf = (name: string) => ({ type: 'string', native: `${name}.name` }) as const satisfies FieldSpec;

/** A text that is there. */
export const shown = (native: string) => ({ type: 'string', native }) as const satisfies FieldSpec;
/** A text of which an empty one is none. */
export const blank = (native: string) => ({ ...shown(native), ...codec.blank() }) as const satisfies FieldSpec;

/** Whether a text is more than blanks and signs that nobody sees. */
export const hasSign = (text: string) => /[^\s\p{Z}\p{C}]/u.test(text);

/**
 * Databases mind letter case and accents each in its way, so that more rows may come than are meant. A condition on blanks only is
 * refused.
 */
export const FOUND = {
  filter: can.only('superset', '=', 'LIKE'),
  likeForms: ['literal', 'prefix', 'suffix', 'contains'],
  domain: { text: { askable: (text) => hasSign(text) && !text.includes('\0') && text.length <= 255 } },
} as const satisfies Partial<FieldSpec>;

export const flag = (native: string) => ({ type: 'boolean', native, nullable: false }) as const satisfies FieldSpec;

/** Time in hours. */
export const hours = (native: string) => ({ type: 'number', native }) as const satisfies FieldSpec;
export const foundHours = (native: string) =>
  ({
    ...hours(native),
    range: ['-1000000000', '1000000000'],
    filter: can.only('superset', '=', ...BOUNDS),
  }) as const satisfies FieldSpec;

const BOUNDED = can.only('superset', '=', ...BOUNDS);
/** A day. */
export const day = (native: string) => ({ type: 'date', native, filter: BOUNDED }) as const satisfies FieldSpec;
export const moment = (native: string) =>
  ({ type: 'datetime', native, domain: { step: 'second' } }) as const satisfies FieldSpec;
export const foundMoment = (native: string) => ({ ...moment(native), filter: BOUNDED }) as const satisfies FieldSpec;

/** Each with `id`, `name` and `value`; with `id` and `value` they are set. */
export const CUSTOM = { type: 'array', native: 'custom_fields', label: 'Custom fields' } as const satisfies FieldSpec;
