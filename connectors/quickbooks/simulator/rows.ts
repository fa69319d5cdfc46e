import {
  type Column,
  createTable,
  cycle,
  DAY_MS,
  dayAfter,
  HOSTILE_TEXTS,
  type MovableClock,
  makeRows,
  pick,
  sparse,
  type Table,
  type TableRow,
} from '#connector/simulator';
import { SCHEMAS } from './schema.ts';
import { wholeSecond } from './time.ts';

/** By the entity's name. Rows keep their times as `createdMs` and `updatedMs`; null members are not there for the caller. */
export type Tables = ReadonlyMap<string, Table>;

/** What is written nowhere: the provider has no empty texts, and no blanks around one. */
const TEXTS = HOSTILE_TEXTS.filter((text) => text.trim() !== '');
/** Names have no colon, no tab and no new line, and 100 letters. */
const NAMES = [
  ...TEXTS.filter((text) => !/[:\t\n\r"]/.test(text)).map((text) => text.slice(0, 100)),
  ...["O'Brien & Söhne", 'Caesar', 'CAESAR', 'caesar', 'Straße', 'STRASSE'],
];

const text = cycle(TEXTS);
const name = cycle(NAMES);
/** No two of them are the same, whatever their cases. */
const uniqueName =
  (mark: string): Column =>
  (index) =>
    `${pick(NAMES, index).slice(0, 90)} ${mark}${index}`;

const reference = (value: string, called: unknown) => ({ value, name: called });
const USD = reference('USD', 'United States Dollar');
const AMOUNTS = [31.5, 0, 103.55, 0.1, 1000, 99_999_999.99, 362.07, 12.75];
const amount = cycle(AMOUNTS);
const cents = (value: number) => Math.round(value * 100) / 100;
const openOf: Column = (index) => cents(Number(amount(index)) * pick([0, 1, 0.5], index));
const email: Column = (index) => ({ Address: `c${index}+%_${pick(['x', 'X'], index)}@example.com` });
const phone: Column = (index) => ({ FreeFormNumber: `(650) 555-0${index}` });
const address: Column = (index) => ({
  ...{ Id: String(900 + index), Line1: pick(TEXTS, index).slice(0, 500), City: pick(NAMES, index + 3) },
  ...(index % 2 === 0 && { Line2: `Suite ${index}`, Country: 'USA' }),
  ...{
    CountrySubDivisionCode: pick(['CA', 'NV'], index),
    PostalCode: String(94_213 + (index % 4)),
    Lat: 'INVALID',
    Long: 'INVALID',
  },
});
const day =
  (first: string, step = 3): Column =>
  (index) =>
    dayAfter(first, index * step);

const COUNTS = { Customer: 60, Vendor: 36, Employee: 30, Item: 40, Account: 30 };

/** A record's name ends with the letter of its entity and its number. */
function nameOf(entity: keyof typeof COUNTS): Column {
  return uniqueName(entity.slice(0, 1));
}

function referenceTo(entity: keyof typeof COUNTS, step = 1): Column {
  return (index) => {
    const target = (index * step) % COUNTS[entity];
    return reference(String(target + 1), nameOf(entity)(target));
  };
}

function salesLines(index: number) {
  const item = referenceTo('Item', 3)(index);
  const total = amount(index);
  return [
    {
      ...{ Id: '1', LineNum: 1, Description: text(index), Amount: total, DetailType: 'SalesItemLineDetail' },
      SalesItemLineDetail: { ItemRef: item, Qty: 1, UnitPrice: total, TaxCodeRef: { value: 'NON' } },
    },
    { Amount: total, DetailType: 'SubTotalLineDetail', SubTotalLineDetail: {} },
  ];
}

const sale = (first: string): Readonly<Record<string, Column>> => ({
  CustomerRef: referenceTo('Customer', 7),
  DocNumber: sparse(6, (index) => (index % 3 === 0 ? pick(NAMES, index).slice(0, 21).trim() : String(1000 + index))),
  TxnDate: day(first),
  PrivateNote: sparse(3, text),
  CustomerMemo: sparse(4, (index) => ({ value: pick(TEXTS, index + 5) })),
  BillEmail: sparse(3, email, 1),
  BillAddr: sparse(5, address),
  ShipAddr: sparse(3, address, 1),
  ClassRef: sparse(3, cycle([reference('1', 'North'), reference('2', 'South')])),
  DepartmentRef: sparse(4, cycle([reference('1', 'Shop'), reference('2', 'Web')]), 2),
  ShipDate: sparse(4, day(first), 1),
  EmailStatus: cycle(['NotSet', 'NeedToSend', 'EmailSent']),
  PrintStatus: cycle(['NotSet', 'NeedToPrint', 'PrintComplete'], 2),
  ApplyTaxAfterDiscount: () => false,
  CurrencyRef: () => USD,
  Line: salesLines,
  LinkedTxn: () => [],
  TxnTaxDetail: () => ({ TotalTax: 0 }),
  TotalAmt: amount,
});

const TERM: Column = (index) => ({ value: String((index % 4) + 1) });
const isActive: Column = (index) => index % 9 !== 8;

const COLUMNS: Readonly<Record<string, readonly [count: number, columns: Readonly<Record<string, Column>>]>> = {
  Customer: [
    COUNTS.Customer,
    {
      Title: sparse(4, cycle(['Dr.', 'Ms.'])),
      GivenName: sparse(3, name),
      MiddleName: sparse(2, cycle(['Michelle', "d'A"])),
      FamilyName: sparse(5, (index) => name(index + 11)),
      CompanyName: sparse(6, (index) => name(index * 5)),
      DisplayName: nameOf('Customer'),
      FullyQualifiedName: nameOf('Customer'),
      PrintOnCheckName: nameOf('Customer'),
      Active: isActive,
      PrimaryEmailAddr: sparse(4, email),
      PrimaryPhone: sparse(3, phone, 0),
      WebAddr: sparse(5, (index) => ({ URI: `https://example.com/${index}?a=1&b=ü` })),
      BillAddr: sparse(3, address),
      ShipAddr: sparse(4, address, 0),
      Notes: sparse(2, text),
      Taxable: (index) => index % 2 === 0,
      Job: () => false,
      BillWithParent: () => false,
      Balance: cycle([0, 85, 274.5, 1000.01, -12.5, 0.1]),
      BalanceWithJobs: cycle([0, 85, 274.5, 1000.01, -12.5, 0.1]),
      CurrencyRef: () => USD,
      PreferredDeliveryMethod: cycle(['Print', 'Email', 'None']),
      SalesTermRef: sparse(2, TERM),
    },
  ],
  Vendor: [
    COUNTS.Vendor,
    {
      GivenName: sparse(3, name),
      FamilyName: sparse(4, (index) => name(index + 7)),
      Suffix: sparse(3, cycle(['Jr.', 'jr.', 'III']), 0),
      CompanyName: sparse(5, (index) => name(index * 3)),
      DisplayName: nameOf('Vendor'),
      PrintOnCheckName: nameOf('Vendor'),
      Active: isActive,
      PrimaryEmailAddr: sparse(4, email),
      PrimaryPhone: sparse(3, phone),
      BillAddr: sparse(2, address),
      Balance: cycle([0, 36.75, 868.15, -1.5]),
      AcctNum: sparse(3, (index) => `KEV${index}'`),
      Vendor1099: (index) => index % 5 === 0,
      TermRef: sparse(3, TERM),
      CurrencyRef: () => USD,
    },
  ],
  Employee: [
    COUNTS.Employee,
    {
      GivenName: sparse(5, name),
      MiddleName: sparse(3, cycle(['N.', "O'"])),
      FamilyName: sparse(5, (index) => name(index + 4), 0),
      DisplayName: nameOf('Employee'),
      PrintOnCheckName: nameOf('Employee'),
      Active: isActive,
      PrimaryEmailAddr: sparse(3, email),
      PrimaryPhone: sparse(4, phone),
      PrimaryAddr: sparse(2, address),
      BillableTime: (index) => index % 3 === 0,
      BirthDate: sparse(4, day('1970-02-28', 211)),
      HiredDate: sparse(3, day('2019-12-30', 47)),
      Gender: sparse(4, cycle(['Male', 'Female']), 1),
      SSN: () => 'XXX-XX-XXXX',
      EmployeeNumber: sparse(3, (index) => String(index).padStart(4, '0')),
    },
  ],
  Item: [
    COUNTS.Item,
    {
      Name: nameOf('Item'),
      FullyQualifiedName: nameOf('Item'),
      Sku: sparse(3, (index) => `sku-${pick(['a', 'A', '%', '_'], index)}${index >> 2}`),
      Type: cycle(['Service', 'Inventory', 'NonInventory']),
      Description: sparse(2, text),
      Active: isActive,
      UnitPrice: sparse(7, cycle([35, 0, 12.75, 0.00001, 99_999_999_999])),
      PurchaseCost: sparse(3, cycle([10, 0, 6.5])),
      Taxable: (index) => index % 2 === 0,
      TrackQtyOnHand: (index) => index % 3 === 1,
      QtyOnHand: (index) => (index % 3 === 1 ? index - 5.5 : null),
      InvStartDate: (index) => (index % 3 === 1 ? '2014-09-19' : null),
      IncomeAccountRef: referenceTo('Account', 3),
      ExpenseAccountRef: sparse(2, referenceTo('Account', 5)),
    },
  ],
  Account: [
    COUNTS.Account,
    {
      Name: nameOf('Account'),
      FullyQualifiedName: nameOf('Account'),
      Description: sparse(3, (index) => pick(TEXTS, index).slice(0, 100)),
      AcctNum: sparse(4, (index) => String(4000 + index)),
      Active: isActive,
      SubAccount: (index) => index > 0 && index % 4 === 0,
      ParentRef: (index) => (index > 0 && index % 4 === 0 ? { value: String(index - 1) } : null),
      Classification: cycle(['Asset', 'Liability', 'Revenue', 'Expense', 'Equity']),
      AccountType: cycle(['Bank', 'Accounts Payable', 'Income', 'Expense', 'Equity']),
      AccountSubType: cycle(['Checking', 'AccountsPayable', 'SalesOfProductIncome', 'Travel', 'OpeningBalanceEquity']),
      CurrentBalance: cycle([0, -1091.23, 1201, 62.5]),
      CurrentBalanceWithSubAccounts: cycle([0, -1091.23, 1201, 62.5]),
      CurrencyRef: () => USD,
    },
  ],
  Invoice: [
    80,
    {
      ...sale('2023-12-28'),
      DueDate: sparse(8, day('2024-01-27')),
      SalesTermRef: sparse(2, TERM),
      Balance: openOf,
      Deposit: () => 0,
      AllowOnlineACHPayment: (index) => index % 2 === 0,
    },
  ],
  Estimate: [
    40,
    {
      ...sale('2024-01-30'),
      DueDate: sparse(3, day('2024-02-20')),
      ExpirationDate: sparse(3, day('2024-02-29'), 0),
      TxnStatus: cycle(['Pending', 'Accepted', 'Closed', 'Rejected']),
      AcceptedBy: sparse(2, name),
    },
  ],
  SalesReceipt: [
    30,
    {
      ...sale('2024-02-27'),
      CustomerRef: sparse(5, referenceTo('Customer', 7)),
      Balance: () => 0,
      PaymentRefNum: sparse(3, (index) => pick(NAMES, index).slice(0, 21)),
      PaymentMethodRef: sparse(2, cycle([reference('1', 'Cash'), reference('2', 'Check')])),
      DepositToAccountRef: referenceTo('Account'),
    },
  ],
  Bill: [
    40,
    {
      VendorRef: referenceTo('Vendor', 5),
      APAccountRef: () => reference('2', nameOf('Account')(1)),
      TxnDate: day('2023-12-30', 5),
      DueDate: sparse(4, day('2024-01-30', 5)),
      DocNumber: sparse(2, (index) => (index % 4 === 0 ? pick(NAMES, index).slice(0, 21).trim() : `B-${index}`)),
      PrivateNote: sparse(3, text),
      SalesTermRef: sparse(3, TERM),
      CurrencyRef: () => USD,
      TotalAmt: amount,
      Balance: openOf,
      LinkedTxn: () => [],
      Line: (index) => [
        {
          ...{ Id: '1', Description: text(index), Amount: amount(index), DetailType: 'AccountBasedExpenseLineDetail' },
          AccountBasedExpenseLineDetail: {
            AccountRef: referenceTo('Account', 3)(index),
            BillableStatus: 'NotBillable',
            TaxCodeRef: { value: 'NON' },
          },
        },
      ],
    },
  ],
  Payment: [
    50,
    {
      CustomerRef: referenceTo('Customer', 7),
      TxnDate: day('2024-01-02', 4),
      TotalAmt: amount,
      UnappliedAmt: openOf,
      PaymentRefNum: sparse(3, (index) => pick(NAMES, index).slice(0, 21).trim()),
      PaymentMethodRef: sparse(2, cycle([{ value: '1' }, { value: '2' }])),
      DepositToAccountRef: sparse(3, () => ({ value: '4' })),
      ProcessPayment: () => false,
      PrivateNote: sparse(2, text, 0),
      CurrencyRef: () => USD,
      Line: (index) => [
        { Amount: amount(index), LinkedTxn: [{ TxnId: String((index % 80) + 1), TxnType: 'Invoice' }] },
      ],
    },
  ],
  CompanyInfo: [
    1,
    {
      CompanyName: () => "Dana's Demo & Söhne",
      LegalName: () => "Dana's Demo & Söhne",
      CompanyAddr: address,
      Country: () => 'US',
      FiscalYearStartMonth: () => 'January',
      Email: () => ({ Address: 'dana@example.com' }),
      SupportedLanguages: () => 'en',
      NameValue: () => [{ Name: 'PayrollFeature', Value: 'false' }],
    },
  ],
};

/** A company, as of now: its records were made over the last 300 days and changed up to some hours later. */
export function createTables(clock: MovableClock): Tables {
  const now = wholeSecond(clock.now());
  return new Map(
    [...SCHEMAS.values()].map(({ name: entity, isList }) => {
      const [count, columns] = COLUMNS[entity] ?? [0, {}];
      const created = (index: number) =>
        wholeSecond(now - DAY_MS - Math.floor((300 * DAY_MS * (count - index)) / count));
      const rows = makeRows(count, {
        Id: (index) => String(index + 1),
        SyncToken: (index) => String(index % 3),
        createdMs: created,
        updatedMs: (index) => created(index) + (index % 5) * 3_601_000,
        ...columns,
      });
      let next = count + 1;
      return [
        entity,
        counted(
          createTable({
            rows,
            keyOf: ({ Id }) => String(Id),
            initial: () => ({
              ...{ Id: String(next++), SyncToken: '0' },
              ...(isList && { Active: true }),
              ...('CurrencyRef' in columns && { CurrencyRef: USD }),
            }),
            stamps: { clock, write: wholeSecond, created: ['createdMs'], changed: ['updatedMs'] },
            deleted: 'isDeleted',
          }),
          isList,
        ),
      ];
    }),
  );
}

/** Every change counts the version of its record. What is taken from a list stays there, and is inactive. */
function counted(table: Table, isList: boolean): Table {
  const update: Table['update'] = (key, values) => {
    const row = table.find(key);
    return row && table.update(key, { ...values, SyncToken: String(Number(row.SyncToken) + 1) });
  };
  return { ...table, update, ...(isList && { remove: (key: string) => update(key, { Active: false }) }) };
}

/** What others than the tests do to records. */
export const CHANGES: Readonly<Record<string, readonly [made: (number: number) => TableRow, changed: string]>> = {
  Customer: [
    (number) => ({ DisplayName: `New C ${number}`, FullyQualifiedName: `New C ${number}`, Balance: 0 }),
    'Notes',
  ],
  Vendor: [(number) => ({ DisplayName: `New V ${number}`, Balance: 0 }), 'AcctNum'],
  Employee: [(number) => ({ GivenName: `New ${number}`, DisplayName: `New E ${number}` }), 'EmployeeNumber'],
  Item: [(number) => ({ Name: `New ${number}`, FullyQualifiedName: `New ${number}`, Type: 'Service' }), 'Description'],
  Account: [(number) => ({ Name: `New ${number}`, AccountType: 'Bank', CurrentBalance: 0 }), 'Description'],
  Invoice: [madeFor('Customer'), 'PrivateNote'],
  Estimate: [madeFor('Customer'), 'PrivateNote'],
  SalesReceipt: [madeFor('Customer'), 'PrivateNote'],
  Bill: [madeFor('Vendor'), 'PrivateNote'],
  Payment: [madeFor('Customer'), 'PrivateNote'],
};

function madeFor(entity: 'Customer' | 'Vendor'): (number: number) => TableRow {
  const target = referenceTo(entity);
  return (number) => ({ [`${entity}Ref`]: target(number), TxnDate: '2024-02-29', TotalAmt: 1, Balance: 1, Line: [] });
}
