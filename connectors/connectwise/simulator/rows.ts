import { createHash } from 'node:crypto';
import {
  type Column,
  createTable,
  cycle,
  DAY_MS,
  HOSTILE_TEXTS,
  type MovableClock,
  makeRows,
  pick,
  sparse,
  type Table,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import { SCHEMAS, type TableName } from './schema.ts';

export type Tables = Readonly<Record<TableName, Table>>;

/** A setup table: where it lies, what links to it are called, and its entries from the number 1 on. */
export interface Setup {
  readonly path: string;
  readonly link: string;
  readonly entries: readonly { readonly name: string; readonly identifier?: string }[];
}

const setup = (path: string, link: string, ...names: readonly string[]): Setup => ({
  path,
  link,
  entries: names.map((text) => {
    const [name = '', identifier] = text.split('|');
    return { name, ...(identifier !== undefined && { identifier }) };
  }),
});

/** By what schemas refer to. Some entries have an identifier besides their name. */
export const SETUP: Readonly<Record<string, Setup>> = {
  boards: setup('service/boards', 'board', 'Service A', 'Ops\' & "Net" Security', 'Integration'),
  statuses: setup('service/boards/1/statuses', 'status', 'New', 'In Progress', 'Waiting %', '>Closed'),
  types: setup('service/boards/1/types', 'type', 'Admin', 'Störung', 'Break_Fix'),
  teams: setup('service/boards/1/teams', 'team', 'Windows Team', 'Linux Team'),
  priorities: setup(
    'service/priorities',
    'priority',
    'Priority 1 - Critical',
    'Priority 3 - Medium',
    'Priority 4 - Low',
  ),
  sources: setup('service/sources', 'source', 'Call', 'Email Connector'),
  members: setup(
    'system/members',
    'member',
    'Causeway Integration|causeway',
    "Dana O'Brien|DObrien",
    'Zoë Brandt|zbrandt',
  ),
  locations: setup('system/locations', 'location', 'Tampa Office', 'Example South'),
  departments: setup('system/departments', 'department', 'Engineering|Engineering', 'Admin|Admin'),
  countries: setup('company/countries', 'country', 'United States', 'Österreich'),
  companyStatuses: setup('company/companies/statuses', 'status', 'Active', 'Inactive', 'Not Approved'),
  contactDepartments: setup('company/contacts/departments', 'department', 'Accounting', 'IT'),
  communicationTypes: setup('company/communicationTypes', 'type', 'Email', 'Direct', 'Fax'),
  workTypes: setup('time/workTypes', 'workType', 'Regular', 'After Hours'),
  workRoles: setup('time/workRoles', 'workRole', 'Engineer', 'System Engineer'),
  configurationTypes: setup('company/configurations/types', 'type', 'Managed Workstation', 'Server', 'Switch'),
  configurationStatuses: setup('company/configurations/statuses', 'status', 'Active', 'Retired'),
  opportunityTypes: setup('sales/opportunities/types', 'type', 'Projects', 'Managed Services'),
  stages: setup('sales/stages', 'stage', '1.Prospect', '2.Quote', '3.Close'),
  opportunityStatuses: setup('sales/opportunities/statuses', 'status', 'Open', 'Won', 'Lost'),
  opportunityPriorities: setup('sales/priorities', 'priority', 'High', 'Low'),
  probabilities: setup('sales/probabilities', 'probability', '10', '50', '90'),
  ratings: setup('sales/opportunities/ratings', 'rating', 'Hot', 'Cold'),
};

/** Of the member whose keys everybody here uses. */
export const API_MEMBER = { id: 1, identifier: 'causeway' };

export function writeTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export function guid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

const FIRST_MS = Date.parse('2023-12-30T22:15:07Z');
/** Three records in a row have the same moment. */
const moment =
  (stepMs: number, startMs = FIRST_MS): Column =>
  (index) =>
    writeTime(startMs + Math.floor(index / 3) * stepMs);
const day =
  (step: number): Column =>
  (index) =>
    writeTime(Date.parse('2023-11-20T00:00:00Z') + index * step * DAY_MS);

/** What people write in one line. */
const LINES = [
  ...HOSTILE_TEXTS.filter((text) => !/[\n\r\t]/.test(text)),
  ...["O'Brien & Söhne", 'Printer', 'PRINTER', 'printer ', 'Straße', 'STRASSE', 'a*b', 'Say "hi", O\'Neil'],
];
const line =
  (longest: number, step = 1): Column =>
  (index) =>
    pick(LINES, index * step).slice(0, longest);
const note: Column = cycle(HOSTILE_TEXTS);
const named =
  (mark: string, longest: number): Column =>
  (index) =>
    `${pick(LINES, index).slice(0, longest - 6)} ${mark}${index}`;
const entry =
  (table: string, step = 1): Column =>
  (index) =>
    ((index * step) % (SETUP[table]?.entries.length ?? 1)) + 1;
const flag =
  (nth: number): Column =>
  (index) =>
    index % nth === 0;
const amount: Column = cycle([0, 0.1, 12.5, 99_999.99, 7, 1000, 0.25]);
const count: Column = cycle([1, 25, 3, 1000, 2_147_483_647]);

/** Ids have gaps, and of no two tables the same ones. */
const idOf = (start: number) => (index: number) => start + index * 3 + Math.floor(index / 10);
const IDS = {
  companies: idOf(250),
  contacts: idOf(1000),
  tickets: idOf(5000),
  notes: idOf(20_000),
  timeEntries: idOf(30_000),
  configurations: idOf(1400),
  opportunities: idOf(700),
  fields: (index: number) => 15 + index,
} as const satisfies Record<TableName, Column>;

const COUNTS = {
  companies: 60,
  contacts: 80,
  tickets: 120,
  notes: 150,
  timeEntries: 90,
  configurations: 70,
  opportunities: 60,
};

const one =
  (table: keyof typeof COUNTS, step = 1): Column =>
  (index) =>
    IDS[table]((index * step) % COUNTS[table]);
const mobileGuid =
  (mark: string): Column =>
  (index) =>
    guid(`${mark}${index}`);

/** What every record has, beside its own. */
const common = (table: TableName, stepMs: number): Readonly<Record<string, Column>> => ({
  id: IDS[table],
  custom: (index) => (index % 3 === 0 ? {} : pick(CUSTOM_VALUES, index)),
  lastUpdated: moment(stepMs),
  dateEntered: moment(stepMs, FIRST_MS - 40 * DAY_MS),
  updatedBy: cycle(['causeway', 'DObrien']),
  enteredBy: cycle(['causeway', 'zbrandt']),
});

/** By position among the custom fields of a screen, which are a text, a number, a flag and a time. */
const CUSTOM_VALUES = [
  { text: "O'Brien", number: 5, flag: true },
  { text: '100%_sure', number: -12.5, time: '2024-02-29T00:00:00Z' },
  { number: 0, flag: false },
];

function contactItems(index: number): readonly TableRow[] | null {
  if (index % 6 === 5) return null;
  const mail = `c${index}+x@${pick(['Outlook.com', 'example.com'], index)}`;
  return [
    { id: index * 2 + 1, type: 1, value: mail, defaultFlag: true, communicationType: 'Email' },
    ...(index % 2 === 0
      ? [{ id: index * 2 + 2, type: 2, value: `81393571${10 + index}`, defaultFlag: true, communicationType: 'Phone' }]
      : []),
  ];
}

const COLUMNS: Readonly<Record<keyof typeof COUNTS, Readonly<Record<string, Column>>>> = {
  companies: {
    ...common('companies', 7 * 3_600_000 + 61_000),
    ...{ identifier: (index) => `Company${index}`, name: named('C', 50), status: entry('companyStatuses') },
    ...{ addressLine1: line(50), city: sparse(4, line(50, 3)), state: sparse(3, cycle(['FL', 'TX'])) },
    ...{ zip: sparse(5, cycle(['33880', '01067'])), country: sparse(4, entry('countries')), phoneNumber: line(30, 5) },
    ...{ website: sparse(3, cycle(['www.example.com', 'https://example.com/?a=b&c'])), territory: entry('locations') },
    ...{ defaultContact: sparse(3, one('contacts')), dateAcquired: sparse(4, day(31)), annualRevenue: amount },
    ...{ numberOfEmployees: sparse(3, count), yearEstablished: sparse(2, cycle([1900, 1999, 2024])) },
    ...{ parentCompany: sparse(2, one('companies', 7)), leadFlag: flag(4), unsubscribeFlag: flag(7) },
    ...{ userDefinedField1: sparse(3, line(50, 7)), deletedFlag: (index) => index % 20 === 11 },
    ...{ mobileGuid: mobileGuid('company'), territoryManager: sparse(3, entry('members')) },
    types: (index) => (index % 4 === 3 ? [] : [{ id: (index % 2) + 1, name: pick(['Client', 'Prospect'], index) }]),
  },
  contacts: {
    ...common('contacts', 5 * 3_600_000),
    ...{ firstName: (index) => String(line(30)(index)) || 'Alex', lastName: sparse(5, line(30, 5)) },
    ...{ company: sparse(6, one('companies')), city: sparse(3, line(50, 3)), country: sparse(2, entry('countries')) },
    ...{ department: sparse(3, entry('contactDepartments')), inactiveFlag: flag(9), title: sparse(3, line(100, 7)) },
    ...{ nickName: sparse(2, line(30, 11)), marriedFlag: flag(2), childrenFlag: flag(3), portalSecurityLevel: count },
    ...{ disablePortalLoginFlag: flag(1), unsubscribeFlag: flag(8), gender: sparse(2, cycle(['Female', 'Male'])) },
    ...{ birthDay: sparse(3, day(97)), mobileGuid: mobileGuid('contact'), defaultFlag: flag(5) },
    ...{ defaultBillingFlag: flag(6), communicationItems: contactItems },
    types: (index) => (index % 3 === 2 ? [] : [{ id: (index % 3) + 1, name: pick(['Primary', 'Billing'], index) }]),
  },
  tickets: {
    ...common('tickets', 3_600_000 + 7000),
    ...{ summary: (index) => String(line(100)(index)) || 'No summary', recordType: () => 'ServiceTicket' },
    ...{ board: entry('boards'), status: entry('statuses'), company: sparse(9, one('companies')) },
    ...{ addressLine1: sparse(3, line(50, 3)), city: sparse(4, line(50, 5)), contact: sparse(3, one('contacts', 7)) },
    ...{ contactName: sparse(3, line(62, 7)), contactEmailAddress: sparse(4, cycle(['a@b.example', 'C+D@e.example'])) },
    ...{ type: sparse(3, entry('types')), team: sparse(5, entry('teams')), owner: sparse(2, entry('members')) },
    ...{ priority: entry('priorities', 2), source: sparse(4, entry('sources')), requiredDate: sparse(3, day(17)) },
    ...{
      budgetHours: sparse(3, amount),
      severity: cycle(['Low', 'Medium', 'High']),
      impact: cycle(['Medium', 'High']),
    },
    ...{ externalXRef: sparse(3, line(100, 11)), poNumber: sparse(4, line(50, 13)), customerUpdatedFlag: flag(5) },
    ...{ closedFlag: (index) => index % 4 === 3, closedDate: (index) => (index % 4 === 3 ? day(3)(index) : null) },
    ...{ closedBy: (index) => (index % 4 === 3 ? 'DObrien' : null), actualHours: sparse(2, amount), approved: flag(1) },
    ...{ automaticEmailContactFlag: flag(3), hasChildTicket: flag(11), billTime: cycle(['NoDefault', 'Billable']) },
    ...{ location: entry('locations'), department: entry('departments'), isInSla: flag(2), resolveMinutes: count },
    ...{ estimatedTimeCost: amount, mobileGuid: mobileGuid('ticket') },
  },
  notes: {
    ...common('notes', 1_800_000),
    ...{ ticketId: one('tickets', 7), text: note, detailDescriptionFlag: flag(2), internalAnalysisFlag: flag(3) },
    ...{ resolutionFlag: flag(5), issueFlag: () => false, member: sparse(4, entry('members')) },
    ...{ contact: (index) => (index % 4 === 3 ? one('contacts')(index) : null), dateCreated: moment(1_800_000) },
    ...{ createdBy: cycle(['causeway', 'DObrien']), internalFlag: flag(3), externalFlag: flag(2) },
  },
  timeEntries: {
    ...common('timeEntries', 2_700_000),
    ...{ company: one('companies'), chargeToId: sparse(5, one('tickets', 7)), ticket: sparse(5, one('tickets', 7)) },
    ...{ chargeToType: (index) => (index % 5 === 4 ? 'ChargeCode' : 'ServiceTicket'), member: entry('members') },
    ...{ locationId: entry('locations'), businessUnitId: () => 10, workType: entry('workTypes') },
    ...{
      workRole: entry('workRoles'),
      timeStart: moment(DAY_MS / 4),
      timeEnd: sparse(4, moment(DAY_MS / 4, FIRST_MS + 5_400_000)),
    },
    ...{ actualHours: amount, billableOption: cycle(['Billable', 'NoCharge']), notes: sparse(3, note) },
    ...{ internalNotes: sparse(2, note), hoursBilled: sparse(3, amount), hourlyRate: sparse(4, amount) },
    ...{ mobileGuid: mobileGuid('time'), status: cycle(['Open', 'Billed', 'PendingApproval']) },
  },
  configurations: {
    ...common('configurations', 4 * 3_600_000),
    ...{ name: named('D', 100), type: entry('configurationTypes'), status: entry('configurationStatuses') },
    ...{ company: sparse(8, one('companies')), contact: sparse(3, one('contacts', 3)), locationId: entry('locations') },
    ...{
      serialNumber: sparse(3, line(250, 3)),
      modelNumber: sparse(4, line(50, 5)),
      tagNumber: sparse(2, line(50, 7)),
    },
    ...{ purchaseDate: sparse(3, day(23)), warrantyExpirationDate: sparse(4, day(29)), vendorNotes: sparse(4, note) },
    ...{ notes: sparse(3, note), macAddress: sparse(2, cycle(['00:1A:2B:3C:4D:5E'])), billFlag: flag(3) },
    ...{ backupBillableSpaceGb: sparse(3, amount), ipAddress: sparse(4, cycle(['10.0.0.7', '2001:db8::1'])) },
    ...{ osType: sparse(3, line(250, 11)), activeFlag: flag(1), mobileGuid: mobileGuid('configuration') },
  },
  opportunities: {
    ...common('opportunities', 6 * 3_600_000),
    ...{ name: named('O', 100), expectedCloseDate: day(19), type: sparse(4, entry('opportunityTypes')) },
    ...{
      stage: entry('stages'),
      status: entry('opportunityStatuses'),
      priority: sparse(3, entry('opportunityPriorities')),
    },
    ...{ notes: sparse(3, note), probability: entry('probabilities'), source: sparse(3, line(50, 3)) },
    ...{ rating: sparse(4, entry('ratings')), primarySalesRep: entry('members'), locationId: entry('locations') },
    ...{ company: one('companies'), contact: sparse(4, one('contacts', 3)), customerPO: sparse(2, line(25, 5)) },
    ...{ closedDate: sparse(3, day(37)), closedBy: sparse(3, entry('members')), totalSalesTax: sparse(2, amount) },
  },
};

const SCREENS = Object.entries(SCHEMAS).flatMap(([, schema]) => ('screen' in schema ? [schema] : []));
const KINDS = [
  { key: 'text', caption: 'Sync "state"', type: 'Text', entry: 'EntryField' },
  { key: 'number', caption: 'Story Points', type: 'Number', entry: 'EntryField' },
  { key: 'flag', caption: 'T&M required', type: 'Checkbox', entry: 'EntryField' },
  { key: 'time', caption: "Customer's date", type: 'Date', entry: 'EntryField' },
];

/** Four for each screen. `key` is what rows keep their values under. */
function makeFields(): readonly TableRow[] {
  return SCREENS.flatMap(({ screen, noun }) => KINDS.map((kind) => ({ screen, noun, kind }))).map(
    ({ screen, noun, kind }, index) => ({
      ...{ id: IDS.fields(index), key: kind.key, podId: 4 + Math.floor(index / 4), podDescription: `${noun} Overview` },
      ...{ caption: kind.caption, sequenceNumber: (index % 4) + 1, screenId: screen, screenDescription: noun },
      ...{ fieldTypeIdentifier: kind.type, numberDecimals: kind.key === 'number' ? 2 : 0 },
      ...{ entryTypeIdentifier: kind.entry, requiredFlag: false, displayOnScreenFlag: true, readOnlyFlag: false },
      ...{ listViewFlag: index % 2 === 0, connectWiseID: guid(`field${index}`), dateCreated: moment(DAY_MS)(index) },
    }),
  );
}

/** What a new record has that its maker did not say. */
const DEFAULTS: Readonly<Record<TableName, TableRow>> = {
  tickets: {
    ...{
      recordType: 'ServiceTicket',
      board: 1,
      status: 1,
      priority: 2,
      source: 1,
      severity: 'Medium',
      impact: 'Medium',
    },
    ...{ customerUpdatedFlag: false, automaticEmailContactFlag: false, closedFlag: false, approved: true },
    ...{ hasChildTicket: false, billTime: 'NoDefault', location: 1, department: 1, isInSla: true, resolveMinutes: 0 },
    ...{ estimatedTimeCost: 0 },
  },
  notes: {
    ...{ detailDescriptionFlag: false, internalAnalysisFlag: false, resolutionFlag: false, issueFlag: false },
    ...{ member: API_MEMBER.id, createdBy: API_MEMBER.identifier, internalFlag: false, externalFlag: true },
  },
  timeEntries: {
    ...{ member: API_MEMBER.id, locationId: 1, businessUnitId: 10, workType: 1, workRole: 1, status: 'Open' },
    ...{ billableOption: 'Billable', chargeToType: 'ServiceTicket', enteredBy: API_MEMBER.identifier, hourlyRate: 0 },
  },
  companies: {
    ...{ status: 1, territory: 1, leadFlag: false, unsubscribeFlag: false, deletedFlag: false, annualRevenue: 0 },
    ...{ phoneNumber: '', faxNumber: '', accountNumber: '', types: [] },
  },
  contacts: {
    ...{ inactiveFlag: false, marriedFlag: false, childrenFlag: false, portalSecurityLevel: 1, types: [] },
    ...{ disablePortalLoginFlag: true, unsubscribeFlag: false, defaultBillingFlag: false, defaultFlag: false },
  },
  configurations: { type: 1, status: 1, locationId: 1, businessUnitId: 10, billFlag: false, activeFlag: true },
  opportunities: { status: 1, stage: 1, probability: 1, locationId: 1, businessUnitId: 10, primarySalesRep: 1 },
  fields: {
    ...{ numberDecimals: 0, entryTypeIdentifier: 'EntryField', requiredFlag: false, displayOnScreenFlag: true },
    ...{ readOnlyFlag: false, listViewFlag: false },
  },
};

export function defaultsOf(name: TableName): TableRow {
  return DEFAULTS[name];
}

/** @param tell of each change of a record that callbacks know */
export function createTables(clock: MovableClock, tell: (name: TableName, change: TableChange) => void): Tables {
  const make = (name: TableName, rows: readonly TableRow[]) => {
    const { members } = SCHEMAS[name];
    let lastId = Number(rows.at(-1)?.id);
    const initial = () => ({
      ...DEFAULTS[name],
      ...{ id: ++lastId, updatedBy: API_MEMBER.identifier, enteredBy: API_MEMBER.identifier },
      ...('mobileGuid' in members && { mobileGuid: guid(`${name}${lastId}`) }),
      ...('dateCreated' in members && { dateCreated: writeTime(clock.now()) }),
    });
    return createTable({
      rows,
      keyOf: ({ id }) => String(id),
      initial,
      stamps: { clock, write: writeTime, created: ['dateEntered'], changed: ['lastUpdated'] },
      onChange: (change) => tell(name, change),
      // The company stays, and says that it was deleted.
      ...(name === 'companies' && { deleted: 'deletedFlag' }),
    });
  };
  const filled = (name: keyof typeof COUNTS) => make(name, makeRows(COUNTS[name], COLUMNS[name]));
  return {
    ...{ tickets: filled('tickets'), notes: filled('notes'), timeEntries: filled('timeEntries') },
    ...{ companies: filled('companies'), contacts: filled('contacts'), configurations: filled('configurations') },
    ...{ opportunities: filled('opportunities'), fields: make('fields', makeFields()) },
  };
}
