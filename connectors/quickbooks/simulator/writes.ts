import type { TableRow } from '#connector/simulator';
import { invalid } from './fault.ts';
import type { Tables } from './rows.ts';
import type { Kind, Property, Schema } from './schema.ts';
import { dayOf } from './time.ts';

type Body = Readonly<Record<string, unknown>>;

/** The company as a write finds it. */
export interface Place {
  readonly tables: Tables;
  readonly nowMs: number;
}

/** Values of a new record. @throws Fault 400 as the provider says it */
export function readNew(schema: Schema, body: Body, place: Place): TableRow {
  const given = readInput(schema, body, place);
  assertRequired(schema, given);
  return finish(schema, given, {}, place);
}

/**
 * Values of a changed record: of a sparse update those that are said, else all, and what is not said becomes null.
 * A sparse update passes over null; it clears by an empty text, `{}` or `{ value: '' }`.
 */
export function readChange(schema: Schema, body: Body, old: TableRow, place: Place): TableRow {
  const input = readInput(schema, body, place);
  if (body.sparse === true || body.sparse === 'true') {
    const said = Object.entries(input).filter(([name]) => body[name] !== null);
    return finish(schema, Object.fromEntries(said), old, place);
  }
  assertRequired(schema, input);
  const writable = Object.entries(schema.properties).filter(([name, { isWritable }]) => isWritable && name in old);
  return finish(schema, { ...Object.fromEntries(writable.map(([name]) => [name, null])), ...input }, old, place);
}

/** What may be written, checked; what is only read is passed over. */
function readInput(schema: Schema, body: Body, place: Place): TableRow {
  const { properties } = schema;
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(properties, name) && !HARMLESS.includes(name));
  if (unknown !== undefined) throw unsupportedProperty(unknown);
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const property = properties[name];
      return property?.isWritable === true ? [[name, readValue(name, property, value, { schema, place })]] : [];
    }),
  );
}

/** Members of answers that callers send back. */
const HARMLESS = [
  ...['HomeBalance', 'HomeTotalAmt', 'FreeFormAddress', 'CompanyAddr', 'AllowIPNPayment', 'AllowOnlinePayment'],
];

function unsupportedProperty(name: string) {
  return invalid(2010, `Property Name:${name} specified is unsupported or invalid`, name);
}

interface Target {
  readonly schema: Schema;
  readonly place: Place;
}

function readValue(name: string, { kind, longest }: Property, value: unknown, { schema, place }: Target): unknown {
  if (value === null || isEmpty(value)) return null;
  if (!TAKES[kind](value)) throw unsupportedProperty(name);
  if (kind === 'text') return readText(name, String(value), longest);
  if (kind === 'ref') return readReference(name, Object(value), { schema, place });
  return kind === 'decimal' ? Number(value) : value;
}

/** How sparse updates clear: a text, a wrapped value, a reference. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.values(value);
  return members.every((member) => member === '' || member === null);
}

const isText = (value: unknown) => typeof value === 'string';
const isObject = (value: unknown) => typeof value === 'object' && !Array.isArray(value);
const isBoolean = (value: unknown) => typeof value === 'boolean';
const hasText = (member: string) => (value: unknown) => isText(Object(value)[member]);

const TAKES: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  id: isText,
  text: isText,
  ref: hasText('value'),
  boolean: isBoolean,
  decimal: (value) => (typeof value === 'number' || typeof value === 'string') && Number.isFinite(Number(value)),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)) && !Number.isNaN(Date.parse(String(value))),
  time: isText,
  email: hasText('Address'),
  phone: hasText('FreeFormNumber'),
  url: hasText('URI'),
  address: isObject,
  memo: hasText('value'),
  list: Array.isArray,
  object: isObject,
};

const NAMES: readonly string[] = [
  ...['DisplayName', 'Title', 'GivenName', 'MiddleName', 'FamilyName', 'Suffix', 'PrintOnCheckName', 'Name'],
];

/** Names are without blanks at their ends. */
function readText(name: string, text: string, longest: number): string {
  if (text.length > longest) {
    const found = `Min:0 Max:${longest} supported. Supplied length:${text.length}`;
    throw invalid(2050, `String length specified does not match the supported length. ${found}`, name);
  }
  if (!NAMES.includes(name)) return text;
  if (/[:\t\n]/.test(text)) {
    throw invalid(6000, `Business Validation Error: ${name} must not contain a colon, a tab or a new line.`, name);
  }
  return text.trim();
}

