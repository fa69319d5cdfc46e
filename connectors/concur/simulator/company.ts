import { createHash } from 'node:crypto';
import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  DAY_MS,
  dayAfter,
  describedMembers,
  Fault,
  HOSTILE_TEXTS,
  type Members,
  type MovableClock,
  membersOf,
  pick,
  type TableRow,
} from '#connector/simulator';
import { entries, reports } from '../objects.ts';
import official from '../official.json' with { type: 'json' };
import { badRequest, type Filters } from './search.ts';

export interface Resource extends CollectionSpec {
  /** Name of the XML element that contains all records. */
  readonly all: string;
  readonly one: string;
  readonly filters: Filters;
  /** The member that contains the login of the owner. */
  readonly owner: string;
}

export type Company = Readonly<Record<'reports' | 'entries', Collection<Resource>>>;

/** Creates a protected id as the provider does, with letters, digits and `$`. The same words result in the same id. */
function protectedId(...words: readonly unknown[]): string {
  return `gW${createHash('sha256').update(words.join(' ')).digest('base64').replaceAll(/[+/=]/g, '$').slice(0, 33)}`;
}

export const ADMINISTRATOR = {
  login: 'ws.admin@example.com',
  name: "Zoë O'Brien",
  ...{ isTestUser: false, reimbursement: 'CNQRPAY', group: protectedId('group', 'United States') },
  location: { CurrencyCode: 'USD', Country: 'US', CountrySubdivision: 'US-WA' },
};
export type User = typeof ADMINISTRATOR | typeof TRAVELER;
export const TRAVELER = {
  login: 'J.Traveler+1@example.com',
  name: 'Müller & Söhne, <Jürgen>',
  ...{ isTestUser: true, reimbursement: 'APCHECK', group: protectedId('group', 'Deutschland') },
  location: { CurrencyCode: 'EUR', Country: 'DE', CountrySubdivision: null },
};
const USERS: readonly User[] = [ADMINISTRATOR, TRAVELER];

export function findUser(login: unknown): User | undefined {
  return USERS.find((user) => user.login.toLowerCase() === String(login).toLowerCase());
}

/** Returns the values of a report that come from its owner. */
function ownedBy({ login, name, group, location }: User): TableRow {
  return { OwnerLoginID: login, OwnerName: name, PolicyID: protectedId('policy', group), ...location };
}

/** The custom fields of the company's forms. All other custom fields are null, and writes ignore them. */
const FORM: Readonly<Record<string, 'List' | 'Text'>> = {
  ...{ OrgUnit1: 'List', OrgUnit2: 'List', OrgUnit3: 'Text' },
  ...{ Custom1: 'Text', Custom2: 'Text', Custom3: 'List', Custom4: 'Text' },
};
const LIST_ITEMS = ['Sales', "R&D «O'Neil»", '東京'].map((Value, index) => ({
  ...{ Code: `0${index + 1}`, ListItemID: protectedId('list item', index), Type: 'List', Value },
}));

/**
 * Reads custom fields. A list accepts codes. An unknown code is stored unchanged, which the documents call bad data. Empty text becomes
 * null.
 */
export function readForm(values: TableRow): TableRow {
  const read = Object.entries(values).map(([name, value]) => {
    const Type = FORM[name];
    if (Type === undefined) return [name, value];
    const item = Type === 'List' ? LIST_ITEMS.find(({ Code }) => Code === value) : undefined;
    return [name, item ?? (value === '' ? null : { Code: null, ListItemID: null, Type, Value: value })];
  });
  return Object.fromEntries(read);
}

const FORM_COLUMNS = columnsOf((index) => {
  const [code, text] = [`0${(index % 4) + 1}`, pick(HOSTILE_TEXTS, index).slice(0, 48)];
  return readForm(
    Object.fromEntries(Object.entries(FORM).map(([name, type]) => [name, type === 'List' ? code : text])),
  );
});

const OBJECTS = { reports, entries };
const LONGEST: Readonly<Record<string, number | undefined>> = official.longest;
const NULLABLE = official.nullable.split(' ');

/**
 * Returns the members of an object. It leaves out members that are shown otherwise or not at all, and includes parameters, whose names
 * begin with lower case.
 */
function membersFor(name: keyof Company): Members {
  const known = Object.entries(membersOf(OBJECTS[name].fields)).filter(
    ([member]) => member !== 'URI' && member !== 'Purpose',
  );
  const shown = known.map(([member, spec]) => {
    const isReadOnly = spec.isReadOnly || (spec.type === 'object' && FORM[member] === undefined);
    const isNeverNull = !NULLABLE.includes(member);
    return [member, { ...spec, isReadOnly, isNeverNull, longest: LONGEST[member] ?? 48 }];
  });
  return { ...Object.fromEntries(shown), ...describedMembers(official[name]) };
}

