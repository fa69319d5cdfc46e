import {
  type Column,
  cycle,
  DAY_MS,
  dayAfter,
  HOSTILE_TEXTS,
  makeRows,
  sparse,
  type TableRow,
} from '#connector/simulator';

/** Rows in the long form, member for member as recorded answers of single records have them; `modified` is never shown. */

const hostile = cycle(HOSTILE_TEXTS);
/** Hostile texts alone would never sort or match as words do. */
const NAMES = [
  'Åhléns AB',
  'Östers Bygg',
  'anders svensson',
  'Anders Svensson',
  'Zäta',
  "O'Brien & Söhne",
  'Test 100%_a',
];
/** Must not be empty, unlike other texts. */
const name: Column = (index) => (index % 3 === 0 ? String(hostile(index / 3)) : '') || cycle(NAMES)(index);
const textFrom =
  (start: number, longest = 1024): Column =>
  (index) =>
    String(hostile(index + start)).slice(0, longest);
const CITIES = ['KLIPPAN', 'Klippan', 'ÄLMHULT', 'Älmhult', 'New York', 'Växjö', '', 'Åre'];
const ZIPS = ['264 32', '343 90', '10001', '', '26432'];

/** Numbers are texts: some have letters in them, or a sign that paths must encode. */
function numberOf(index: number): string {
  return (
    ({ 4: 'A100', 5: '1A100', 6: 'K/7', 7: 'a_b-c', 8: 'B+1' } as Readonly<Record<number, string>>)[index] ??
    String(index + 1)
  );
}

const FIRST_CHANGE_MS = Date.parse('2024-02-28T22:58:00Z');
/** Two rows of a minute, and minutes on both sides of midnight and of a change of clocks. */
const modified: Column = (index) => FIRST_CHANGE_MS + Math.floor(index / 2) * (DAY_MS / 2 + 61_001);

const nothing: Column = () => null;
const blank: Column = () => '';
const all = (names: string, column: Column): Readonly<Record<string, Column>> =>
  Object.fromEntries(names.split(' ').map((each) => [each, column]));

const NO_CUSTOMER = {
  ...all('Address1 Address2 City Country Comments', nothing),
  Currency: () => 'SEK',
  ...all('CostCenter CountryCode', nothing),
  Active: () => true,
  CustomerNumber: blank,
  DefaultDeliveryTypes: () => ({ Invoice: 'PRINT', Order: 'PRINT', Offer: 'PRINT' }),
  DefaultTemplates: () => ({
    Order: 'DEFAULTTEMPLATE',
    Offer: 'DEFAULTTEMPLATE',
    Invoice: 'DEFAULTTEMPLATE',
    CashInvoice: 'DEFAULTTEMPLATE',
  }),
  ...all('DeliveryAddress1 DeliveryAddress2 DeliveryCity DeliveryCountry DeliveryCountryCode DeliveryFax', nothing),
  ...all('DeliveryName DeliveryPhone1 DeliveryPhone2 DeliveryZipCode', nothing),
  ...all('Email EmailInvoice EmailInvoiceBCC EmailInvoiceCC EmailOffer EmailOfferBCC EmailOfferCC', blank),
  ...all('EmailOrder EmailOrderBCC EmailOrderCC', blank),
  ...all('ExternalReference Fax GLN GLNDelivery InvoiceAdministrationFee InvoiceDiscount InvoiceFreight', nothing),
  ...all('InvoiceRemark Name OrganisationNumber OurReference', blank),
  ...all('Phone1 Phone2', nothing),
  PriceList: () => 'A',
  Project: blank,
  SalesAccount: nothing,
  ShowPriceVATIncluded: () => false,
  ...all('TermsOfDelivery TermsOfPayment', blank),
  Type: () => 'COMPANY',
  VATNumber: blank,
  VATType: () => 'SEVAT',
  ...all('VisitingAddress VisitingCity VisitingCountry VisitingCountryCode VisitingZipCode', nothing),
  ...all('WayOfDelivery WWW YourReference', blank),
  ZipCode: nothing,
};

