import {
  type Collection,
  type CollectionSpec,
  type Column,
  type Complaint,
  createCollections,
  cycle,
  DAY_MS,
  dayAfter,
  HOSTILE_TEXTS,
  type MovableClock,
  pick,
  sparse,
  type TableRow,
} from '#connector/simulator';
import { type Entity, type EntityName, entityOf, type Kind } from './entities.ts';
import { invalid, notFound } from './fault.ts';
import { dayOf, printTime, wholeSecond } from './time.ts';

export type Company = Readonly<Record<EntityName, Collection<CollectionSpec & Entity, EntityName>>>;

const COUNTS: Readonly<Record<EntityName, number>> = {
  ...{ Customer: 60, Vendor: 36, Employee: 30, Item: 40, Account: 30, Invoice: 80, Estimate: 40, SalesReceipt: 30 },
  ...{ Bill: 40, Payment: 50, CompanyInfo: 1 },
};

/** Names of records. They have no colon, no tab and no new line. */
const NAMES = [
  ...HOSTILE_TEXTS.filter((text) => text.trim() === text && text !== '' && !/[:\t\n\r"]/.test(text)),
  ...["O'Brien & Söhne", 'Caesar', 'CAESAR', 'caesar', 'Straße', 'STRASSE'],
].map((text) => text.slice(0, 90));

/** Returns the name of a record. It ends with the letter of the entity and the number of the record, so it is unique regardless of case. */
const nameOf = (entity: EntityName) => (index: number) => `${pick(NAMES, index)} ${entity.charAt(0)}${index}`;

/** Returns the entity to which a reference points; undefined for entities that are not simulated. */
function targetOf(name: string): EntityName | undefined {
  if (name.endsWith('AccountRef')) return 'Account';
  return name === 'CustomerRef' ? 'Customer' : name === 'VendorRef' || name === 'PrefVendorRef' ? 'Vendor' : undefined;
}

/** Columns of members that are objects in JSON. */
const OBJECTS: Readonly<Partial<Record<Kind, (name: string) => Column>>> = {
  ref: (name) => {
    const target = targetOf(name);
    if (target === undefined)
      return name === 'ParentRef' ? () => null : (index) => ({ value: String((index % 4) + 1) });
    return (index) => {
      const at = (index * 7) % COUNTS[target];
      return { value: String(at + 1), name: nameOf(target)(at) };
    };
  },
  email: () => sparse(3, (index) => ({ Address: `c${index}+%_${pick(['x', 'X'], index)}@example.com` })),
  phone: () => sparse(4, (index) => ({ FreeFormNumber: `(650) 555-0${index}` })),
  url: () => sparse(5, (index) => ({ URI: `https://example.com/${index}?a=1&b=ü` })),
  memo: () => sparse(4, (index) => ({ value: pick(NAMES, index + 5) })),
  address: () =>
    sparse(3, (index) => ({ Line1: pick(NAMES, index), City: pick(NAMES, index + 3), PostalCode: '94213' })),
  object: () => () => null,
};

const amount = cycle([31.5, 0, 103.55, 0.1, 1000, 99_999_999.99, 362.07, 12.75]);
const balance = cycle([0, 85, 274.5, 1000.01, -12.5, 0.1]);
const USD = { value: 'USD', name: 'United States Dollar' };

/** Returns the columns on which the connector, its orders and its filters depend. */
function columnsOf({ name, isList }: Entity): Readonly<Record<string, Column>> {
  const called = nameOf(name);
  if (name === 'CompanyInfo') return { CompanyName: () => "Dana's Demo & Söhne", Country: () => 'US' };
  if (isList) {
    const types = name === 'Item' ? ['Service', 'Inventory', 'NonInventory'] : [];
    return {
      ...(name === 'Item' || name === 'Account' ? { Name: called } : { DisplayName: called, PrintOnCheckName: called }),
      ...(name !== 'Vendor' && name !== 'Employee' && { FullyQualifiedName: called }),
      ...(name === 'Account' && { AccountType: cycle(['Bank', 'Income', 'Expense', 'Equity']) }),
      ...(types.length > 0 && { Type: cycle(types), Level: () => 0 }),
      ...(name === 'Customer' && {
        CompanyName: sparse(6, cycle(NAMES, 5)),
        Balance: balance,
        BalanceWithJobs: balance,
      }),
      ...(name === 'Account' && { CurrentBalance: balance, CurrentBalanceWithSubAccounts: balance }),
      Active: (index) => index % 9 !== 8,
    };
  }
  return {
    ...{ TotalAmt: amount, Balance: amount, TxnDate: (index) => dayAfter('2023-12-28', index * 3) },
    Line: (index) => [{ Id: '1', Description: pick(NAMES, index), Amount: amount(index) }],
  };
}

/** Creates a company as of now. Its records were created during the last 300 days and changed up to some hours later. */
export function createCompany(clock: MovableClock): Company {
  const now = wholeSecond(clock.now());
  const specOf = (entityName: EntityName): CollectionSpec & Entity => {
    const entity = entityOf(entityName);
    const count = COUNTS[entityName];
    const created = (index: number) => wholeSecond(now - DAY_MS - Math.floor((300 * DAY_MS * (count - index)) / count));
    const own = Object.entries(entity.properties).filter(
      ([name]) => !/^(?:Id|SyncToken|MetaData|domain|sparse|time)/.test(name),
    );
    const made = own.flatMap(([name, { kind }]) => {
      const column = OBJECTS[kind]?.(name);
      return column === undefined ? [] : [[name, column]];
    });
    const currency = 'CurrencyRef' in entity.properties && { CurrencyRef: USD };
    return {
      ...entity,
      key: 'Id',
      rows: count,
      makeId: (index) => String(index + 1),
      members: Object.fromEntries(own.map(([name, { member }]) => [name, member])),
      vary: {
        SyncToken: (index) => String(index % 3),
        createdMs: created,
        updatedMs: (index) => created(index) + (index % 5) * 3_601_000,
        ...Object.fromEntries(made),
        ...(currency && { CurrencyRef: () => USD }),
        ...columnsOf(entity),
      },
      initial: { SyncToken: '0', ...(entity.isList && { Active: true }), ...currency },
      ...{ created: ['createdMs'], changed: ['updatedMs'] },
      touch: ({ SyncToken }) => ({ SyncToken: String(Number(SyncToken) + 1) }),
      // A deleted record of a list stays, and becomes inactive.
      ...(entity.isList ? { retired: { Active: false } } : { deleted: 'isDeleted' }),
      check: (row) => complaintsOf(entity, row, company),
      made: entity.isList ? { Active: true } : {},
      label:
        { Customer: 'Notes', Vendor: 'AcctNum', Employee: 'EmployeeNumber' }[String(entityName)] ??
        (entity.isList ? 'Description' : 'PrivateNote'),
    };
  };
  const company: Company = createCollections<EntityName, CollectionSpec & Entity>({
    clock,
    writeTime: wholeSecond,
    isStrict: true,
    read: {
      string: (value) => (typeof value !== 'string' ? undefined : value.trim() === '' ? null : value),
      number: (value) => (value !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined),
      object: (value) =>
        typeof value === 'object' && !Array.isArray(value) ? emptied(value) : value === '' ? null : undefined,
    },
    refuse: (complaints) => {
      // Writes to read-only members are ignored.
      const complaint = complaints.find(
        ({ reason, member }) => reason !== 'readOnly' && !['Id', 'SyncToken', 'sparse'].includes(member),
      );
      return complaint && refusalOf(complaint);
    },
    absent: notFound,
    of: {
      ...{ Customer: specOf('Customer'), Vendor: specOf('Vendor'), Employee: specOf('Employee'), Item: specOf('Item') },
      ...{ Account: specOf('Account'), Invoice: specOf('Invoice'), Estimate: specOf('Estimate'), Bill: specOf('Bill') },
      ...{ SalesReceipt: specOf('SalesReceipt'), Payment: specOf('Payment'), CompanyInfo: specOf('CompanyInfo') },
    },
  });
  return company;
}

/** Returns null for values that clear a member: an object whose members are all empty or null. */
function emptied(value: unknown): unknown {
  return Object.values(Object(value)).every((member) => member === '' || member === null) ? null : value;
}

const CODES: Readonly<Partial<Record<Complaint['reason'], number>>> = { length: 2050, missing: 2020 };

function refusalOf({ reason, member, message, code }: Complaint) {
  const number = code === undefined ? (CODES[reason] ?? 2010) : Number(code);
  const detail = number === 2010 ? `Property Name:${member} specified is unsupported or invalid` : message;
  return invalid(number, detail, member);
}

export function missing(name: string) {
  return invalid(2020, `Required parameter ${name} is missing in the request`, name);
}

const isMissing = (value: unknown) => value == null || (Array.isArray(value) && value.length === 0);
const PEOPLE: readonly EntityName[] = ['Customer', 'Vendor', 'Employee'];

/**
 * Returns the complaints about a record: missing values, and names that exist already. Customers, vendors and employees share their names.
 */
function complaintsOf(
  { name: entity, required, isList }: Entity,
  row: TableRow,
  company: Company,
): readonly Complaint[] {
  const lacks = required
    .map((names) => names.split(' '))
    .filter((names) => names.every((name) => isMissing(row[name])));
  const isPerson = PEOPLE.includes(entity);
  const member = isPerson ? 'DisplayName' : 'Name';
  const isSame = (other: TableRow) => String(other[member]).toLowerCase() === String(row[member]).toLowerCase();
  const others = (isPerson ? PEOPLE : [entity]).flatMap((name) =>
    company[name].table.rows().filter(({ Id }) => name !== entity || Id !== row.Id),
  );
  return [
    ...lacks.map(([name = '']): Complaint => {
      return { reason: 'missing', member: name, message: `Required parameter ${name} is missing in the request` };
    }),
    ...(isList && row[member] != null && others.some(isSame)
      ? [{ reason: 'other', member, code: '6240', message: 'The name supplied already exists. : null' } as const]
      : []),
  ];
}

/**
 * Reads the values of a creation or an update. A sparse update changes the members in the body. Any other update makes the other members
 * null. A sparse update ignores null; an empty text, `{}` or `{ value: '' }` clears a member.
 * @throws Fault 400
 */
export function readBody(
  company: Company,
  name: EntityName,
  body: TableRow,
  old: TableRow | undefined,
  nowMs: number,
): TableRow {
  const { members, read, isList } = company[name];
  const isSparse = body.sparse === true || body.sparse === 'true';
  const said = isSparse ? Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) : body;
  const writable = Object.keys(members).filter(
    (member) => members[member]?.isReadOnly !== true && Object.hasOwn(old ?? {}, member),
  );
  const blank = isSparse ? {} : Object.fromEntries(writable.map((member) => [member, null]));
  const values = { ...blank, ...read(said, old && { ...old, ...blank }) };
  const whole = { ...old, ...values };
  const active = isList && { Active: whole.Active ?? true };
  return { ...values, ...namesIn(company, values), ...active, ...(isList ? nameIt(name, whole) : addUp(whole, nowMs)) };
}

/** Returns the references with the names of their records, regardless of the names in the request. */
function namesIn(company: Company, values: TableRow): TableRow {
  const references = Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
    const target = targetOf(name);
    if (target === undefined || value === null) return [];
    const id = String(Object(value).value);
    const row = company[target].table.find(id);
    if (row === undefined) throw invalid(2500, `Invalid Reference Id : Names element id ${id} not found`, name);
    return [[name, { value: id, name: row.DisplayName ?? row.Name }]];
  });
  return Object.fromEntries(references);
}

