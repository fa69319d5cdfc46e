import { createTable, type MovableClock, type Table, type TableRow } from '#connector/simulator';
import { EMPTY, makeArticles, makeCustomers, makeInvoices, makeOrders, makeSuppliers } from './rows.ts';
import { contains, containsInRows, fromDay, isTrue, rowsOf, type Search, toDay } from './searches.ts';

/** A collection, as the reference and recorded answers describe it. */
export interface Resource {
  readonly path: keyof typeof EMPTY;
  readonly singular: string;
  readonly plural: string;
  readonly key: string;
  readonly table: Table;
  /** Of a record that is not there. */
  readonly missing: readonly [code: number, message: string];
  /** A row of a list. */
  readonly short: (row: TableRow) => TableRow;
  /** By parameter. */
  readonly searches: Readonly<Record<string, Search>>;
  readonly filters: Readonly<Record<string, (row: TableRow, today: string) => boolean>>;
  /** Columns by the words of `sortby`. */
  readonly sorts: Readonly<Record<string, string>>;
  /** Members that answers have and that nobody sets: they are passed over. */
  readonly readOnly: readonly string[];
  readonly required: string;
  /** Kinds of members that are null until they are set; the kinds of the others are those of their values. */
  readonly kinds: Readonly<Record<string, 'number' | 'day'>>;
  /** Of a number that somebody else has, or had. */
  readonly taken: (number: string) => readonly [code: number, message: string];
  readonly can: readonly ('delete' | 'cancel' | 'bookkeep')[];
}

export type Resources = Readonly<Record<keyof typeof EMPTY, Resource>>;

const words = (text: string): readonly string[] => text.split(' ');
const pickFrom = (names: string) => {
  const wanted = words(names);
  return (row: TableRow): TableRow => Object.fromEntries(wanted.map((name) => [name, row[name]]));
};
const withoutNulls = (row: TableRow): TableRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? '']));
/** Lists write numbers of articles as texts, single records as numbers. */
const asText = (value: unknown) => (typeof value === 'number' ? String(value) : value);
const isActive = {
  active: ({ Active }: TableRow) => Active === true,
  inactive: ({ Active }: TableRow) => Active !== true,
};
const same = (columns: string): Readonly<Record<string, string>> =>
  Object.fromEntries(words(columns).map((column) => [column.toLowerCase(), column]));
const searchesFor = (columns: string): Readonly<Record<string, Search>> =>
  Object.fromEntries(words(columns).map((column) => [column.toLowerCase(), contains(column)]));

const shortCustomer = pickFrom('Address1 Address2 City CustomerNumber Email Name OrganisationNumber Phone1 ZipCode');
const shortArticle = pickFrom(
  'ArticleNumber Description DisposableQuantity EAN Housework PurchasePrice SalesPrice QuantityInStock ReservedQuantity StockPlace StockValue Unit VAT WebshopArticle',
);
const shortSupplier = pickFrom(
  'Active Address1 Address2 BG BIC BankAccountNumber City CostCenter CountryCode Currency DisablePaymentFile Email IBAN Name OrganisationNumber PG Phone1 PreDefinedAccount Project SupplierNumber TermsOfPayment ZipCode',
);
const shortOrder = pickFrom(
  'Cancelled Currency CustomerName CustomerNumber DeliveryDate DocumentNumber ExternalInvoiceReference1 ExternalInvoiceReference2 OrderDate OrderType Project Sent Total',
);
const shortInvoice = pickFrom(
  'Balance Booked Cancelled CostCenter Currency CurrencyRate CurrencyUnit CustomerName CustomerNumber DocumentNumber DueDate ExternalInvoiceReference1 ExternalInvoiceReference2 InvoiceDate InvoiceType NoxFinans OCR VoucherNumber VoucherSeries VoucherYear WayOfDelivery TermsOfPayment Project Sent Total FinalPayDate',
);

/** `Phone` is the first number of the record. */
function withPhone(row: TableRow): TableRow {
  const { Phone1, ...rest } = row;
  return { ...rest, Phone: Phone1 };
}