const NO_ARTICLE = {
  ArticleNumber: blank,
  Bulky: () => false,
  ...all('ConstructionAccount Depth', () => 0),
  Description: blank,
  DisposableQuantity: () => 0,
  EAN: blank,
  EUAccount: () => 3108,
  EUVATAccount: () => 3106,
  ExportAccount: () => 3105,
  Height: () => 0,
  Housework: () => false,
  HouseworkType: nothing,
  Active: () => true,
  Manufacturer: nothing,
  ...all('ManufacturerArticleNumber Note', blank),
  PurchaseAccount: () => 4000,
  ...all('PurchasePrice QuantityInStock ReservedQuantity', () => 0),
  SalesAccount: () => 3001,
  StockGoods: () => false,
  StockPlace: nothing,
  ...all('StockValue StockWarning', () => 0),
  ...all('SupplierName SupplierNumber', nothing),
  Type: () => 'STOCK',
  Unit: nothing,
  VAT: () => 25,
  WebshopArticle: () => false,
  ...all('Weight Width', () => 0),
  Expired: () => false,
  ...all('SalesPrice CostCalculationMethod StockAccount StockChangeAccount DirectCost FreightCost OtherCost', nothing),
  ...all('DefaultStockPoint DefaultStockLocation', nothing),
};

const NO_SUPPLIER = {
  Active: () => true,
  ...all('Address1 Address2 Bank BankAccountNumber BG BIC BranchCode City ClearingNumber Comments CostCenter', nothing),
  ...all('Country CountryCode', nothing),
  Currency: () => 'SEK',
  DisablePaymentFile: () => false,
  Email: blank,
  ...all('Fax IBAN', nothing),
  ...all('Name OrganisationNumber OurReference OurCustomerNumber', blank),
  ...all('PG Phone1 Phone2 PreDefinedAccount', nothing),
  ...all('Project SupplierNumber TermsOfPayment VATNumber', blank),
  VATType: () => 'NORMAL',
  ...all('VisitingAddress VisitingCity VisitingCountry VisitingCountryCode VisitingZipCode WorkPlace', nothing),
  ...all('WWW YourReference', blank),
  ZipCode: nothing,
};

const emailInformation = (subject: string) => () => ({
  EmailAddressFrom: null,
  EmailAddressTo: '',
  EmailAddressCC: null,
  EmailAddressBCC: null,
  EmailSubject: subject,
  EmailBody: ' ',
});

/** What orders and invoices have in common. */
const NO_DOCUMENT = {
  ...all('AdministrationFee AdministrationFeeVAT BasisTaxReduction ContributionPercent ContributionValue', () => 0),
  ...all('Address1 Address2 City Comments Country CostCenter CustomerName CustomerNumber', blank),
  ...all('Cancelled HouseWork NotCompleted Sent VATIncluded', () => false),
  Currency: () => 'SEK',
  ...all('CurrencyRate CurrencyUnit', () => 1),
  ...all('DeliveryAddress1 DeliveryAddress2 DeliveryCity DeliveryCountry DeliveryName DeliveryZipCode', blank),
  DeliveryDate: nothing,
  ...all('DocumentNumber ExternalInvoiceReference1 ExternalInvoiceReference2', blank),
  ...all('Freight FreightVAT Gross Net RoundOff Total TotalToPay TotalVAT', () => 0),
  InvoiceReference: () => '0',
  Labels: () => [],
  Language: () => 'SV',
  OfferReference: () => '0',
  ...all('OrganisationNumber OurReference Phone1 Phone2 Project Remarks', blank),
  PriceList: () => 'A',
  WarehouseReady: () => true,
  OutboundDate: nothing,
  ...all('TaxReduction TimeBasisReference', nothing),
  ...all('TermsOfDelivery WayOfDelivery YourReference YourOrderNumber ZipCode', blank),
  TermsOfPayment: () => '30',
  TaxReductionType: () => 'none',
};

const NO_ORDER = {
  ...NO_DOCUMENT,
  CopyRemarks: () => false,
  DeliveryState: () => 'delivery',
  EmailInformation: emailInformation('Order {no} bifogas'),
  OrderDate: blank,
  OrderRows: () => [],
  OrderType: () => 'Order',
  PrintTemplate: () => 'oc',
  ...all('StockPointCode StockPointId', nothing),
};

