import { codec, type FieldSpec, type Fields, json, type OperatorSet } from '#connector';

/** No operator is exact: how letter case and blanks count is not documented. */
export const EQUAL = { '=': 'superset' } as const satisfies OperatorSet;
const BOUNDS = { ...EQUAL, '<': 'superset', '<=': 'superset', '>': 'superset', '>=': 'superset' } as const;

const WRITTEN = { createable: true, updateable: true } as const;
const TEXT = { type: 'string' } as const;
const NUMBER = { type: 'number' } as const;
const FLAG = { type: 'boolean' } as const;

/** What the provider's clocks and parameters hold; the day before and the day after, too. */
const DAYS = { first: '1753-01-02', last: '9998-12-31' } as const;

/** Times are shown without a zone, and taken for UTC. */
const TIME = { type: 'datetime', ...codec.localTime(), domain: DAYS } as const satisfies FieldSpec;
const BOUNDED_TIME = { ...TIME, filter: BOUNDS } as const satisfies FieldSpec;
/** Shown with the time of midnight. */
const DAY = {
  type: 'date',
  domain: DAYS,
  read: codec.day.read,
  write: (value) => (typeof value === 'string' ? `${value}T00:00:00` : value),
} as const satisfies FieldSpec;

/** A text that can be asked for where it has this form. */
function asked(form: RegExp, filter: OperatorSet = EQUAL) {
  return { ...TEXT, domain: { text: { askable: (text) => form.test(text) } }, filter } as const satisfies FieldSpec;
}

/** Two parameters take several codes, between commas. */
const CODE = asked(/^\w+$/, { ...EQUAL, IN: 'superset' });
/** Ids may contain `$`. */
const ID = asked(/^[\w$-]+$/);
const LOGIN = asked(/^[!-+\--~]+$/);

/** Shown with its kind; taken as a text, which of a list is the code. Source: "Custom List Items". */
const CUSTOM = {
  type: 'object',
  ...WRITTEN,
  write: (value) => (value === null ? '' : (json.at(value, 'Code') ?? json.at(value, 'Value') ?? value)),
} as const satisfies FieldSpec;

function numbered(name: string, count: number): Fields {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index + 1}`, CUSTOM]));
}

/** Fields by the provider's names. Ours begin with small letters, as the names of its parameters do: `ID` is `id`, `HasVAT` is `hasVAT`. */
function named(fields: Fields): Fields {
  const small = (name: string) => name.replace(/^(?:[A-Z]+$|[A-Z])/, (start) => start.toLowerCase());
  return Object.fromEntries(Object.entries(fields).map(([name, spec]) => [small(name), { native: name, ...spec }]));
}

/** Of both objects, after those of their own. `WorkflowActionUrl` repeats the query that it was asked with, and is left out. */
const COMMON = { ...numbered('OrgUnit', 6), URI: { ...TEXT, format: 'uri' } } as const satisfies Fields;

export const REPORT_FIELDS = named({
  ID: { ...TEXT, nullable: false },
  Name: { ...TEXT, ...WRITTEN, required: true },
  Purpose: { ...TEXT, ...WRITTEN, label: 'Business purpose; it is taken and never shown' },
  UserDefinedDate: { ...DAY, ...WRITTEN, filter: BOUNDS, label: 'Date of the report, as its owner says' },
  ApprovalStatusCode: CODE,
  ApprovalStatusName: { ...TEXT, label: 'Approval status, in the language of the user' },
  PaymentStatusCode: CODE,
  PaymentStatusName: { ...TEXT, label: 'Payment status, in the language of the user' },
  CurrencyCode: asked(/^[A-Z]{3}$/),
  Country: asked(/^[A-Z]{2}$/),
  CountrySubdivision: TEXT,
  Total: NUMBER,
  TotalClaimedAmount: NUMBER,
  TotalApprovedAmount: NUMBER,
  AmountDueEmployee: NUMBER,
  AmountDueCompanyCard: NUMBER,
  PersonalAmount: NUMBER,
  CreateDate: BOUNDED_TIME,
  SubmitDate: BOUNDED_TIME,
  ProcessingPaymentDate: BOUNDED_TIME,
  PaidDate: BOUNDED_TIME,
  LastModifiedDate: { ...BOUNDED_TIME, label: 'When the head of the report was changed last' },
  OwnerLoginID: TEXT,
  OwnerName: TEXT,
  ApproverLoginID: LOGIN,
  ApproverName: TEXT,
  LastComment: { ...TEXT, ...WRITTEN, label: 'The latest comment; one that is given is added' },
  PolicyID: TEXT,
  LedgerName: TEXT,
  ReceiptsReceived: FLAG,
  EverSentBack: FLAG,
  HasException: FLAG,
  ...COMMON,
  ...numbered('Custom', 20),
});

/** Nothing of an entry is written here. */
function readOnly(fields: Fields): Fields {
  const only = ({ createable, updateable, write, ...spec }: FieldSpec) => spec;
  return Object.fromEntries(Object.entries(fields).map(([name, spec]) => [name, only(spec)]));
}

export const ENTRY_FIELDS = readOnly(
  named({
    ID: { ...TEXT, nullable: false },
    ExpenseID: { ...TEXT, label: 'Its id in version 4 of the API' },
    ReportID: ID,
    ReportOwnerID: { ...TEXT, label: 'Login ID of the owner of the report' },
    ExpenseTypeCode: asked(/^[\w-]+$/),
    ExpenseTypeName: TEXT,
    PaymentTypeID: ID,
    PaymentTypeName: TEXT,
    SpendCategoryCode: TEXT,
    SpendCategoryName: TEXT,
    TransactionDate: DAY,
    TransactionAmount: NUMBER,
    TransactionCurrencyCode: TEXT,
    ExchangeRate: NUMBER,
    PostedAmount: { ...NUMBER, label: 'Amount in the currency of the report' },
    ApprovedAmount: NUMBER,
    Description: TEXT,
    VendorDescription: TEXT,
    VendorListItemID: TEXT,
    VendorListItemName: TEXT,
    LocationID: TEXT,
    LocationName: TEXT,
    LocationSubdivision: TEXT,
    LocationCountry: TEXT,
    AllocationType: { ...TEXT, label: 'Allocated: P partly, F fully, N not' },
    TaxReceiptType: { ...TEXT, label: 'Receipt: T of tax, R regular, N none' },
    IsBillable: { ...FLAG, filter: EQUAL },
    IsPersonal: FLAG,
    IsPersonalCardCharge: FLAG,
    IsImageRequired: FLAG,
    IsPaidByExpensePay: FLAG,
    HasAttendees: { ...FLAG, filter: EQUAL },
    HasVAT: { ...FLAG, filter: EQUAL },
    HasImage: FLAG,
    HasItemizations: FLAG,
    HasComments: FLAG,
    HasExceptions: FLAG,
    HasAppliedCashAdvance: FLAG,
    ReceiptReceived: FLAG,
    CompanyCardTransactionID: TEXT,
    ElectronicReceiptID: TEXT,
    EmployeeBankAccountID: TEXT,
    TripID: TEXT,
    FormID: TEXT,
    Journey: { type: 'object' },
    LastModified: TIME,
    ...COMMON,
    ...numbered('Custom', 40),
  }),
);
