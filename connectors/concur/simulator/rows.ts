import { createHash } from 'node:crypto';
import { DAY_MS, dayAfter, HOSTILE_TEXTS, pick, type TableRow, times } from '#connector/simulator';
import { makeEntry } from './entries.ts';
import { emptyFields, FORM, fillForm, printMoment, protectedId } from './form.ts';
import { ADMINISTRATOR, TRAVELER, type User } from './users.ts';

/** Members that begin with a small letter are searched by, and no answer shows them. */
export interface Rows {
  readonly reports: readonly TableRow[];
  readonly entries: readonly TableRow[];
}

export const REPORTS = 120;

export function makeRows(): Rows {
  const made = times(REPORTS, makeReport);
  return {
    reports: made.map(({ report }) => report),
    entries: made.flatMap(({ entries }) => entries),
  };
}

/** 20 hexadecimal digits, in no order. */
export function reportId(number: number): string {
  return createHash('sha256').update(`report ${number}`).digest('hex').slice(0, 20).toUpperCase();
}

interface Stage {
  readonly approval: readonly [code: string, name: string];
  readonly payment: readonly [code: string, name: string];
  /** How far it came: not sent, sent, approved, paid. */
  readonly steps: 0 | 1 | 2 | 3;
}

const NOT_PAID = ['P_NOTP', 'Not Paid'] as const;
const APPROVED = ['A_APPR', 'Approved'] as const;
/** The last is a code of the customer's own. */
const STAGES: readonly Stage[] = [
  { approval: ['A_NOTF', 'Not Submitted'], payment: NOT_PAID, steps: 0 },
  { approval: ['A_PEND', 'Submitted & Pending Approval'], payment: NOT_PAID, steps: 1 },
  { approval: APPROVED, payment: ['P_PAID', 'Sent for Payment'], steps: 3 },
  { approval: ['A_RESU', 'Sent Back to Employee'], payment: NOT_PAID, steps: 0 },
  { approval: APPROVED, payment: ['P_PROC', 'Processing Payment'], steps: 2 },
  { approval: ['A_ACCO', 'Pending Accounting Review'], payment: NOT_PAID, steps: 1 },
  { approval: APPROVED, payment: ['P_PAYC', 'Payment Confirmed'], steps: 3 },
  { approval: ['A_QX7', "Prüfung «O'Neil»"], payment: ['P_HOLD', 'Payment Hold'], steps: 1 },
];

export const LONGEST_NAME = 40;
const NAMES = HOSTILE_TEXTS.map((text, index) => (text.trim() === '' ? `Trip ${index}` : text.slice(0, LONGEST_NAME)));

/** What a report is before anything is said of it. @param day it is given */
export function blankReport(owner: User, day: string): TableRow {
  return {
    Name: '',
    Total: 0,
    CurrencyCode: owner.currency,
    Country: owner.country,
    CountrySubdivision: owner.subdivision,
    CreateDate: null,
    SubmitDate: null,
    ProcessingPaymentDate: null,
    PaidDate: null,
    ReceiptsReceived: false,
    UserDefinedDate: `${day}T00:00:00`,
    LastComment: '',
    OwnerLoginID: owner.loginId,
    OwnerName: owner.name,
    ApproverLoginID: null,
    ApproverName: null,
    ApprovalStatusName: 'Not Submitted',
    ApprovalStatusCode: 'A_NOTF',
    PaymentStatusName: 'Not Paid',
    PaymentStatusCode: 'P_NOTP',
    LastModifiedDate: null,
    PersonalAmount: 0,
    AmountDueEmployee: 0,
    AmountDueCompanyCard: 0,
    TotalClaimedAmount: 0,
    TotalApprovedAmount: 0,
    LedgerName: 'DEFAULT',
    PolicyID: owner.policy,
    EverSentBack: false,
    HasException: false,
    WorkflowActionUrl: '',
    ...emptyFields(20),
    groupId: owner.group,
    reimbursement: owner.reimbursement,
    isTestUser: owner.isTestUser,
    batchId: null,
    hasImage: false,
  };
}

const FIRST_DAY = '2023-12-28';
const SECONDS = [0, 86_399.997, 43_200, 30_615.21];

/** Three of four are made at the same time as another. */
function createdMs(index: number): number {
  const pair = index >> 1;
  return Date.parse(dayAfter(FIRST_DAY, (pair % 45) * 9)) + pick(SECONDS, pair) * 1000;
}

function makeReport(index: number): { readonly report: TableRow; readonly entries: readonly TableRow[] } {
  const owner = index % 12 < 7 ? ADMINISTRATOR : TRAVELER;
  const { approval, payment, steps } = pick(STAGES, index);
  const madeMs = createdMs(index);
  const after = (step: number) =>
    steps >= step ? printMoment(madeMs + step * 3 * DAY_MS + (index >> 1) * 61_001) : null;
  const isWaiting = steps === 1;
  const ID = reportId(index);
  const batchId = steps === 3 ? String(5000 + (index % 5)) : null;
  const entries = times(index % 4, (number) => makeEntry(index * 4 + number, { ID, owner, madeMs, batchId }));
  const report = {
    ...blankReport(owner, dayAfter(FIRST_DAY, (index % 40) * 10)),
    Name: pick(NAMES, index),
    ...totalsOf(entries),
    ...(index % 9 === 4 && { Country: 'JP', CountrySubdivision: 'JP-13', CurrencyCode: 'JPY' }),
    CreateDate: printMoment(madeMs),
    SubmitDate: after(1),
    ProcessingPaymentDate: after(2),
    PaidDate: after(3),
    ReceiptsReceived: steps > 1 && index % 2 === 0,
    ...(index % 11 === 10 && { UserDefinedDate: null }),
    LastComment: pick(HOSTILE_TEXTS, index * 3).slice(0, 500),
    ...(isWaiting && { ApproverLoginID: ADMINISTRATOR.loginId, ApproverName: ADMINISTRATOR.name }),
    ApprovalStatusCode: approval[0],
    ApprovalStatusName: approval[1],
    PaymentStatusCode: payment[0],
    PaymentStatusName: payment[1],
    LastModifiedDate: printMoment(madeMs + 10 * DAY_MS),
    EverSentBack: approval[0] === 'A_RESU',
    HasException: index % 3 === 0,
    WorkflowActionUrl: steps === 0 ? '' : protectedId('workflow', index),
    ...fillForm(FORM, index),
    batchId,
    hasImage: index % 10 === 3,
    ID,
  };
  return { report, entries };
}

/** Sums of cents. */
function totalsOf(entries: readonly TableRow[]): TableRow {
  const sum = (isCounted: (entry: TableRow) => boolean) =>
    entries.filter(isCounted).reduce((cents, { PostedAmount }) => cents + Math.round(Number(PostedAmount) * 100), 0) /
    100;
  const claimed = sum(({ IsPersonal }) => IsPersonal === false);
  const ofCard = sum(({ IsPersonal, PaymentTypeName }) => IsPersonal === false && PaymentTypeName !== 'Cash');
  return {
    Total: sum(() => true),
    PersonalAmount: sum(({ IsPersonal }) => IsPersonal === true),
    AmountDueEmployee: Math.round((claimed - ofCard) * 100) / 100,
    AmountDueCompanyCard: ofCard,
    TotalClaimedAmount: claimed,
    TotalApprovedAmount: claimed,
  };
}