/** Derives a missing display name from its parts. */
function nameIt(entity: EntityName, whole: TableRow): TableRow {
  if (!PEOPLE.includes(entity)) return { FullyQualifiedName: whole.Name };
  const parts = ['Title', 'GivenName', 'MiddleName', 'FamilyName', 'Suffix'].map((part) => whole[part] ?? '');
  const DisplayName = whole.DisplayName ?? parts.filter((part) => part !== '').join(' ');
  const names = { DisplayName, PrintOnCheckName: whole.PrintOnCheckName ?? DisplayName };
  return entity === 'Customer' ? { ...names, FullyQualifiedName: DisplayName } : names;
}

/** Returns the totals, which are the sums of the lines. */
function addUp(whole: TableRow, nowMs: number): TableRow {
  const lines = [whole.Line ?? []]
    .flat()
    .map(Object)
    .filter(({ DetailType }) => DetailType !== 'SubTotalLineDetail');
  const total = Math.round(lines.reduce((sum, { Amount }) => sum + Number(Amount ?? 0), 0) * 100) / 100;
  const TotalAmt = lines.length === 0 ? (whole.TotalAmt ?? 0) : total;
  return { TxnDate: whole.TxnDate ?? dayOf(nowMs), TotalAmt, Balance: whole.Balance ?? TotalAmt };
}

/**
 * Prints a record as responses contain it. Members that are null are missing.
 * @param selected names of the returned members; if there are any, the record is sparse
 */
export function present(row: TableRow, selected: readonly string[] = []): TableRow {
  const { createdMs, updatedMs, isDeleted, ...members } = row;
  const MetaData = { CreateTime: printTime(Number(createdMs)), LastUpdatedTime: printTime(Number(updatedMs)) };
  // Only these members of a deleted record remain.
  if (isDeleted === true) return { domain: 'QBO', status: 'Deleted', Id: row.Id, MetaData };
  const names = ['domain', 'sparse', ...selected.map((name) => name.split('.', 1)[0] ?? name)];
  const whole = { domain: 'QBO', sparse: selected.length > 0, ...members, MetaData };
  const shown = Object.entries(whole).filter(
    ([name, value]) => value !== null && (selected.length === 0 || names.includes(name)),
  );
  return Object.fromEntries(shown);
}
