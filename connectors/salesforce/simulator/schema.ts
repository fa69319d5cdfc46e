import type { Member, TableRow } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

const { usual } = official;

/** A field as a describe response contains it, and a function that reads its value. JSON leaves the function out. */
export interface Field extends Omit<typeof usual.field, 'picklistValues' | 'referenceTo' | 'relationshipName'> {
  /** Name of the field. The name of a parent's field is its path, such as `Account.Name`. */
  readonly name: string;
  readonly label: string;
  readonly picklistValues: readonly { readonly value: string }[];
  readonly referenceTo: readonly string[];
  readonly relationshipName: string | null;
  readonly read: (row: TableRow) => unknown;
}

export interface SObject extends Readonly<typeof usual.object> {
  readonly name: string;
  readonly keyPrefix: string | null;
  readonly fields: Readonly<Record<string, Field>>;
  readonly childRelationships: readonly object[];
}

/** The description of an object without its default values. */
interface Described extends Pick<SObject, 'keyPrefix' | 'childRelationships'> {
  readonly fields: Readonly<Record<string, Partial<Field>>>;
}

/** The types of the kit by Salesforce's types. Other types are texts. */
const MEMBER_TYPES: Readonly<Record<string, Member['type']>> = {
  boolean: 'boolean',
  int: 'integer',
  double: 'number',
  currency: 'number',
  percent: 'number',
  date: 'date',
  datetime: 'datetime',
  reference: 'reference',
  address: 'object',
  location: 'object',
};

export function memberType(type: string): Member['type'] {
  return MEMBER_TYPES[type] ?? 'string';
}

/** Readers of fields that no row contains: formulas, and compounds of other fields. */
const FORMULAS: Readonly<Record<string, Field['read']>> = {
  'Account.BillingAddress': ({ BillingStreet: street, BillingCity: city, BillingCountry: country }) =>
    street == null && city == null && country == null
      ? null
      : { city, country, geocodeAccuracy: null, latitude: null, longitude: null, street },
  // A third of the revenue per employee, which has more digits than a double.
  'Account.Share__c': ({ AnnualRevenue, NumberOfEmployees }) =>
    typeof AnnualRevenue === 'number' && typeof NumberOfEmployees === 'number' && NumberOfEmployees !== 0
      ? AnnualRevenue / NumberOfEmployees / 3
      : null,
  'Contact.Name': ({ FirstName, LastName }) =>
    [FirstName, LastName].filter((name) => typeof name === 'string').join(' '),
  'Opportunity.IsWon': ({ StageName }) => StageName === 'Closed Won',
  'ContentVersion.ContentSize': ({ VersionData }) => bytesOf(VersionData).length,
  'ContentVersion.FileExtension': ({ PathOnClient }) => /\.(\w+)$/.exec(String(PathOnClient))?.[1] ?? null,
  'Site__c.Position__c': ({ Position__Latitude__s: latitude, Position__Longitude__s: longitude }) =>
    latitude == null || longitude == null ? null : { latitude, longitude },
};

export function bytesOf(value: unknown): Buffer {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
}

const DESCRIBED: Readonly<Record<string, Described>> = official.objects;

export const OBJECTS: Readonly<Record<string, SObject>> = Object.fromEntries(
  Object.entries(DESCRIBED).map(([name, { fields, childRelationships, ...described }]) => {
    const all = Object.entries(fields).map(([field, own]): [string, Field] => {
      const read = FORMULAS[`${name}.${field}`] ?? ((row: TableRow) => row[field] ?? null);
      return [field, { name: field, label: field, ...usual.field, ...own, read }];
    });
    const children = childRelationships.map((child) => ({ ...usual.child, ...child }));
    const object = { name, ...usual.object, ...described };
    return [name, { ...object, fields: Object.fromEntries(all), childRelationships: children }];
  }),
);

/**
 * Returns the entry of an object in a describe-global response.
 * @param prefix the path of the API, such as `/services/data/v62.0`
 */
export function summarize({ fields: _, childRelationships, ...summary }: SObject, prefix: string): object {
  const url = `${prefix}/sobjects/${summary.name}`;
  return { ...summary, urls: { sobject: url, describe: `${url}/describe`, rowTemplate: `${url}/{ID}` } };
}

export function describe(object: SObject, prefix: string): object {
  const { fields, childRelationships } = object;
  return { ...summarize(object, prefix), fields: Object.values(fields), childRelationships, recordTypeInfos: [] };
}
