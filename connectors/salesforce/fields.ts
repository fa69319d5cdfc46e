import { DECIMAL_TEXT, type Domain, type Exactness, type FieldSpec } from '#connector';
import { findText, isObject, type Json } from './answer.ts';
import { integerRange, isId, MAX_STRING_LENGTH } from './literals.ts';
import { readChoices, readInstant, writeChoices } from './values.ts';

export interface FieldOptions {
  /** The settings say that filters on text may be left to Salesforce alone. */
  readonly textIsExact: boolean;
}

type Filter = NonNullable<FieldSpec['filter']>;
type Shape = Pick<
  FieldSpec,
  'type' | 'format' | 'range' | 'collation' | 'values' | 'domain' | 'filter' | 'likeExcept' | 'read' | 'write'
>;

/** One field of a describe answer. Source: SOAP API Developer Guide, "DescribeSObjectResult", Field. */
export function toFieldSpec(field: Json, options: FieldOptions): FieldSpec {
  const shape = (SHAPES[String(field.type)] ?? plainText)(field, options);
  const { filter, likeExcept, ...rest } = shape;
  const label = findText(field.label);
  return {
    ...rest,
    nativeType: String(field.type),
    ...(label !== undefined && { label }),
    nullable: field.nillable !== false,
    required: isRequired(field),
    createable: field.createable === true,
    updateable: field.updateable === true,
    sortable: field.sortable === true && rest.type !== 'object' && rest.type !== 'array',
    custom: field.custom === true,
    ...(field.filterable === true && filtering({ filter, likeExcept })),
  };
}

function filtering({ filter, likeExcept }: { readonly [Part in 'filter' | 'likeExcept']: Shape[Part] | undefined }) {
  return { ...(filter !== undefined && { filter }), ...(likeExcept !== undefined && { likeExcept }) };
}

/** Objects whose records have a `Name` for certain; every custom one has. */
const NAMED = new Set([
  'Account',
  'Asset',
  'Campaign',
  'Contact',
  'Group',
  'Lead',
  'Opportunity',
  'Pricebook2',
  'Product2',
  'Profile',
  'RecordType',
  'User',
  'UserRole',
]);

/**
 * The name of the record that a field refers to, as `Account.Name`. Only on demand: a statement takes 55 relationships at most, and
 * one that the user may not follow fails as a whole.
 */
export function toParentName(field: Json, options: FieldOptions): readonly [name: string, spec: FieldSpec] | undefined {
  const targets = Array.isArray(field.referenceTo) ? field.referenceTo : [];
  const [target] = targets;
  const relationship = findText(field.relationshipName);
  if (relationship === undefined || targets.length !== 1 || typeof target !== 'string') return undefined;
  if (!NAMED.has(target) && !target.endsWith('__c')) return undefined;
  const label = findText(field.label);
  const { filter, likeExcept, ...shape } = text({}, options);
  const spec = {
    ...shape,
    nativeType: 'string',
    ...(label !== undefined && { label }),
    sortable: true,
    onDemand: true,
  };
  return [`${relationship}.Name`, { ...spec, ...(field.filterable === true && filtering({ filter, likeExcept })) }];
}

/** What may be set on create, cannot be null and gets no value by itself. A missing boolean is false. */
function isRequired(field: Json): boolean {
  return (
    field.createable === true &&
    field.nillable === false &&
    field.defaultedOnCreate !== true &&
    field.type !== 'boolean'
  );
}

const NULLS: Filter = { 'IS NULL': 'exact', 'IS NOT NULL': 'exact' };

function equalities(exactness: Exactness): Filter {
  return { ...NULLS, '=': exactness, '!=': exactness, IN: exactness, 'NOT IN': exactness };
}

const COMPARISONS: Filter = { ...equalities('exact'), '<': 'exact', '<=': 'exact', '>': 'exact', '>=': 'exact' };

/** Without `!=`: what is not told from a literal must not be left out. */
const WIDE_COMPARISONS: Filter = {
  ...NULLS,
  '=': 'superset',
  '<': 'superset',
  '<=': 'superset',
  '>': 'superset',
  '>=': 'superset',
};

