import {
  can,
  codec,
  DECIMAL_TEXT,
  type Domain,
  defined,
  type FieldSpec,
  type Json,
  json,
  kinds,
  type Shown,
} from '#connector';

/**
 * Texts as they are written. Zoho CRM does not document how COQL compares case, accents and blanks, so Causeway checks the rows again, and a
 * negation requests all rows with a value. It stores no empty texts.
 */
const TEXTS: Domain = { text: { nonEmpty: true, certain: () => false } };
/** Source: "COQL API", parts I and II: the operators of each kind of field. */
const CHOICE = {
  type: 'string',
  collation: 'cs',
  domain: TEXTS,
  filter: { ...can.null, ...can.equal('superset') },
} as const;
const TEXT = {
  ...CHOICE,
  filter: { ...CHOICE.filter, LIKE: 'superset' },
  likeForms: ['prefix', 'suffix', 'contains'],
  // COQL has no escape for the characters of patterns.
  likeExcept: '%_\\',
} as const satisfies FieldSpec;
const COMPARED = { ...can.null, ...can.compare('exact') };
/** Numbers that a double represents exactly. How many digits COQL compares is not documented. */
const NUMBERS: Domain = { digits: { significant: 15 } };
const NUMBER = { type: 'number', sortable: true, domain: NUMBERS, filter: COMPARED, read: codec.decimal.read } as const;

const isId = (text: string) => /^[1-9]\d{0,18}$/.test(text);

/** A record of another module: Zoho CRM shows its id and its name, and the API its id. */
const LOOKUP: FieldSpec = {
  type: 'string',
  domain: { text: { possible: isId } },
  filter: { ...can.null, ...can.equal('exact') },
  read: (value) => json.findText(json.at(value, 'id')) ?? null,
  write: (value) => (value === null ? null : { id: value }),
};

/** Kinds that are not known, and those whose comparison is not documented: formulas, reminders, related records of several modules. */
const UNKNOWN: Shown = { type: 'string' };
const STRUCTURES: Readonly<Record<string, FieldSpec>> = {
  jsonobject: { type: 'object' },
  jsonarray: { type: 'array' },
};

const kindOf = kinds<string, Json>({
  table: {
    text: TEXT,
    email: { ...TEXT, format: 'email' },
    phone: TEXT,
    website: { ...TEXT, format: 'uri' },
    autonumber: CHOICE,
    // COQL rejects criteria on multi-line texts.
    textarea: { type: 'string' },
    picklist,
    multiselectpicklist: { type: 'array', filter: can.null },
    integer: { type: 'integer', range: ['-999999999', '999999999'], sortable: true, filter: COMPARED },
    bigint: { type: 'integer', format: DECIMAL_TEXT, read: codec.integer.read },
    double: NUMBER,
    decimal: NUMBER,
    currency: NUMBER,
    percent: NUMBER,
    date: { type: 'date', sortable: true, filter: COMPARED },
    datetime: { type: 'datetime', sortable: true, domain: { step: 'second' }, filter: COMPARED, ...codec.instant() },
    boolean: { type: 'boolean', filter: can.only('exact', '=') },
    lookup: LOOKUP,
    ownerlookup: LOOKUP,
    userlookup: LOOKUP,
  },
  unknown: UNKNOWN,
});

/** Kinds of fields that a query cannot select. Source: "Query API - Limitations". */
const UNSELECTABLE: ReadonlySet<unknown> = new Set(
  'subform multiselectlookup multiuserlookup imageupload fileupload profileimage'.split(' '),
);

/** Words that a query reads as its own. A field with such a name is shown, and cannot be filtered. */
const RESERVED: ReadonlySet<string> = new Set(
  'all and as asc between by desc distinct external false from group having in is join like limit not null offset on or order select sum table true union user where'.split(
    ' ',
  ),
);

/** Returns whether the name of a field must be quoted in a query. Source: "FAQs on COQL API". */
export function isReserved(name: string): boolean {
  return RESERVED.has(name.toLowerCase());
}

function picklist({ pick_list_values }: Json): FieldSpec {
  const entries = Array.isArray(pick_list_values) ? pick_list_values : [];
  const values = entries.flatMap((entry) => json.findText(json.at(entry, 'actual_value')) ?? []);
  return values.length > 0 ? { ...CHOICE, values } : CHOICE;
}

/** The id of a record: up to 19 digits, which Zoho CRM has as a text. */
const ID_FIELD: FieldSpec = {
  ...{ type: 'string', nullable: false, sortable: true, domain: { text: { possible: isId } } },
  filter: can.equal('exact'),
};

/** Returns the fields of a module. Source: the schema `fields` of the official description. */
export function toFields(described: readonly Json[]): Readonly<Record<string, FieldSpec>> {
  const entries = described
    .filter(
      ({ data_type, api_name, visible }) => !UNSELECTABLE.has(data_type) && api_name !== 'id' && visible !== false,
    )
    .map((field) => [json.text(field.api_name, 'the name of a field'), toField(field)] as const);
  return Object.fromEntries([['id', ID_FIELD], ...entries]);
}

function toField(field: Json): FieldSpec {
  const known = kindOf(String(field.data_type), field);
  const { filter, sortable, likeForms, likeExcept, ...kind }: FieldSpec =
    known === UNKNOWN ? (STRUCTURES[String(field.json_type)] ?? UNKNOWN) : known;
  const allows = (operation: string) =>
    json.at(field, 'operation_type', operation) === true && field.read_only !== true;
  const isQueried = !isReserved(String(field.api_name)) && field.virtual_field !== true;
  return defined({
    ...kind,
    nativeType: json.findText(field.data_type),
    label: json.findText(field.field_label),
    nullable: kind.type === 'boolean' || field.system_mandatory === true ? false : undefined,
    createable: allows('api_create') || undefined,
    updateable: allows('api_update') || undefined,
    required: (field.system_mandatory === true && allows('api_create')) || undefined,
    custom: field.custom_field === true || undefined,
    ...(isQueried && { filter, sortable, likeForms, likeExcept }),
  });
}
