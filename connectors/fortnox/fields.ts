import { can, codec, type FieldSpec } from '#connector';

const BLANK = codec.blank();

/**
 * The value that empties a text. An empty text has no effect. Sources: `ApiConstants` of the SDK for C#, recorded responses of the Ruby
 * client.
 */
export const API_BLANK = 'API_BLANK';

const writeText = (value: unknown) => (value === null || value === '' ? API_BLANK : value);

/** A text. Null in single records is an empty text in lists, or the other way round, so both are read as null. */
export const TEXT = { type: 'string', read: BLANK.read, write: writeText } as const;
/** A number. Lists contain some numbers as texts. */
export const NUMBER = { type: 'number', read: codec.blank(codec.decimal).read } as const;
export const INTEGER = { type: 'integer', read: codec.blank(codec.integer).read } as const;
export const DAY = { type: 'date', read: codec.blank(codec.day).read } as const;
export const FLAG = { type: 'boolean', read: codec.flag('true', 'false').read } as const;
export const OBJECT = { type: 'object' } as const;
export const ARRAY = { type: 'array' } as const;

export const WRITTEN = { createable: true, updateable: true } as const;
export const REQUIRED = { ...WRITTEN, required: true, nullable: false } as const;
/** Marks a field that only single records have. */
export const UNLISTED = { unlisted: true } as const;

/**
 * A search finds texts that contain the value, ignoring case (`ILIKE '%…%'`, as documented). So `%` and `_` find more texts. The effect of
 * a backslash or a control character is not documented.
 */
const SEARCH = {
  domain: { text: { askable: (text: string) => !/[\\\p{Cc}]/u.test(text) } },
  filter: { ...can.only('superset', '=', 'LIKE') },
  likeForms: ['literal', 'prefix', 'suffix', 'contains'],
  likeExcept: '\\',
} as const satisfies Partial<FieldSpec>;

export const SEARCHED = { ...TEXT, ...SEARCH } as const;
/** The key of a record. The request sets it, or else Fortnox does. */
export const KEY = { ...SEARCHED, nullable: false, createable: true, format: 'fortnox-number' } as const;
/** The number of a document in its series: a whole number by which lists can be sorted. */
export const DOCUMENT = {
  ...INTEGER,
  nullable: false,
  sortable: true,
  createable: true,
  range: ['1', '9007199254740991'],
  filter: can.only('superset', '='),
  write: String,
} as const satisfies FieldSpec;
export const SEARCHED_DAY = { ...DAY, filter: { ...can.only('superset', '='), ...can.order('superset') } } as const;

export const oneOf = (...values: readonly string[]) => ({ ...TEXT, values }) as const satisfies FieldSpec;
