import { defineObject, type Fields, type Media, type ObjectSpec, type Objects, path } from '#connector';
import { deletionsOf } from './deletions.ts';
import {
  ACTIVE,
  address,
  COMPANY,
  OWN,
  oneOf,
  PERSON,
  reference,
  references,
  SALE,
  shown,
  TRANSACTION,
  written,
} from './fields.ts';
import { listOf, translator, VERSION } from './query.ts';
import { recordsOf } from './records.ts';

interface Entity {
  readonly label: string;
  readonly description?: string;
  readonly fields: Fields;
  /**
   * The kind of the records: `transaction` and `printed` can be deleted, `printed` also has a PDF, and `list` can only be made inactive.
   */
  readonly kind: 'list' | 'transaction' | 'printed';
}

/**
 * Returns the object of a QuickBooks entity, with everything that all of them share.
 * @param native the name of the entity
 */
function entity(native: string, { kind, fields, ...about }: Entity): ObjectSpec {
  const isList = kind === 'list';
  return defineObject<string>({
    ...about,
    native,
    idField: 'Id',
    fields: { ...OWN, ...(isList && ACTIVE), ...fields },
    translator,
    limits: { maxInSize: 100, maxLength: 4000 },
    list: listOf(native, isList),
    ...recordsOf(native, fields, !isList),
    ...(kind === 'printed' && { media: printed(native) }),
    changes: {
      updated: 'MetaData.LastUpdatedTime',
      created: 'MetaData.CreateTime',
      // Records that cannot be deleted become inactive, and the list reports them as changed.
      ...(!isList && { feed: deletionsOf(native) }),
    },
  });
}

/** Returns the media of a transaction: a PDF in the company's layout. */
function printed(native: string): Media {
  return {
    types: ['application/pdf'],
    request: ({ id }) => ({ path: path`/${native.toLowerCase()}/${id}/pdf`, query: VERSION }),
  };
}

const LINES = { Line: { ...SALE.Line, required: true } } as const satisfies Fields;

const ACCOUNT_TYPES = [
  'Bank',
  'Accounts Receivable',
  'Other Current Asset',
  'Fixed Asset',
  'Other Asset',
  'Accounts Payable',
  'Credit Card',
  'Other Current Liability',
  'Long Term Liability',
  'Equity',
  'Income',
  'Cost of Goods Sold',
  'Expense',
  'Other Income',
  'Other Expense',
  'Non-Posting',
];

