import { can, codec, type FieldSpec, type Fields } from '#connector';
import { isAskable } from './query.ts';

const WRITTEN = { createable: true, updateable: true } as const;

/** Returns whether the text can be an id: digits without a leading zero. */
const isId = (text: string) => /^(?:0|[1-9]\d{0,18})$/.test(text);
const IDS = { text: { possible: isId } } as const;

/** A text, which is never empty: QuickBooks removes a value by an empty text, and omits missing values from responses. */
const BLANK = codec.blank();
const TEXTS = { text: { nonEmpty: true, askable: isAskable } } as const;

/** Operators of text. QuickBooks documents neither whether case counts nor how it sorts texts. */
const LIKENESS = can.only('superset', '=', 'IN', 'LIKE');

/** Values that always exist are compared exactly. How QuickBooks compares a missing value is not documented. */
const COMPARED = { ...can.only('exact', '=', 'IN'), ...can.order('exact') };
const COMPARED_OR_MISSING = { ...can.only('superset', '=', 'IN'), ...can.order('superset') };

/** Bounds for amounts. They are far beyond what QuickBooks stores, and small enough to be a number for it. */
const AMOUNTS = ['-99999999999999', '99999999999999'] as const;

/** Field specifications by the names of the table, which combine type and access: `shown` is read only, `asked` can be filtered. */
const shownText = { type: 'string', ...BLANK } as const satisfies FieldSpec;
const shownFlag = { type: 'boolean' } as const satisfies FieldSpec;
const shownAmount = { type: 'number', range: AMOUNTS } as const satisfies FieldSpec;
const shownDay = { type: 'date' } as const satisfies FieldSpec;

export const shown = {
  text: shownText,
  asked: { ...shownText, domain: TEXTS, filter: LIKENESS },
  flag: shownFlag,
  amount: shownAmount,
  /** An amount that always exists. */
  sum: { ...shownAmount, nullable: false, filter: COMPARED },
  askedAmount: { ...shownAmount, filter: COMPARED_OR_MISSING },
  day: shownDay,
  list: { type: 'array' },
  object: { type: 'object' },
} as const satisfies Fields;

export const written = {
  text: { ...shown.text, ...WRITTEN },
  asked: { ...shown.asked, ...WRITTEN },
  /** A required text. */
  name: { ...shown.asked, ...WRITTEN, nullable: false, required: true },
  email: { ...shown.text, ...WRITTEN, format: 'email' },
  flag: { ...shownFlag, ...WRITTEN },
  askedFlag: { ...shownFlag, ...WRITTEN, filter: can.only('exact', '=', 'IN') },
  /** A flag that may be missing if it is false. */
  unsureFlag: { ...shownFlag, ...WRITTEN, filter: can.only('superset', '=', 'IN') },
  amount: { ...shownAmount, ...WRITTEN },
  day: { ...shownDay, ...WRITTEN },
  askedDay: { ...shownDay, ...WRITTEN, filter: COMPARED_OR_MISSING },
  /** The day of a transaction. It always exists, and the default is today. */
  txnDate: { ...shownDay, ...WRITTEN, nullable: false, sortable: true, filter: COMPARED },
  list: { type: 'array', ...WRITTEN },
  object: { type: 'object', ...WRITTEN },
} as const satisfies Fields;

/** Returns a text field with the values of the schema. Other values may occur, too. */
export function oneOf(...values: readonly string[]) {
  return { ...written.text, values } satisfies FieldSpec;
}

/**
 * A time that is returned in whole seconds. If QuickBooks stores fractions, only `<` and `>=` with whole seconds have the same meaning for
 * the returned value. The service derives the other operators from them.
 */
const STAMP = {
  type: 'datetime',
  nullable: false,
  sortable: true,
  ...codec.instant(),
  domain: { step: 'second', first: '1990-01-01', last: '9998-12-31' },
  filter: can.only('exact', '<', '>='),
} as const satisfies FieldSpec;

