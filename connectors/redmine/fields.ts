import { can, codec, type FieldSpec } from '#connector';

/** Redmine ignores a condition on a field that no tracker uses, so the service checks such fields again. */
const MAYBE = 'superset';

/** A number of a column that databases store in four bytes. */
const NUMBER = { type: 'integer', range: ['-2147483648', '2147483647'] } as const satisfies FieldSpec;
const COUNTED = { ...NUMBER, range: ['1', '2147483647'] } as const satisfies FieldSpec;

const EQUALITIES = ['=', '!=', 'IN', 'NOT IN'] as const;
const BOUNDS = ['<', '<=', '>', '>='] as const;

/** The id of a record. Ids begin at 1. */
export const ID = { ...COUNTED, nullable: false } as const satisfies FieldSpec;
/** An id by which lists can be filtered. Redmine has no `!=` of numbers. */
export const FOUND_ID = {
  ...ID,
  // A condition on several numbers is a single text that contains all of them.
  nativeType: 'integer',
  sortable: true,
  filter: can.only('exact', '=', 'IN', ...BOUNDS),
} as const satisfies FieldSpec;
/** An id whose condition selects from a list of records. */
export const LISTED_ID = {
  ...ID,
  sortable: true,
  filter: can.only('exact', ...EQUALITIES),
} as const satisfies FieldSpec;

export const number = (native: string) => ({ ...NUMBER, native }) as const satisfies FieldSpec;

/** A percentage. Trackers may not use the field. */
export const percent = (native: string) =>
  ({
    ...number(native),
    nullable: false,
    range: ['0', '100'],
    sortable: true,
    filter: can.only(MAYBE, '=', ...BOUNDS),
  }) as const satisfies FieldSpec;

/** A reference to another record, which responses show as `{ id, name }`. */
export const reference = (name: string) => ({ ...COUNTED, native: `${name}.id` }) as const satisfies FieldSpec;
export const always = (name: string) =>
  ({ ...reference(name), nullable: false, filter: can.only('exact', ...EQUALITIES) }) as const satisfies FieldSpec;
/**
 * A reference that may be missing. The operator `!` also returns rows without a value, so the service checks them again. A field accepts a
 * single condition.
 */
export const maybe = (name: string) =>
  ({
    ...reference(name),
    nulls: 'unknown',
    filter: { ...can.only(MAYBE, ...EQUALITIES), 'IS NULL': MAYBE, 'IS NOT NULL': MAYBE },
  }) as const;
export const nameOf = (name: string) => ({ type: 'string', native: `${name}.name` }) as const satisfies FieldSpec;

/** A text that always exists. */
export const shown = (native: string) => ({ type: 'string', native }) as const satisfies FieldSpec;
/** A text whose empty value means that it is missing. */
export const blank = (native: string) => ({ ...shown(native), ...codec.blank() }) as const satisfies FieldSpec;

/** Returns whether a text contains a visible character. */
export const hasSign = (text: string) => /[^\s\p{Z}\p{C}]/u.test(text);

/**
 * Filter of a text. Each database handles letter case and accents in its own way, so Redmine may return more rows. It rejects a condition
 * on blanks only.
 */
export const FOUND = {
  filter: can.only('superset', '=', 'LIKE'),
  likeForms: ['literal', 'prefix', 'suffix', 'contains'],
  domain: { text: { askable: (text) => hasSign(text) && !text.includes('\0') && text.length <= 255 } },
} as const satisfies Partial<FieldSpec>;

export const flag = (native: string) => ({ type: 'boolean', native, nullable: false }) as const satisfies FieldSpec;

export const hours = (native: string) => ({ type: 'number', native }) as const satisfies FieldSpec;
export const foundHours = (native: string) =>
  ({
    ...hours(native),
    range: ['-1000000000', '1000000000'],
    filter: can.only('superset', '=', ...BOUNDS),
  }) as const satisfies FieldSpec;

const BOUNDED = can.only('superset', '=', ...BOUNDS);
export const day = (native: string) => ({ type: 'date', native, filter: BOUNDED }) as const satisfies FieldSpec;
export const moment = (native: string) =>
  ({ type: 'datetime', native, domain: { step: 'second' } }) as const satisfies FieldSpec;
export const foundMoment = (native: string) => ({ ...moment(native), filter: BOUNDED }) as const satisfies FieldSpec;

/** The custom fields, each with `id`, `name` and `value`. A write needs `id` and `value`. */
export const CUSTOM = { type: 'array', native: 'custom_fields', label: 'Custom fields' } as const satisfies FieldSpec;
