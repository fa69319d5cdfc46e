import { can, DECIMAL_TEXT, type Domain, type FieldSpec, kinds, type LikeForm, type Operator } from '#connector';
import { DOUBLE_DIGITS, integerRange } from './bounds.ts';
import type { Capabilities } from './capabilities.ts';
import { literalOf } from './literals.ts';
import type { EntitySet, Property, PropertyType } from './metadata.ts';
import { MAX_DEPTH } from './types.ts';
import { isWide, readerOf } from './values.ts';

type Filter = NonNullable<FieldSpec['filter']>;

const ORDER = ['<', '<=', '>', '>='] as const;

const EQUALITY = { ...can.null, ...can.equal('exact') };
const PRECISE = { ...can.null, ...can.compare('exact') };
/** Filter of numbers that a service may store with fewer digits than it received. Such a service treats close numbers as equal. */
const ROUNDED = { ...can.null, ...can.compare('superset') };
/**
 * Filter of text. The database of a service decides whether case, accents and trailing blanks count. In any case `eq` finds at least the
 * rows with the same text, but `ne` could miss rows. The order of texts depends on the database, too, so no comparison by order is
 * declared.
 */
const TEXT = { ...can.null, ...can.equal('superset'), ...can.match('superset') };
const BINARY_TEXT = { ...can.null, ...can.equal('exact'), ...can.match('exact') };
/**
 * Filter of identifiers. Some services compare them as numbers and others as text, so only conditions with the same result in both are
 * declared.
 */
const IDENTIFIER = { ...can.null, ...can.only('superset', '=', 'IN') };

const UNCERTAIN: Domain = { text: { certain: () => false } };
const GUIDS: Domain = { text: { possible: (text) => literalOf('Edm.Guid', text) !== undefined } };
/** Domain of decimals with so few digits that a double represents them exactly. */
const NARROW: Domain = { digits: { significant: DOUBLE_DIGITS } };

const INTEGER = { type: 'integer', filter: PRECISE, sortable: true } as const;
const DECIMAL = { type: 'number', filter: ROUNDED, domain: { rounded: DOUBLE_DIGITS }, sortable: true } as const;

const kindOfPrimitive = kinds({
  table: {
    'Edm.Boolean': { type: 'boolean', filter: EQUALITY, sortable: true },
    'Edm.Byte': INTEGER,
    'Edm.SByte': INTEGER,
    'Edm.Int16': INTEGER,
    'Edm.Int32': INTEGER,
    'Edm.Int64': INTEGER,
    'Edm.Decimal': DECIMAL,
    'Edm.Double': DECIMAL,
    // The single 0.1 differs from the 0.1 that the service prints, so a comparison would miss rows.
    'Edm.Single': { type: 'number', filter: can.null, sortable: true },
    'Edm.Date': { type: 'date', filter: PRECISE, sortable: true },
    'Edm.DateTimeOffset': { type: 'datetime', filter: PRECISE, sortable: true },
    'Edm.String': { type: 'string', filter: TEXT, domain: UNCERTAIN, sortable: true },
    'Edm.Guid': { type: 'string', format: 'uuid', filter: IDENTIFIER, domain: GUIDS, sortable: true },
    'Edm.TimeOfDay': { type: 'string', format: 'time', filter: can.null, sortable: true },
    'Edm.Duration': { type: 'string', format: 'duration', filter: can.null, sortable: true },
    'Edm.Binary': { type: 'string', format: 'base64url' },
  },
  // Structures, positions and any other type.
  unknown: { type: 'object' },
});

export interface FieldOptions {
  /** Whether the service compares text character by character. */
  readonly textIsBinary: boolean;
  /** Whether the connector must not use the service's own filter. */
  readonly filtersHere: boolean;
  /** Whether the connector must not use the service's filter for enumerations. */
  readonly comparesEnumsHere: boolean;
}

/** Returns the fields of an entity set. Nested fields have dotted names. */
export function fieldsOf(set: EntitySet, options: FieldOptions): Record<string, FieldSpec> {
  const fields: Record<string, FieldSpec> = {};
  const add = (properties: readonly Property[], outer: Outer) => {
    for (const property of properties.filter(isReadable)) {
      const path = [...outer.path, property.name];
      const nullable = outer.nullable || property.nullable;
      fields[path.join('.')] = fieldOf(set, property, { path, nullable }, options);
      if (property.type.kind === 'complex' && path.length < MAX_DEPTH)
        add(property.type.properties(), { path, nullable });
    }
  };
  add(set.type.properties, { path: [], nullable: false });
  return fields;
}

/** The position of a property: its path, and whether a value on the path can be null. */
interface Outer {
  readonly path: readonly string[];
  readonly nullable: boolean;
}

/** Returns whether a record contains the property. The JSON of a record contains no streams. */
function isReadable(property: Property): boolean {
  return property.type.name !== 'Edm.Stream';
}

