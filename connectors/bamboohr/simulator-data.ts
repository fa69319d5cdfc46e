import { COLUMN_BY_NAME } from './simulator-columns.ts';

/** A value as the account holds it: dates and amounts as text, null for none. */
export type Stored = string | number | boolean | null;
export type Row = Record<string, Stored>;

export const FIRST_ID = 101;
export const EMPLOYEE_COUNT = 300;

/** Made so that a filter that quotes, encodes or compares carelessly meets a row that shows it. */
const FIRST_NAMES = [
  'Ashley',
  'ASHLEY',
  'ashley',
  'Zoë',
  'Zoe\u0308',
  'Ignác',
  '李',
  'Мария',
  '👩‍🚀 Sally',
  'Ana María',
  "D'Arcy",
  '"Quoted"',
  '`tick`',
  '‘curly’ “double”',
  'back\\slash',
  '100%_real',
  'Nil',
  'null',
  'eq',
  "it''s",
];
const LAST_NAMES = [
  "O'Brien",
  "O''Brien",
  'Smith',
  'smith',
  'van der Berg',
  'Núñez',
  'Jr., Bob',
  'and',
  "' or 1 eq 1 or '",
  'Two\nLines',
  'Müller-Lüdenscheidt',
  '山田',
  'Ω',
  'a+b=c&d',
];
const CITIES = ['Lindon', 'Reykjavík', '', 'São Paulo', 'Apia', null, 'St. John’s'];
const NOTES = ['', null, 'plain', 'Zeilen\r\nund\tTabs', '<b>bold</b> & more', '🏳️‍🌈'];
/** Days around which zones and calendars differ. */
const DAYS = [
  '1999-12-31',
  '2000-01-01',
  '2000-02-29',
  '2024-02-29',
  '2024-03-10',
  '2024-12-31',
  '2025-01-01',
  '2038-01-19',
];
const RATES = ['0.10', '0.20', '0.30', '15.05', '27000.00', '99999.99', '123456789012.34'];

/** The same employees every time. */
export function createRows(): Map<number, Row> {
  const rows = Array.from({ length: EMPLOYEE_COUNT }, (_, index) => createRow(index));
  return new Map(rows.map((row) => [Number(row.eeid), row]));
}

function createRow(index: number): Row {
  const id = FIRST_ID + index;
  const active = index % 5 !== 4;
  const [firstName, lastName] = [pick(FIRST_NAMES, index), pick(LAST_NAMES, index * 5 + 2)];
  return {
    eeid: id,
    employeeNumber: index % 10 === 0 ? '' : String(id + 9000),
    firstName,
    middleName: pick([null, '', 'Q.', 'Ann'], index),
    lastName,
    preferredName: pick([null, null, 'Sam', 'Ömer'], index),
    status: active ? 'Active' : 'Inactive',
    email: index % 11 === 0 ? null : `user${id}@example.com`,
    homeEmail: index % 4 === 0 ? `home+${id}@example.org` : null,
    workPhone: index % 6 === 0 ? '' : `+1 801-555-${String(index).padStart(4, '0')}`,
    mobilePhone: index % 7 === 0 ? null : `555 ${id}`,
    hireDate: index % 13 === 0 ? null : pick(DAYS, index),
    originalHireDate: null,
    terminationDate: active ? null : pick(DAYS, index + 3),
    dateOfBirth: index % 9 === 0 ? null : `19${60 + (index % 40)}-0${1 + (index % 9)}-28`,
    gender: pickOption('gender', index),
    maritalStatus: index % 3 === 0 ? null : pickOption('maritalStatus', index),
    addressLineOne: pick(['1 Main St.', '', null, 'Straße des 17. Juni 135'], index),
    city: pick(CITIES, index),
    country: pickOption('country', index),
    ethnicity: index % 8 === 0 ? null : pickOption('ethnicity', index),
    jobInformationJobTitle: pickOption('jobInformationJobTitle', index),
    jobInformationDepartment: index % 17 === 0 ? null : pickOption('jobInformationDepartment', index),
    jobInformationDivision: pickOption('jobInformationDivision', index),
    jobInformationLocation: pickOption('jobInformationLocation', index),
    jobInformationReportsTo: index === 0 ? null : 'Ashley Smith',
    supervisorEid: index === 0 ? null : FIRST_ID + Math.floor((index - 1) / 8),
    employmentStatus: active ? pick(['Full-Time', 'Part-Time', 'Contractor'], index) : 'Terminated',
    compensationPayRate: index % 12 === 0 ? null : pick(RATES, index),
    compensationPayRateCurrencyCode: 'USD',
    compensationPayType: pickOption('compensationPayType', index),
    compensationEffectiveDate: pick(DAYS, index + 1),
    ssn: null,
    name: `${firstName} ${lastName}`,
    customField4401: index % 5 === 0 ? null : pickOption('customField4401', index),
    customField4402: pick([true, false, null], index),
    customField4403: pick(NOTES, index),
    customField4404: `B-${id}`,
  };
}

/** Entries of the tables of an employee: two dependents, one, or none. */
export function listEntries(section: string, eeid: number): readonly Row[] {
  if (section !== 'hrisDependents') return [];
  return Array.from({ length: eeid % 3 }, (_, index) => ({
    dependentFirstName: pick(FIRST_NAMES, eeid + index),
    dependentBirthDate: pick(DAYS, eeid + index),
  }));
}

function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('Nothing to pick from.');
  return item;
}

function pickOption(dataset: string, index: number): string {
  return pick(COLUMN_BY_NAME.get(dataset)?.options ?? [], index);
}
