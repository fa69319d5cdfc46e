import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  DAY_MS,
  dayAfter,
  Fault,
  HOSTILE_TEXTS,
  type Members,
  type MovableClock,
  membersOf,
  sparse,
  type TableRow,
} from '#connector/simulator';
import { articles, customers, invoices, orders, suppliers } from '../objects.ts';
import official from '../official.json' with { type: 'json' };
import { badData, refused } from './faults.ts';
import { contains, containsInRows, fromDay, isDay, isTrue, rowsOf, type Search, toDay } from './searches.ts';

const OBJECTS = { customers, suppliers, articles, orders, invoices };
type Name = keyof typeof OBJECTS;

export interface Resource extends CollectionSpec {
  readonly key: string;
  /** The member that wraps a single record in bodies. */
  readonly singular: string;
  /** The required member of a record. */
  readonly required: string;
  /** The error for an unknown number. */
  readonly missing: readonly [code: number, message: string];
  /** The error for a number that another record has or had. */
  readonly taken: (number: string) => readonly [code: number, message: string];
  /** Searches by parameter. */
  readonly searches: Readonly<Record<string, Search>>;
  readonly filters: Readonly<Record<string, (row: TableRow, today: string) => boolean>>;
  /** Columns by the values of `sortby`. */
  readonly sorts: Readonly<Record<string, string>>;
  /** Returns the row of a list for a record. */
  readonly short: (row: TableRow) => TableRow;
  /** The member that contains the rows of a document, and the member of a row that contains its quantity. Other records have none. */
  readonly lines?: readonly [member: string, quantity: string];
  readonly initial: TableRow;
  readonly can: readonly ('delete' | 'cancel' | 'bookkeep')[];
}

export type Company = Readonly<Record<Name, Collection<Resource>>>;

/** Values of members that the creation did not set. */
const created: Readonly<Record<Name, TableRow>> = official.created;

/**
 * Returns the members of a kind of record, with their columns. A member that has a default value is never null. A member whose default is
 * a text, although its type is another one, keeps the default.
 */
function about(name: Name, vary: Readonly<Record<string, Column>>) {
  const known = Object.entries(membersOf(OBJECTS[name].fields));
  const members: Members = Object.fromEntries(
    known.map(([member, spec]) => [member, { ...spec, isNeverNull: created[name][member] !== null }]),
  );
  const odd = known.filter(([member, { type }]) => {
    const value = created[name][member];
    return type === 'object' || (typeof value === 'string' && type !== 'string' && type !== 'date');
  });
  const kept = Object.fromEntries(odd.map(([member]) => [member, () => created[name][member]]));
  return { members, vary: { ...kept, ...vary }, initial: created[name] };
}

const words = (text: string): readonly string[] => text.split(' ');
const inLowerCase = (columns: string) => words(columns).map((column) => [column.toLowerCase(), column] as const);
const sortedBy = (columns: string): Readonly<Record<string, string>> => Object.fromEntries(inLowerCase(columns));
const searchesFor = (columns: string): Readonly<Record<string, Search>> =>
  Object.fromEntries(inLowerCase(columns).map(([parameter, column]) => [parameter, contains(column)]));

const listed = (name: Name) => {
  const names = words(official.lists[name]);
  return (row: TableRow): TableRow => Object.fromEntries(names.map((member) => [member, row[member]]));
};
/** Returns the row of a list. Lists show null as an empty text, and the first phone number as `Phone`. */
const listedPerson = (name: Name) => (row: TableRow) => {
  const { Phone1: Phone, ...rest } = listed(name)(row);
  return Object.fromEntries(Object.entries({ ...rest, Phone }).map(([member, value]) => [member, value ?? '']));
};
const asText = (value: unknown) => (typeof value === 'number' ? String(value) : value);

/** Names for rows that must sort and match as words do. Hostile texts alone would not. */
const NAMES = [
  ...['Åhléns AB', 'Östers Bygg', 'anders svensson', 'Anders Svensson', 'Zäta', "O'Brien & Söhne", 'Test 100%_a'],
];
/** Returns a name, which must not be empty, unlike other texts. */
const nameOf: Column = (index) =>
  (index % 3 === 0 ? String(cycle(HOSTILE_TEXTS)(index / 3)) : '') || cycle(NAMES)(index);
