import type { TableRow } from '#connector/simulator';
import { DEMO_USER_ID } from './ids.ts';

/** What the simulated account has: one table for its descriptions, its type checks and its records. */

export interface FieldSchema {
  readonly type: string;
  readonly label?: string;
  readonly length?: number;
  /** Cannot be null. */
  readonly required?: true;
  readonly defaulted?: unknown;
  /** Set by the system only. */
  readonly readOnly?: true;
  readonly insertOnly?: true;
  readonly unfilterable?: true;
  readonly caseSensitive?: true;
  readonly scale?: number;
  readonly values?: readonly string[];
  readonly restricted?: true;
  readonly referenceTo?: readonly string[];
  /** What the parents call the records that refer to them. Salesforce has no name for some relationships. */
  readonly childrenName?: string;
  /** Upserts find records by it. */
  readonly externalId?: true;
  /** A formula, or a compound of other fields. */
  readonly derive?: (row: TableRow) => unknown;
}

export interface ObjectSchema {
  readonly label: string;
  readonly keyPrefix: string;
  readonly fields: Readonly<Record<string, FieldSchema>>;
  readonly abilities?: Readonly<Partial<Record<'queryable' | 'createable' | 'updateable' | 'deletable', false>>>;
}

const text = (length = 80): FieldSchema => ({ type: 'string', length });
const longText: FieldSchema = { type: 'textarea', length: 32_000, unfilterable: true };
const requiredText = (length = 80): FieldSchema => ({ ...text(length), required: true });
const reference = (...referenceTo: readonly string[]): FieldSchema => ({ type: 'reference', length: 18, referenceTo });
const picklist = (...values: readonly string[]): FieldSchema => ({ type: 'picklist', length: 255, values });
const readOnly = (type: string): FieldSchema => ({ type, required: true, readOnly: true });

const SYSTEM: ObjectSchema['fields'] = {
  Id: { type: 'id', length: 18, required: true, readOnly: true },
  IsDeleted: { type: 'boolean', required: true, readOnly: true },
  CreatedDate: readOnly('datetime'),
  LastModifiedDate: readOnly('datetime'),
  SystemModstamp: readOnly('datetime'),
};

