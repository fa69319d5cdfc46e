import { defineObject, each, type Fields, type Inputs, json } from '#connector';
import {
  ARRAY,
  DAY,
  DOCUMENT,
  FLAG,
  INTEGER,
  KEY,
  NUMBER,
  OBJECT,
  oneOf,
  REQUIRED,
  SEARCHED,
  SEARCHED_DAY,
  TEXT,
  UNLISTED,
  WRITTEN,
} from './fields.ts';
import { listOf, parametersOf, recordsOf, searchBy } from './lists.ts';

/** The fields have Fortnox's names. README.md lists the sources of all fields. */

const HIDDEN = { ...TEXT, ...WRITTEN, ...UNLISTED } as const;
const SHOWN = { ...TEXT, ...WRITTEN } as const;
const FOUND = { ...SEARCHED, ...WRITTEN } as const;
const HIDDEN_NUMBER = { ...NUMBER, ...WRITTEN, ...UNLISTED } as const;
const HIDDEN_FLAG = { ...FLAG, ...WRITTEN, ...UNLISTED } as const;

/** Reads the phone number of a row. Lists have one phone number, under another name. */
function readPhone(row: unknown): unknown {
  return { ...json.object(row, 'a row'), Phone1: json.at(row, 'Phone') };
}

const CUSTOMER_FIELDS: Fields = {
  CustomerNumber: KEY,
  Name: { ...FOUND, ...REQUIRED },
  ...each(FOUND, 'City Email OrganisationNumber Phone1 ZipCode'),
  ...each(SHOWN, 'Address1 Address2'),
  Type: { ...oneOf('PRIVATE', 'COMPANY'), ...WRITTEN, ...UNLISTED },
  VATType: {
    ...oneOf('SEVAT', 'SEREVERSEDVAT', 'EUREVERSEDVAT', 'EUVAT', 'EXPORT'),
    ...WRITTEN,
    ...UNLISTED,
  },
  ...each(
    HIDDEN,
    `Comments CostCenter CountryCode Currency DeliveryAddress1 DeliveryAddress2 DeliveryCity DeliveryCountryCode DeliveryFax
    DeliveryName DeliveryPhone1 DeliveryPhone2 DeliveryZipCode EmailInvoice EmailInvoiceBCC EmailInvoiceCC EmailOffer
    EmailOfferBCC EmailOfferCC EmailOrder EmailOrderBCC EmailOrderCC ExternalReference Fax GLN GLNDelivery InvoiceRemark
    OurReference Phone2 PriceList Project SalesAccount TermsOfDelivery TermsOfPayment VATNumber VisitingAddress
    VisitingCity VisitingCountryCode VisitingZipCode WayOfDelivery WWW YourReference`,
  ),
  ...each({ ...TEXT, ...UNLISTED }, 'Country DeliveryCountry VisitingCountry'),
  ...each(HIDDEN_NUMBER, 'InvoiceAdministrationFee InvoiceDiscount InvoiceFreight'),
  ...each(HIDDEN_FLAG, 'Active ShowPriceVATIncluded'),
  ...each({ ...OBJECT, ...WRITTEN, ...UNLISTED }, 'DefaultDeliveryTypes DefaultTemplates'),
};

export const customers = defineObject<Inputs>({
  label: 'Customers',
  idField: 'CustomerNumber',
  fields: CUSTOMER_FIELDS,
  parameters: parametersOf({ gln: 'GLN of the customer.', glndelivery: 'GLN of the delivery address.' }, [
    'active',
    'inactive',
  ]),
  translator: searchBy('CustomerNumber Name City Email OrganisationNumber ZipCode', { Phone1: 'phone' }),
  list: listOf('customers', 'Customers', readPhone),
  ...recordsOf('customers', 'Customer', { isRemovable: true }),
});

const SUPPLIER_FIELDS: Fields = {
  SupplierNumber: KEY,
  Name: { ...FOUND, ...REQUIRED },
  ...each(FOUND, 'City Email OrganisationNumber ZipCode'),
  ...each(
    SHOWN,
    `Address1 Address2 BankAccountNumber BG BIC CostCenter CountryCode Currency IBAN PG Phone1 PreDefinedAccount Project
    TermsOfPayment`,
  ),
  ...each({ ...FLAG, ...WRITTEN }, 'Active DisablePaymentFile'),
  ...each(
    HIDDEN,
    `Bank BranchCode ClearingNumber Comments Fax OurCustomerNumber OurReference Phone2 VATNumber VATType VisitingAddress
    VisitingCity VisitingCountry VisitingCountryCode VisitingZipCode WorkPlace WWW YourReference`,
  ),
  Country: { ...TEXT, ...UNLISTED },
};

