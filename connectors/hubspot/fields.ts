import { can, codec, type Domain, defined, type FieldSpec, type Json, json, kinds, type Shown } from '#connector';

/** The property that holds the id of a record. The API shows it as `id`. */
export const ID = 'hs_object_id';

/**
 * Texts are compared without regard to case. How HubSpot compares accents and blanks at the ends is not documented, so Causeway checks the
 * rows again, and a negation requests all rows with a value. HubSpot stores no empty texts.
 */
const TEXTS: Domain = { text: { nonEmpty: true, certain: () => false } };
const TEXT: FieldSpec = {
  type: 'string',
  collation: 'ci',
  domain: TEXTS,
  filter: { ...can.null, ...can.equal('superset'), ...can.only('superset', 'LIKE') },
  likeForms: ['prefix', 'suffix', 'contains'],
  // HubSpot compares patterns with single tokens, and does not document where tokens end. Only letters and digits are sure to be inside one.
  likeExcept: ' \t\n\r!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
};
/** The search is case-sensitive for enumerations. */
const CHOICE: FieldSpec = {
  type: 'string',
  domain: { text: { nonEmpty: true } },
  filter: { ...can.null, ...can.equal('exact') },
};
/** Numbers that a double represents exactly. HubSpot does not document how many digits it compares. */
const NUMBERS: Domain = { digits: { significant: 15 } };
const COMPARED = { ...can.null, ...can.compare('exact') };

const SHOWN: Shown = { type: 'string' };

/** Properties that the search rejects. Source: "Search the CRM", "Filter search results". */
const UNSEARCHED: ReadonlySet<unknown> = new Set(['hs_body_preview_html', 'hs_body_preview', 'hs_email_html']);

const kindOf = kinds<string, Json>({
  table: {
    // The search compares telephone numbers without the country code.
    string: (property) => (isPhone(property) ? { type: 'string', filter: can.null } : TEXT),
    phone_number: { type: 'string', filter: can.null },
    enumeration: choices,
    number: {
      type: 'number',
      sortable: true,
      domain: NUMBERS,
      filter: COMPARED,
      read: codec.blank(codec.decimal).read,
    },
    date: { type: 'date', sortable: true, filter: COMPARED },
    datetime: {
      type: 'datetime',
      sortable: true,
      domain: { step: 'millisecond' },
      filter: COMPARED,
      ...codec.instant(),
    },
    bool: {
      type: 'boolean',
      filter: { ...can.null, ...can.only('exact', '=', '!=') },
      read: codec.flag('true', 'false').read,
    },
  },
  // JSON, coordinates, and types that are not known yet.
  unknown: SHOWN,
});

function isPhone({ fieldType, textDisplayHint }: Json): boolean {
  return fieldType === 'phonenumber' || textDisplayHint === 'phone_number';
}

/** Returns an enumeration: one of its options, or several as `a;b` where people check boxes. */
function choices({ fieldType, options }: Json): FieldSpec {
  if (fieldType === 'checkbox') return { type: 'array', filter: can.null, ...codec.list(';') };
  const values = json
    .array(options ?? [], 'the options of a property')
    .flatMap((option) => json.findText(json.at(option, 'value')) ?? []);
  return { ...CHOICE, ...(values.length > 0 && { values }) };
}

/** Returns the field for a property. Source: the schema `Property` of the official description. */
export function toFieldSpec(property: Json, required: readonly unknown[]): FieldSpec {
  const { name, type, label } = property;
  const { read, write = same, ...kind } = UNSEARCHED.has(name) ? SHOWN : kindOf(String(type), property);
  const isWritten = property.calculated !== true && json.at(property, 'modificationMetadata', 'readOnlyValue') !== true;
  return defined({
    ...kind,
    ...codec.blank({ read: read ?? same, write: (value) => toText(write(value)) }),
    nativeType: json.findText(type),
    label: json.findText(label),
    createable: isWritten,
    updateable: isWritten,
    required: (isWritten && required.includes(name)) || undefined,
    custom: property.hubspotDefined !== true,
  });
}

function same(value: unknown): unknown {
  return value;
}

/** Values of properties are texts in requests. Source: the schema `SimplePublicObjectInput`. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : String(codec.decimal.write(value));
}

/** The id of a record. The API has it as a text of digits, and the search as a number. */
export const ID_FIELD: FieldSpec = {
  type: 'integer',
  native: ID,
  nativeType: 'number',
  nullable: false,
  range: ['1', '999999999999999'],
  sortable: true,
  filter: can.compare('exact'),
  read: codec.integer.read,
};
