import {
  type Column,
  createTable,
  cycle,
  DAY_MS,
  dayAfter,
  type MovableClock,
  makeRows,
  sparse,
  type Table,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { makeId, writeInstant } from './ids.ts';
import { MOST_READINGS, READINGS, type Readings } from './readings.ts';
import { type FieldSchema, OBJECTS } from './schema.ts';

/** Records by object. */
export type Dataset = ReadonlyMap<string, Table>;

/** Texts that break careless quoting, patterns and encodings. */
const NAMES = [
  ...['Acme', "O'Neil & Söhne", '100% Wool_Co', 'Back\\slash Ltd', 'Say "Hi" GmbH', 'ÅNGSTRÖM ab', '日本商事'],
  ...['Rocket 🚀 Labs', 'acme', 'Nullwert (a AND b)'],
];
const CITIES = ['Oslo', 'oslo', 'Zürich', null, 'São Paulo'];
const KEYS = ['Key', 'key', 'KEY-ä', "k'ey"];
const LAST_NAMES = ['Ng', 'van der Berg', 'ØSTBY', "O'Brien", 'Straße'];

const START_MS = Date.parse('2024-01-01T08:30:00Z');
const STEP_MS = 37 * 3_600_000 + 61_000;

const name = cycle(NAMES);
const changedAt: Column = (index) => writeInstant(START_MS + index * STEP_MS + (index % 3) * 3_600_000);
const dayFrom = (start: string, step: number) => (index: number) => dayAfter(start, index * step);
const account = (index: number) => makeId('001', (index % 30) + 1);

const SYSTEM: Readonly<Record<string, Column>> = {
  IsDeleted: () => false,
  CreatedDate: (index) => writeInstant(START_MS + index * STEP_MS),
  LastModifiedDate: changedAt,
  SystemModstamp: changedAt,
};

interface Recipe {
  readonly count: number;
  /** The last so many are in the recycle bin. */
  readonly deleted?: number;
  /** The number that the first new id is made of, less `count`. Default 1,000. */
  readonly firstNew?: number;
  readonly columns: Readonly<Record<string, Column>>;
}

const RECIPES: Readonly<Record<string, Recipe>> = {
  Account: {
    count: 33,
    deleted: 3,
    columns: {
      ...SYSTEM,
      Name: (index) => (index < NAMES.length ? name(index) : `${name(index)} ${index}`),
      Type: cycle(['Customer', 'Partner', null]),
      Industry: cycle(['Banking', 'Energy', 'Technology', null, 'banking']),
      AnnualRevenue: sparse(4, (index) => index * 125_000),
      NumberOfEmployees: cycle([null, 7, 49, 12_000, -1]),
      Website: (index) => (index % 3 === 0 ? `https://example.com/${index}?a=1&b=%20` : null),
      Phone: sparse(2, (index) => `+47 555 01${index}`),
      BillingStreet: cycle(['1 Main St', 'Rue de l’Église 5', 'Ringweg 7\nBackyard', null]),
      BillingCity: cycle(CITIES),
      BillingCountry: cycle(['Norway', 'Switzerland', null]),
      Description: (index) => (index % 5 === 0 ? `Account number ${index}.\n${'Long text. '.repeat(40)}` : null),
      OwnerId: (index) => makeId('005', (index % 2) + 1),
      ExternalKey__c: sparse(6, (index) => `${cycle(KEYS)(index)}${Math.floor(index / 4)}`),
      Score__c: cycle([1.5, 0.1, -2.25, null, 123456.654321, 0]),
      Tier__c: cycle(['Gold', 'Silver', null, 'Bronze']),
      Regions__c: cycle([null, 'EMEA', 'APAC;EMEA']),
      FoundedOn__c: sparse(7, dayFrom('1999-12-30', 400)),
      VisitedAt__c: sparse(3, (index) => writeInstant(START_MS - index * (DAY_MS - 1000)), 0),
      SecretCode__c: (index) => (index % 10 === 0 ? '****' : null),
    },
  },
  Contact: {
    count: 62,
    deleted: 2,
    columns: {
      ...SYSTEM,
      AccountId: sparse(9, account),
      FirstName: cycle(['Ann', 'bo', 'Çelik', null, "D'Arcy", 'İpek']),
      LastName: (index) => `${cycle(LAST_NAMES)(index)} ${Math.floor(index / 5)}`,
      Email: sparse(4, (index) => `person.${index}+test_${index}%x@example.com`, 1),
      Phone: (index) => (index % 5 === 0 ? '(555) 0100' : null),
      Birthdate: sparse(6, dayFrom('1960-02-28', 333), 0),
      DoNotCall: (index) => index % 3 === 0,
      MailingCity: cycle(CITIES),
      OpensAt__c: cycle([null, '08:30:00.000Z']),
    },
  },
  Opportunity: {
    count: 40,
    columns: {
      ...SYSTEM,
      AccountId: sparse(5, account),
      Name: (index) => `Deal ${index} ${name(index)}`,
      StageName: cycle(['Prospecting', 'Negotiation', 'Closed Won', 'Closed Lost']),
      Amount: cycle([null, 1234.5, 0, 99.99, 1_000_000.01, -10.1]),
      Probability: cycle([10, 50, 100, null]),
      CloseDate: dayFrom('2024-02-27', 9),
      Description: (index) => (index % 4 === 0 ? 'Signed.' : null),
    },
  },
  Task: {
    count: 20,
    columns: {
      ...SYSTEM,
      Subject: cycle(['Call', 'Email', null, 'Send "quote"']),
      Status: cycle(['Open', 'Completed']),
      ActivityDate: sparse(3, dayFrom('2024-03-01', 1)),
      WhoId: sparse(2, (index) => makeId('003', index + 1)),
      WhatId: (index) => (index % 3 === 0 ? makeId('006', index + 1) : null),
      Description: () => null,
    },
  },
  User: {
    count: 3,
    columns: {
      Username: cycle(['demo@acme.example', 'jon@acme.example', 'gone@acme.example']),
      Name: cycle(['Dana Demo', "Jon O'Hara", 'Gone Person']),
      Email: cycle(['dana@acme.example', 'jon@acme.example', 'gone@acme.example']),
      IsActive: (index) => index < 2,
    },
  },
  ContentVersion: {
    count: 5,
    columns: {
      ...SYSTEM,
      Title: (index) => `File ${index} ü`,
      PathOnClient: (index) => ['all-bytes.bin', 'Vertrag "Süd" – 100%.pdf'][index] ?? `contract ${index}.pdf`,
      VersionData: (index) =>
        (index === 0
          ? Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte))
          : Buffer.from(`%PDF ${index}`)
        ).toString('base64'),
    },
  },
  Site__c: {
    count: 4,
    columns: {
      ...SYSTEM,
      Name: (index) => `S-${index}`,
      Account__c: (index) => (index === 1 ? null : makeId('001', index + 1)),
      Position__Latitude__s: (index) => (index === 3 ? null : 59.9139 - index),
      Position__Longitude__s: (index) => (index === 3 ? null : -10.7522),
    },
  },
  // The others are made when they are read; what is created has greater ids.
  Reading__c: { count: 0, firstNew: MOST_READINGS + 1, columns: {} },
};

