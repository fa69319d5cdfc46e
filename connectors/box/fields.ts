import { can, codec, type FieldSpec, type Fields } from '#connector';

const WRITTEN = { createable: true, updateable: true } as const;
const CHANGED = { updateable: true } as const;

const TEXT = { type: 'string' } as const;
const NUMBER = { type: 'integer' } as const;
const OBJECT = { type: 'object' } as const;

/** Times in whole seconds, which Box prints in the time zone of the account. */
const INSTANT = { type: 'datetime', ...codec.instant(), domain: { step: 'second' } } as const satisfies FieldSpec;

const isId = (text: string) => /^\d+$/.test(text);
const ID = { type: 'string', domain: { text: { possible: isId } } } as const satisfies FieldSpec;
const BYTES = { type: 'integer', range: ['0', '9007199254740991'], label: 'Size, in bytes' } as const;

/** Box silently truncates descriptions to 255 characters. */
const DESCRIPTION = { ...TEXT, ...CHANGED, domain: { text: { longest: 255 } } } as const;

/** Returns the fields of a user inside a record. */
function person(native: 'created_by' | 'modified_by' | 'owned_by') {
  return {
    [`${native}.id`]: TEXT,
    [`${native}.name`]: TEXT,
    [`${native}.login`]: { ...TEXT, format: 'email' },
  } satisfies Fields;
}

/** Fields that files, folders and web links share. */
export const ITEM_FIELDS: Fields = {
  id: { ...ID, nullable: false },
  type: { ...TEXT, nullable: false, values: ['file', 'folder', 'web_link'] },
  name: { ...TEXT, nullable: false },
  description: TEXT,
  size: BYTES,
  etag: TEXT,
  created_at: INSTANT,
  modified_at: { ...INSTANT, label: 'Changed at Box' },
  content_created_at: { ...INSTANT, label: 'Creation of the content, before its upload' },
  content_modified_at: { ...INSTANT, label: 'Last change of the content, before its upload' },
  ...person('created_by'),
  ...person('modified_by'),
  ...person('owned_by'),
  'parent.id': TEXT,
  'parent.name': TEXT,
  path_collection: { ...OBJECT, label: 'Parent folders, from the root' },
  item_status: TEXT,
  tags: { type: 'array' },
  shared_link: OBJECT,
};

const OF_FILES: Fields = {
  extension: TEXT,
  sha1: { ...TEXT, label: 'SHA-1 of the content' },
  version_number: TEXT,
};

/** Fields that files, folders and web links share without differences. */
const { type, item_status: _, ...OWN } = ITEM_FIELDS;

export const FILE_FIELDS: Fields = {
  ...OWN,
  ...OF_FILES,
  comment_count: NUMBER,
  lock: OBJECT,
  name: { ...TEXT, ...WRITTEN, nullable: false },
  description: DESCRIPTION,
  'parent.id': { ...TEXT, ...WRITTEN, label: 'Id of the parent folder; `0` is the root' },
  tags: { type: 'array', ...CHANGED },
  content_created_at: { ...INSTANT, createable: true, label: 'Creation of the content, before its upload' },
  content_modified_at: { ...INSTANT, createable: true, label: 'Last change of the content, before its upload' },
};

export const FOLDER_FIELDS: Fields = {
  ...OWN,
  has_collaborations: { type: 'boolean' },
  name: { ...TEXT, ...WRITTEN, nullable: false, required: true },
  description: DESCRIPTION,
  'parent.id': { ...TEXT, ...WRITTEN, label: 'Id of the parent folder; `0` is the root' },
  tags: { type: 'array', ...CHANGED },
};

/** Box updates the index later than the records, and does not document the precision of its bounds, so every row is checked again. */
const BOUNDED = { ...can.only('superset', '='), ...can.order('superset') } as const;

/**
 * Returns whether Box can search for this name as a phrase. Box does not document how quotation marks and backslashes work in a phrase, nor
 * what a phrase without any word, or with words of other scripts, finds.
 */
const isPhrase = (text: string) =>
  /^[\p{Script=Latin}\p{M}\p{N}\p{P}\p{S} ]+$/u.test(text) && !/["\\]/.test(text) && /[a-z\d]/i.test(text);

/** Returns whether the text can be one word of the list of extensions. */
const isExtension = (text: string) => /^[a-z\d]+$/i.test(text);
const isType = (text: string) => /^(?:file|folder|web_link)$/.test(text);

const { tags, ...FOUND } = ITEM_FIELDS;

export const FOUND_FIELDS: Fields = {
  ...FOUND,
  // The parameter `tags` searches for tags, so the field has another name.
  tag_names: { ...tags, type: 'array', native: 'tags' },
  ...OF_FILES,
  type: {
    ...type,
    type: 'string',
    domain: { text: { askable: isType } },
    filter: can.only('superset', '='),
  },
  name: {
    ...TEXT,
    nullable: false,
    domain: { text: { askable: isPhrase } },
    filter: can.only('superset', '=', 'LIKE'),
    likeForms: ['prefix'],
  },
  extension: { ...TEXT, domain: { text: { askable: isExtension } }, filter: can.only('superset', '=', 'IN') },
  size: { ...BYTES, filter: BOUNDED },
  created_at: { ...INSTANT, filter: BOUNDED },
  modified_at: { ...INSTANT, label: 'Changed at Box', filter: BOUNDED },
  'owned_by.id': { ...TEXT, domain: { text: { askable: isId } }, filter: can.only('superset', '=', 'IN') },
};

/** Returns the value of Box's parameter `fields`: the top-level members that contain the native fields. */
export function membersOf(natives: readonly string[]): string {
  return [...new Set(natives.map((native) => native.split('.', 1).join('')))].join(',');
}

export function allOf(fields: Fields): string {
  return membersOf(Object.entries(fields).map(([name, { native = name }]) => native));
}