const NO_INVOICE = {
  ...NO_DOCUMENT,
  ...all('Balance ContractReference Reminders', () => 0),
  ...all('Booked EUQuarterlyReport NoxFinans', () => false),
  Credit: () => 'false',
  CreditInvoiceReference: () => '0',
  DueDate: blank,
  EDIInformation: () => ({
    EDIGlobalLocationNumber: null,
    EDIGlobalLocationNumberDelivery: null,
    EDIInvoiceExtra1: null,
    EDIInvoiceExtra2: null,
    EDIOurElectronicReference: null,
    EDIYourElectronicReference: null,
    EDIStatus: '',
  }),
  EmailInformation: emailInformation('Faktura {no} bifogas'),
  ...all('InvoiceDate InvoicePeriodStart InvoicePeriodEnd', blank),
  InvoiceRows: () => [],
  InvoiceType: () => 'INVOICE',
  ...all('LastRemindDate VoucherNumber VoucherSeries VoucherYear FinalPayDate', nothing),
  OCR: blank,
  OrderReference: () => '0',
  PaymentWay: blank,
  PrintTemplate: () => 'st',
  AccountingMethod: () => 'ACCRUAL',
};

const emptyOf = (columns: Readonly<Record<string, Column>>): TableRow => makeRows(1, columns)[0] ?? {};

/** What a new record has that nobody set. */
export const EMPTY = {
  customers: emptyOf(NO_CUSTOMER),
  articles: emptyOf(NO_ARTICLE),
  suppliers: emptyOf(NO_SUPPLIER),
  orders: emptyOf(NO_ORDER),
  invoices: emptyOf(NO_INVOICE),
};

const CUSTOMERS = 130;

export function makeCustomers(): readonly TableRow[] {
  return makeRows(CUSTOMERS, {
    ...NO_CUSTOMER,
    CustomerNumber: numberOf,
    Name: name,
    Address1: sparse(4, textFrom(3)),
    Address2: sparse(3, textFrom(7)),
    City: sparse(9, cycle(CITIES)),
    ZipCode: sparse(7, cycle(ZIPS)),
    Comments: sparse(5, textFrom(11)),
    Email: (index) => (index % 6 === 0 ? '' : `k${index % 40}+x@Example.com`),
    OrganisationNumber: cycle(['', '556677-8899', '19121212-1212']),
    Phone1: sparse(3, cycle(['0435-9249236', '+46 70 123', '0476-1352274', ''])),
    GLN: sparse(2, cycle(['7365561234563', '7365560000001'])),
    GLNDelivery: sparse(3, cycle(['7365561234563', '7365560000018'])),
    InvoiceDiscount: sparse(4, cycle([0, 10.5, 99.99])),
    CountryCode: sparse(4, cycle(['SE', 'NO', 'DE'])),
    Active: (index) => index % 5 !== 4,
    Type: cycle(['COMPANY', 'PRIVATE']),
    modified,
  });
}

export function makeArticles(): readonly TableRow[] {
  return makeRows(150, {
    ...NO_ARTICLE,
    ArticleNumber: numberOf,
    Description: (index) => String(name(index + 1)).slice(0, 200),
    EAN: cycle(['', '5901234123457', '7310865004703']),
    Manufacturer: sparse(3, textFrom(5, 50)),
    ManufacturerArticleNumber: textFrom(9, 50),
    SupplierNumber: sparse(2, (index) => numberOf(index % 60)),
    PurchasePrice: cycle([0, 2499.5, 0.1, 100]),
    SalesPrice: sparse(3, cycle([300, 0.3, 1199.95, 0])),
    QuantityInStock: cycle([0, 10, -3, 2.5, 1_000_000]),
    DisposableQuantity: cycle([0, 10, -3, 2.5, 1_000_000]),
    StockValue: cycle([0, 24_995, 0.01]),
    Unit: sparse(4, cycle(['st', 'h', ''])),
    VAT: cycle([25, 12, 6, 0]),
    Active: (index) => index % 4 !== 3,
    WebshopArticle: (index) => index % 3 === 0,
    Note: textFrom(2),
    modified,
  });
}

export function makeSuppliers(): readonly TableRow[] {
  return makeRows(60, {
    ...NO_SUPPLIER,
    SupplierNumber: numberOf,
    Name: name,
    Address1: sparse(4, textFrom(13)),
    City: sparse(5, cycle(CITIES)),
    ZipCode: sparse(3, cycle(ZIPS)),
    Email: cycle(['', 'lev@example.com', 'Lev+2@Example.com']),
    OrganisationNumber: cycle(['', '556677-8899']),
    Phone1: sparse(4, cycle(['0435-9249236', '+46 70 123'])),
    Phone2: sparse(3, cycle(['08-1', '08-12'])),
    BG: sparse(2, cycle(['1111111', '123-4567'])),
    Active: (index) => index % 3 !== 2,
    modified,
  });
}

const FIRST_DAY = '2023-12-28';