export const OBJECTS: Readonly<Record<string, ObjectSchema>> = {
  Account: {
    label: 'Account',
    keyPrefix: '001',
    fields: {
      ...SYSTEM,
      Name: requiredText(255),
      Type: picklist('Customer', 'Partner', 'Prospect'),
      Industry: picklist('Banking', 'Energy', 'Hospitality', 'Technology'),
      AnnualRevenue: { type: 'currency', scale: 0 },
      NumberOfEmployees: { type: 'int' },
      Website: { type: 'url', length: 255 },
      Phone: { type: 'phone', length: 40 },
      BillingStreet: { type: 'textarea', length: 255 },
      BillingCity: text(40),
      BillingCountry: text(80),
      BillingAddress: { type: 'address', readOnly: true, unfilterable: true, derive: billingAddressOf },
      Description: longText,
      OwnerId: { ...reference('User'), required: true, defaulted: DEMO_USER_ID },
      ExternalKey__c: { ...text(40), label: 'External key', caseSensitive: true, externalId: true },
      Score__c: { type: 'double', label: 'Score', scale: 6 },
      Share__c: { type: 'percent', label: 'Share', scale: 2, readOnly: true, derive: shareOf },
      Tier__c: { ...picklist('Gold', 'Silver', 'Bronze'), label: 'Tier', restricted: true },
      Regions__c: { type: 'multipicklist', label: 'Regions', length: 4099, values: ['APAC', 'EMEA', 'LATAM'] },
      FoundedOn__c: { type: 'date', label: 'Founded on' },
      VisitedAt__c: { type: 'datetime', label: 'Visited at' },
      SecretCode__c: { type: 'encryptedstring', label: 'Secret code', length: 32, unfilterable: true },
    },
  },
  Contact: {
    label: 'Contact',
    keyPrefix: '003',
    fields: {
      ...SYSTEM,
      AccountId: { ...reference('Account'), childrenName: 'Contacts' },
      FirstName: text(40),
      LastName: requiredText(80),
      Name: { ...text(121), readOnly: true, required: true, derive: fullNameOf },
      Email: { type: 'email', length: 80 },
      Phone: { type: 'phone', length: 40 },
      Birthdate: { type: 'date' },
      DoNotCall: { type: 'boolean', required: true, defaulted: false },
      MailingCity: text(40),
      OpensAt__c: { type: 'time', label: 'Opens at' },
    },
  },
  Opportunity: {
    label: 'Opportunity',
    keyPrefix: '006',
    fields: {
      ...SYSTEM,
      AccountId: { ...reference('Account'), childrenName: 'Opportunities' },
      Name: requiredText(120),
      StageName: { ...picklist('Prospecting', 'Negotiation', 'Closed Won', 'Closed Lost'), required: true },
      Amount: { type: 'currency', scale: 2 },
      Probability: { type: 'percent', scale: 0 },
      CloseDate: { type: 'date', required: true },
      IsWon: { ...readOnly('boolean'), derive: ({ StageName }) => StageName === 'Closed Won' },
      Description: longText,
    },
  },
  Task: {
    label: 'Task',
    keyPrefix: '00T',
    fields: {
      ...SYSTEM,
      Subject: { type: 'combobox', length: 255 },
      Status: { ...picklist('Open', 'Completed'), required: true, defaulted: 'Open' },
      ActivityDate: { type: 'date' },
      WhoId: { ...reference('Contact'), childrenName: 'Tasks' },
      WhatId: { ...reference('Account', 'Opportunity'), childrenName: 'Tasks' },
      Description: longText,
    },
  },
  User: {
    label: 'User',
    keyPrefix: '005',
    abilities: { createable: false, updateable: false, deletable: false },
    fields: {
      Id: { type: 'id', length: 18, required: true, readOnly: true },
      Username: requiredText(80),
      Name: requiredText(121),
      Email: { type: 'email', length: 128, required: true },
      IsActive: { type: 'boolean', required: true },
    },
  },
  ContentVersion: {
    label: 'Content Version',
    keyPrefix: '068',
    abilities: { deletable: false },
    fields: {
      ...SYSTEM,
      Title: text(255),
      PathOnClient: { ...requiredText(500), insertOnly: true },
      VersionData: { type: 'base64', unfilterable: true },
      ContentSize: { ...readOnly('int'), derive: ({ VersionData }) => bytesOf(VersionData).length },
      FileExtension: { ...text(40), readOnly: true, derive: extensionOf },
    },
  },
  Site__c: {
    label: 'Site',
    keyPrefix: 'a00',
    fields: {
      ...SYSTEM,
      Name: requiredText(80),
      Account__c: { ...reference('Account'), label: 'Account', childrenName: 'Sites__r' },
      Position__c: { type: 'location', label: 'Position', readOnly: true, unfilterable: true, derive: positionOf },
      Position__Latitude__s: { type: 'double', label: 'Position (Latitude)', scale: 6 },
      Position__Longitude__s: { type: 'double', label: 'Position (Longitude)', scale: 6 },
    },
  },
  Reading__c: {
    label: 'Reading',
    keyPrefix: 'a01',
    abilities: { updateable: false, deletable: false },
    fields: {
      ...SYSTEM,
      Name: requiredText(80),
      Serial__c: { ...text(40), label: 'Serial', externalId: true },
      City__c: { ...text(40), label: 'City' },
      Note__c: { ...text(255), label: 'Note' },
      Kind__c: { ...picklist('Heat', 'Power', 'Water'), label: 'Kind' },
      Account__c: { ...reference('Account'), label: 'Account', childrenName: 'Readings__r' },
      Count__c: { type: 'int', label: 'Count' },
      Level__c: { type: 'double', label: 'Level', scale: 6 },
      Lowest__c: { type: 'double', label: 'Lowest', scale: 6 },
      Highest__c: { type: 'double', label: 'Highest', scale: 6 },
      Cost__c: { type: 'currency', label: 'Cost', scale: 2 },
      Share__c: { type: 'percent', label: 'Share', scale: 2 },
      IsEstimated__c: { type: 'boolean', label: 'Is estimated', required: true, defaulted: false },
      TakenOn__c: { type: 'date', label: 'Taken on' },
      TakenAt__c: { type: 'datetime', label: 'Taken at' },
    },
  },
  AccountChangeEvent: {
    label: 'Account Change Event',
    keyPrefix: '',
    abilities: { queryable: false, createable: false, updateable: false, deletable: false },
    fields: { ReplayId: text() },
  },
  // Only statements about accounts can ask for it, as a part of them.
  ActivityHistory: {
    label: 'Activity History',
    keyPrefix: '',
    abilities: { queryable: false, createable: false, updateable: false, deletable: false },
    fields: {
      Id: { type: 'id', length: 18, required: true, readOnly: true },
      AccountId: { ...reference('Account'), childrenName: 'ActivityHistories' },
    },
  },
};

export function isCustom(name: string): boolean {
  return /__[a-z]$/.test(name);
}

/** `AccountId` → `Account`, `Site__c` → `Site__r`. */
export function relationshipOf(name: string): string {
  return isCustom(name) ? name.replace(/__c$/, '__r') : name.replace(/Id$/, '');
}

/** The value of a field as the record shows it. */
export function readField(row: TableRow, name: string, field: FieldSchema): unknown {
  return (field.derive === undefined ? row[name] : field.derive(row)) ?? null;
}

export function bytesOf(value: unknown): Buffer {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
}

function billingAddressOf({ BillingStreet: street, BillingCity: city, BillingCountry: country }: TableRow): unknown {
  if (street == null && city == null && country == null) return null;
  return { city, country, geocodeAccuracy: null, latitude: null, longitude: null, street };
}

function positionOf({ Position__Latitude__s: latitude, Position__Longitude__s: longitude }: TableRow): unknown {
  return latitude == null || longitude == null ? null : { latitude, longitude };
}

function fullNameOf({ FirstName, LastName }: TableRow): string {
  return [FirstName, LastName].filter((name) => typeof name === 'string').join(' ');
}

/** A third of the revenue per head: more digits than a double has. */
function shareOf({ AnnualRevenue, NumberOfEmployees }: TableRow): number | null {
  if (typeof AnnualRevenue !== 'number' || typeof NumberOfEmployees !== 'number' || NumberOfEmployees === 0)
    return null;
  return AnnualRevenue / NumberOfEmployees / 3;
}

function extensionOf({ PathOnClient }: TableRow): string | null {
  return /\.(\w+)$/.exec(String(PathOnClient))?.[1] ?? null;
}
