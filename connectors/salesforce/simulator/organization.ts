import {
  type Collection,
  type CollectionSpec,
  type Column,
  type Complaint,
  createCollections,
  cycle,
  Fault,
  type Member,
  type Members,
  type MovableClock,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { completeId, DEMO_USER_ID, makeId, writeInstant } from './ids.ts';
import { createReadings, MOST_READINGS, READINGS } from './readings.ts';
import { bytesOf, type Field, memberType, OBJECTS, type SObject } from './schema.ts';

/** The rows of an object, except for values that its fields determine. */
interface Kept extends Pick<CollectionSpec, 'rows' | 'vary' | 'initial' | 'label'> {
  /** Number of rows at the end that are in the recycle bin. */
  readonly deleted?: number;
  /** New ids have greater numbers than this one. */
  readonly idsAbove?: number;
}

/** Names that reveal errors in quoting, patterns and encodings. */
const NAMES = [
  ...['Acme', "O'Neil & Söhne", '100% Wool_Co', 'Back\\slash Ltd', 'Say "Hi" GmbH', 'ÅNGSTRÖM ab', '日本商事'],
  ...['Rocket 🚀 Labs', 'acme', 'Nullwert (a AND b)'],
];
const name = cycle(NAMES);
const key = cycle(['Key', 'key', 'KEY-ä', "k'ey"]);
const email: Column = (index) => `person.${index}+test_${index}%x@example.com`;
const ALL_BYTES = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte));

const KEPT: Readonly<Record<string, Kept>> = {
  Account: {
    rows: 33,
    deleted: 3,
    vary: {
      Name: (index) => (index < NAMES.length ? name(index) : `${name(index)} ${index}`),
      AnnualRevenue: sparse(4, (index) => index * 125_000),
      NumberOfEmployees: cycle([null, 7, 49, 12_000, -1]),
      Website: sparse(3, (index) => `https://example.com/${index}?a=1&b=%20`),
      BillingCity: cycle(['Oslo', 'oslo', 'Zürich', null, 'São Paulo']),
      ExternalKey__c: sparse(6, (index) => `${key(index)}${Math.floor(index / 4)}`),
      Score__c: cycle([1.5, 0.1, -2.25, null, 123456.654321, 0]),
      Regions__c: cycle([null, 'EMEA', 'APAC;EMEA']),
    },
    initial: { OwnerId: DEMO_USER_ID },
  },
  Contact: {
    rows: 62,
    deleted: 2,
    vary: {
      // Some accounts have several contacts.
      AccountId: sparse(9, (index) => makeId('001', (index % 30) + 1)),
      Email: sparse(4, email),
      OpensAt__c: cycle([null, '08:30:00.000Z']),
    },
    initial: { DoNotCall: false },
    label: 'LastName',
  },
  Opportunity: { rows: 40, vary: { Amount: cycle([null, 1234.5, 0, 99.99, 1_000_000.01, -10.1]) } },
  Task: { rows: 20, initial: { Status: 'Open' } },
  User: { rows: 3, vary: { Email: email } },
  ContentVersion: {
    rows: 5,
    vary: {
      Title: (index) => `File ${index} ü`,
      PathOnClient: (index) => ['all-bytes.bin', 'Vertrag "Süd" – 100%.pdf'][index] ?? `contract ${index}.pdf`,
      VersionData: (index) => (index === 0 ? ALL_BYTES : Buffer.from(`%PDF ${index}`)).toString('base64'),
    },
  },
  Site__c: { rows: 4 },
  // The other readings are created when they are read. New records have greater ids.
  [READINGS]: { rows: 0, idsAbove: MOST_READINGS, initial: { IsEstimated__c: false } },
};

interface Spec extends CollectionSpec {
  readonly object: SObject;
}

/**
 * Creates all records, and the operations with which calls and jobs change them.
 * @param notify called for each change
 */
export function createOrganization(clock: MovableClock, notify: (object: string, change: TableChange) => void) {
  const readings = createReadings();
  const of = Object.fromEntries(Object.entries(KEPT).map(([object, kept]) => [object, specOf(object, kept)]));
  const collections = createCollections<string, Spec>({
    of,
    clock,
    writeTime: writeInstant,
    readTime,
    isStrict: true,
    read: {
      string: readText,
      integer: (value) => (Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31 ? value : undefined),
      reference: (value) => completeId(String(value)),
    },
    refuse,
    absent: () => notFound(),
    onChange: notify,
  });

  /** Finds a record, also in the recycle bin. */
  const find = (object: string, id: string): TableRow | undefined =>
    collections[object]?.table.find(id) ?? (object === READINGS ? readings.get(id) : undefined);

  /**
   * Returns a record.
   * @throws Fault 404, also for a record in the recycle bin
   */
  function get(object: string, written: string): TableRow {
    const id = completeId(written);
    const row = id === undefined ? undefined : find(getObject(object).name, id);
    if (row === undefined) throw notFound();
    if (row.IsDeleted === true) throw new Fault(404, 'ENTITY_IS_DELETED', 'entity is deleted');
    return row;
  }

  /**
   * Returns the collection of an object for a write.
   * @throws Fault 404; 405 if the object does not allow the operation
   */
  function getFor(ability: 'createable' | 'updateable' | 'deletable', object: string): Collection<Spec> {
    const collection = collections[getObject(object).name];
    if (collection?.object[ability] === true) return collection;
    throw new Fault(405, 'METHOD_NOT_ALLOWED', `HTTP Method not allowed for ${object}`);
  }

  return {
    collections,
    readings,
    find,
    get,
    create: (object: string, body: TableRow): string => {
      const { table, read } = getFor('createable', object);
      return String(table.insert(read(valuesOf(body))).Id);
    },
    update: (object: string, id: string, body: TableRow): void => {
      const { table, read, object: described } = getFor('updateable', object);
      const row = get(object, id);
      const fixed = Object.keys(body).find((member) => described.fields[member]?.updateable === false);
      if (fixed !== undefined) throw new Fault(400, CODES.readOnly, `${fixed} cannot be set`, { fields: [fixed] });
      table.update(String(row.Id), read(valuesOf(body), row));
    },
    remove: (object: string, id: string): void => {
      getFor('deletable', object).table.remove(String(get(object, id).Id));
    },
    /**
     * Returns the content of a file field.
     * @throws Fault 404
     */
    getBytes: (object: string, id: string, field: string): Buffer => {
      if (getObject(object).fields[field]?.type !== 'base64') throw notFound();
      return bytesOf(get(object, id)[field]);
    },
  };
}

