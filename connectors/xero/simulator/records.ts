import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  Fault,
  type Member,
  type Members,
  type MovableClock,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import type { Kind } from './where.ts';

/** An object of the accounting API. */
interface Kindred extends CollectionSpec {
  /** The part of its path, and the member of bodies that holds its records. */
  readonly plural: string;
  readonly key: string;
  /** Members that hold a part of a record of another object. */
  readonly parts: Readonly<Record<string, readonly [plural: string, ...shown: string[]]>>;
}

export type Records = Readonly<Record<string, Collection<Kindred>>>;

const ROWS = 36;
const CHANGED = 'UpdatedDateUTC';
const idOf = (kind: number) => (index: number) =>
  `${kind}f3c2b1a-0000-4000-8000-${(index * 7 + 1).toString(16).padStart(12, '0')}`;

/** Members whose values are dates, although the description has them as texts. */
const DATES = /^(?:Date|DueDate|ExpectedPaymentDate|PlannedPaymentDate|FullyPaidOnDate)$/;

/** Returns the members of a schema. Inner objects are whole, and texts are never empty. */
function membersOf(schema: string, required: string, always: string): Members {
  const isNeeded = new Set(required.split(' '));
  const isAlways = new Set([...isNeeded, CHANGED, ...always.split(' ')]);
  const entries = Object.entries(schemaMembers(official, schema)).map(([path, member]): [string, Member] => {
    const [name = '', inner] = path.split('.');
    const type =
      inner !== undefined ? 'object' : name === CHANGED ? 'datetime' : DATES.test(name) ? 'date' : member.type;
    const access = { isRequired: isNeeded.has(name), isNeverNull: isAlways.has(name) };
    if (type === 'object') return [name, { type, ...access }];
    const isPossible = (text: string) => text !== '' && text === text.trim();
    return [name, { ...member, type, isPossible, ...access }];
  });
  const hidden = /Errors$|^Warnings$|^StatusAttributeString$|^UpdatedDateUTCString$|^MergedToContactID$/;
  return Object.fromEntries(entries.filter(([name]) => !hidden.test(name)));
}

const CONTACT = ['Contacts', 'ContactID', 'Name'] as const;

const line = (index: number) => ({
  Description: `Line ${index}`,
  Quantity: 1,
  UnitAmount: (index % 90) * 1.5,
  LineAmount: (index % 90) * 1.5,
});
const lines: Column = (index) => [line(index)];

/** The values that Xero works out. */
function withTotals(row: TableRow): TableRow {
  if (!Array.isArray(row.LineItems)) return {};
  const items: readonly TableRow[] = row.LineItems.map(Object);
  const sum = items.reduce(
    (total, { Quantity = 1, UnitAmount = 0 }) => total + Number(Quantity) * Number(UnitAmount),
    0,
  );
  const total = Math.round(sum * 100) / 100;
  return { SubTotal: total, Total: total };
}

