import { can, codec, type FieldSpec, type Fields } from '#connector';

export const GIVEN = { createable: true } as const;
export const WRITTEN = { createable: true, updateable: true } as const;

/** Returns fields with the same specification, by their names, which are separated by blanks. */
export function all(spec: FieldSpec, names: string): Fields {
  return Object.fromEntries(names.split(' ').map((name) => [name, spec]));
}

/** Returns whether a text can be an id. Ids are whole numbers: numbers in the first version of the API, texts in the second. */
const isId = (text: string) => /^(?:0|[1-9]\d{0,18})$/.test(text);
const IDS = { text: { nonEmpty: true, possible: isId, certain: isId } } as const;
const EQUAL = can.only('exact', '=');

export const REFERENCE = { type: 'string', format: 'id', domain: IDS } as const satisfies FieldSpec;
export const ASKED_REFERENCE = { ...REFERENCE, filter: EQUAL } as const satisfies FieldSpec;
export const ID = { ...REFERENCE, nullable: false, filter: can.only('exact', '=', 'IN') } as const satisfies FieldSpec;

export const TEXT = { type: 'string' } as const;

/**
 * Characters with a meaning in a filter. Keap documents neither how it compares texts nor how to escape these characters. So texts with
 * them are not pushed, and every returned row is checked again. `NONE` stands for a missing value.
 */
const SPECIAL = /[;*,=<>!\\\p{Cc}\p{Cs}\u{10000}-\u{10ffff}]/u;
const isPlain = (text: string) =>
  text !== '' && text === text.trim() && !SPECIAL.test(text) && text.toUpperCase() !== 'NONE';
export const ASKED_TEXT = {
  type: 'string',
  domain: { text: { askable: isPlain } },
  filter: can.only('superset', '='),
} as const satisfies FieldSpec;

/** A text that Keap can also filter by its beginning. */
export const PREFIXED = {
  ...ASKED_TEXT,
  filter: can.only('superset', '=', 'LIKE'),
  likeForms: ['prefix'],
  likeExcept: ' ;*,=<>!\\\t\r\n',
} as const satisfies FieldSpec;

export const FLAG = { type: 'boolean' } as const;
export const ASKED_FLAG = { type: 'boolean', filter: EQUAL } as const satisfies FieldSpec;
export const NUMBER = { type: 'number' } as const;
export const LIST = { type: 'array' } as const;
export const OBJECT = { type: 'object' } as const;
export const DAY = { type: 'date', ...codec.day } as const satisfies FieldSpec;

/** A time, and a time by whose bounds Keap can filter. */
export const TIME = { type: 'datetime', ...codec.instant() } as const satisfies FieldSpec;
const MOMENTS = { step: 'millisecond', first: '1970-01-02', last: '9998-12-31' } as const;
export const ASKED_TIME = {
  ...TIME,
  nullable: false,
  domain: MOMENTS,
  filter: { ...can.only('superset', '='), ...can.order('superset') },
} as const satisfies FieldSpec;
/** The bounds of a search in the first version of the API. Both operators are written as `=`. */
export const SEARCHED = { since: '>=', until: '<=' } as const;
/** A time of a list that is sorted with the latest first. The list ends at the first row that is too old. */
export const LATEST_TIME = { ...ASKED_TIME, filter: can.only('superset', '=', '>', '>=') } as const satisfies FieldSpec;

/** A field with the given values, which are separated by blanks. Requests contain only documented values. */
export function oneOf(words: string) {
  const values = words.split(' ');
  return {
    type: 'string',
    values,
    domain: { text: { nonEmpty: true, askable: (text) => values.includes(text) } },
  } as const satisfies FieldSpec;
}

export const asked = <Spec extends FieldSpec>(spec: Spec) =>
  ({ ...spec, filter: can.only('superset', '=') }) satisfies FieldSpec;
