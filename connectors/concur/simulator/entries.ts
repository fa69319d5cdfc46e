import { createHash } from 'node:crypto';
import { DAY_MS, HOSTILE_TEXTS, pick, type TableRow } from '#connector/simulator';
import { ENTRY_FORM, emptyFields, fillForm, printMoment, protectedId } from './form.ts';
import type { User } from './users.ts';

const EXPENSE_TYPES = [
  ['LODNG', 'Hotel', 'LODGA', 'Lodging'],
  ['AIRFR', 'Airfare', 'AIRFR', 'Airfare'],
  ['BRKFT', 'Breakfast & Coffee', 'MEALS', 'Meals'],
] as const;
const PAYMENT_TYPES = ['Cash', 'Company Paid'];
const VENDORS = ['ACME Hotels', 'acme hotels', "L'Hôtel & Spa, Inc.", 'Ryanair', '東京ホテル'];
const AMOUNTS = [1500, 307.01, 0.1, 20, 999_999.99, -12.5, 4];

interface Header {
  readonly ID: string;
  readonly owner: User;
  readonly madeMs: number;
  readonly batchId: string | null;
}

/** @param number of the entry, among all that are ever made */
export function makeEntry(number: number, { ID: ReportID, owner, madeMs, batchId }: Header): TableRow {
  const [code, name, category, categoryName] = pick(EXPENSE_TYPES, number);
  const payment = pick(PAYMENT_TYPES, number >> 1);
  const amount = pick(AMOUNTS, number);
  const hasAttendees = number % 7 === 3;
  const hash = createHash('sha256').update(`entry ${number}`).digest('hex');
  return {
    ReportID,
    ReportOwnerID: owner.loginId,
    ExpenseTypeCode: code,
    ExpenseTypeName: name,
    SpendCategoryCode: category,
    SpendCategoryName: categoryName,
    PaymentTypeID: protectedId('payment type', payment),
    PaymentTypeName: payment,
    TransactionDate: `${printMoment(madeMs - (number % 6) * DAY_MS).slice(0, 10)}T00:00:00`,
    TransactionCurrencyCode: owner.currency,
    TransactionAmount: amount,
    ExchangeRate: 1,
    PostedAmount: amount,
    ApprovedAmount: amount,
    VendorDescription: number % 6 === 5 ? null : pick(VENDORS, number),
    VendorListItemID: null,
    VendorListItemName: null,
    LocationID: protectedId('location', number % 3),
    LocationName: pick(['Seattle, Washington', 'Montréal, Quebec', 'Tokyo'], number),
    LocationSubdivision: pick(['US-WA', 'CA-QC', null], number),
    LocationCountry: pick(['US', 'CA', 'JP'], number),
    Description: pick(HOSTILE_TEXTS, number).slice(0, 64),
    Comment: '',
    IsPersonal: number % 7 === 6,
    IsBillable: number % 5 === 2,
    IsPersonalCardCharge: false,
    HasImage: number % 9 === 4,
    IsImageRequired: amount > 25,
    ReceiptReceived: false,
    TaxReceiptType: pick(['N', 'R', 'T'], number),
    ElectronicReceiptID: null,
    CompanyCardTransactionID: null,
    TripID: null,
    HasItemizations: false,
    AllocationType: 'N',
    HasAttendees: hasAttendees,
    HasVAT: number % 5 === 0,
    HasAppliedCashAdvance: false,
    HasComments: false,
    HasExceptions: number % 3 === 0,
    IsPaidByExpensePay: null,
    EmployeeBankAccountID: null,
    Journey: null,
    FormID: protectedId('form', code),
    LastModified: printMoment(madeMs + number * 61_001),
    ...emptyFields(40),
    ...fillForm(ENTRY_FORM, number),
    ExpenseID: hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5').toUpperCase(),
    attendeeType: hasAttendees ? pick(['BUSGUEST', 'EMPLOYEE'], number) : null,
    attendeeId: hasAttendees ? protectedId('attendee', number % 8) : null,
    batchId,
    ID: protectedId('entry', number),
  };
}
