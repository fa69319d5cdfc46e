import { can, codec, type FieldSpec, type Fields } from '#connector';

export const GIVEN = { createable: true } as const;
export const WRITTEN = { createable: true, updateable: true } as const;

/** Fields that are alike, by their names with blanks between them. */
export function all(spec: FieldSpec, names: string): Fields {
  return Object.fromEntries(names.split(' ').map((name) => [name, spec]));
}

/** Ids are whole numbers, which the first version of the API writes as numbers, the second as text. */
const isId = (text: string) => /^(?:0|[1-9]\d{0,18})$/.test(text);
const IDS = { text: { nonEmpty: true, possible: isId, certain: isId } } as const;
const EQUAL = can.only('exact', '=');

export const REFERENCE = { type: 'string', format: 'id', domain: IDS } as const satisfies FieldSpec;
export const ASKED_REFERENCE = { ...REFERENCE, filter: EQUAL } as const satisfies FieldSpec;
export const ID = { ...REFERENCE, nullable: false, filter: can.only('exact', '=', 'IN') } as const satisfies FieldSpec;

export const TEXT = { type: 'string' } as const;

/**
 * How Keap compares texts is not documented, nor is how a value could hold what has a meaning in a filter: such texts are not pushed, and
 * what is found is checked again. `NONE` is no text but no value.
 */
const SPECIAL = /[;*,=<>!\\\p{Cc}\p{Cs}\u{10000}-\u{10ffff}]/u;
const isPlain = (text: string) =>
  text !== '' && text === text.trim() && !SPECIAL.test(text) && text.toUpperCase() !== 'NONE';
export const ASKED_TEXT = {
  type: 'string',
  domain: { text: { askable: isPlain } },
  filter: can.only('superset', '='),
} as const satisfies FieldSpec;

/** A text by whose beginning Keap can filter, too. */
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

/** An instant, and one by whose bounds Keap can filter. */
export const TIME = { type: 'datetime', ...codec.instant() } as const satisfies FieldSpec;
const MOMENTS = { step: 'millisecond', first: '1970-01-02', last: '9998-12-31' } as const;
export const ASKED_TIME = {
  ...TIME,
  nullable: false,
  domain: MOMENTS,
  filter: { ...can.only('superset', '='), ...can.order('superset') },
} as const satisfies FieldSpec;
/** The bounds of a search in the first version of the API, and in what was written for it: both are given with `=`. */
export const SEARCHED = { since: '>=', until: '<=' } as const;
/** A list that comes with the latest first ends where they are too old. */
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