/** Other dates are refused. Source: SOQL and SOSL Reference, "Date Formats and Date Literals". */
const DAYS: Domain = { first: '1700-01-01', last: '4000-12-31' };
/** Instants are whole seconds (Object Reference, "Primitive Data Types"). */
const INSTANTS: Domain = { ...DAYS, step: 'second' };
/** Left and right of the point together. */
const NUMBERS: Domain = { digits: { total: 18 } };
/** A formula may have more digits than the fifteen that surely survive the way through a double and JSON. */
const FORMULAS: Domain = { ...NUMBERS, rounded: 15 };
const IDS: Domain = { text: { possible: isId } };
/**
 * No record has an empty text: Salesforce stores null. Texts that can be filtered have at most 255 characters; this many can be
 * written in one string even if each of them is escaped as `\uXXXX`.
 */
const TEXTS: Domain = { text: { nonEmpty: true, longest: Math.floor(MAX_STRING_LENGTH / 6) } };
/** About accents, blanks at the ends and control characters nothing is documented: `!= 'Ipek'` might leave out `İpek`. */
const UNCERTAIN_TEXTS: Domain = { text: { ...TEXTS.text, certain: () => false } };

type ToShape = (field: Json, options: FieldOptions) => Shape;

const SHAPES: Readonly<Record<string, ToShape>> = {
  id: () => ({ type: 'string', collation: 'cs', domain: IDS, filter: equalities('exact') }),
  reference: () => ({ type: 'string', collation: 'cs', domain: IDS, filter: equalities('exact') }),
  string: text,
  textarea: text,
  phone: text,
  combobox: text,
  email: (field, options) => ({ ...text(field, options), format: 'email' }),
  url: (field, options) => ({ ...text(field, options), format: 'uri' }),
  picklist,
  multipicklist: () => ({ type: 'array', filter: NULLS, read: readChoices, write: writeChoices }),
  boolean: () => ({ type: 'boolean', filter: { '=': 'exact', '!=': 'exact' } }),
  int: () => ({ type: 'integer', range: integerRange('int'), filter: COMPARISONS }),
  long: () => ({ type: 'integer', format: DECIMAL_TEXT, range: integerRange('long'), filter: COMPARISONS }),
  double: number,
  currency: number,
  percent: number,
  date: () => ({ type: 'date', domain: DAYS, filter: COMPARISONS }),
  datetime: () => ({ type: 'datetime', domain: INSTANTS, filter: COMPARISONS, read: readInstant }),
  time: () => ({ type: 'string', format: 'time', filter: NULLS }),
  address: () => ({ type: 'object' }),
  location: () => ({ type: 'object' }),
  complexvalue: () => ({ type: 'object' }),
};

/** Types that nobody can filter (`base64`, `encryptedstring`), and types that are not known yet. */
function plainText(): Shape {
  return { type: 'string' };
}

/** Comparisons tell cases apart only where the field does (SOQL and SOSL Reference, "Comparison Operators"); LIKE never does. */
function text(field: Json, options: FieldOptions): Shape {
  const exactness = options.textIsExact ? 'exact' : 'superset';
  if (field.caseSensitive === true) {
    const filter: Filter = { ...equalities(exactness), LIKE: 'superset' };
    return { type: 'string', collation: 'cs', ...trust(options), likeExcept: '\\', filter };
  }
  return {
    type: 'string',
    collation: 'ci',
    ...trust(options),
    filter: { ...equalities(exactness), LIKE: exactness, 'NOT LIKE': exactness },
  };
}

/** Searching for a backslash is advised against: where the result is checked again, any character may stand for it. */
function trust({ textIsExact }: FieldOptions): Pick<Shape, 'domain' | 'likeExcept'> {
  return textIsExact ? { domain: TEXTS } : { domain: UNCERTAIN_TEXTS, likeExcept: '\\' };
}

/** LIKE is for strings only. The list of values binds only where it is restricted. */
function picklist(field: Json, options: FieldOptions): Shape {
  const entries = Array.isArray(field.picklistValues) ? field.picklistValues.filter(isObject) : [];
  const values = entries.filter(({ active }) => active !== false).flatMap(({ value }) => findText(value) ?? []);
  const isRestricted = field.restrictedPicklist === true;
  return {
    type: 'string',
    collation: 'ci',
    filter: equalities(options.textIsExact ? 'exact' : 'superset'),
    domain: options.textIsExact ? TEXTS : UNCERTAIN_TEXTS,
    ...(isRestricted && values.length > 0 && { values }),
  };
}

function number(field: Json): Shape {
  if (field.calculated === true) return { type: 'number', domain: FORMULAS, filter: WIDE_COMPARISONS };
  return { type: 'number', domain: NUMBERS, filter: COMPARISONS };
}