function fieldOf(set: EntitySet, property: Property, { path, nullable }: Outer, options: FieldOptions): FieldSpec {
  const { capabilities } = set;
  const native = path.join('/');
  const kind = kindOf(property, options);
  const read = readerOf(property.type);
  const isKey = path.length === 1 && set.type.key.includes(property.name);
  return {
    type: kind.type,
    native: path.join('.'),
    nativeType: property.type.name,
    ...(property.label !== undefined && { label: property.label }),
    ...formatOf(property.type, kind),
    nullable,
    ...writing(property, capabilities, { native, isKey, isNested: path.length > 1 }),
    ...(kind.sortable && capabilities.sortable(native) && { sortable: true }),
    ...valuesOf(property),
    ...(kind.domain !== undefined && { domain: kind.domain }),
    ...(!options.filtersHere && filtering(kind, capabilities, native)),
    ...(read !== undefined && { read }),
  };
}

function kindOf(property: Property, options: FieldOptions): FieldSpec {
  const { type } = property;
  if (type.kind === 'collection') return { type: 'array' };
  if (type.kind === 'enum' && options.comparesEnumsHere) return { type: 'string' };
  // An enumeration with two names for one value, or with several values at once, does not compare as its names do.
  if (type.kind === 'enum' && !type.distinct) return { type: 'string', filter: can.null };
  if (type.kind === 'enum') return { type: 'string', filter: EQUALITY, domain: membersOf(type) };
  const kind = kindOfPrimitive(type.name);
  if (type.name === 'Edm.String' && options.textIsBinary)
    return { type: 'string', filter: BINARY_TEXT, sortable: true };
  return type.name === 'Edm.Decimal' && !isWide(type) ? { ...kind, filter: PRECISE, domain: NARROW } : kind;
}

/** Returns the domain of an enumeration. A service rejects other values than the members. */
function membersOf({ name, members }: Extract<PropertyType, { kind: 'enum' }>): Domain {
  const possible = new Set(members.filter((member) => literalOf(name, member) !== undefined));
  return { text: { possible: (text) => possible.has(text) } };
}

/** Returns the format of a field. A list of numbers has the format of its members. */
function formatOf(type: PropertyType, { format }: FieldSpec): Pick<FieldSpec, 'format' | 'range'> {
  const range = integerRange(type.name);
  const shown = isWide(type.kind === 'collection' ? type.of : type) ? DECIMAL_TEXT : format;
  return { ...(shown !== undefined && { format: shown }), ...(range !== undefined && { range }) };
}

interface FieldPosition {
  readonly native: string;
  readonly isKey: boolean;
  readonly isNested: boolean;
}

function writing(property: Property, capabilities: Capabilities, { native, isKey, isNested }: FieldPosition) {
  const createable = capabilities.insertable && !property.computed && capabilities.insertableProperty(native);
  const updateable =
    capabilities.updatable &&
    !property.computed &&
    !property.immutable &&
    !isKey &&
    capabilities.updatableProperty(native);
  // The service may generate a missing key, but OData 4.0 has no declaration for that.
  const mustBeGiven =
    !property.nullable && !property.hasDefault && !isKey && !isNested && property.type.kind !== 'collection';
  const required = createable && (mustBeGiven || capabilities.requiredOnInsert(native));
  return { required, createable, updateable };
}

function valuesOf({ type, values }: Property): Pick<FieldSpec, 'values'> {
  if (values !== undefined && values.length > 0) return { values };
  return type.kind === 'enum' && type.distinct ? { values: type.members } : {};
}

const LIKE_FORMS: readonly (readonly [LikeForm, string])[] = [
  ['prefix', 'startswith'],
  ['suffix', 'endswith'],
  ['contains', 'contains'],
];

/**
 * The excluded character of patterns. Some services translate a pattern for their database and do not escape its escape character there:
 * SAP CAP Java 3.6 on H2.
 */
const LIKE_EXCEPT = '\\';

function filtering(
  kind: FieldSpec,
  capabilities: Capabilities,
  native: string,
): Pick<FieldSpec, 'filter' | 'likeForms' | 'likeExcept'> {
  if (kind.filter === undefined || !capabilities.filterable(native)) return {};
  const filter = restrict(kind.filter, capabilities.allowedExpressions(native));
  if (filter.LIKE === undefined) return { filter };
  const forms = LIKE_FORMS.filter(([, name]) => capabilities.functions?.has(name) ?? true).map(([form]) => form);
  return { filter, likeForms: ['literal', ...forms], likeExcept: LIKE_EXCEPT };
}

/** The operators that FilterExpressionRestrictions allow. Source: Org.OData.Capabilities.V1.FilterExpressionType. */
const ALLOWED: ReadonlyMap<string | undefined, readonly Operator[]> = new Map<string, readonly Operator[]>([
  ['SingleValue', ['=']],
  ['MultiValue', ['=', 'IN']],
  ['SingleRange', ['=', ...ORDER]],
  ['MultiRange', ['=', 'IN', ...ORDER]],
  ['SearchExpression', ['LIKE']],
  ['MultiRangeOrSearchExpression', ['=', 'IN', ...ORDER, 'LIKE']],
]);

function restrict(filter: Filter, expressions: string | undefined): Filter {
  const allowed = ALLOWED.get(expressions);
  if (allowed === undefined) return filter;
  return Object.fromEntries(allowed.flatMap((operator) => (operator in filter ? [[operator, filter[operator]]] : [])));
}