export const suppliers = defineObject<Inputs>({
  label: 'Suppliers',
  idField: 'SupplierNumber',
  fields: SUPPLIER_FIELDS,
  parameters: parametersOf({}),
  translator: searchBy('SupplierNumber Name City Email OrganisationNumber ZipCode'),
  list: listOf('suppliers', 'Suppliers', readPhone),
  ...recordsOf('suppliers', 'Supplier', { isRemovable: true }),
});

const ARTICLE_FIELDS: Fields = {
  ArticleNumber: KEY,
  Description: { ...FOUND, ...REQUIRED },
  EAN: FOUND,
  ...each(SHOWN, 'StockPlace Unit'),
  ...each(NUMBER, 'DisposableQuantity ReservedQuantity SalesPrice StockValue'),
  ...each({ ...NUMBER, ...WRITTEN }, 'PurchasePrice QuantityInStock'),
  ...each({ ...FLAG, ...WRITTEN }, 'Housework WebshopArticle'),
  Type: { ...oneOf('STOCK', 'SERVICE'), ...WRITTEN, ...UNLISTED },
  ...each(
    HIDDEN,
    'CostCalculationMethod DefaultStockLocation DefaultStockPoint HouseworkType Manufacturer ManufacturerArticleNumber Note SupplierNumber',
  ),
  SupplierName: { ...TEXT, ...UNLISTED },
  ...each(HIDDEN_NUMBER, 'DirectCost FreightCost OtherCost StockWarning VAT'),
  ...each(
    { ...INTEGER, ...WRITTEN, ...UNLISTED },
    `ConstructionAccount Depth EUAccount EUVATAccount ExportAccount Height PurchaseAccount SalesAccount StockAccount
    StockChangeAccount Weight Width`,
  ),
  ...each(HIDDEN_FLAG, 'Active Bulky Expired StockGoods'),
};

export const articles = defineObject<Inputs>({
  label: 'Articles',
  idField: 'ArticleNumber',
  fields: ARTICLE_FIELDS,
  parameters: parametersOf(
    {
      manufacturer: 'Name of the manufacturer.',
      manufacturerarticlenumber: 'Number of the article at its manufacturer.',
      suppliernumber: 'Number of the supplier.',
    },
    ['active', 'inactive'],
  ),
  translator: searchBy('ArticleNumber Description EAN'),
  list: listOf('articles', 'Articles'),
  ...recordsOf('articles', 'Article', { isRemovable: true }),
});

/** Fields of invoices and orders, which belong to a customer. */
const DOCUMENT_FIELDS: Fields = {
  DocumentNumber: DOCUMENT,
  CustomerNumber: { ...FOUND, ...REQUIRED },
  ...each(FOUND, 'CustomerName ExternalInvoiceReference1 ExternalInvoiceReference2 Project'),
  Currency: SHOWN,
  ...each(FLAG, 'Cancelled Sent'),
  Total: NUMBER,
  Language: { ...oneOf('SV', 'EN'), ...WRITTEN, ...UNLISTED },
  TaxReductionType: { ...oneOf('none', 'rot', 'rut', 'green'), ...WRITTEN, ...UNLISTED },
  ...each(
    HIDDEN,
    `Address1 Address2 City Comments Country DeliveryAddress1 DeliveryAddress2 DeliveryCity DeliveryCountry DeliveryName
    DeliveryZipCode OurReference Phone1 Phone2 PriceList PrintTemplate Remarks TermsOfDelivery YourOrderNumber YourReference
    ZipCode`,
  ),
  OrganisationNumber: { ...TEXT, ...UNLISTED },
  ...each(HIDDEN_NUMBER, 'AdministrationFee Freight'),
  ...each(
    { ...NUMBER, ...UNLISTED },
    `AdministrationFeeVAT BasisTaxReduction ContributionPercent ContributionValue FreightVAT Gross Net RoundOff TaxReduction
    TotalToPay TotalVAT`,
  ),
  ...each(HIDDEN_FLAG, 'NotCompleted VATIncluded'),
  ...each({ ...FLAG, ...UNLISTED }, 'HouseWork WarehouseReady'),
  OutboundDate: { ...DAY, ...WRITTEN, ...UNLISTED },
  ...each({ ...INTEGER, ...UNLISTED }, 'InvoiceReference OfferReference TimeBasisReference'),
  EmailInformation: { ...OBJECT, ...WRITTEN, ...UNLISTED },
  Labels: { ...ARRAY, ...WRITTEN, ...UNLISTED },
};

