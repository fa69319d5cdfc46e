import { can, codec, DECIMAL_TEXT, type Domain, defined, type FieldSpec, type Json, json, kinds } from '#connector';
import { isAskable, isSysId } from './literals.ts';

/** Writes null as an empty text, which is ServiceNow's null. */
const BLANK = codec.blank();

/**
 * A text. ServiceNow's documents contradict each other on whether case, accents and blanks count, and the database decides. The connector
 * compares exactly, so ServiceNow may return too many rows, and "is not" requests every row with a value.
 */
const TEXT: FieldSpec = {
  type: 'string',
  domain: { text: { nonEmpty: true, askable: isAskable, certain: () => false } },
  likeForms: ['prefix', 'suffix', 'contains'],
  // ServiceNow does not document whether the first two are wildcards. Without a colon, no text is a script.
  likeExcept: '%_:\n\r\t',
  filter: { ...can.null, ...can.equal('superset'), ...can.match('superset') },
  sortable: true,
  ...BLANK,
};

/** A reference. ServiceNow would compare a pattern with the name of the referenced record, and sorts by this name. */
const ID: FieldSpec = {
  type: 'string',
  domain: { text: { nonEmpty: true, askable: isAskable, certain: isSysId } },
  filter: { ...can.null, ...can.equal('superset') },
  read: (native) => BLANK.read(json.isObject(native) ? (native.value ?? null) : native),
  write: BLANK.write,
};

const DAYS: Domain = { first: '1000-01-01', last: '9999-12-31' };
const COMPARED = { ...can.null, ...can.compare('exact') };
const INSTANT: FieldSpec = {
  type: 'datetime',
  domain: { ...DAYS, step: 'second' },
  filter: COMPARED,
  sortable: true,
  ...codec.blank(codec.localTime()),
};
const INTEGER: FieldSpec = {
  type: 'integer',
  range: ['-2147483648', '2147483647'],
  filter: COMPARED,
  sortable: true,
  ...codec.blank(codec.integer),
};
/** A number. A setting of the column, which the connector does not read, limits the stored digits. */
const NUMBER: FieldSpec = {
  type: 'number',
  domain: { rounded: 15 },
  filter: { ...can.null, ...can.only('superset', '='), ...can.order('superset') },
  sortable: true,
  ...codec.blank(codec.decimal),
};
/** A list of ids, separated by commas. */
const LIST: FieldSpec = { type: 'array', filter: can.null, ...codec.blank(codec.list(',')) };

/** Returns the kind for a type of `sys_glide_object`. Source: "Field types reference". */
const kindOf = kinds({
  table: {
    ...named(TEXT, 'string char choice sys_class_name table_name field_name ph_number phone_number_e164 color'),
    ...named(TEXT, 'string_full_utf8 user_input version short_field_name workflow'),
    email: { ...TEXT, format: 'email' },
    url: { ...TEXT, format: 'uri' },
    ...named(ID, 'GUID reference document_id domain_id'),
    boolean: {
      type: 'boolean',
      filter: { ...can.null, ...can.only('exact', '=', '!=') },
      sortable: true,
      ...codec.blank(codec.flag('true', 'false')),
    },
    ...named(INTEGER, 'integer order_index day_of_week month_of_year week_of_month'),
    longint: {
      ...INTEGER,
      ...codec.blank(codec.decimal),
      format: DECIMAL_TEXT,
      range: ['-9223372036854775808', '9223372036854775807'],
    },
    ...named(NUMBER, 'decimal float percent_complete'),
    ...named(INSTANT, 'glide_date_time due_date'),
    glide_date: { type: 'date', domain: DAYS, filter: COMPARED, sortable: true, ...codec.blank(codec.day) },
    ...named(LIST, 'glide_list user_list'),
  },
  // Long and formatted texts, durations, money with its currency, secrets, journals, and types that are not known yet.
  unknown: { type: 'string', ...BLANK },
});

function named(spec: FieldSpec, words: string): Readonly<Record<string, FieldSpec>> {
  return Object.fromEntries(words.split(' ').map((word) => [word, spec]));
}

/** Types of elements that ServiceNow computes from other fields. */
const DERIVED: ReadonlySet<string> = new Set(['journal_list', 'related_tags']);

/**
 * Returns the field for a row of `sys_dictionary`.
 * @param isTableWritten whether the records of the table can be written
 */
export function toFieldSpec(row: Json, isTableWritten: boolean): FieldSpec {
  const word = textOf(row.internal_type) ?? 'string';
  const name = textOf(row.element) ?? '';
  const kind = kindOf(word);
  const isWritten = isTableWritten && row.read_only !== 'true' && !name.startsWith('sys_') && !DERIVED.has(word);
  // ServiceNow may sort by the position in the list of choices.
  const isChosen = textOf(row.choice) !== undefined && row.choice !== '0';
  return defined({
    ...kind,
    nativeType: word,
    label: textOf(row.column_label),
    required: isWritten && row.mandatory === 'true' && textOf(row.default_value) === undefined,
    createable: isWritten,
    updateable: isWritten,
    sortable: kind.sortable === true && !isChosen,
    custom: /^[ux]_/.test(name),
  });
}

/** Returns the text of a value. A reference may have a link to its record. */
export function textOf(native: unknown): string | undefined {
  return json.findText(json.isObject(native) ? native.value : native);
}
