import { Fault, type TableRow } from '#connector/simulator';

/** How texts compare: the documents do not say. */
export type TextRule = 'ignoring case' | 'as written';

export type Test = (row: TableRow) => boolean;

/** What a value of a parameter lets through. @throws Fault 400 for a value that is none */
export type Filter = (text: string, parameter: string) => Test;

/** By parameter. Others are passed over. */
export type Filters = Readonly<Record<string, Filter>>;

export function badRequest(message: string): Fault {
  return new Fault(400, 'BAD_REQUEST', message);
}

/** Whatever is said must hold; a parameter without a value says nothing. @throws Fault 400 */
export function testsOf(filters: Filters, query: URLSearchParams): readonly Test[] {
  return Object.entries(filters).flatMap(([parameter, filter]) => {
    const text = query.get(parameter) ?? '';
    return text === '' ? [] : [filter(text, parameter)];
  });
}

const FOLDS: Readonly<Record<TextRule, (text: string) => string>> = {
  'ignoring case': (text) => text.toLowerCase().trimEnd(),
  'as written': (text) => text,
};

type Read = (row: TableRow) => unknown;

interface Kinds {
  readonly same: (member: string) => Filter;
  /** A list with commas. */
  readonly among: (member: string) => Filter;
}

function kindsOf(rule: TextRule): Kinds {
  const fold = FOLDS[rule];
  const among =
    (member: string, split: (text: string) => readonly string[]): Filter =>
    (text) => {
      const wanted = new Set(split(text).map(fold));
      return ({ [member]: value }) => typeof value === 'string' && wanted.has(fold(value));
    };
  return {
    same: (member) => among(member, (text) => [text]),
    among: (member) => among(member, (text) => text.split(',')),
  };
}

function flag(read: Read): Filter {
  return (text, parameter) => {
    const word = text.toLowerCase();
    if (word !== 'true' && word !== 'false') throw badRequest(`${parameter} is true or false, and not '${text}'.`);
    return (row) => read(row) === (word === 'true');
  };
}

/** `…Before` and `…After`. The bound itself is neither before nor after; a day is its first moment. */
function bounds(parameter: string, read: (row: TableRow) => readonly unknown[]): Filters {
  const compared =
    (holds: (ms: number, boundMs: number) => boolean): Filter =>
    (text, name) => {
      const boundMs = readMoment(text, name);
      return (row) => read(row).some((value) => typeof value === 'string' && holds(Date.parse(`${value}Z`), boundMs));
    };
  return {
    [`${parameter}Before`]: compared((ms, boundMs) => ms < boundMs),
    [`${parameter}After`]: compared((ms, boundMs) => ms > boundMs),
  };
}

/** The two forms that are documented; neither has a zone. */
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d:\d\d\.\d{3})?$/;

function readMoment(text: string, parameter: string): number {
  const [, day = ''] = MOMENT.exec(text) ?? [];
  const ms = Date.parse(text === day ? day : `${text}Z`);
  // What does not exist, such as 30 February, would become another day.
  const isReal = day !== '' && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
  if (!isReal) throw badRequest(`${parameter} is yyyy-MM-dd or yyyy-MM-ddTHH:mm:ss.SSS, and not '${text}'.`);
  return ms;
}

/** @param entriesOf a report */
export function reportFilters(entriesOf: (report: TableRow) => readonly TableRow[], rule: TextRule): Filters {
  const { same, among } = kindsOf(rule);
  const ofAny =
    (filter: Filter): Filter =>
    (text, parameter) => {
      const test = filter(text, parameter);
      return (report) => entriesOf(report).some(test);
    };
  const hasAny = (member: string) => flag((report) => entriesOf(report).some((entry) => entry[member] === true));
  const moment = (parameter: string, member: string) => bounds(parameter, ({ [member]: value }) => [value]);
  return {
    approvalStatusCode: among('ApprovalStatusCode'),
    paymentStatusCode: among('PaymentStatusCode'),
    currencyCode: same('CurrencyCode'),
    paymentType: ofAny(same('PaymentTypeID')),
    reimbursementMethod: same('reimbursement'),
    approverLoginID: same('ApproverLoginID'),
    expenseTypeCode: ofAny(same('ExpenseTypeCode')),
    attendeeTypeCode: ofAny(same('attendeeType')),
    countryCode: same('Country'),
    batchID: same('batchId'),
    vendorName: ofAny(same('VendorDescription')),
    hasVAT: hasAny('HasVAT'),
    hasImages: flag(
      (report) => report.hasImage === true || entriesOf(report).some(({ HasImage }) => HasImage === true),
    ),
    hasAttendees: hasAny('HasAttendees'),
    hasBillableExpenses: hasAny('IsBillable'),
    isTestUser: flag(({ isTestUser }) => isTestUser),
    expenseGroupConfigID: same('groupId'),
    ...bounds('entryTransactionDate', (report) => entriesOf(report).map(({ TransactionDate }) => TransactionDate)),
    ...moment('createDate', 'CreateDate'),
    ...moment('userDefinedDate', 'UserDefinedDate'),
    ...moment('submitDate', 'SubmitDate'),
    ...moment('processingPaymentDate', 'ProcessingPaymentDate'),
    ...moment('paidDate', 'PaidDate'),
    ...moment('modifiedDate', 'LastModifiedDate'),
  };
}

export function entryFilters(rule: TextRule): Filters {
  const { same } = kindsOf(rule);
  return {
    reportID: same('ReportID'),
    paymentTypeID: same('PaymentTypeID'),
    batchID: same('batchId'),
    isBillable: flag(({ IsBillable }) => IsBillable),
    attendeeTypeCode: same('attendeeType'),
    hasAttendees: flag(({ HasAttendees }) => HasAttendees),
    hasVAT: flag(({ HasVAT }) => HasVAT),
    expenseTypeCode: same('ExpenseTypeCode'),
    attendeeID: same('attendeeId'),
  };
}
