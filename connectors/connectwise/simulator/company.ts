import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  describedMembers,
  type MovableClock,
  pick,
  type SimulatorMemory,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { complaintsOf } from './callbacks.ts';
import { absent, refuse } from './fault.ts';

export type Name = keyof typeof official.schemas;

export interface Resource extends CollectionSpec {
  /** Path of the collection, below `apis/3.0`. */
  readonly path: string;
  /** Name of the kind in messages such as `ticket object is invalid`. */
  readonly noun: string;
  /** Name of the kind in messages such as `Service Ticket 404 not found`. */
  readonly singular: string;
  /** Members that responses show inside `_info`. */
  readonly info: readonly string[];
}

export type Company = Readonly<Record<Name, Collection<Resource, Name>>>;

/** The member whose keys all callers use. */
const API_MEMBER = { id: 1, identifier: 'causeway' };

/** Entries of setup tables, with ids from 1. Some have an identifier after a vertical bar. */
const SETUP: Readonly<Record<string, readonly string[]>> = {
  boards: ['Service A', 'Ops\' & "Net" Security', 'Integration'],
  statuses: ['New', 'In Progress', 'Waiting %', '>Closed'],
  types: ['Admin', 'Störung', 'Break_Fix'],
  teams: ['Windows Team', 'Linux Team'],
  priorities: ['Priority 1 - Critical', 'Priority 3 - Medium', 'Priority 4 - Low'],
  sources: ['Call', 'Email Connector'],
  members: ['Causeway Integration|causeway', "Dana O'Brien|DObrien", 'Zoë Brandt|zbrandt'],
  locations: ['Tampa Office', 'Example South'],
  departments: ['Engineering|Engineering', 'Admin|Admin'],
  countries: ['United States', 'Österreich'],
  companyStatuses: ['Active', 'Inactive', 'Not Approved'],
  contactDepartments: ['Accounting', 'IT'],
  workTypes: ['Regular', 'After Hours'],
  workRoles: ['Engineer', 'System Engineer'],
  configurationTypes: ['Managed Workstation', 'Server', 'Switch'],
  configurationStatuses: ['Active', 'Retired'],
  opportunityTypes: ['Projects', 'Managed Services'],
  stages: ['1.Prospect', '2.Quote', '3.Close'],
  opportunityStatuses: ['Open', 'Won', 'Lost'],
  opportunityPriorities: ['High', 'Low'],
  probabilities: ['10', '50', '90'],
  ratings: ['Hot', 'Cold'],
};

const entries = Object.fromEntries(
  Object.entries(SETUP).map(([name, all]) => [name, all.map((_, index) => index + 1)]),
);

/** Returns ids with gaps. */
const from = (start: number) => (index: number) => start + index * 3 + Math.floor(index / 10);
const ticketId: Column = (index) => from(5000)((index * 7) % 120);
const items = (index: number) => [
  { id: index, type: { id: 1, name: 'Email' }, value: `c${index}+x@Outlook.com`, communicationType: 'Email' },
];

/** The custom fields. Each screen has a text, a number, a flag and a day, and some records have values. */
const CUSTOM = [
  { caption: 'Sync "state"', type: 'Text', values: ["O'Brien", null, '100%_sure'] },
  { caption: 'Story Points', type: 'Number', values: [5, -12.5, 0, null] },
  { caption: 'T&M required', type: 'Checkbox', values: [true, null, false] },
  { caption: "Customer's date", type: 'Date', values: [null, '2024-02-29T00:00:00Z'] },
];
const SCREENS: readonly Name[] = ['tickets', 'timeEntries', 'companies', 'contacts', 'configurations', 'opportunities'];

/** Returns the custom fields of a record as responses show them, each with a value. */
function customFieldsOf(name: Name, read: (field: { id: number; values: readonly unknown[] }) => unknown) {
  return CUSTOM.map(({ caption, type, values }, source) => {
    const id = 15 + SCREENS.indexOf(name) * CUSTOM.length + source;
    return { id, caption, type, entryMethod: 'EntryField', numberOfDecimals: 2, value: read({ id, values }) };
  });
}

/** Reads custom fields. An update contains the whole array, and fields that are missing from it lose their value. */
export function readCustomFields(name: Name, { customFields, ...values }: TableRow): TableRow {
  if (!Array.isArray(customFields)) return values;
  const given = new Map(customFields.map(Object).map(({ id, value = null }) => [id, value]));
  return { ...values, customFields: customFieldsOf(name, ({ id }) => given.get(id) ?? null) };
}

/** Returns what a reference shows of its record, or of its entry of a setup table. */
export function entryOf(company: Company, refersTo: string, id: unknown): TableRow | undefined {
  if (id == null) return undefined;
  const entry = SETUP[refersTo]?.[Number(id) - 1];
  if (entry !== undefined) {
    const [name, identifier] = entry.split('|');
    return { id, name, ...(identifier !== undefined && { identifier }) };
  }
  const row = isName(refersTo) ? company[refersTo].table.find(String(id)) : undefined;
  if (row === undefined) return undefined;
  const { firstName, lastName, name = [firstName, lastName].join(' ').trim(), identifier, summary } = row;
  if (refersTo === 'tickets') return { id, summary };
  return refersTo === 'companies' ? { id, identifier, name } : { id, name };
}

function isName(name: string): name is Name {
  return Object.hasOwn(official.schemas, name);
}

const isSame = (a: unknown, b: unknown) => String(a).toLowerCase() === String(b).toLowerCase();

interface CompanyOptions {
  readonly clock: MovableClock;
  readonly memory: SimulatorMemory | undefined;
  readonly notify: (name: Name, change: TableChange) => void;
}