/** Numbers that are no whole numbers. Numbers are texts: some contain letters, or a character that paths must encode. */
const ODD_NUMBERS: Readonly<Record<number, string>> = { 4: 'A100', 5: '1A100', 6: 'K/7', 7: 'a_b-c', 8: 'B+1' };
const numberOf = (index: number) => ODD_NUMBERS[index] ?? String(index + 1);

const FIRST_CHANGE_MS = Date.parse('2024-02-28T22:58:00Z');
/**
 * The time of the last change, which no response contains. Pairs of rows have the same minute. The minutes are on both sides of midnight
 * and of a change of clocks.
 */
const modified: Column = (index) => FIRST_CHANGE_MS + Math.floor(index / 2) * (DAY_MS / 2 + 61_001);
const CHANGED = { changed: ['modified'], deleted: 'removed' } as const;

const CUSTOMERS = 130;
const FIRST_DAY = '2023-12-28';
const dayFor = (index: number) => dayAfter(FIRST_DAY, (index * 5) % 300);
const isBooked = (index: number) => index % 4 !== 0;
const isCancelled = (index: number) => index % 11 === 10;
const isPaid = (index: number) => isBooked(index) && !isCancelled(index) && index % 3 === 0;
const total = cycle([0, 1250, 99.5, -300, 0.1, 123_456.78]);
const makeLine = (index: number): TableRow => ({
  ...{ AccountNumber: 3001 + (index % 3), ArticleNumber: numberOf(index % 150), Description: 'Hammer' },
  ...{ RowId: index + 1, DeliveredQuantity: '0', OrderedQuantity: '1', Price: 10.5, Total: 10.5, VAT: 25 },
});
const DOCUMENT: Readonly<Record<string, Column>> = {
  CustomerNumber: (index) => numberOf((index * 7) % CUSTOMERS),
  CustomerName: (index) => nameOf((index * 7) % CUSTOMERS),
  YourReference: cycle(['', 'Gandalf the Grey', 'Radagast the Brown', 'gandalf the grey']),
  Sent: (index) => index % 3 === 1,
  Total: total,
  Labels: () => [],
  modified,
};

const PERSON: Readonly<Record<string, Column>> = {
  Name: nameOf,
  City: sparse(9, cycle(['KLIPPAN', 'Klippan', 'ÄLMHULT', 'Älmhult', 'New York', 'Växjö', '', 'Åre'])),
  ZipCode: sparse(7, cycle(['264 32', '343 90', '10001', '', '26432'])),
  Email: cycle(['', 'k1+x@Example.com', 'K2@example.com', 'k3@example.com']),
  Phone1: sparse(3, cycle(['0435-9249236', '+46 70 123', '0476-1352274', ''])),
  OrganisationNumber: cycle(['', '556677-8899', '19121212-1212']),
  Active: (index) => index % 5 !== 4,
  modified,
};

const byActivity = {
  active: ({ Active }: TableRow) => Active === true,
  inactive: ({ Active }: TableRow) => Active !== true,
};
const byCancelling = { cancelled: ({ Cancelled }: TableRow) => Cancelled === true };
const isDue = ({ Booked, Cancelled, Balance }: TableRow) => Booked === true && Cancelled !== true && Balance !== 0;
const isOpen = ({ Cancelled, InvoiceReference }: TableRow) => Cancelled !== true && InvoiceReference === '0';

const DOCUMENT_SEARCHES: Readonly<Record<string, Search>> = {
  ...searchesFor('CostCenter CustomerName CustomerNumber DocumentNumber ExternalInvoiceReference1'),
  ...searchesFor('ExternalInvoiceReference2 OurReference Project YourReference'),
  sent: isTrue('Sent'),
};
const documents = {
  key: 'DocumentNumber',
  makeId: (index: number) => String(index + 1),
  required: 'CustomerNumber',
  taken: (number: string) => [2_000_588, `Dokumentnummer ${number} används redan.`] as const,
  label: 'Comments',
  ...CHANGED,
};

const people = {
  ...{ ...CHANGED, makeId: numberOf, label: 'Name', required: 'Name', can: ['delete'] },
} satisfies Partial<Resource>;

