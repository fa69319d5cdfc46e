import { randomBytes } from 'node:crypto';
import {
  type Call,
  type Column as Cell,
  type Collection,
  type CollectionSpec,
  createCollections,
  cycle,
  describedMembers,
  json,
  type Member,
  type MovableClock,
  pick,
  type Routes,
  recordRoutes,
  type SimulatorMemory,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { isDay, refusal } from './fault.ts';

/** A field of the account: a column of the `employee` dataset, and an employee field if it has a number. */
export type Column = (typeof official.columns)[number];

/** All columns. Their names, labels, numbers, aliases and types come from a real account, except the custom fields. */
export const COLUMNS: readonly Column[] = official.columns;

/** The columns of sections with a single entry per employee. */
const SINGLE = COLUMNS.filter(({ section }) => !official.tables.includes(section));

/** The columns by alias and by number. The employee endpoints accept both. */
const COLUMN_BY_REFERENCE: ReadonlyMap<string, Column> = new Map(
  SINGLE.flatMap((column) => {
    const { id, alias } = column.field ?? {};
    const isPart = String(id).includes('.');
    const names = [column.unlisted, id, isPart ? undefined : alias].filter((name) => name !== undefined);
    return names.map((name): [string, Column] => [String(name), column]);
  }),
);

const KINDS: Readonly<Record<string, Member['type']>> = { date: 'date', bool: 'boolean', currency: 'number' };
const OPTIONS: Readonly<Record<string, readonly string[]>> = official.options;

/** The writable members. Calculated values, and one field that the caller may not change, are ignored without an error. */
const MEMBERS = Object.fromEntries(
  SINGLE.map(({ dataset, type, section, locked }): [string, Member] => {
    const isReadOnly = locked === true || /^(?:calculated|defaultStatus)$/.test(section);
    return [dataset, { type: KINDS[type] ?? 'string', values: OPTIONS[dataset], isReadOnly }];
  }),
);

export const FIRST_ID = 101;
export const EMPLOYEE_COUNT = 300;

/** First names that reveal errors of a filter in quoting, encoding and comparison. */
export const FIRST_NAMES = [
  ...['Ashley', 'ASHLEY', 'ashley', 'Zoë', 'Zoe\u0308', 'Ignác', '李', 'Мария', '👩‍🚀 Sally', 'Ana María', "D'Arcy"],
  ...['"Quoted"', '`tick`', '‘curly’ “double”', 'back\\slash', '100%_real', 'Nil', 'null', 'eq', "it''s"],
];
const LAST_NAMES = [
  ...["O'Brien", "O''Brien", 'Smith', 'smith', 'van der Berg', 'Núñez', 'Jr., Bob', 'and', "' or 1 eq 1 or '"],
  ...['Two\nLines', 'Müller-Lüdenscheidt', '山田', 'Ω', 'a+b=c&d'],
];
/** Days around which time zones and calendars differ. */
export const DAYS = [
  ...['1999-12-31', '2000-01-01', '2000-02-29', '2024-02-29', '2024-03-10', '2024-12-31', '2025-01-01', '2038-01-19'],
];

const RATES = ['0.10', '0.20', '0.30', '15.05', '27000.00', '99999.99', '123456789012.34'];

const isActive = (index: number) => index % 5 !== 4;
const option = (name: string) => cycle(OPTIONS[name] ?? []);
const firstName = cycle(FIRST_NAMES);
const lastName = cycle(LAST_NAMES, 5, 2);

/** Values that tests search for, and texts of realistic length. The members determine all other values. */
const CELLS: Readonly<Record<string, Cell>> = {
  employeeNumber: (index) => (index % 10 === 0 ? '' : String(FIRST_ID + index + 9000)),
  ...{ firstName, lastName, name: (index) => `${firstName(index)} ${lastName(index)}` },
  middleName: cycle([null, '', 'Q.', 'Ann']),
  preferredName: cycle([null, null, 'Sam', 'Ömer']),
  status: (index) => (isActive(index) ? 'Active' : 'Inactive'),
  email: sparse(11, (index) => `user${FIRST_ID + index}@example.com`, 0),
  homeEmail: (index) => (index % 4 === 0 ? `home+${FIRST_ID + index}@example.org` : null),
  workPhone: (index) => (index % 6 === 0 ? '' : `+1 801-555-${String(index).padStart(4, '0')}`),
  mobilePhone: sparse(7, (index) => `555 ${FIRST_ID + index}`, 0),
  hireDate: sparse(13, cycle(DAYS), 0),
  terminationDate: (index) => (isActive(index) ? null : pick(DAYS, index + 3)),
  addressLineOne: cycle(['1 Main St.', '', null, 'Straße des 17. Juni 135']),
  city: cycle(['Lindon', 'Reykjavík', '', 'São Paulo', 'Apia', null, 'St. John’s']),
  ethnicity: sparse(8, option('ethnicity'), 0),
  jobInformationJobTitle: option('jobInformationJobTitle'),
  jobInformationDepartment: sparse(17, option('jobInformationDepartment'), 0),
  jobInformationReportsTo: (index) => (index === 0 ? null : 'Ashley Smith'),
  supervisorEid: (index) => (index === 0 ? null : FIRST_ID + Math.floor((index - 1) / 8)),
  employmentStatus: (index) => (isActive(index) ? pick(['Full-Time', 'Part-Time', 'Contractor'], index) : 'Terminated'),
  compensationPayRate: sparse(12, cycle(RATES), 0),
  compensationPayRateCurrencyCode: () => 'USD',
  compensationEffectiveDate: cycle(DAYS, 1, 1),
  ssn: () => null,
  customField4403: cycle(['', null, 'plain', 'Zeilen\r\nund\tTabs', '<b>bold</b> & more', '🏳️‍🌈']),
  customField4404: (index) => `B-${FIRST_ID + index}`,
};

export type Account = Readonly<Record<'employees' | 'webhooks', Collection>>;

interface AccountOptions {
  readonly clock: MovableClock;
  readonly memory: SimulatorMemory | undefined;
  readonly notify: (change: TableChange) => void;
}

/** Creates the account: the same employees every time, and the webhooks of the owner of the key, which survive a restart. */
export function createAccount({ clock, memory, notify: report }: AccountOptions): Account {
  return createCollections<keyof Account, CollectionSpec>({
    clock,
    read: {
      string: (value, { values }) => (values !== undefined && value === '' ? null : String(value)),
      boolean: (value) => value === 'yes' || value === 'checkbox',
      date: (value) => (isDay(String(value)) ? value : undefined),
      number: (value) => {
        const amount = String(Object(value).value ?? value);
        return amount === '' ? null : /^-?\d+(\.\d+)?$/.test(amount) ? amount : undefined;
      },
    },
    refuse: ([first]) =>
      first?.reason === 'other' ? refusal(400, first.message) : refusal(409, `Invalid value for ${first?.member}`),
    absent: (_, id) => refusal(404, `No webhook was found with ID: ${id}.`),
    onChange: (name, change) => name === 'employees' && report(change),
    of: {
      employees: {
        members: MEMBERS,
        rows: EMPLOYEE_COUNT,
        vary: CELLS,
        key: 'eeid',
        makeId: (index) => FIRST_ID + index,
        initial: { status: 'Active' },
        // The times of the first and the last change. Employees of the initial data have none.
        ...{ created: ['inserted'], changed: ['changed'], deleted: 'isDeleted' },
        ...{ label: 'city', made: { firstName: 'New' } },
        check: (row, isNew) =>
          isNew && !(row.firstName && row.lastName) ? complaint('name', 'First and last name are required') : [],
      },
      webhooks: {
        members: describedMembers(official.webhook),
        rows: 0,
        makeId: (index) => String(index + 1),
        initial: () => ({ privateKey: randomBytes(16).toString('hex') }),
        created: ['created'],
        memory,
        // BambooHR accepts only https, but local tests have no certificate, so http is accepted for loopback.
        check: ({ url }) =>
          /^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])/.test(String(url))
            ? []
            : complaint('url', 'url must begin with https://'),
      },
    },
  });
}