/** Creates the records of one organisation, with hostile texts. */
export function createRecords(clock: MovableClock, onChange: (name: string, change: TableChange) => void): Records {
  const common = (plural: string, index: number, key: string) => ({
    ...{ plural, key, rows: ROWS, makeId: idOf(index), changed: [CHANGED], touch: withTotals },
  });
  const currency = { CurrencyCode: cycle(['NZD', 'AUD', 'USD']) };
  const documented = { LineAmountTypes: 'Exclusive', CurrencyCode: 'NZD', Status: 'DRAFT', HasAttachments: false };
  const of: Readonly<Record<string, Kindred>> = {
    contacts: {
      ...common('Contacts', 1, 'ContactID'),
      members: membersOf('Contact', 'Name', 'ContactStatus'),
      parts: {},
      vary: {
        ContactStatus: cycle(['ACTIVE', 'ACTIVE', 'ARCHIVED', 'ACTIVE', 'GDPRREQUEST']),
        DefaultCurrency: cycle(['NZD', 'AUD', 'USD']),
        ...plainColumns('Contact'),
      },
      initial: { ContactStatus: 'ACTIVE', HasAttachments: false },
      retired: { ContactStatus: 'ARCHIVED' },
      label: 'Name',
    },
    invoices: {
      ...common('Invoices', 2, 'InvoiceID'),
      members: membersOf('Invoice', 'Type Contact', 'Status Date'),
      parts: { Contact: CONTACT },
      vary: {
        ...plainColumns('Invoice'),
        ...currency,
        LineItems: lines,
        LineAmountTypes: cycle(['Exclusive', 'NoTax']),
      },
      initial: (given) => {
        const totals = withTotals(given);
        return { ...documented, Date: today(clock), ...totals, AmountDue: totals.Total ?? 0, AmountPaid: 0 };
      },
      retired: { Status: 'VOIDED' },
      label: 'Reference',
    },
    payments: {
      ...common('Payments', 3, 'PaymentID'),
      members: membersOf('Payment', 'Account Amount', 'Status PaymentType Date'),
      parts: {
        Invoice: ['Invoices', 'InvoiceID', 'InvoiceNumber', 'Type'],
        Account: ['Accounts', 'AccountID', 'Code'],
      },
      vary: { ...plainColumns('Payment'), Status: cycle(['AUTHORISED', 'AUTHORISED', 'DELETED']) },
      initial: () => ({ Status: 'AUTHORISED', PaymentType: 'ACCRECPAYMENT', Date: today(clock), IsReconciled: false }),
      retired: { Status: 'DELETED' },
      label: 'Reference',
    },
    accounts: {
      ...common('Accounts', 4, 'AccountID'),
      members: membersOf('Account', 'Name Type', 'Status'),
      parts: {},
      vary: {
        Type: cycle(['BANK', 'SALES', 'EXPENSE', 'CURRENT', 'REVENUE']),
        Code: (index) => (index % 9 === 8 ? null : String(200 + index)),
        Status: cycle(['ACTIVE', 'ACTIVE', 'ARCHIVED']),
        ...currency,
      },
      initial: { Status: 'ACTIVE', HasAttachments: false },
      label: 'Name',
    },
    items: {
      ...common('Items', 5, 'ItemID'),
      members: membersOf('Item', 'Code', ''),
      parts: {},
      vary: {
        ...plainColumns('Item'),
        Code: (index) => `ITEM-${index}`,
        SalesDetails: (index) => ({ UnitPrice: index / 4 }),
      },
      initial: { IsSold: true, IsPurchased: true, IsTrackedAsInventory: false },
      label: 'Name',
    },
    creditnotes: {
      ...common('CreditNotes', 6, 'CreditNoteID'),
      members: membersOf('CreditNote', 'Type Contact', 'Status Date'),
      parts: { Contact: CONTACT },
      vary: {
        ...plainColumns('CreditNote'),
        ...currency,
        LineItems: lines,
        LineAmountTypes: cycle(['Inclusive', 'NoTax']),
      },
      initial: (given) => ({ ...documented, Date: today(clock), ...withTotals(given) }),
      retired: { Status: 'VOIDED' },
      label: 'Reference',
    },
    banktransactions: {
      ...common('BankTransactions', 7, 'BankTransactionID'),
      members: membersOf('BankTransaction', 'Type BankAccount LineItems', 'Status Date'),
      parts: { Contact: CONTACT, BankAccount: ['Accounts', 'AccountID', 'Code', 'Name'] },
      vary: {
        ...plainColumns('BankTransaction'),
        ...currency,
        LineItems: lines,
        LineAmountTypes: cycle(['Exclusive']),
      },
      initial: (given) => ({
        ...{ ...documented, Status: 'AUTHORISED', Date: today(clock), IsReconciled: false },
        ...withTotals(given),
      }),
      retired: { Status: 'DELETED' },
      label: 'Reference',
    },
  };
  const collections = createCollections<string, Kindred>({
    of,
    clock,
    writeTime: (ms) => new Date(ms).toISOString(),
    readTime: (value) => readDate(value),
    read: {
      string: (value) => (value === '' ? null : typeof value === 'string' ? value : undefined),
      date: (value) => {
        const ms = readDate(value);
        return ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 10);
      },
    },
    refuse: (complaints) => new Fault(400, 'ValidationException', complaints.map(({ message }) => message).join('\n')),
    absent: () => new Fault(404, 'NotFound', 'The resource you’re looking for cannot be found'),
    onChange,
  });
  fillParts(collections);
  return collections;
}