export const OBJECTS: Objects = {
  customers: entity('Customer', {
    kind: 'list',
    label: 'Customers',
    description: 'Customers of the company. A job is a customer below another customer.',
    fields: {
      ...COMPANY,
      FullyQualifiedName: shown.asked,
      'PrimaryEmailAddr.Address': { ...written.asked, format: 'email' },
      Suffix: written.text,
      ...address('ShipAddr'),
      Notes: written.text,
      Taxable: written.flag,
      Job: written.flag,
      BillWithParent: written.flag,
      ...references('ParentRef', 'SalesTermRef', 'PaymentMethodRef', 'DefaultTaxCodeRef', 'CustomerTypeRef'),
      PreferredDeliveryMethod: oneOf('Print', 'Email', 'None'),
      ResaleNum: written.text,
      Balance: shown.askedAmount,
      BalanceWithJobs: shown.amount,
    },
  }),
  vendors: entity('Vendor', {
    kind: 'list',
    label: 'Vendors',
    description: 'Suppliers of the company.',
    fields: {
      ...COMPANY,
      'PrimaryEmailAddr.Address': written.email,
      Suffix: written.asked,
      AcctNum: { ...written.text, label: 'Account number at the vendor' },
      Vendor1099: { ...written.flag, label: 'Gets a form 1099' },
      ...references('TermRef', 'APAccountRef'),
      BillRate: written.amount,
      Balance: shown.amount,
    },
  }),
  employees: entity('Employee', {
    kind: 'list',
    label: 'Employees',
    fields: {
      ...PERSON,
      'PrimaryEmailAddr.Address': written.email,
      Suffix: written.asked,
      EmployeeNumber: written.text,
      ...address('PrimaryAddr'),
      BillableTime: written.flag,
      BillRate: written.amount,
      BirthDate: written.day,
      Gender: oneOf('Male', 'Female'),
      HiredDate: written.day,
      ReleasedDate: written.day,
    },
  }),
  items: entity('Item', {
    kind: 'list',
    label: 'Items',
    description: 'Products, services and their categories.',
    fields: {
      Name: written.name,
      Sku: written.asked,
      Description: written.text,
      FullyQualifiedName: shown.asked,
      Type: oneOf('Service', 'NonInventory', 'Inventory', 'Category', 'Group', 'Bundle'),
      SubItem: written.flag,
      ...references('ParentRef', 'IncomeAccountRef', 'ExpenseAccountRef', 'AssetAccountRef', 'SalesTaxCodeRef'),
      Level: { type: 'integer' },
      Taxable: written.flag,
      SalesTaxIncluded: written.flag,
      UnitPrice: written.amount,
      PurchaseDesc: written.text,
      PurchaseCost: written.amount,
      TrackQtyOnHand: written.flag,
      QtyOnHand: written.amount,
      ReorderPoint: written.amount,
      InvStartDate: written.day,
    },
  }),
  accounts: entity('Account', {
    kind: 'list',
    label: 'Accounts',
    description: 'The chart of accounts.',
    fields: {
      Name: written.name,
      AcctNum: { ...written.text, label: 'Account number' },
      Description: written.asked,
      FullyQualifiedName: shown.asked,
      SubAccount: written.unsureFlag,
      ...reference('ParentRef', { isAsked: true }),
      Classification: { ...shown.asked, values: ['Asset', 'Equity', 'Expense', 'Liability', 'Revenue'] },
      AccountType: {
        ...written.asked,
        values: ACCOUNT_TYPES,
        label: 'Type; a new account requires the type or the subtype',
      },
      AccountSubType: written.asked,
      ...reference('CurrencyRef', { access: { createable: true } }),
      ...references('TaxCodeRef'),
      CurrentBalance: shown.askedAmount,
      CurrentBalanceWithSubAccounts: shown.askedAmount,
    },
  }),
  invoices: entity('Invoice', {
    kind: 'printed',
    label: 'Invoices',
    fields: {
      ...SALE,
      ...LINES,
      DueDate: written.askedDay,
      ...references('ShipMethodRef'),
      TrackingNum: written.text,
      Deposit: written.amount,
      AllowOnlineCreditCardPayment: written.flag,
      AllowOnlineACHPayment: written.flag,
      TotalAmt: shown.sum,
      Balance: shown.askedAmount,
    },
  }),
  estimates: entity('Estimate', {
    kind: 'printed',
    label: 'Estimates',
    fields: {
      ...SALE,
      ...LINES,
      TxnStatus: oneOf('Pending', 'Accepted', 'Closed', 'Rejected'),
      DueDate: written.askedDay,
      ExpirationDate: written.day,
      AcceptedBy: written.text,
      AcceptedDate: written.day,
      TotalAmt: shown.amount,
    },
  }),
  'sales-receipts': entity('SalesReceipt', {
    kind: 'printed',
    label: 'Sales receipts',
    description: 'Sales that were paid immediately.',
    fields: {
      ...SALE,
      ...reference('CustomerRef', { isAsked: true }),
      ...LINES,
      ...references('PaymentMethodRef', 'DepositToAccountRef'),
      PaymentRefNum: written.text,
      TotalAmt: shown.amount,
      Balance: shown.amount,
    },
  }),
  payments: entity('Payment', {
    kind: 'printed',
    label: 'Payments',
    description: 'Payments of customers for one invoice, several or none.',
    fields: {
      ...TRANSACTION,
      ...reference('CustomerRef', { isAsked: true, isRequired: true }),
      TotalAmt: { ...shown.sum, createable: true, updateable: true, required: true },
      UnappliedAmt: shown.amount,
      PaymentRefNum: written.asked,
      ...references('PaymentMethodRef', 'DepositToAccountRef', 'ARAccountRef'),
      ProcessPayment: written.flag,
    },
  }),
  bills: entity('Bill', {
    kind: 'transaction',
    label: 'Bills',
    description: 'Bills of vendors.',
    fields: {
      DocNumber: written.asked,
      ...TRANSACTION,
      ...LINES,
      ...reference('VendorRef', { isAsked: true, isRequired: true }),
      ...reference('APAccountRef', { isAsked: true }),
      ...reference('SalesTermRef', { isAsked: true }),
      ...references('DepartmentRef'),
      DueDate: written.askedDay,
      TotalAmt: { ...shown.sum, sortable: true },
      Balance: shown.askedAmount,
    },
  }),
};