const REFERENCES = {
  ourreference: 'Our reference, or a part of it.',
  yourreference: "The customer's reference, or a part of it.",
};

const INVOICE_FIELDS: Fields = {
  ...DOCUMENT_FIELDS,
  InvoiceDate: { ...SEARCHED_DAY, ...WRITTEN },
  DueDate: { ...DAY, ...WRITTEN },
  FinalPayDate: DAY,
  InvoiceType: {
    ...SHOWN,
    values: ['INVOICE', 'AGREEMENTINVOICE', 'INTRESTINVOICE', 'SUMMARYINVOICE', 'CASHINVOICE'],
  },
  ...each(FOUND, 'CostCenter OCR'),
  ...each(SHOWN, 'TermsOfPayment WayOfDelivery'),
  VoucherSeries: TEXT,
  Balance: NUMBER,
  ...each({ ...NUMBER, ...WRITTEN }, 'CurrencyRate CurrencyUnit'),
  ...each(FLAG, 'Booked NoxFinans'),
  ...each(INTEGER, 'VoucherNumber VoucherYear'),
  ...each({ ...TEXT, ...UNLISTED }, 'AccountingMethod'),
  ...each(HIDDEN, 'PaymentWay'),
  Credit: { ...FLAG, ...UNLISTED },
  EUQuarterlyReport: HIDDEN_FLAG,
  DeliveryDate: { ...DAY, ...WRITTEN, ...UNLISTED },
  ...each({ ...DAY, ...UNLISTED }, 'InvoicePeriodStart InvoicePeriodEnd LastRemindDate'),
  ...each({ ...INTEGER, ...UNLISTED }, 'ContractReference CreditInvoiceReference OrderReference Reminders'),
  EDIInformation: { ...OBJECT, ...WRITTEN, ...UNLISTED },
  InvoiceRows: { ...ARRAY, ...WRITTEN, ...UNLISTED },
};

export const invoices = defineObject<Inputs>({
  label: 'Invoices',
  description: 'Invoices to customers. They are cancelled or credited, and never deleted.',
  idField: 'DocumentNumber',
  fields: INVOICE_FIELDS,
  limits: { maxSortFields: 1 },
  parameters: parametersOf(
    {
      ...REFERENCES,
      yourordernumber: "The customer's order number, or a part of it.",
      articlenumber: 'Number of an article of a row.',
      articledescription: 'Description of an article of a row.',
    },
    ['cancelled', 'fullypaid', 'unpaid', 'unpaidoverdue', 'unbooked'],
  ),
  translator: searchBy(
    'DocumentNumber CustomerNumber CustomerName ExternalInvoiceReference1 ExternalInvoiceReference2 Project CostCenter OCR',
    {},
    'InvoiceDate',
  ),
  list: listOf('invoices', 'Invoices'),
  ...recordsOf('invoices', 'Invoice'),
});

const ORDER_FIELDS: Fields = {
  ...DOCUMENT_FIELDS,
  OrderDate: { ...SEARCHED_DAY, ...WRITTEN },
  DeliveryDate: { ...DAY, ...WRITTEN },
  OrderType: TEXT,
  DeliveryState: { ...oneOf('registration', 'reservation', 'delivery'), ...WRITTEN, ...UNLISTED },
  ...each(HIDDEN, 'CostCenter StockPointCode TermsOfPayment WayOfDelivery'),
  StockPointId: { ...TEXT, ...UNLISTED },
  ...each(HIDDEN_NUMBER, 'CurrencyRate CurrencyUnit'),
  CopyRemarks: HIDDEN_FLAG,
  OrderRows: { ...ARRAY, ...WRITTEN, ...UNLISTED },
};

export const orders = defineObject<Inputs>({
  label: 'Orders',
  description: 'Orders of customers. They are cancelled, and never deleted.',
  idField: 'DocumentNumber',
  fields: ORDER_FIELDS,
  limits: { maxSortFields: 1 },
  parameters: parametersOf({ ...REFERENCES, costcenter: 'Code of the cost center.' }, [
    'cancelled',
    'expired',
    'invoicecreated',
    'invoicenotcreated',
  ]),
  translator: searchBy(
    'DocumentNumber CustomerNumber CustomerName ExternalInvoiceReference1 ExternalInvoiceReference2 Project',
    {},
    'OrderDate',
  ),
  list: listOf('orders', 'Orders'),
  ...recordsOf('orders', 'Order'),
});