export function createCompany(clock: MovableClock): Company {
  return createCollections<Name, Resource>({
    clock,
    writeTime: (ms) => ms,
    isStrict: true,
    read: {
      string: readText,
      boolean: readFlag,
      number: readNumber,
      integer: readNumber,
      date: (value) => (isDay(String(value)) ? value : undefined),
    },
    refuse: ([complaint]) => (complaint?.reason === 'unknown' ? refused(2_001_399, 'Felaktigt fältnamn') : badData()),
    absent: ({ missing: [code, message] }) => new Fault(404, String(code), message),
    of: {
      customers: {
        ...people,
        ...about('customers', PERSON),
        rows: CUSTOMERS,
        ...{ key: 'CustomerNumber', singular: 'Customer' },
        missing: [2_000_433, 'Kan inte hitta kunden.'],
        taken: (number) => [2_000_637, `Kundnummer ${number} används redan.`],
        searches: {
          ...searchesFor('City CustomerNumber Email GLN GLNDelivery Name OrganisationNumber ZipCode'),
          phone: contains('Phone1'),
        },
        filters: byActivity,
        sorts: sortedBy('CustomerNumber Name'),
        short: listedPerson('customers'),
      },
      suppliers: {
        ...people,
        ...about('suppliers', PERSON),
        rows: 60,
        ...{ key: 'SupplierNumber', singular: 'Supplier' },
        missing: [2_000_435, 'Kan inte hitta leverantören.'],
        taken: (number) => [2_000_637, `Leverantörsnummer ${number} används redan.`],
        searches: searchesFor('City Email Name OrganisationNumber Phone1 Phone2 SupplierNumber ZipCode'),
        filters: {},
        sorts: sortedBy('Name SupplierNumber'),
        short: listedPerson('suppliers'),
      },
      articles: {
        ...CHANGED,
        ...about('articles', {
          Description: (index) => String(nameOf(index + 1)).slice(0, 200),
          // This member is null in all recorded responses.
          StockPlace: () => null,
          SupplierNumber: sparse(2, (index) => numberOf(index % 60)),
          VAT: cycle([25, 12, 6, 0]),
          Active: (index) => index % 4 !== 3,
          modified,
        }),
        rows: 150,
        ...{ key: 'ArticleNumber', makeId: numberOf, singular: 'Article' },
        ...{ label: 'Description', required: 'Description' },
        missing: [2_000_428, 'Kan inte hitta artikeln.'],
        taken: (number) => [2_000_013, `Artikelnumret "${number}" är redan taget.`],
        searches: {
          ...searchesFor('ArticleNumber Description EAN Manufacturer ManufacturerArticleNumber SupplierNumber'),
          webshop: isTrue('WebshopArticle'),
        },
        filters: byActivity,
        sorts: sortedBy('ArticleNumber QuantityInStock ReservedQuantity StockValue'),
        // Lists contain numbers as texts, and a rate of 0 as null.
        short: (row) => {
          const shown = listed('articles')({ ...row, VAT: row.VAT === 0 ? null : row.VAT });
          return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, asText(value)]));
        },
        can: ['delete'],
      },
      orders: {
        ...documents,
        ...about('orders', {
          ...DOCUMENT,
          OrderDate: (index) => dayAfter(FIRST_DAY, (index * 3) % 200),
          OrderType: cycle(['Order', 'Order', 'Backorder']),
          Cancelled: (index) => index % 8 === 7,
          InvoiceReference: (index) => (index % 4 === 1 ? String(index) : '0'),
          OrderRows: (index) => [makeLine(index)],
        }),
        rows: 110,
        singular: 'Order',
        missing: [2_000_439, 'Kan inte hitta ordern.'],
        searches: {
          ...DOCUMENT_SEARCHES,
          ...searchesFor('OrderType OrderDate'),
          fromdate: fromDay('OrderDate'),
          todate: toDay('OrderDate'),
        },
        filters: {
          ...byCancelling,
          expired: (row, today) => isOpen(row) && typeof row.DeliveryDate === 'string' && row.DeliveryDate < today,
          invoicecreated: ({ InvoiceReference }) => InvoiceReference !== '0',
          invoicenotcreated: isOpen,
        },
        sorts: sortedBy('CustomerName CustomerNumber OrderDate DocumentNumber Total'),
        short: listed('orders'),
        lines: ['OrderRows', 'OrderedQuantity'],
        can: ['cancel'],
      },
      invoices: {
        ...documents,
        ...about('invoices', {
          ...DOCUMENT,
          InvoiceDate: dayFor,
          // Some due dates are decades away, so that these invoices are never overdue.
          DueDate: (index) => dayAfter(dayFor(index), index % 5 === 0 ? 20_000 : 30),
          Booked: isBooked,
          Cancelled: isCancelled,
          Balance: (index) => (isPaid(index) || isCancelled(index) ? 0 : total(index)),
          FinalPayDate: (index) => (isPaid(index) ? dayAfter(dayFor(index), 12) : null),
          VoucherNumber: (index) => (isBooked(index) ? index + 1 : null),
          InvoiceRows: (index) => [makeLine(index)],
        }),
        rows: 160,
        singular: 'Invoice',
        missing: [2_000_434, 'Kan inte hitta fakturan.'],
        searches: {
          ...DOCUMENT_SEARCHES,
          ...searchesFor('Credit Currency InvoiceType OCR YourOrderNumber'),
          fromdate: fromDay('InvoiceDate'),
          todate: toDay('InvoiceDate'),
          articlenumber: containsInRows('InvoiceRows', 'ArticleNumber'),
          articledescription: containsInRows('InvoiceRows', 'Description'),
        },
        filters: {
          ...byCancelling,
          fullypaid: ({ Cancelled, FinalPayDate }) => Cancelled !== true && FinalPayDate !== null,
          unpaid: isDue,
          unpaidoverdue: (row, today) => isDue(row) && String(row.DueDate) < today,
          unbooked: ({ Booked, Cancelled }) => Booked !== true && Cancelled !== true,
        },
        sorts: sortedBy('CustomerName CustomerNumber DocumentNumber InvoiceDate OCR Total'),
        lines: ['InvoiceRows', 'DeliveredQuantity'],
        short: (row) => ({ ...listed('invoices')(row), CurrencyRate: asText(row.CurrencyRate) }),
        can: ['cancel', 'bookkeep'],
      },
    },
  });
}