/** What a record has that nobody gave a value. */
export function blankOf(fields: Readonly<Record<string, FieldSchema>>): TableRow {
  return Object.fromEntries(Object.entries(fields).map(([field, { defaulted = null }]) => [field, defaulted]));
}

/** @param tell of each change of a record */
export function createDataset(
  clock: MovableClock,
  readings: Readings,
  tell: (object: string, change: TableChange) => void,
): Dataset {
  return new Map(
    Object.entries(RECIPES).map(([object, { count, deleted = 0, firstNew = 1000, columns }]): [string, Table] => {
      const { keyPrefix = '', fields = {} } = OBJECTS[object] ?? {};
      const blank = blankOf(fields);
      let next = firstNew + count;
      const table = createTable({
        rows: makeRows(count, { Id: (index) => makeId(keyPrefix, index + 1), ...columns }).map((row, index) =>
          index < count - deleted ? row : { ...row, IsDeleted: true },
        ),
        keyOf: ({ Id }) => String(Id),
        initial: () => ({ ...blank, Id: makeId(keyPrefix, next++) }),
        deleted: 'IsDeleted',
        onChange: (change) => tell(object, change),
        stamps: {
          clock,
          write: writeInstant,
          created: ['CreatedDate'],
          changed: ['LastModifiedDate', 'SystemModstamp'],
        },
      });
      return [object, object === READINGS ? { ...table, find: (key) => table.find(key) ?? readings.get(key) } : table];
    }),
  );
}

/** What `POST /simulate/changes` does to them. */
export const CHANGES: Readonly<
  Record<string, { readonly create: (number: number) => TableRow; readonly change: (number: number) => TableRow }>
> = {
  Account: { create: (number) => ({ Name: `New ${number}` }), change: (number) => ({ BillingCity: `City ${number}` }) },
  Contact: { create: (number) => ({ LastName: `New ${number}` }), change: (number) => ({ Phone: `555 ${number}` }) },
};