/** Of which entity a reference is; of the others nothing is known here. */
function targetOf(name: string, { name: entity }: Schema): string | undefined {
  if (name === 'ParentRef') return entity;
  if (name.endsWith('AccountRef')) return 'Account';
  return { CustomerRef: 'Customer', VendorRef: 'Vendor', PrefVendorRef: 'Vendor' }[name];
}

/** The provider writes the name of what is meant, whatever name was sent. */
function readReference(name: string, { value }: Body, { schema, place }: Target): unknown {
  const target = targetOf(name, schema);
  if (target === undefined) return { value };
  const row = place.tables.get(target)?.find(String(value));
  if (row === undefined) throw invalid(2500, `Invalid Reference Id : Names element id ${value} not found`, name);
  return { value, name: row.DisplayName ?? row.Name };
}

function assertRequired({ required }: Schema, values: TableRow): void {
  for (const names of required) {
    const isThere = names.some((name) => !isMissing(values[name]));
    if (!isThere) throw missing(names[0] ?? '');
  }
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

export function missing(name: string) {
  return invalid(2020, `Required parameter ${name} is missing in the request`, name);
}

/** What the provider fills in and works out, and what it does not take twice. */
function finish(schema: Schema, values: TableRow, old: TableRow, place: Place): TableRow {
  const merged = { ...old, ...values };
  const worked = schema.isList ? nameIt(schema, values, merged) : addUp(schema, values, merged, place);
  const filled = Object.entries(DEFAULTS[schema.name] ?? {}).filter(([name]) =>
    isMissing(worked[name] ?? merged[name]),
  );
  const changed = { ...values, ...worked, ...Object.fromEntries(filled) };
  assertUnique(schema, { ...old, ...changed }, place);
  return changed;
}

const DEFAULTS: Readonly<Record<string, TableRow>> = {
  Customer: {
    ...{ Active: true, Taxable: false, Job: false, BillWithParent: false, Balance: 0, BalanceWithJobs: 0 },
    PreferredDeliveryMethod: 'Print',
  },
  Vendor: { Active: true, Vendor1099: false, Balance: 0 },
  Employee: { Active: true, BillableTime: false },
  Item: { Active: true, UnitPrice: 0, TrackQtyOnHand: false, Taxable: false },
  Account: { Active: true, SubAccount: false, CurrentBalance: 0, CurrentBalanceWithSubAccounts: 0 },
  Invoice: {
    EmailStatus: 'NotSet',
    PrintStatus: 'NeedToPrint',
    ApplyTaxAfterDiscount: false,
    Deposit: 0,
    LinkedTxn: [],
  },
  Estimate: { EmailStatus: 'NotSet', PrintStatus: 'NeedToPrint', ApplyTaxAfterDiscount: false, TxnStatus: 'Pending' },
  SalesReceipt: {
    ...{ EmailStatus: 'NotSet', PrintStatus: 'NeedToPrint', ApplyTaxAfterDiscount: false },
    DepositToAccountRef: { value: '4', name: 'Undeposited Funds' },
  },
  Bill: { LinkedTxn: [] },
  Payment: { ProcessPayment: false, Line: [] },
};

const CLASSES: Readonly<Record<string, string>> = {
  ...{ Bank: 'Asset', 'Accounts Receivable': 'Asset', 'Other Current Asset': 'Asset', 'Fixed Asset': 'Asset' },
  ...{ 'Accounts Payable': 'Liability', 'Credit Card': 'Liability', 'Other Current Liability': 'Liability' },
  ...{ Income: 'Revenue', 'Other Income': 'Revenue', Equity: 'Equity' },
};

/** A name that was not said is made of its parts. */
function nameIt({ name: entity }: Schema, values: TableRow, merged: TableRow): TableRow {
  if (entity === 'Item') return { FullyQualifiedName: merged.Name };
  if (entity === 'Account') {
    const type = String(merged.AccountType ?? 'Bank');
    return { AccountType: type, FullyQualifiedName: merged.Name, Classification: CLASSES[type] ?? 'Expense' };
  }
  const parts = ['Title', 'GivenName', 'MiddleName', 'FamilyName', 'Suffix'].map((part) => merged[part]);
  const DisplayName = merged.DisplayName ?? parts.filter((part) => !isMissing(part)).join(' ');
  const PrintOnCheckName = values.PrintOnCheckName ?? merged.PrintOnCheckName ?? DisplayName;
  return { DisplayName, PrintOnCheckName, ...(entity === 'Customer' && { FullyQualifiedName: DisplayName }) };
}

const cents = (value: number) => Math.round(value * 100) / 100;

/** Totals are those of the lines; what is open stays open by the same payments. */
function addUp({ name: entity }: Schema, values: TableRow, merged: TableRow, { tables, nowMs }: Place): TableRow {
  const TxnDate = merged.TxnDate ?? dayOf(nowMs);
  if (entity === 'Payment') {
    const applied = linesOf(merged.Line).reduce((sum, { Amount }) => sum + Number(Amount ?? 0), 0);
    return { TxnDate, UnappliedAmt: cents(Number(merged.TotalAmt) - applied) };
  }
  const isSale = entity !== 'Bill';
  const lines = linesOf(merged.Line).filter(({ DetailType }) => DetailType !== 'SubTotalLineDetail');
  const total = cents(lines.reduce((sum, { Amount }) => sum + Number(Amount ?? 0), 0));
  const numbered = lines.map((line, index) => ({
    ...line,
    Id: String(index + 1),
    ...(isSale && { LineNum: index + 1 }),
  }));
  const subtotal = { Amount: total, DetailType: 'SubTotalLineDetail', SubTotalLineDetail: {} };
  const paid = cents(Number(merged.TotalAmt ?? 0) - Number(merged.Balance ?? merged.TotalAmt ?? 0));
  const hasBalance = entity === 'Invoice' || entity === 'Bill';
  const isNew = merged.Id === undefined;
  return {
    TxnDate,
    TotalAmt: total,
    Line: isSale ? [...numbered, subtotal] : numbered,
    ...(hasBalance && { Balance: isNew ? total : cents(total - paid) }),
    ...(entity === 'SalesReceipt' && { Balance: 0 }),
    ...(hasBalance && isMissing(merged.DueDate) && { DueDate: TxnDate }),
    ...(isSale && { TxnTaxDetail: merged.TxnTaxDetail ?? { TotalTax: 0 } }),
    ...(entity === 'Bill' && isMissing(values.APAccountRef) && { APAccountRef: merged.APAccountRef ?? PAYABLE }),
    ...(isSale && isNew && isMissing(values.DocNumber) && { DocNumber: nextNumber(tables) }),
  };
}

const PAYABLE = { value: '2', name: 'Accounts Payable (A/P)' };

function linesOf(lines: unknown): readonly Body[] {
  return Array.isArray(lines) ? lines.map((line) => Object(line)) : [];
}

/** One series of numbers for all sales. */
function nextNumber(tables: Tables): string {
  const numbers = ['Invoice', 'Estimate', 'SalesReceipt'].flatMap((entity) =>
    (tables.get(entity)?.rows(true) ?? []).map(({ DocNumber }) => Number(DocNumber)),
  );
  return String(Math.max(1000, ...numbers.filter(Number.isInteger)) + 1);
}

const PEOPLE: readonly string[] = ['Customer', 'Vendor', 'Employee'];

/** Customers, vendors and employees share their names; items and accounts have theirs. */
function assertUnique({ name: entity, isList }: Schema, row: TableRow, { tables }: Place): void {
  if (!isList) return;
  const isPerson = PEOPLE.includes(entity);
  const member = isPerson ? 'DisplayName' : 'Name';
  const wanted = String(row[member]).toLowerCase();
  const isTaken = (isPerson ? PEOPLE : [entity]).some((other) =>
    (tables.get(other)?.rows() ?? []).some(
      (known) => String(known[member]).toLowerCase() === wanted && (other !== entity || known.Id !== row.Id),
    ),
  );
  if (isTaken) throw invalid(6240, 'The name supplied already exists. : null');
}