const DOCUMENT_SEARCHES: Readonly<Record<string, Search>> = {
  ...searchesFor(
    'CostCenter CustomerName CustomerNumber DocumentNumber ExternalInvoiceReference1 ExternalInvoiceReference2 OurReference Project YourReference',
  ),
  sent: isTrue('Sent'),
  notcompleted: isTrue('NotCompleted'),
  label: (text) => (row) => rowsOf(row, 'Labels').some(({ Id }) => String(Id) === text),
};
const DOCUMENT_READ_ONLY = words(
  'AdministrationFeeVAT BasisTaxReduction Cancelled ContributionPercent ContributionValue FreightVAT Gross HouseWork InvoiceReference Net OfferReference OrganisationNumber RoundOff Sent TaxReduction TimeBasisReference Total TotalToPay TotalVAT WarehouseReady',
);

const isDue = ({ Booked, Cancelled, Balance }: TableRow) => Booked === true && Cancelled !== true && Balance !== 0;
const isOpen = ({ Cancelled, InvoiceReference }: TableRow) => Cancelled !== true && InvoiceReference === '0';

const takenDocument = (number: string) => [2_000_588, `Dokumentnummer ${number} används redan.`] as const;

export function createResources(clock: MovableClock): Resources {
  const tableOf = (path: keyof typeof EMPTY, key: string, rows: readonly TableRow[]) =>
    createTable({
      rows,
      keyOf: (row) => String(row[key]),
      initial: (_, before) => ({ ...EMPTY[path], [key]: nextNumber(before(), key) }),
      stamps: { clock, write: (ms) => ms, created: [], changed: ['modified'] },
      // Numbers stay taken.
      deleted: 'removed',
    });
  return {
    customers: {
      path: 'customers',
      singular: 'Customer',
      plural: 'Customers',
      key: 'CustomerNumber',
      table: tableOf('customers', 'CustomerNumber', makeCustomers()),
      missing: [2_000_433, 'Kan inte hitta kunden.'],
      short: (row) => withoutNulls(withPhone(shortCustomer(row))),
      searches: {
        ...searchesFor('City CustomerNumber Email GLN GLNDelivery Name OrganisationNumber ZipCode'),
        phone: contains('Phone1'),
      },
      filters: isActive,
      sorts: same('CustomerNumber Name'),
      readOnly: ['Country', 'DeliveryCountry', 'VisitingCountry'],
      required: 'Name',
      kinds: { InvoiceDiscount: 'number' },
      taken: (number) => [2_000_637, `Kundnummer ${number} används redan.`],
      can: ['delete'],
    },
    articles: {
      path: 'articles',
      singular: 'Article',
      plural: 'Articles',
      key: 'ArticleNumber',
      table: tableOf('articles', 'ArticleNumber', makeArticles()),
      missing: [2_000_428, 'Kan inte hitta artikeln.'],
      // A rate of nothing is null in lists.
      short: ({ VAT, ...row }) => ({
        ...Object.fromEntries(
          Object.entries(shortArticle({ ...row, VAT: VAT === 0 ? null : VAT })).map(([name, value]) => [
            name,
            asText(value),
          ]),
        ),
      }),
      searches: {
        ...searchesFor('ArticleNumber Description EAN Manufacturer ManufacturerArticleNumber SupplierNumber'),
        webshop: isTrue('WebshopArticle'),
      },
      filters: isActive,
      sorts: same('ArticleNumber QuantityInStock ReservedQuantity StockValue'),
      readOnly: ['DisposableQuantity', 'ReservedQuantity', 'SalesPrice', 'StockValue', 'SupplierName'],
      required: 'Description',
      kinds: {
        DirectCost: 'number',
        FreightCost: 'number',
        OtherCost: 'number',
        StockAccount: 'number',
        StockChangeAccount: 'number',
      },
      taken: (number) => [2_000_013, `Artikelnumret "${number}" är redan taget.`],
      can: ['delete'],
    },
    suppliers: {
      path: 'suppliers',
      singular: 'Supplier',
      plural: 'Suppliers',
      key: 'SupplierNumber',
      table: tableOf('suppliers', 'SupplierNumber', makeSuppliers()),
      missing: [2_000_435, 'Kan inte hitta leverantören.'],
      short: (row) => withoutNulls(withPhone(shortSupplier(row))),
      searches: searchesFor('City Email Name OrganisationNumber Phone1 Phone2 SupplierNumber ZipCode'),
      filters: {},
      sorts: same('Name SupplierNumber'),
      readOnly: ['Country'],
      required: 'Name',
      kinds: {},
      taken: (number) => [2_000_637, `Leverantörsnummer ${number} används redan.`],
      can: ['delete'],
    },
    orders: {
      path: 'orders',
      singular: 'Order',
      plural: 'Orders',
      key: 'DocumentNumber',
      table: tableOf('orders', 'DocumentNumber', makeOrders()),
      missing: [2_000_439, 'Kan inte hitta ordern.'],
      short: shortOrder,
      searches: {
        ...DOCUMENT_SEARCHES,
        ...searchesFor('OrderType OrderDate'),
        fromdate: fromDay('OrderDate'),
        todate: toDay('OrderDate'),
      },
      filters: {
        cancelled: ({ Cancelled }) => Cancelled === true,
        expired: (row, today) => isOpen(row) && typeof row.DeliveryDate === 'string' && row.DeliveryDate < today,
        invoicecreated: ({ InvoiceReference }) => InvoiceReference !== '0',
        invoicenotcreated: isOpen,
      },
      sorts: same('CustomerName CustomerNumber OrderDate DocumentNumber Total'),
      readOnly: DOCUMENT_READ_ONLY,
      required: 'CustomerNumber',
      kinds: { DeliveryDate: 'day', OrderDate: 'day' },
      taken: takenDocument,
      can: ['cancel'],
    },
    invoices: {
      path: 'invoices',
      singular: 'Invoice',
      plural: 'Invoices',
      key: 'DocumentNumber',
      table: tableOf('invoices', 'DocumentNumber', makeInvoices()),
      missing: [2_000_434, 'Kan inte hitta fakturan.'],
      short: (row) => ({ ...shortInvoice(row), CurrencyRate: asText(row.CurrencyRate) }),
      searches: {
        ...DOCUMENT_SEARCHES,
        ...searchesFor('Credit Currency InvoiceType OCR YourOrderNumber'),
        fromdate: fromDay('InvoiceDate'),
        todate: toDay('InvoiceDate'),
        fromfinalpaydate: fromDay('FinalPayDate'),
        tofinalpaydate: toDay('FinalPayDate'),
        articlenumber: containsInRows('InvoiceRows', 'ArticleNumber'),
        articledescription: containsInRows('InvoiceRows', 'Description'),
        accountnumberfrom: onAccounts((account, bound) => account >= bound),
        accountnumberto: onAccounts((account, bound) => account <= bound),
      },
      filters: {
        cancelled: ({ Cancelled }) => Cancelled === true,
        fullypaid: ({ Cancelled, FinalPayDate }) => Cancelled !== true && FinalPayDate !== null,
        unpaid: isDue,
        unpaidoverdue: (row, today) => isDue(row) && String(row.DueDate) < today,
        unbooked: ({ Booked, Cancelled }) => Booked !== true && Cancelled !== true,
      },
      sorts: same('CustomerName CustomerNumber DocumentNumber InvoiceDate OCR Total'),
      readOnly: [
        ...DOCUMENT_READ_ONLY,
        ...words(
          'Balance Booked ContractReference Credit CreditInvoiceReference FinalPayDate LastRemindDate NoxFinans',
        ),
        ...words('OrderReference Reminders VoucherNumber VoucherSeries VoucherYear'),
      ],
      required: 'CustomerNumber',
      kinds: { DeliveryDate: 'day', DueDate: 'day', InvoiceDate: 'day' },
      taken: takenDocument,
      can: ['cancel', 'bookkeep'],
    },
  };
}

/** One row of the invoice may be on one side of the bound, another on the other. */
function onAccounts(holds: (account: number, bound: number) => boolean): Search {
  return (text) => (row) =>
    rowsOf(row, 'InvoiceRows').some(({ AccountNumber }) => holds(Number(AccountNumber), Number(text)));
}

function nextNumber(rows: readonly TableRow[], key: string): string {
  const numbers = rows.map((row) => String(row[key])).filter((number) => /^\d+$/.test(number));
  return String(Math.max(0, ...numbers.map(Number)) + 1);
}