/** Of documents: the customer's number and name as they were, a day, and texts of people. */
const DOCUMENT: Readonly<Record<string, Column>> = {
  DocumentNumber: (index) => String(index + 1),
  CustomerNumber: (index) => numberOf((index * 7) % CUSTOMERS),
  CustomerName: (index) => name((index * 7) % CUSTOMERS),
  Currency: cycle(['SEK', 'EUR', 'SEK', 'NOK', 'SEK']),
  CurrencyRate: cycle([1, 11.235, 1, 0.98, 1]),
  CostCenter: cycle(['', 'NORD', 'nord']),
  Project: cycle(['', '1', '11']),
  Comments: textFrom(6),
  OurReference: textFrom(1),
  YourReference: cycle(['', 'Gandalf the Grey', 'Radagast the Brown', 'gandalf the grey']),
  ExternalInvoiceReference1: textFrom(4, 80),
  ExternalInvoiceReference2: cycle(['', 'PO-1', 'PO-10']),
  Sent: (index) => index % 3 === 1,
  NotCompleted: (index) => index % 10 === 9,
  Total: cycle([0, 1250, 99.5, -300, 0.1, 123_456.78]),
  modified,
};

export function makeOrders(): readonly TableRow[] {
  return makeRows(110, {
    ...NO_ORDER,
    ...DOCUMENT,
    OrderDate: (index) => dayAfter(FIRST_DAY, (index * 3) % 200),
    DeliveryDate: sparse(3, (index) => dayAfter(FIRST_DAY, index * 9)),
    OrderType: cycle(['Order', 'Order', 'Backorder']),
    Cancelled: (index) => index % 8 === 7,
    InvoiceReference: (index) => (index % 4 === 1 ? String(index) : '0'),
    OrderRows: (index) => [makeOrderRow(index)],
  });
}

function makeOrderRow(index: number): TableRow {
  return {
    AccountNumber: 3001,
    ArticleNumber: numberOf(index % 150),
    ContributionPercent: '0',
    ContributionValue: '0',
    Cost: 0,
    CostCenter: '',
    DeliveredQuantity: '0',
    Description: 'Hammer',
    Discount: 0,
    DiscountType: 'PERCENT',
    HouseWork: false,
    HouseWorkHoursToReport: null,
    HouseWorkType: null,
    OrderedQuantity: '1',
    Price: 10.5,
    Project: '',
    ReservedQuantity: '0',
    RowId: index + 1,
    StockPointCode: null,
    StockPointId: null,
    Total: 10.5,
    Unit: '',
    VAT: 25,
  };
}

const isBooked = (index: number): boolean => index % 4 !== 0;
const isCancelled = (index: number): boolean => index % 11 === 10;
const isPaid = (index: number): boolean => isBooked(index) && !isCancelled(index) && index % 3 === 0;

export function makeInvoices(): readonly TableRow[] {
  return makeRows(160, {
    ...NO_INVOICE,
    ...DOCUMENT,
    InvoiceDate: (index) => dayAfter(FIRST_DAY, (index * 5) % 300),
    // Some fall due long after everybody who reads this.
    DueDate: (index) => dayAfter(FIRST_DAY, ((index * 5) % 300) + (index % 5 === 0 ? 20_000 : 30)),
    InvoiceType: cycle(['INVOICE', 'INVOICE', 'CASHINVOICE', 'AGREEMENTINVOICE', 'INTRESTINVOICE']),
    OCR: (index) => `${index + 1}${((index + 1) * 7) % 100}`,
    Booked: isBooked,
    Cancelled: isCancelled,
    Balance: (index) => (isPaid(index) || isCancelled(index) ? 0 : Number(DOCUMENT.Total?.(index))),
    FinalPayDate: (index) => (isPaid(index) ? dayAfter(FIRST_DAY, ((index * 5) % 300) + 12) : null),
    VoucherNumber: (index) => (isBooked(index) ? index + 1 : null),
    VoucherSeries: (index) => (isBooked(index) ? 'B' : null),
    VoucherYear: (index) => (isBooked(index) ? 1 : null),
    YourOrderNumber: cycle(['', 'PO-7', 'po-77']),
    InvoiceRows: (index) => [makeInvoiceRow(index)],
  });
}

function makeInvoiceRow(index: number): TableRow {
  const { OrderedQuantity: _, ReservedQuantity: __, StockPointId: ___, ...row } = makeOrderRow(index);
  return { ...row, AccountNumber: 3001 + (index % 3), PriceExcludingVAT: 10.5, TotalExcludingVAT: 10.5 };
}
