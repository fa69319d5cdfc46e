/** What the simulated service offers: one table for its metadata, its type checks and its JSON. */

export interface PropertySchema {
  readonly type: string;
  readonly required?: true;
  /** Set by the service. */
  readonly computed?: true;
  readonly facets?: string;
}

export interface EntitySchema {
  readonly typeName: string;
  readonly baseType?: string;
  readonly key: readonly string[];
  readonly properties: Readonly<Record<string, PropertySchema>>;
  /** Navigation to many: the other set, and its property that holds this set's key. */
  readonly collections?: Readonly<Record<string, { readonly set: string; readonly by: string }>>;
  /** Changes need If-Match. */
  readonly guarded?: true;
  readonly readOnly?: true;
}

export const CATEGORIES = ['Book', 'Music', 'Tool'] as const;

export const COMPLEX_TYPES: Readonly<Record<string, Readonly<Record<string, PropertySchema>>>> = {
  Place: { City: { type: 'Edm.String' }, Floor: { type: 'Edm.Int32' } },
  Package: {
    Unit: { type: 'Edm.String' },
    Height: { type: 'Edm.Decimal', facets: 'Precision="9" Scale="3"' },
    Store: { type: 'Demo.Place' },
  },
};

/** Customers inherit their key and name from it. */
export const PARTY: Readonly<Record<string, PropertySchema>> = {
  Id: { type: 'Edm.Guid', required: true },
  Name: { type: 'Edm.String', required: true },
};

export const SETS: Readonly<Record<string, EntitySchema>> = {
  Products: {
    typeName: 'Product',
    key: ['Id'],
    properties: {
      Id: { type: 'Edm.Int32', required: true },
      Name: { type: 'Edm.String', required: true, facets: 'MaxLength="200"' },
      Description: { type: 'Edm.String' },
      Category: { type: 'Demo.Category' },
      Price: { type: 'Edm.Decimal', facets: 'Precision="9" Scale="2"' },
      Weight: { type: 'Edm.Decimal', facets: 'Scale="variable"' },
      Stock: { type: 'Edm.Int16' },
      Views: { type: 'Edm.Int64' },
      Rating: { type: 'Edm.Double' },
      ReleasedOn: { type: 'Edm.Date' },
      OpensAt: { type: 'Edm.TimeOfDay' },
      ChangedAt: { type: 'Edm.DateTimeOffset', facets: 'Precision="7"' },
      Active: { type: 'Edm.Boolean' },
      Package: { type: 'Demo.Package' },
      Tags: { type: 'Collection(Edm.String)' },
    },
    collections: { Lines: { set: 'OrderLines', by: 'ProductId' } },
  },
  Customers: {
    typeName: 'Customer',
    baseType: 'Party',
    key: ['Id'],
    properties: {
      ...PARTY,
      Since: { type: 'Edm.Date' },
      Number: { type: 'Edm.Int64', computed: true },
      Notes: { type: 'Edm.String' },
    },
    collections: { Orders: { set: 'Orders', by: 'CustomerId' } },
  },
  Orders: {
    typeName: 'Order',
    key: ['Code'],
    properties: {
      Code: { type: 'Edm.String', required: true },
      CustomerId: { type: 'Edm.Guid' },
      PlacedAt: { type: 'Edm.DateTimeOffset', facets: 'Precision="7"' },
      Paid: { type: 'Edm.Boolean' },
    },
    collections: { Lines: { set: 'OrderLines', by: 'OrderCode' } },
    guarded: true,
  },
  OrderLines: {
    typeName: 'OrderLine',
    key: ['OrderCode', 'Line'],
    properties: {
      OrderCode: { type: 'Edm.String', required: true },
      Line: { type: 'Edm.Int32', required: true },
      ProductId: { type: 'Edm.Int32' },
      Quantity: { type: 'Edm.Int32' },
      Discount: { type: 'Edm.Byte' },
    },
  },
  Countries: {
    typeName: 'Country',
    key: ['Code'],
    properties: { Code: { type: 'Edm.String', required: true }, Name: { type: 'Edm.String' } },
    readOnly: true,
  },
};

/** The type of a property path such as `Package/Store/City`; undefined when there is none. */
export function typeOfPath(properties: EntitySchema['properties'], path: readonly string[]): string | undefined {
  const [name = '', ...rest] = path;
  const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
  if (type === undefined || rest.length === 0) return type;
  const members = COMPLEX_TYPES[type.replace('Demo.', '')];
  return members && typeOfPath(members, rest);
}
