import { makeId } from './ids.ts';
import type { Row } from './schema.ts';

/** Records by object, in the order they were made. */
export type Dataset = Map<string, Row[]>;

/** Texts that break careless quoting, patterns and encodings. */
const NAMES = [
  'Acme',
  "O'Neil & Söhne",
  '100% Wool_Co',
  'Back\\slash Ltd',
  'Say "Hi" GmbH',
  'ÅNGSTRÖM ab',
  '日本商事',
  'Rocket 🚀 Labs',
  'acme',
  'Nullwert (a AND b)',
] as const;

const STREETS = ['1 Main St', 'Rue de l’Église 5', 'Ringweg 7\nBackyard', null];
const CITIES = ['Oslo', 'oslo', 'Zürich', null, 'São Paulo'];
const SCORES = [1.5, 0.1, -2.25, null, 123456.654321, 0];

function pick<Value>(values: readonly Value[], index: number): Value {
  const value = values[index % values.length];
  if (value === undefined) throw new Error('Nothing to pick from.');
  return value;
}

const START_MS = Date.parse('2024-01-01T08:30:00Z');
const STEP_MS = 37 * 3_600_000 + 61_000;

export function writeInstant(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, '.000+0000');
}

function dayAfter(start: string, days: number): string {
  return new Date(Date.parse(start) + days * 86_400_000).toISOString().slice(0, 10);
}

function system(keyPrefix: string, index: number): Row {
  const at = writeInstant(START_MS + index * STEP_MS);
  const changed = writeInstant(START_MS + index * STEP_MS + (index % 3) * 3_600_000);
  return {
    Id: makeId(keyPrefix, index + 1),
    IsDeleted: false,
    CreatedDate: at,
    LastModifiedDate: changed,
    SystemModstamp: changed,
  };
}

const USERS = [
  { Username: 'demo@acme.example', Name: 'Dana Demo', Email: 'dana@acme.example', IsActive: true },
  { Username: 'jon@acme.example', Name: "Jon O'Hara", Email: 'jon@acme.example', IsActive: true },
  { Username: 'gone@acme.example', Name: 'Gone Person', Email: 'gone@acme.example', IsActive: false },
];

export function createDataset(): Dataset {
  const accounts = repeat(33, createAccount);
  const contacts = repeat(62, createContact);
  return new Map([
    ['Account', deleteLast(accounts, 3)],
    ['Contact', deleteLast(contacts, 2)],
    ['Opportunity', repeat(40, createOpportunity)],
    ['Task', repeat(20, createTask)],
    ['User', USERS.map((user, index) => ({ Id: makeId('005', index + 1), ...user }))],
    ['ContentVersion', repeat(5, createFile)],
    ['Site__c', repeat(4, createSite)],
  ]);
}

function repeat(count: number, create: (index: number) => Row): Row[] {
  return Array.from({ length: count }, (_, index) => create(index));
}

function deleteLast(rows: readonly Row[], count: number): Row[] {
  return rows.map((row, index) => (index < rows.length - count ? row : { ...row, IsDeleted: true }));
}

function createAccount(index: number): Row {
  return {
    ...system('001', index),
    Name: index < NAMES.length ? pick(NAMES, index) : `${pick(NAMES, index)} ${index}`,
    Type: pick(['Customer', 'Partner', null], index),
    Industry: pick(['Banking', 'Energy', 'Technology', null, 'banking'], index),
    AnnualRevenue: index % 4 === 3 ? null : index * 125_000,
    NumberOfEmployees: pick([null, 7, 49, 12_000, -1], index),
    Website: index % 3 === 0 ? `https://example.com/${index}?a=1&b=%20` : null,
    Phone: index % 2 === 0 ? `+47 555 01${index}` : null,
    BillingStreet: pick(STREETS, index),
    BillingCity: pick(CITIES, index),
    BillingCountry: pick(['Norway', 'Switzerland', null], index),
    Description: index % 5 === 0 ? `Account number ${index}.\n${'Long text. '.repeat(40)}` : null,
    OwnerId: makeId('005', (index % 2) + 1),
    ExternalKey__c: index % 6 === 5 ? null : pick(['Key', 'key', 'KEY-ä', "k'ey"], index) + Math.floor(index / 4),
    Score__c: pick(SCORES, index),
    Tier__c: pick(['Gold', 'Silver', null, 'Bronze'], index),
    Regions__c: pick([null, 'EMEA', 'APAC;EMEA'], index),
    FoundedOn__c: index % 7 === 6 ? null : dayAfter('1999-12-30', index * 400),
    VisitedAt__c: index % 3 === 0 ? null : writeInstant(START_MS - index * 86_399_000),
    SecretCode__c: index % 10 === 0 ? '****' : null,
  };
}

function createContact(index: number): Row {
  return {
    ...system('003', index),
    AccountId: index % 9 === 8 ? null : makeId('001', (index % 30) + 1),
    FirstName: pick(['Ann', 'bo', 'Çelik', null, "D'Arcy", 'İpek'], index),
    LastName: `${pick(['Ng', 'van der Berg', 'ØSTBY', "O'Brien", 'Straße'], index)} ${Math.floor(index / 5)}`,
    Email: index % 4 === 1 ? null : `person.${index}+test_${index}%x@example.com`,
    Phone: index % 5 === 0 ? '(555) 0100' : null,
    Birthdate: index % 6 === 0 ? null : dayAfter('1960-02-28', index * 333),
    DoNotCall: index % 3 === 0,
    MailingCity: pick(CITIES, index),
    OpensAt__c: pick([null, '08:30:00.000Z'], index),
  };
}

function createOpportunity(index: number): Row {
  return {
    ...system('006', index),
    AccountId: index % 5 === 4 ? null : makeId('001', (index % 30) + 1),
    Name: `Deal ${index} ${pick(NAMES, index)}`,
    StageName: pick(['Prospecting', 'Negotiation', 'Closed Won', 'Closed Lost'], index),
    Amount: pick([null, 1234.5, 0, 99.99, 1_000_000.01, -10.1], index),
    Probability: pick([10, 50, 100, null], index),
    CloseDate: dayAfter('2024-02-27', index * 9),
    Description: index % 4 === 0 ? 'Signed.' : null,
  };
}

function createTask(index: number): Row {
  return {
    ...system('00T', index),
    Subject: pick(['Call', 'Email', null, 'Send "quote"'], index),
    Status: pick(['Open', 'Completed'], index),
    ActivityDate: index % 3 === 2 ? null : dayAfter('2024-03-01', index),
    WhoId: index % 2 === 0 ? makeId('003', index + 1) : null,
    WhatId: index % 3 === 0 ? makeId('006', index + 1) : null,
    Description: null,
  };
}

function createFile(index: number): Row {
  const bytes =
    index === 0 ? Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)) : Buffer.from(`%PDF ${index}`);
  return {
    ...system('068', index),
    Title: `File ${index} ü`,
    PathOnClient: index === 0 ? 'all-bytes.bin' : index === 1 ? 'Vertrag "Süd" – 100%.pdf' : `contract ${index}.pdf`,
    VersionData: bytes.toString('base64'),
  };
}

function createSite(index: number): Row {
  return {
    ...system('a00', index),
    Name: `S-${index}`,
    Account__c: index === 1 ? null : makeId('001', index + 1),
    Position__Latitude__s: index === 3 ? null : 59.9139 - index,
    Position__Longitude__s: index === 3 ? null : -10.7522,
  };
}
