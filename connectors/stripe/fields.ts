import { can, codec, type Domain, type FieldSpec, type Fields, fieldsOf, type Json, json } from '#connector';
import official from './official.json' with { type: 'json' };

/**
 * The fields of a search by their type. Source: docs.stripe.com/search, "Field types, substring matching, and numeric comparators", and the
 * query fields of each resource.
 */

/** Stripe keeps whole seconds. */
export const TIME = {
  type: 'datetime',
  domain: { step: 'second' },
  ...codec.epochSeconds,
} as const satisfies FieldSpec;
/** A time by which every list can be filtered. */
export const CREATED = { ...TIME, nullable: false, filter: can.only('exact', '=', '<', '<=', '>', '>=') } as const;
export const BOUNDED_TIME = { ...TIME, filter: can.only('exact', '=', '<', '<=', '>', '>=') } as const;

/** A backslash escapes only quotes, as far as Stripe documents it. A text needs a letter or a digit to be found by its words. */
const isPlain = (text: string) => /[\p{L}\p{N}]/u.test(text) && !/[\\\p{Cc}\p{Cs}]/u.test(text);
const TEXTS: Domain = { text: { nonEmpty: true, askable: isPlain, certain: () => false } };
const EQUAL = { ...can.null, ...can.only('superset', '=', 'IN') };

/** A token, which is compared as a whole and without regard to case. */
export const TOKEN = { type: 'string', domain: TEXTS, filter: EQUAL } as const satisfies FieldSpec;

/** A text: `=` finds each text that contains its words in their order, in any case, so Causeway checks the rows again. */
export const WORDS = {
  ...TOKEN,
  filter: { ...EQUAL, ...can.only('superset', 'LIKE') },
  likeForms: ['prefix', 'suffix', 'contains'],
  likeExcept: '\\\t\r\n',
} as const satisfies FieldSpec;

/** An amount in the smallest unit of its currency, as Stripe has it. */
export const AMOUNT = { type: 'integer', nullable: false, filter: can.compare('exact') } as const satisfies FieldSpec;

/** `true` and `false` are tokens of a search and values of a list. */
export const FLAG = { type: 'boolean', filter: can.only('exact', '=', '!=') } as const satisfies FieldSpec;

const isCurrency = (text: string) => /^[a-z]{3}$/.test(text);
/** The code of a currency in lower case, which every amount has. */
export const CURRENCY = {
  type: 'string',
  nullable: false,
  domain: { text: { nonEmpty: true, possible: isCurrency, certain: isCurrency } },
  filter: can.equal('exact'),
} as const satisfies FieldSpec;

/** One of the values of an enumeration, of which Stripe may return others. Requests contain only documented values. */
export function choice(
  schema: SchemaName,
  member: string,
  filter: FieldSpec['filter'] = can.equal('superset'),
): FieldSpec {
  const listed = json.at(official.schemas[schema], 'properties', member, 'enum');
  const values = json.array(listed, `the values of ${member}`).filter((each) => typeof each === 'string');
  const isKnown = (text: string) => values.includes(text);
  const domain = { text: { nonEmpty: true, askable: isKnown, certain: isKnown } } as const;
  return { type: 'string', values, domain, filter };
}

/** The id of another record, by which a list can be filtered. */
export const REFERENCE = {
  type: 'string',
  format: 'id',
  domain: TEXTS,
  filter: can.only('superset', '=', 'IN'),
} as const satisfies FieldSpec;

export const ID = { type: 'string', format: 'id', nullable: false } as const satisfies FieldSpec;

/** A list inside a record, of which Stripe returns the first page. */
export const INNER_LIST = {
  type: 'array',
  read: (native: unknown) => (json.isObject(native) ? native.data : native),
} as const satisfies FieldSpec;

/** Values by name that the customer added. */
const METADATA = { type: 'object', clearable: false } as const satisfies FieldSpec;

/** Returns the members of an address as fields below a name: `addressOf('shipping.address')`. */
export function addressOf(name: string): Fields {
  const parts = Object.entries(fieldsOf(official, 'Address'));
  return Object.fromEntries(
    parts.map(([part, spec]) => [`${name}.${part}`, { ...spec, nullable: true, createable: true, updateable: true }]),
  );
}

/** Specifications of fields that the description lacks, by the name of the field. */
type But = Readonly<Record<string, Partial<FieldSpec>>>;

/** Returns the same specification for several fields, by names separated by blanks. */
export function all(spec: Partial<FieldSpec>, names: string): But {
  return Object.fromEntries(names.split(' ').map((name) => [name, spec]));
}

type SchemaName = keyof typeof official.schemas;

interface Description {
  readonly schema:
    | 'Charge'
    | 'Customer'
    | 'Invoice'
    | 'PaymentIntent'
    | 'Price'
    | 'Product'
    | 'Refund'
    | 'Subscription';
  /** The members that become fields, separated by blanks. `id`, `created`, `livemode` and `metadata` are added. */
  readonly pick: string;
  readonly but: But;
}

/** Returns the fields of an object from the official description. */
export function describedFields({ schema, pick, but }: Description): Fields {
  const members = `id ${pick} created metadata${hasMode(schema) ? ' livemode' : ''}`;
  return fieldsOf(official, schema, {
    pick: members,
    create: `${schema}CreateParams`,
    update: `${schema}UpdateParams`,
    but: { id: ID, created: CREATED, metadata: METADATA, ...but },
  });
}

function hasMode(schema: SchemaName): boolean {
  return json.at(official.schemas[schema], 'properties', 'livemode') !== undefined;
}

/** Returns a field for each key of metadata. */
export function metadataFields(keys: readonly string[], isSearched: boolean): Fields {
  const spec: FieldSpec = {
    type: 'string',
    custom: true,
    createable: true,
    updateable: true,
    ...(isSearched && { domain: TEXTS, filter: EQUAL }),
  };
  return Object.fromEntries(keys.map((key) => [`metadata.${key}`, spec]));
}

/** Returns the values of a record as Stripe reads a form: `shipping[address][city]=Kyoto`. Empty text removes a value. */
export function toForm(values: Json): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => pairsOf(name, value)));
}

function pairsOf(name: string, value: unknown): readonly (readonly [string, string])[] {
  const inner = Array.isArray(value) || json.isObject(value) ? Object.entries(value) : undefined;
  if (inner === undefined) return [[name, value === null ? '' : String(value)]];
  if (inner.length === 0) return [[name, '']];
  return inner.flatMap(([member, each]) => pairsOf(`${name}[${member}]`, each));
}
