import { can, codec, DECIMAL_TEXT, type Domain, defined, type FieldSpec, type Json, json, kinds } from '#connector';
import { integerRange, isId, MAX_STRING_LENGTH } from './literals.ts';

interface FieldOptions {
  /** Whether the settings say that Salesforce alone may evaluate filters on text. */
  readonly textIsExact: boolean;
}

interface Source {
  readonly field: Json;
  readonly options: FieldOptions;
}

/** The dates that Salesforce accepts. Source: SOQL and SOSL Reference, "Date Formats and Date Literals". */
const DAYS: Domain = { first: '1700-01-01', last: '4000-12-31' };
/** Times are whole seconds (Object Reference, "Primitive Data Types"). */
const INSTANTS: Domain = { ...DAYS, step: 'second' };
/** Numbers have at most 18 digits before and after the point together. */
const NUMBERS: Domain = { digits: { total: 18 } };
/** A formula may have more than fifteen digits, which is the number that a double and JSON are certain to preserve. */
const FORMULAS: Domain = { ...NUMBERS, rounded: 15 };
/**
 * No record has an empty text: Salesforce stores null. Texts that can be filtered have at most 255 characters; this many can be
 * written in one string even if each of them is escaped as `\uXXXX`.
 */
const TEXTS: Domain = { text: { nonEmpty: true, longest: Math.floor(MAX_STRING_LENGTH / 6) } };
/**
 * Texts whose comparison is uncertain. Salesforce documents nothing about accents, blanks at the ends and control characters: `!= 'Ipek'`
 * might leave out `İpek`.
 */
const UNCERTAIN_TEXTS: Domain = { text: { ...TEXTS.text, certain: () => false } };

const IDS = {
  type: 'string',
  collation: 'cs',
  domain: { text: { possible: isId } },
  filter: { ...can.null, ...can.equal('exact') },
} as const;
const COMPARED = { ...can.null, ...can.compare('exact') };

/**
 * Operators of a formula, which may have more digits than a double shows. `!=` is missing, because it would leave out values that only look
 * equal.
 */
const FORMULA = { ...can.null, ...can.only('superset', '='), ...can.order('superset') };

const kindOf = kinds<string, Source>({
  table: {
    id: IDS,
    reference: IDS,
    string: text,
    textarea: text,
    phone: text,
    combobox: text,
    email: (source) => ({ ...text(source), format: 'email' }),
    url: (source) => ({ ...text(source), format: 'uri' }),
    picklist,
    multipicklist: { type: 'array', filter: can.null, ...codec.list(';') },
    boolean: { type: 'boolean', filter: can.only('exact', '=', '!=') },
    int: { type: 'integer', range: integerRange('int'), filter: COMPARED },
    long: { type: 'integer', format: DECIMAL_TEXT, range: integerRange('long'), filter: COMPARED },
    double: number,
    currency: number,
    percent: number,
    date: { type: 'date', domain: DAYS, filter: COMPARED },
    datetime: { type: 'datetime', domain: INSTANTS, filter: COMPARED, ...codec.instant() },
    time: { type: 'string', format: 'time', filter: can.null },
    address: { type: 'object' },
    location: { type: 'object' },
    complexvalue: { type: 'object' },
  },
  // Types that cannot be filtered (`base64`, `encryptedstring`), and types that are not known yet.
  unknown: { type: 'string' },
});

/** Returns the field for an entry of a describe response. Source: SOAP API Developer Guide, "DescribeSObjectResult", Field. */
export function toFieldSpec(field: Json, options: FieldOptions): FieldSpec {
  const { filter, likeExcept, ...kind } = kindOf(String(field.type), { field, options });
  const createable = field.createable === true;
  return defined({
    ...kind,
    nativeType: String(field.type),
    label: json.findText(field.label),
    nullable: field.nillable !== false,
    // A missing boolean is false, and some fields have a default value.
    required: createable && field.nillable === false && field.defaultedOnCreate !== true && field.type !== 'boolean',
    createable,
    updateable: field.updateable === true,
    sortable: field.sortable === true && kind.type !== 'object' && kind.type !== 'array',
    custom: field.custom === true,
    ...(field.filterable === true && { filter, likeExcept }),
  });
}

/** Objects whose records always have a `Name`. Every custom object has one, too. */
const NAMED: ReadonlySet<string> = new Set(
  'Account Asset Campaign Contact Group Lead Opportunity Pricebook2 Product2 Profile RecordType User UserRole'.split(
    ' ',
  ),
);

/**
 * Returns the field for the name of a referenced record, such as `Account.Name`. It is returned only on demand: a statement can use at most
 * 55 relationships, and fails as a whole if the user may not follow one of them. Empty if the referenced object may have no name.
 */
export function toParentName(
  field: Json,
  options: FieldOptions,
): readonly (readonly [name: string, spec: FieldSpec])[] {
  const [target, other] = Array.isArray(field.referenceTo) ? field.referenceTo : [];
  const relationship = json.findText(field.relationshipName);
  if (relationship === undefined || typeof target !== 'string' || other !== undefined) return [];
  if (!NAMED.has(target) && !target.endsWith('__c')) return [];
  const { filter, likeExcept, ...kind } = text({ field: {}, options });
  const spec: FieldSpec = {
    ...kind,
    nativeType: 'string',
    label: json.findText(field.label),
    sortable: true,
    onDemand: true,
    ...(field.filterable === true && { filter, likeExcept }),
  };
  return [[`${relationship}.Name`, defined(spec)]];
}

/**
 * Returns a text field. Equality is case-sensitive only if the field is (SOQL and SOSL Reference, "Comparison Operators"). LIKE always
 * ignores case.
 */
function text({ field, options }: Source): FieldSpec {
  const exactness = options.textIsExact ? 'exact' : 'superset';
  const equal = { ...can.null, ...can.equal(exactness) };
  return field.caseSensitive === true
    ? { type: 'string', collation: 'cs', ...trust(options), likeExcept: '\\', filter: { ...equal, LIKE: 'superset' } }
    : { type: 'string', collation: 'ci', ...trust(options), filter: { ...equal, ...can.match(exactness) } };
}

/**
 * Returns the domain of a text, and the character that patterns must not contain. Salesforce advises against searching for a backslash, so
 * any character may match in its place if the result is checked again.
 */
function trust({ textIsExact }: FieldOptions): Pick<FieldSpec, 'domain' | 'likeExcept'> {
  return textIsExact ? { domain: TEXTS } : { domain: UNCERTAIN_TEXTS, likeExcept: '\\' };
}

/** Returns a picklist field. LIKE works only on strings. The list of values is complete only if it is restricted. */
function picklist({ field, options }: Source): FieldSpec {
  const entries = Array.isArray(field.picklistValues) ? field.picklistValues.filter(json.isObject) : [];
  const values = entries.filter(({ active }) => active !== false).flatMap(({ value }) => json.findText(value) ?? []);
  return {
    type: 'string',
    collation: 'ci',
    domain: options.textIsExact ? TEXTS : UNCERTAIN_TEXTS,
    filter: { ...can.null, ...can.equal(options.textIsExact ? 'exact' : 'superset') },
    ...(field.restrictedPicklist === true && values.length > 0 && { values }),
  };
}

function number({ field }: Source): FieldSpec {
  if (field.calculated === true) return { type: 'number', domain: FORMULAS, filter: FORMULA };
  return { type: 'number', domain: NUMBERS, filter: COMPARED };
}