/** Fields of every entity. */
export const OWN = {
  Id: { type: 'string', nullable: false, domain: IDS, filter: can.only('exact', '=', 'IN') },
  SyncToken: { type: 'string', nullable: false, label: 'Version of the record' },
  'MetaData.CreateTime': { ...STAMP, label: 'Created' },
  'MetaData.LastUpdatedTime': { ...STAMP, label: 'Last changed' },
} as const satisfies Fields;

/** Field of entities that QuickBooks makes inactive instead of deleting them. */
export const ACTIVE = {
  Active: { ...written.askedFlag, nullable: false, label: 'Set it to false in place of a deletion' },
} as const satisfies Fields;

interface Reference {
  readonly isAsked?: boolean;
  readonly isRequired?: boolean;
  readonly access?: Pick<FieldSpec, 'createable' | 'updateable'>;
}

/** Returns the fields of a reference: the id of another record and, if QuickBooks returns it, its name. */
export function reference(name: string, { isAsked = false, isRequired = false, access = WRITTEN }: Reference = {}) {
  const value: FieldSpec = {
    ...shownText,
    ...access,
    ...(isRequired && { required: true, nullable: false }),
    ...(isAsked && { domain: IDS, filter: can.only(isRequired ? 'exact' : 'superset', '=', 'IN') }),
  };
  return { [`${name}.value`]: value, [`${name}.name`]: shown.text } satisfies Fields;
}

export function references(...names: readonly string[]): Fields {
  return Object.assign({}, ...names.map((name) => reference(name)));
}

const ADDRESS = [
  'Line1',
  'Line2',
  'Line3',
  'Line4',
  'Line5',
  'City',
  'CountrySubDivisionCode',
  'PostalCode',
  'Country',
];

export function address(name: string): Fields {
  return Object.fromEntries(ADDRESS.map((part) => [`${name}.${part}`, written.text]));
}

/** Fields of a person: names and contact data. Source: `NameBase` of the schema. */
export const PERSON = {
  Title: written.text,
  GivenName: written.asked,
  MiddleName: written.asked,
  FamilyName: written.asked,
  DisplayName: { ...written.asked, label: 'Unique among customers, vendors and employees' },
  PrintOnCheckName: { ...written.asked, nullable: false, label: 'Name on checks; the display name by default' },
  'PrimaryPhone.FreeFormNumber': written.text,
  'Mobile.FreeFormNumber': written.text,
} as const satisfies Fields;

/** Fields of an organization: those of a person and its own. */
export const COMPANY = {
  ...PERSON,
  CompanyName: written.asked,
  'AlternatePhone.FreeFormNumber': written.text,
  'Fax.FreeFormNumber': written.text,
  'WebAddr.URI': { ...written.text, format: 'uri' },
  ...address('BillAddr'),
  ...reference('CurrencyRef', { access: { createable: true } }),
} as const satisfies Fields;

/** Fields of every transaction. Source: `Transaction` of the schema. */
export const TRANSACTION = {
  TxnDate: written.txnDate,
  PrivateNote: written.text,
  ...reference('CurrencyRef', { access: { createable: true } }),
  ExchangeRate: written.amount,
  Line: { ...written.list, label: 'Lines, as QuickBooks writes them' },
  LinkedTxn: { ...written.list, label: 'Linked transactions' },
} as const satisfies Fields;

/** Fields of every sale. Source: `SalesTransaction` of the schema. */
export const SALE = {
  DocNumber: written.asked,
  ...TRANSACTION,
  ...reference('CustomerRef', { isAsked: true, isRequired: true }),
  'CustomerMemo.value': { ...written.text, label: 'Message to the customer' },
  ...address('BillAddr'),
  ...address('ShipAddr'),
  'BillEmail.Address': written.email,
  ...references('ClassRef', 'DepartmentRef', 'SalesTermRef'),
  ShipDate: written.day,
  PrintStatus: oneOf('NotSet', 'NeedToPrint', 'PrintComplete'),
  EmailStatus: oneOf('NotSet', 'NeedToSend', 'EmailSent'),
  ApplyTaxAfterDiscount: written.flag,
  CustomField: written.list,
  TxnTaxDetail: { ...written.object, label: 'Tax, as QuickBooks writes it' },
} as const satisfies Fields;