/**
 * Prints a time without a zone and without trailing zeros, in steps of 1/300 s. In the provider's examples with three digits, the last one
 * is 0, 3 or 7.
 */
function writeMoment(ms: number): string {
  const stepped = new Date(Math.round(Math.round(ms * 0.3) / 0.3)).toISOString();
  return stepped.slice(0, -1).replace(/\.?0+$/, '');
}

const inStage = (index: number): TableRow => {
  const [ApprovalStatusCode, ApprovalStatusName, PaymentStatusCode, PaymentStatusName] = pick(official.stages, index);
  return { ApprovalStatusCode, ApprovalStatusName, PaymentStatusCode, PaymentStatusName, LedgerName: 'DEFAULT' };
};

const REPORTS = 120;
const FIRST_DAY = '2023-12-28';
const SECONDS = [0, 86_399.997, 43_200, 30_615.21];
/** Returns an id of 20 hexadecimal digits. Ids have no order. */
const reportId = (number: number) =>
  createHash('sha256').update(`report ${number}`).digest('hex').slice(0, 20).toUpperCase();
const ownerOf = (index: number) => (index % 12 < 7 ? ADMINISTRATOR : TRAVELER);

/** Returns the values of a report that its members do not determine. Three of four reports have the same time as another one. */
function makeReport(index: number): TableRow {
  const [pair, isWaiting] = [index >> 1, index % 2 === 1];
  const madeMs = Date.parse(dayAfter(FIRST_DAY, (pair % 45) * 9)) + pick(SECONDS, pair) * 1000;
  return {
    ...ownedBy(ownerOf(index)),
    ...inStage(index),
    ApproverLoginID: isWaiting ? ADMINISTRATOR.login : null,
    ApproverName: isWaiting ? ADMINISTRATOR.name : null,
    CreateDate: writeMoment(madeMs),
    LastModifiedDate: writeMoment(madeMs + 10 * DAY_MS),
    WorkflowActionUrl: index % 8 === 0 ? '' : protectedId('workflow', index),
  };
}

const ENTRIES = 180;

/** Returns an entry. In each group of four reports one has no entry, and the others have one, two and three. */
function makeEntry(index: number): TableRow {
  const report = Math.floor((index % ENTRIES) / 6) * 4 + pick([1, 2, 2, 3, 3, 3], index);
  return {
    ReportID: reportId(report),
    ReportOwnerID: ownerOf(report).login,
    ExpenseTypeCode: pick(['LODNG', 'AIRFR', 'BRKFT'], index),
    PaymentTypeID: protectedId('payment type', (index >> 1) % 2),
    VendorDescription: pick(['ACME Hotels', 'acme hotels', "L'Hôtel & Spa, Inc.", 'Ryanair', ''], index) || null,
  };
}

/** Returns the columns for rows that are made as a whole. */
function columnsOf(make: (index: number) => TableRow): Readonly<Record<string, Column>> {
  return Object.fromEntries(Object.keys(make(0)).map((name) => [name, (index) => make(index)[name]]));
}

export function createCompany(clock: MovableClock): Company {
  const about = (name: keyof Company) => ({ ...official[name], key: 'ID', members: membersFor(name) });
  return createCollections<keyof Company, Resource>({
    clock,
    writeTime: writeMoment,
    write: { date: (day) => `${day}T00:00:00`, object: () => null },
    read: {
      date: (value) => (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(String(value)) ? value : undefined),
      object: (value) => (typeof value === 'string' ? value : undefined),
    },
    refuse: ([complaint]) => badRequest(complaint?.message ?? ''),
    absent: ({ one }, id) => new Fault(404, 'NOT_FOUND', `${one} ${id} was not found.`),
    of: {
      reports: {
        ...about('reports'),
        rows: REPORTS,
        makeId: reportId,
        vary: { ...FORM_COLUMNS, ...columnsOf(makeReport) },
        created: ['CreateDate'],
        changed: ['LastModifiedDate'],
        initial: ({ OwnerLoginID }) => ({
          ...ownedBy(findUser(OwnerLoginID) ?? ADMINISTRATOR),
          ...inStage(0),
          UserDefinedDate: `${writeMoment(clock.now()).slice(0, 10)}T00:00:00`,
          ...{ Total: 0, LastComment: '', WorkflowActionUrl: '' },
        }),
        made: ownedBy(ADMINISTRATOR),
      },
      entries: {
        ...about('entries'),
        rows: ENTRIES,
        makeId: (number) => protectedId('entry', number),
        vary: { ...FORM_COLUMNS, ...columnsOf(makeEntry) },
        changed: ['LastModified'],
        label: 'Description',
      },
    },
  });
}
