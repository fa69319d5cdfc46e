import { can, codec, DECIMAL_TEXT, type Domain, defined, type FieldSpec, type Json, json, kinds } from '#connector';

/** A GUID as Dataverse shows it. In a filter it has no quotes. */
export const GUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** A column, with the facts that other parts of the metadata describe. */
export interface Column {
  readonly attribute: Json;
  /** Whether a column of dates has neither time nor zone. */
  readonly isDay: boolean;
  /** Whether all of its records are of one table, whose name is known. */
  readonly isBound: boolean;
}

/** Dates from 1753 on are supported. Source: `DateTimeAttributeMetadata.MinSupportedValue`. */
const DAYS: Domain = { first: '1753-01-01' };

/** The comparison ignores case, and the database decides about accents and blanks at the ends. */
const TEXT: FieldSpec = {
  type: 'string',
  collation: 'ci',
  domain: { text: { certain: () => false } },
  filter: { ...can.null, ...can.equal('superset'), ...can.match('superset') },
  likeForms: ['prefix', 'suffix', 'contains'],
  // Wildcards of patterns. How they are escaped is not documented for the Web API.
  likeExcept: '%_[]^\\',
};
const COMPARED = { ...can.null, ...can.compare('exact') };
const WHOLE = { type: 'integer', range: ['-2147483648', '2147483647'], filter: COMPARED } as const;
const NUMBER: FieldSpec = { type: 'number', domain: { digits: { significant: 15 } }, sortable: true, filter: COMPARED };
const ID: FieldSpec = {
  type: 'string',
  format: 'uuid',
  domain: { text: { possible: (text) => GUID.test(text) } },
  filter: { ...can.null, ...can.equal('exact') },
};

/**
 * The kinds of columns. Dataverse sorts choices and lookups by their labels, so they are not sortable. Source: `AttributeTypeCode`;
 * "Order rows using OData".
 */
const kindOf = kinds<string, Column>({
  table: {
    String: { ...TEXT, sortable: true },
    Memo: TEXT,
    Integer: { ...WHOLE, sortable: true },
    BigInt: { type: 'integer', format: DECIMAL_TEXT },
    Decimal: NUMBER,
    Double: NUMBER,
    Money: NUMBER,
    Boolean: { type: 'boolean', filter: { ...can.null, ...can.only('exact', '=', '!=') } },
    Picklist: { ...WHOLE, filter: { ...can.null, ...can.equal('exact') } },
    State: { ...WHOLE, filter: { ...can.null, ...can.equal('exact') } },
    Status: { ...WHOLE, filter: { ...can.null, ...can.equal('exact') } },
    MultiSelectPicklistType: { type: 'array', ...codec.list(',') },
    DateTime: ({ isDay }) =>
      isDay
        ? { type: 'date', domain: DAYS, sortable: true, filter: COMPARED }
        : {
            type: 'datetime',
            domain: { ...DAYS, step: 'second' },
            sortable: true,
            filter: COMPARED,
            ...codec.instant(),
          },
    Uniqueidentifier: ID,
    Lookup: ID,
    Customer: ID,
    Owner: ID,
  },
  unknown: { type: 'string' },
});

const HIDDEN: ReadonlySet<unknown> = new Set([
  'Virtual',
  'EntityName',
  'ManagedProperty',
  'CalendarRules',
  'PartyList',
]);
const LOOKUPS: ReadonlySet<unknown> = new Set(['Lookup', 'Customer', 'Owner']);
/** Types of which a required column has no default. */
const UNSET: ReadonlySet<unknown> = new Set(['String', 'Memo', 'Integer', 'Decimal', 'Double', 'Money', 'DateTime']);

function typeOf({ AttributeType, AttributeTypeName }: Json): string {
  const name = json.at(AttributeTypeName, 'Value');
  return name === 'MultiSelectPicklistType' ? name : String(AttributeType);
}

/** Returns whether the column holds a value of its own. Others are names and parts of other columns. */
export function isShown(attribute: Json): boolean {
  const { AttributeOf, IsValidForRead } = attribute;
  return IsValidForRead !== false && (AttributeOf ?? null) === null && !HIDDEN.has(typeOf(attribute));
}

/** Returns the property of a column. That of a lookup has the id of the record. Source: "Lookup properties". */
export function propertyOf({ LogicalName: name, AttributeType }: Json): string {
  return LOOKUPS.has(AttributeType) ? `_${name}_value` : String(name);
}

/** Returns the field of a column. Source: `AttributeMetadata`. */
export function toFieldSpec(column: Column): FieldSpec {
  const { attribute, isBound } = column;
  const type = typeOf(attribute);
  const isWritten = isBound || !LOOKUPS.has(type);
  const createable = isWritten && attribute.IsValidForCreate === true;
  const level = json.at(attribute, 'RequiredLevel', 'Value');
  return defined({
    ...kindOf(type, column),
    native: propertyOf(attribute),
    nativeType: type,
    label: json.findText(json.at(attribute, 'DisplayName', 'UserLocalizedLabel', 'Label')),
    createable,
    updateable: isWritten && attribute.IsValidForUpdate === true,
    // The API does not enforce ApplicationRequired.
    required: (createable && level === 'SystemRequired' && UNSET.has(type)) || undefined,
    custom: attribute.IsCustomAttribute === true,
  });
}
