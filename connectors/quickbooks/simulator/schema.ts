/** What the provider's reference says of a property. */
export interface Property {
  readonly kind: Kind;
  /** Of a text, in characters. */
  readonly longest: number;
  readonly isFilterable: boolean;
  readonly isSortable: boolean;
  readonly isWritable: boolean;
}

/** `time` and those in front of it are known to queries; the others are objects, and no property there. */
const KINDS = [
  ...(['id', 'text', 'ref', 'boolean', 'decimal', 'date', 'time', 'email'] as const),
  ...(['phone', 'url', 'address', 'memo', 'list', 'object'] as const),
];
export type Kind = (typeof KINDS)[number];
const QUERIED: readonly Kind[] = KINDS.slice(0, 8);

export interface Schema {
  readonly name: string;
  readonly properties: Readonly<Record<string, Property>>;
  /** Of each list one must be there. */
  readonly required: readonly (readonly string[])[];
  /** Records of lists are made inactive; transactions are deleted. */
  readonly isList: boolean;
  readonly hasPdf: boolean;
  readonly isReadOnly: boolean;
}

/** By the name in lower case; `name` may have a path with one point. */
export function findProperty(
  { properties }: Schema,
  name: string,
): { readonly name: string; readonly property: Property } | undefined {
  const found = Object.keys(properties).find((known) => known.toLowerCase() === name.toLowerCase());
  const property = found === undefined ? undefined : properties[found];
  return found === undefined || property === undefined || !QUERIED.includes(property.kind)
    ? undefined
    : { name: found, property };
}

/** `text100 fsw`: the kind, how long it may be, and whether it is filterable, sortable, writable. */
function property(text: string): Property {
  const [, word = '', longest = '', flags = ''] = /^([a-z]+)(\d*)(?: (f?s?w?))?$/.exec(text) ?? [];
  const kind = KINDS.find((known) => known === word);
  if (kind === undefined) throw new Error(`There is no kind '${text}'.`);
  return {
    kind,
    longest: longest === '' ? Number.POSITIVE_INFINITY : Number(longest),
    isFilterable: flags.includes('f'),
    isSortable: flags.includes('s'),
    isWritable: flags.includes('w'),
  };
}

interface Shape {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly required?: Schema['required'];
  readonly isList?: true;
  readonly hasPdf?: true;
  readonly isReadOnly?: true;
}

const ALL = {
  ...{ Id: 'id fs', SyncToken: 'text', MetaData: 'object', domain: 'text', sparse: 'boolean', time: 'text' },
  ...{ 'MetaData.CreateTime': 'time fs', 'MetaData.LastUpdatedTime': 'time fs', CurrencyRef: 'ref w' },
};

const PERSON = {
  ...ALL,
  ...{ Title: 'text16 w', GivenName: 'text100 fsw', MiddleName: 'text100 fsw', FamilyName: 'text100 fsw' },
  ...{ Suffix: 'text16 fsw', DisplayName: 'text500 fsw', PrintOnCheckName: 'text110 fsw', Active: 'boolean fsw' },
  ...{ PrimaryEmailAddr: 'email w', PrimaryPhone: 'phone w', Mobile: 'phone w', V4IDPseudonym: 'text' },
};

const COMPANY = {
  ...PERSON,
  ...{ CompanyName: 'text100 fsw', Balance: 'decimal fs', BillAddr: 'address w', WebAddr: 'url w' },
  ...{ AlternatePhone: 'phone w', Fax: 'phone w' },
};

const TRANSACTION = {
  ...ALL,
  ...{ TxnDate: 'date fsw', PrivateNote: 'text4000 w', Line: 'list w', LinkedTxn: 'list w', ExchangeRate: 'decimal w' },
  ...{ DepartmentRef: 'ref w', TxnTaxDetail: 'object w' },
};

const SALE = {
  ...TRANSACTION,
  ...{ CustomerRef: 'ref fw', DocNumber: 'text21 fsw', ProjectRef: 'ref fw', CustomerMemo: 'memo w' },
  ...{ BillEmail: 'email w', BillAddr: 'address w', ShipAddr: 'address w', ShipDate: 'date w', ClassRef: 'ref w' },
  ...{ EmailStatus: 'text w', PrintStatus: 'text w', ApplyTaxAfterDiscount: 'boolean w', CustomField: 'list w' },
  ...{ TotalAmt: 'decimal' },
};

const NAMES = ['DisplayName', 'Title', 'GivenName', 'MiddleName', 'FamilyName', 'Suffix'];