const complaint = (member: string, message: string) => [{ reason: 'other', member, message } as const];

/**
 * Finds an employee. The id 0 is the owner of the key.
 * @throws Fault 404
 */
export function findEmployee({ table }: Pick<Collection, 'table'>, id = ''): TableRow {
  const row = table.find(id === '0' ? String(FIRST_ID) : id);
  if (row === undefined || row.isDeleted === true) throw refusal(404, 'Employee not found');
  return row;
}

/** Prints a value as the dataset does: a text or null. An unset date of termination is 0000-00-00. */
export function textOf({ dataset, type }: Column, row: TableRow): string | null {
  const value = row[dataset] ?? null;
  if (value === null) return dataset === 'terminationDate' ? '0000-00-00' : null;
  return type === 'bool' ? (value ? 'yes' : 'no') : String(value);
}

/** Prints a value as the employee endpoints do. */
function present(column: Column, row: TableRow): string | null {
  const text = textOf(column, row);
  if (text === null) return column.type === 'date' ? '' : null;
  return column.type === 'currency' ? `${text} USD` : text;
}

/**
 * Returns the routes of employees. Fields that the account does not have are ignored, also in writes: "Unknown or unauthorized fields are
 * silently dropped from the response".
 */
export function employeeRoutes(employees: Collection): Routes {
  const columnsOf = (references: readonly string[]) =>
    references.flatMap((reference) => {
      const column = COLUMN_BY_REFERENCE.get(reference);
      return column === undefined ? [] : [[reference, column] as const];
    });
  return {
    'GET /api/v1/meta/fields': () => {
      const fields = COLUMNS.flatMap(({ field, label }) => (field === undefined ? [] : [{ name: label, ...field }]));
      return json([...fields, ...official.otherFields]);
    },
    'GET /api/v1/employees/changed': (call) => listChanged(employees, call),
    ...recordRoutes(
      '/api/v1/employees',
      { ...employees, get: (id) => findEmployee(employees, id) },
      {
        can: ['get', 'create', 'update'],
        update: 'POST',
        body: ({ body }) => {
          const said = body.object();
          const known = columnsOf(Object.keys(said));
          return Object.fromEntries(known.map(([reference, { dataset }]) => [dataset, said[reference]]));
        },
        show: (row, { query }, status) => {
          const shown = columnsOf((query.get('fields') ?? '').split(','));
          const values = shown.map(([reference, column]) => [reference, present(column, row)]);
          return json({ ...Object.fromEntries(values), id: String(row.eeid) }, status);
        },
      },
    ),
  };
}

/** Lists the last change of each employee that changed since a time. */
function listChanged({ table }: Collection, { query }: Call) {
  const sinceMs = Date.parse(query.get('since') ?? '');
  const changed = table.rows(true).filter((row) => Date.parse(String(row.changed)) >= sinceMs);
  const entries = changed.map((row) => {
    const action = row.isDeleted === true ? 'Deleted' : row.changed === row.inserted ? 'Inserted' : 'Updated';
    const id = String(row.eeid);
    return [id, { id, action, lastChanged: String(row.changed).replace('Z', '+00:00') }];
  });
  // The language of BambooHR's server prints an empty map as an empty list.
  return json({ employees: entries.length === 0 ? [] : Object.fromEntries(entries) });
}
