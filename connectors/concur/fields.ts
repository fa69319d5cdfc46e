import { codec, type FieldSpec, type Fields, json, type OperatorSet } from '#connector';

/** No operator is exact, because Concur does not document how letter case and blanks count. */
const EQUAL = { '=': 'superset' } as const satisfies OperatorSet;
const BOUNDS = { ...EQUAL, '<': 'superset', '<=': 'superset', '>': 'superset', '>=': 'superset' } as const;

const WRITTEN = { createable: true, updateable: true } as const;
const TEXT = { type: 'string' } as const;
const NUMBER = { type: 'number' } as const;
const FLAG = { type: 'boolean' } as const;

/** The days that the provider's clocks and parameters support, including the day before and the day after. */
const DAYS = { first: '1753-01-02', last: '9998-12-31' } as const;

/** A time. Concur returns it without a zone, and the connector reads it as UTC. */
const TIME = { type: 'datetime', ...codec.localTime(), domain: DAYS } as const satisfies FieldSpec;
const BOUNDED_TIME = { ...TIME, filter: BOUNDS } as const satisfies FieldSpec;
/** A day. Concur returns it with the time of midnight. */
const DAY = {
  type: 'date',
  domain: DAYS,
  read: codec.day.read,
  write: (value) => (typeof value === 'string' ? `${value}T00:00:00` : value),
} as const satisfies FieldSpec;

/** Returns a text field that Concur can filter by if the value has the given form. */
function asked(form: RegExp, filter: OperatorSet = EQUAL) {
  return { ...TEXT, domain: { text: { askable: (text) => form.test(text) } }, filter } as const satisfies FieldSpec;
}

/** A code. Two parameters accept several codes, separated by commas. */
const CODE = asked(/^\w+$/, { ...EQUAL, IN: 'superset' });
/** An id, which may contain `$`. */
const ID = asked(/^[\w$-]+$/);
const LOGIN = asked(/^[!-+\--~]+$/);

/** A custom field. Concur returns it with its kind. */
const CUSTOM = { type: 'object' } as const;
/** A writable custom field. Concur accepts a text, which is the code for an item of a list. Source: "Custom List Items". */
const WRITTEN_CUSTOM = {
  ...{ ...CUSTOM, ...WRITTEN },
  write: (value) => (value === null ? '' : (json.at(value, 'Code') ?? json.at(value, 'Value') ?? value)),
} as const satisfies FieldSpec;

function all(spec: FieldSpec, ...names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, spec]));
}

function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}

/**
 * Returns fields by their native names. Our names begin with lower case, as the provider's parameters do: `ID` becomes `id`, `HasVAT`
 * becomes `hasVAT`.
 */
function named(fields: Fields): Fields {
  const small = (name: string) => name.replace(/^(?:[A-Z]+$|[A-Z])/, (start) => start.toLowerCase());
  return Object.fromEntries(Object.entries(fields).map(([name, spec]) => [small(name), { native: name, ...spec }]));
}

/** The fields of reports. `WorkflowActionUrl` is left out, because it repeats the query of the request. */
export const REPORT_FIELDS = named({
  ID: { ...TEXT, nullable: false },
  Name: { ...TEXT, ...WRITTEN, required: true },
  Purpose: { ...TEXT, ...WRITTEN, label: 'Business purpose; can be set, and is never returned' },
  UserDefinedDate: { ...DAY, ...WRITTEN, filter: BOUNDS, label: 'Date of the report, entered by its owner' },
  ApprovalStatusCode: CODE,
  ApprovalStatusName: { ...TEXT, label: 'Approval status, in the language of the user' },
  PaymentStatusCode: CODE,
  PaymentStatusName: { ...TEXT, label: 'Payment status, in the language of the user' },
  CurrencyCode: asked(/^[A-Z]{3}$/),
  Country: asked(/^[A-Z]{2}$/),
  CountrySubdivision: TEXT,
  ...all(NUMBER, 'Total', 'TotalClaimedAmount', 'TotalApprovedAmount', 'PersonalAmount'),
  ...all(NUMBER, 'AmountDueEmployee', 'AmountDueCompanyCard'),
  ...all(BOUNDED_TIME, 'CreateDate', 'SubmitDate', 'ProcessingPaymentDate', 'PaidDate'),
  LastModifiedDate: { ...BOUNDED_TIME, label: 'Last change of the report header' },
  ...all(TEXT, 'OwnerLoginID', 'OwnerName'),
  ApproverLoginID: LOGIN,
  ApproverName: TEXT,
  LastComment: { ...TEXT, ...WRITTEN, label: 'The latest comment; a new value adds a comment' },
  ...all(TEXT, 'PolicyID', 'LedgerName', 'URI'),
  ...all(FLAG, 'ReceiptsReceived', 'EverSentBack', 'HasException'),
  ...all(WRITTEN_CUSTOM, ...numbered('OrgUnit', 6), ...numbered('Custom', 20)),
});

export const ENTRY_FIELDS = named({
  ID: { ...TEXT, nullable: false },
  ExpenseID: { ...TEXT, label: 'Id in version 4 of the API' },
  ReportID: ID,
  ReportOwnerID: { ...TEXT, label: 'Login ID of the owner of the report' },
  ExpenseTypeCode: asked(/^[\w-]+$/),
  ExpenseTypeName: TEXT,
  PaymentTypeID: ID,
  ...all(TEXT, 'PaymentTypeName', 'SpendCategoryCode', 'SpendCategoryName'),
  TransactionDate: DAY,
  TransactionAmount: NUMBER,
  TransactionCurrencyCode: TEXT,
  ExchangeRate: NUMBER,
  PostedAmount: { ...NUMBER, label: 'Amount in the currency of the report' },
  ApprovedAmount: NUMBER,
  ...all(TEXT, 'Description', 'VendorDescription', 'VendorListItemID', 'VendorListItemName'),
  ...all(TEXT, 'LocationID', 'LocationName', 'LocationSubdivision', 'LocationCountry'),
  AllocationType: { ...TEXT, label: 'Allocated: P partly, F fully, N not' },
  TaxReceiptType: { ...TEXT, label: 'Receipt: T of tax, R regular, N none' },
  ...all({ ...FLAG, filter: EQUAL }, 'IsBillable', 'HasAttendees', 'HasVAT'),
  ...all(FLAG, 'IsPersonal', 'IsPersonalCardCharge', 'IsImageRequired', 'IsPaidByExpensePay', 'ReceiptReceived'),
  ...all(FLAG, 'HasImage', 'HasItemizations', 'HasComments', 'HasExceptions', 'HasAppliedCashAdvance'),
  ...all(TEXT, 'CompanyCardTransactionID', 'ElectronicReceiptID', 'EmployeeBankAccountID', 'TripID', 'FormID', 'URI'),
  Journey: { type: 'object' },
  LastModified: TIME,
  ...all(CUSTOM, ...numbered('OrgUnit', 6), ...numbered('Custom', 40)),
});