export type Organization = ReturnType<typeof createOrganization>;

/**
 * Returns the description of an object.
 * @throws Fault 404
 */
export function getObject(name: string): SObject {
  const object = Object.hasOwn(OBJECTS, name) ? OBJECTS[name] : undefined;
  if (object === undefined) throw notFound();
  return object;
}

function notFound(): Fault {
  return new Fault(404, 'NOT_FOUND', 'The requested resource does not exist');
}

function specOf(objectName: string, { deleted = 0, idsAbove = 0, ...kept }: Kept): Spec {
  const object = getObject(objectName);
  const fields = Object.values(object.fields);
  return {
    object,
    members: membersFrom(fields),
    ...kept,
    vary: { IsDeleted: (index) => index >= kept.rows - deleted, ...kept.vary },
    key: 'Id',
    makeId: (index) => makeId(object.keyPrefix ?? '', idsAbove + index + 1),
    created: ['CreatedDate'],
    changed: ['LastModifiedDate', 'SystemModstamp'],
    deleted: 'IsDeleted',
    check: (row) => fields.flatMap((field) => complaintsAbout(field, row)),
  };
}

const TIME = /^\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z?$/;

function membersFrom(fields: readonly Field[]): Members {
  const entries = fields.map(({ name, type, length, picklistValues, ...field }): [string, Member] => {
    const values = picklistValues.length === 0 ? undefined : picklistValues.map(({ value }) => value);
    return [
      name,
      {
        type: memberType(type),
        values,
        longest: length === 0 ? undefined : length,
        isPossible: (text) => text !== '' && text === text.trim() && (type !== 'time' || TIME.test(text)),
        isReadOnly: !field.createable,
        isNeverNull: !field.nillable,
        refersTo: field.referenceTo[0],
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** Returns the values of a body. An empty text is null, whatever the type. */
function valuesOf({ attributes: _, ...body }: TableRow): TableRow {
  return Object.fromEntries(Object.entries(body).map(([member, value]) => [member, value === '' ? null : value]));
}

/** Reads a text without blanks at its ends. A blank text is null. */
function readText(value: unknown, { isPossible }: Member): string | null | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' ? null : isPossible?.(text) === false ? undefined : text;
}

/**
 * Reads a time.
 * @returns milliseconds, or undefined for another format
 */
export function readTime(value: unknown): number | undefined {
  const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:?\d{2})$/;
  const ms = typeof value === 'string' && form.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

const CODES: Readonly<Record<Complaint['reason'], string>> = {
  missing: 'REQUIRED_FIELD_MISSING',
  unknown: 'INVALID_FIELD',
  readOnly: 'INVALID_FIELD_FOR_INSERT_UPDATE',
  length: 'STRING_TOO_LONG',
  type: 'JSON_PARSER_ERROR',
  // Picklists without a restriction accept other values.
  value: '',
  other: 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
};

function complaintsAbout(field: Field, row: TableRow): readonly Complaint[] {
  const { name: member, nillable, createable, restrictedPicklist, picklistValues } = field;
  const value = row[member] ?? null;
  if (value === null) return nillable || !createable ? [] : [{ reason: 'missing', member, message: '' }];
  if (!restrictedPicklist || picklistValues.some((each) => each.value === value)) return [];
  return [{ reason: 'other', member, message: `${member}: bad value for restricted picklist field: ${value}` }];
}

/** Returns the first complaint, or a complaint that names all missing members. */
function refuse(complaints: readonly Complaint[], { members }: Spec): Fault | undefined {
  const first = complaints.find(({ reason }) => CODES[reason] !== '');
  if (first === undefined) return undefined;
  const { reason, member, message } = first;
  if (reason === 'missing') {
    const fields = complaints.filter((each) => each.reason === reason).map((each) => each.member);
    return new Fault(400, CODES.missing, `Required fields are missing: [${fields.join(', ')}]`, { fields });
  }
  const isId = reason === 'type' && members[member]?.type === 'reference';
  return new Fault(400, isId ? 'MALFORMED_ID' : CODES[reason], message, { fields: [member] });
}