/** Creates one company of the cloud with some hundred records. */
export function createCompany({ clock, memory, notify: report }: CompanyOptions): Company {
  const by = { updatedBy: API_MEMBER.identifier, enteredBy: API_MEMBER.identifier };
  const about = (name: Name, rows: number, start: number, { vary, initial, ...more }: Partial<Resource> = {}) => {
    const { path, noun, label, info, ...schema } = official.schemas[name];
    const hasCustom = SCREENS.includes(name);
    const customFields = (index: number) => customFieldsOf(name, ({ values }) => pick(values, index));
    const blank = hasCustom && { customFields: customFieldsOf(name, () => null) };
    return {
      ...{ path, noun, singular: label, info, rows, members: describedMembers(schema), makeId: from(start) },
      ...{ created: ['dateEntered'], changed: ['lastUpdated'] },
      ...more,
      vary: { updatedBy: cycle(['causeway', 'DObrien']), ...(hasCustom && { customFields }), ...vary },
      initial: { ...by, ...blank, ...initial },
    } satisfies Resource;
  };
  const company: Company = createCollections<Name, Resource>({
    clock,
    entries,
    refuse,
    absent,
    onChange: report,
    read: {
      // The first of id, identifier and name that the reference has counts.
      reference: (value, { refersTo = '' }) => {
        const said: TableRow = Object(value);
        const key = ['id', 'identifier', 'name'].find((each) => said[each] != null);
        const ids = isName(refersTo) ? company[refersTo].table.rows(true).map(({ id }) => id) : entries[refersTo];
        if (key === undefined) return null;
        return ids?.find((id) => isSame(entryOf(company, refersTo, id)?.[key], said[key]));
      },
    },
    of: {
      tickets: about('tickets', 120, 5000, {
        vary: { recordType: () => 'ServiceTicket', board: cycle([1, 2, 3]), closedFlag: (index) => index % 4 === 3 },
        initial: {
          ...{ recordType: 'ServiceTicket', board: 1, status: 1, priority: 2, severity: 'Medium', impact: 'Medium' },
          ...{ closedFlag: false, approved: true, hasChildTicket: false, customerUpdatedFlag: false },
        },
      }),
      notes: about('notes', 150, 20_000, {
        vary: { ticketId },
        initial: { member: API_MEMBER.id, createdBy: API_MEMBER.identifier, internalFlag: false, externalFlag: true },
      }),
      timeEntries: about('timeEntries', 90, 30_000, {
        vary: {
          ...{ chargeToId: sparse(5, ticketId), ticket: sparse(5, ticketId) },
          chargeToType: (index) => (index % 5 === 4 ? 'ChargeCode' : 'ServiceTicket'),
        },
        initial: { status: 'Open', billableOption: 'Billable' },
        label: 'notes',
      }),
      companies: about('companies', 60, 250, {
        vary: {
          identifier: (index) => `Company${index}`,
          deletedFlag: (index) => index % 20 === 11,
          types: (index) => [{ id: (index % 2) + 1, name: pick(['Client', 'Prospect'], index) }],
        },
        initial: { status: 1, deletedFlag: false },
        // A deleted company stays, with a mark.
        deleted: 'deletedFlag',
        check: ({ id, identifier }) =>
          company.companies.table.rows(true).some((row) => row.id !== id && isSame(row.identifier, identifier))
            ? [{ reason: 'other', code: 'ObjectExists', member: 'identifier', message: 'The identifier is taken.' }]
            : [],
        label: 'name',
      }),
      contacts: about('contacts', 80, 1000, {
        vary: { communicationItems: sparse(6, items) },
        initial: { inactiveFlag: false, portalSecurityLevel: 1 },
        label: 'title',
      }),
      configurations: about('configurations', 70, 1400, { initial: { status: 1, activeFlag: true, billFlag: false } }),
      opportunities: about('opportunities', 60, 700, { initial: { status: 1, stage: 1, probability: 1 } }),
      fields: about('fields', CUSTOM.length * SCREENS.length, 0, {
        makeId: (index) => 15 + index,
        ...{ created: ['dateCreated'], changed: [] },
        vary: {
          caption: (index) => pick(CUSTOM, index).caption,
          fieldTypeIdentifier: (index) => pick(CUSTOM, index).type,
          sequenceNumber: (index) => (index % CUSTOM.length) + 1,
          podId: (index) => 4 + Math.floor(index / CUSTOM.length),
        },
        initial: {},
      }),
      callbacks: about('callbacks', 0, 0, {
        makeId: (index) => 26_559 + index,
        created: [],
        initial: {
          ...{ inactiveFlag: false, isSelfSuppressedFlag: false, isSoapCallbackFlag: false },
          ...{ memberId: API_MEMBER.id, payloadVersion: '3.0.0' },
        },
        check: (row) => complaintsOf(row, company.callbacks.table.rows()),
        memory,
      }),
    },
  });
  return company;
}

/** Returns a record as responses show it. Members without a value are missing. */
export function showRow(company: Company, { members, info }: Resource, row: TableRow): TableRow {
  const shown = Object.entries(members).flatMap(([name, { refersTo }]): [string, unknown][] => {
    const value = refersTo === undefined ? row[name] : entryOf(company, refersTo, row[name]);
    return value == null || info.includes(name) ? [] : [[name, value]];
  });
  const isDeleted = row.deletedFlag === true && { dateDeleted: row.lastUpdated, deletedBy: row.updatedBy };
  return {
    ...Object.fromEntries(shown),
    ...isDeleted,
    _info: Object.fromEntries(info.map((name) => [name, row[name]])),
  };
}
