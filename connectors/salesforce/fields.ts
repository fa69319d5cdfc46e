import { DECIMAL_TEXT, type Exactness, type FieldSpec } from '#connector';
import { findText, isObject, type Json } from './answer.ts';
import { integerRange } from './literals.ts';
import { readChoices, readInstant, writeChoices } from './values.ts';

export interface FieldOptions {
  /** The settings say that filters on text may be left to Salesforce alone. */
  readonly textIsExact: boolean;
}

type Filter = NonNullable<FieldSpec['filter']>;
type Shape = Pick<FieldSpec, 'type' | 'format' | 'range' | 'collation' | 'values' | 'filter' | 'read' | 'write'>;

/** One field of a describe answer. Source: SOAP API Developer Guide, "DescribeSObjectResult", Field. */
export function toFieldSpec(field: Json, options: FieldOptions): FieldSpec {
  const shape = (SHAPES[String(field.type)] ?? plainText)(field, options);
  const { filter, ...rest } = shape;
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
    ...(field.filterable === true && filter !== undefined && { filter }),
  };
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
  const { filter, ...shape } = text({}, options);
  const spec = {
    ...shape,
    nativeType: 'string',
    ...(label !== undefined && { label }),
    sortable: true,
    onDemand: true,
  };
  return [`${relationship}.Name`, field.filterable === true && filter !== undefined ? { ...spec, filter } : spec];
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

type ToShape = (field: Json, options: FieldOptions) => Shape;

const SHAPES: Readonly<Record<string, ToShape>> = {
  id: () => ({ type: 'string', collation: 'cs', filter: equalities('exact') }),
  reference: () => ({ type: 'string', collation: 'cs', filter: equalities('exact') }),
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
  date: () => ({ type: 'date', filter: COMPARISONS }),
  datetime: () => ({ type: 'datetime', filter: COMPARISONS, read: readInstant }),
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
    return { type: 'string', collation: 'cs', filter: { ...equalities(exactness), LIKE: 'superset' } };
  }
  return {
    type: 'string',
    collation: 'ci',
    filter: { ...equalities(exactness), LIKE: exactness, 'NOT LIKE': exactness },
  };
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
    ...(isRestricted && values.length > 0 && { values }),
  };
}

function number(field: Json): Shape {
  return { type: 'number', filter: field.calculated === true ? WIDE_COMPARISONS : COMPARISONS };
}