/** Returns columns for ids of records that are not simulated, and for inner objects, of which the rows have none at first. */
function plainColumns(schema: string): Readonly<Record<string, Column>> {
  const entries = Object.entries(membersOf(schema, '', '')).flatMap(([name, { type }]): [string, Column][] => {
    if (type === 'object') return [[name, () => null]];
    return type === 'string' && GUID.test(name) ? [[name, sparse(2, idOf(9))]] : [];
  });
  return Object.fromEntries(entries);
}

const GUID = /ID$/;

function today(clock: MovableClock): string {
  return new Date(clock.now()).toISOString().slice(0, 10);
}

/** Reads a date of a body: `2026-01-31`, `2026-01-31T00:00:00` or `/Date(1769817600000+0000)/`. */
function readDate(value: unknown): number | undefined {
  const [, epoch] = /^\/Date\((-?\d+)(?:[+-]\d{4})?\)\/$/.exec(String(value)) ?? [];
  if (epoch !== undefined) return Number(epoch);
  const isDate = typeof value === 'string' && /^\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?$/.test(value);
  const ms = isDate ? Date.parse(value.includes('T') && !value.endsWith('Z') ? `${value}Z` : value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Connects the first rows with records of other objects. Some have none. */
function fillParts(all: Records): void {
  for (const { table, parts, members } of Object.values(all)) {
    for (const [index, row] of table.rows(true).entries()) {
      for (const [name, [plural, ...shown]] of Object.entries(parts)) {
        const others = collectionOf(all, plural).table.rows(true);
        const isAbsent = members[name]?.isNeverNull !== true && index % 6 === 5;
        if (!isAbsent) Object.assign(row, { [name]: partOf(others[(index * 3) % others.length] ?? {}, shown) });
      }
      Object.assign(row, withTotals(row));
    }
  }
}

function collectionOf(all: Records, plural: string): Collection<Kindred> {
  const found = Object.values(all).find((each) => each.plural === plural);
  if (found === undefined) throw new Error(`There are no ${plural}.`);
  return found;
}

function partOf(row: TableRow, shown: readonly string[]): TableRow {
  return Object.fromEntries(shown.flatMap((name) => (row[name] == null ? [] : [[name, row[name]]])));
}

/**
 * Returns values in which references have what a response shows of their records.
 * @throws Fault 400 for a reference to nothing
 */
export function resolveParts(all: Records, { parts }: Kindred, values: TableRow): TableRow {
  const resolved = Object.entries(parts).flatMap(([name, [plural, ...shown]]) => {
    const given: TableRow = Object(values[name] ?? {});
    if (Object.keys(given).length === 0) return [];
    const other = collectionOf(all, plural)
      .table.rows(true)
      .find((row) => shown.some((member) => given[member] !== undefined && given[member] === row[member]));
    if (other === undefined) throw new Fault(400, 'ValidationException', `A valid ${name} must be specified`);
    return [[name, partOf(other, shown)] as const];
  });
  return { ...values, ...Object.fromEntries(resolved) };
}

const KINDS: Readonly<Partial<Record<Member['type'], Kind>>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
};

/** Returns the type of a member in filters, also of one inside a part. */
export function kindIn({ members, parts, key }: Kindred, path: string): Kind | undefined {
  const [name = '', inner] = path.split('.');
  if (inner !== undefined)
    return parts[name]?.slice(1).includes(inner) === true ? (GUID.test(inner) ? 'guid' : 'string') : undefined;
  if (name === key) return 'guid';
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  if (member?.type === 'string' && GUID.test(name)) return 'guid';
  return member && KINDS[member.type];
}

/** Returns a record as Xero shows it: without what is missing, and with .NET's dates. */
export function present({ members }: Kindred, row: TableRow): TableRow {
  const entries = Object.entries(row).flatMap(([name, value]) => {
    if (value == null) return [];
    const { type } = members[name] ?? {};
    const isTime = type === 'date' || type === 'datetime';
    return [[name, isTime ? `/Date(${Date.parse(String(value))}+0000)/` : value] as const];
  });
  return Object.fromEntries(entries);
}