/** Characters that Fortnox accepts in texts. Source: its page on formats. */
const CHARACTERS = /^(?:[\p{L}’\\0-9 –:.`´,;^¤#%§£$€¢¥©™°&/()=+\-*_!?²³®½@\u00a0\n\r]|\u0308|\u030a)*$/u;

/**
 * Reads a text. Numbers and flags may be texts, and texts may be numbers.
 * @throws Fault 400
 */
function readText(value: unknown): unknown {
  if (typeof value === 'object') return undefined;
  if (CHARACTERS.test(String(value))) return String(value);
  throw refused(2_000_359, `Värdet innehåller ej tillåtna tecken. (${value})`);
}

function readFlag(value: unknown): unknown {
  if (['true', 'false', '1', '0'].includes(String(value))) return ['true', '1'].includes(String(value));
  throw refused(2_000_134, `Värdet måste vara en boolean (${value})`);
}

function readNumber(value: unknown): unknown {
  if (/^-?\d+(\.\d+)?$/.test(String(value))) return Number(value);
  throw refused(2_000_108, `Värdet måste vara numeriskt (${value})`);
}

const cents = (amount: number) => Math.round(amount * 100) / 100;
const DUE_DAYS = 30;

/** Returns the dates that a new document gets from the day it is made. */
export function datesOf({ initial }: Resource, { InvoiceDate }: TableRow, today: string): TableRow {
  if ('OrderDate' in initial) return { OrderDate: today, OutboundDate: today };
  return { InvoiceDate: today, DueDate: dayAfter(String(InvoiceDate ?? today), DUE_DAYS), OutboundDate: today };
}

/** Returns the calculated members: ids of rows, and sums. The balance of an invoice is its total until it is paid. */
export function sumUp({ initial, lines }: Resource, row: TableRow): TableRow {
  if (lines === undefined) return {};
  const [member, quantity] = lines;
  const rows = rowsOf(row, member).map((each, index) => ({
    RowId: index + 1,
    ...each,
    [quantity]: String(each[quantity] ?? 0),
    Total: cents(Number(each.Price ?? 0) * Number(each[quantity] ?? 0)),
  }));
  const net = cents(rows.reduce((sum, { Total }) => sum + Total, 0));
  const isSummed = rows.length > 0 && row.Booked !== true;
  const sums = isSummed && { Net: net, Gross: net, Total: net, TotalToPay: net };
  const own = 'OCR' in initial && { OCR: row.OCR || `${row.DocumentNumber}0`, ...(isSummed && { Balance: net }) };
  return { [member]: rows, ...sums, ...own };
}