/** From the reference of each entity: `filterable` and `sortable` word for word, lengths for a company in the US. */
const SHAPES: readonly Shape[] = [
  {
    name: 'Customer',
    isList: true,
    required: [NAMES],
    properties: {
      ...COMPANY,
      ...{ Suffix: 'text16 w', FullyQualifiedName: 'text fs', PrimaryEmailAddr: 'email fw', ShipAddr: 'address w' },
      ...{ Notes: 'text2000 w', Taxable: 'boolean w', Job: 'boolean w', BillWithParent: 'boolean w' },
      ...{ ParentRef: 'ref w', Level: 'decimal', BalanceWithJobs: 'decimal s', PreferredDeliveryMethod: 'text w' },
      ...{ SalesTermRef: 'ref w', PaymentMethodRef: 'ref w', DefaultTaxCodeRef: 'ref w', CustomerTypeRef: 'ref w' },
      ...{ ResaleNum: 'text16 w', IsProject: 'boolean', ClientEntityId: 'text' },
    },
  },
  {
    name: 'Vendor',
    isList: true,
    required: [NAMES],
    properties: {
      ...COMPANY,
      ...{ AcctNum: 'text100 w', Vendor1099: 'boolean w', TermRef: 'ref w', TaxIdentifier: 'text20 w' },
      ...{ BillRate: 'decimal w', CostRate: 'decimal w' },
    },
  },
  {
    name: 'Employee',
    isList: true,
    required: [['GivenName', 'FamilyName']],
    properties: {
      ...PERSON,
      ...{ Active: 'boolean fw', PrimaryAddr: 'address w', BillableTime: 'boolean w', BirthDate: 'date w' },
      ...{ HiredDate: 'date w', ReleasedDate: 'date w', Gender: 'text w', SSN: 'text100 w' },
      ...{ EmployeeNumber: 'text100 w', Organization: 'boolean w', BillRate: 'decimal w', CostRate: 'decimal w' },
    },
  },
  {
    name: 'Item',
    isList: true,
    required: [['Name'], ['Type']],
    properties: {
      ...ALL,
      ...{
        Name: 'text100 fsw',
        Sku: 'text100 fw',
        Type: 'text fsw',
        FullyQualifiedName: 'text f',
        Active: 'boolean fw',
      },
      ...{ Description: 'text4000 w', PurchaseDesc: 'text1000 w', UnitPrice: 'decimal sw', PurchaseCost: 'decimal w' },
      ...{ Taxable: 'boolean w', SalesTaxIncluded: 'boolean w', TrackQtyOnHand: 'boolean w', QtyOnHand: 'decimal w' },
      ...{ ReorderPoint: 'decimal w', InvStartDate: 'date w', IncomeAccountRef: 'ref w', ExpenseAccountRef: 'ref w' },
      ...{ AssetAccountRef: 'ref w', SalesTaxCodeRef: 'ref w', PurchaseTaxCodeRef: 'ref w', ParentRef: 'ref w' },
      ...{ PrefVendorRef: 'ref w', SubItem: 'boolean w', Level: 'decimal' },
    },
  },
  {
    name: 'Account',
    isList: true,
    required: [['Name'], ['AccountType', 'AccountSubType']],
    properties: {
      ...ALL,
      ...{ Name: 'text100 fsw', AcctNum: 'text7 w', Description: 'text100 fsw', Active: 'boolean fw' },
      ...{ SubAccount: 'boolean fsw', ParentRef: 'ref fsw', Classification: 'text f', AccountType: 'text fw' },
      ...{ AccountSubType: 'text fw', FullyQualifiedName: 'text fs', CurrentBalance: 'decimal fs' },
      ...{ CurrentBalanceWithSubAccounts: 'decimal fs', TaxCodeRef: 'ref w' },
    },
  },
  {
    name: 'Invoice',
    hasPdf: true,
    required: [['CustomerRef'], ['Line']],
    properties: {
      ...SALE,
      // Not marked in the reference, and filtered by in the provider's own samples.
      ...{ TotalAmt: 'decimal f', Balance: 'decimal fs', SalesTermRef: 'ref fw', DueDate: 'date fsw' },
      ...{ Deposit: 'decimal w', AllowOnlineACHPayment: 'boolean w', AllowOnlineCreditCardPayment: 'boolean w' },
      ...{ TrackingNum: 'text w', ShipMethodRef: 'ref w', BillEmailCc: 'email w', BillEmailBcc: 'email w' },
    },
  },
  {
    name: 'Estimate',
    hasPdf: true,
    required: [['CustomerRef'], ['Line']],
    properties: {
      ...SALE,
      ...{ DueDate: 'date fsw', ExpirationDate: 'date w', AcceptedBy: 'text w', AcceptedDate: 'date w' },
      ...{ TxnStatus: 'text w', SalesTermRef: 'ref w' },
    },
  },
  {
    name: 'SalesReceipt',
    hasPdf: true,
    required: [['Line']],
    properties: {
      ...SALE,
      ...{ TotalAmt: 'decimal f', Balance: 'decimal fs', PaymentRefNum: 'text21 w', PaymentMethodRef: 'ref w' },
      ...{ DepositToAccountRef: 'ref w' },
    },
  },
  {
    name: 'Bill',
    required: [['VendorRef'], ['Line']],
    properties: {
      ...TRANSACTION,
      ...{ VendorRef: 'ref fsw', APAccountRef: 'ref fsw', SalesTermRef: 'ref fsw', DueDate: 'date fsw' },
      ...{ DocNumber: 'text21 fsw', TotalAmt: 'decimal fs', Balance: 'decimal f' },
    },
  },
  {
    name: 'Payment',
    hasPdf: true,
    required: [['TotalAmt'], ['CustomerRef']],
    properties: {
      ...TRANSACTION,
      ...{ CustomerRef: 'ref fw', TotalAmt: 'decimal fw', PaymentMethodRef: 'ref fw', PaymentRefNum: 'text21 fw' },
      ...{ DepositToAccountRef: 'ref w', ARAccountRef: 'ref w', UnappliedAmt: 'decimal', ProcessPayment: 'boolean w' },
    },
  },
  {
    name: 'CompanyInfo',
    isReadOnly: true,
    properties: {
      ...ALL,
      ...{ CompanyName: 'text', LegalName: 'text', Country: 'text', FiscalYearStartMonth: 'text', Email: 'email' },
    },
  },
];

/** By the name in lower case, as addresses have it. */
export const SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  SHAPES.map(({ name, properties, required = [], isList = false, hasPdf = false, isReadOnly = false }) => [
    name.toLowerCase(),
    {
      ...{ name, required, isList, hasPdf, isReadOnly },
      properties: Object.fromEntries(Object.entries(properties).map(([key, text]) => [key, property(text)])),
    },
  ]),
);
