import {
  createTable,
  cycle,
  type MovableClock,
  makeRows,
  pick,
  sparse,
  type Table,
  type TableOptions,
  type TableRow,
  times,
} from '#connector/simulator';
import { COLUMNS, OPTIONS } from './columns.ts';

export const FIRST_ID = 101;
export const EMPLOYEE_COUNT = 300;

/** Made so that a filter that quotes, encodes or compares carelessly meets a row that shows it. */
const FIRST_NAMES = [
  ...['Ashley', 'ASHLEY', 'ashley', 'Zoë', 'Zoe\u0308', 'Ignác', '李', 'Мария', '👩‍🚀 Sally', 'Ana María', "D'Arcy"],
  ...['"Quoted"', '`tick`', '‘curly’ “double”', 'back\\slash', '100%_real', 'Nil', 'null', 'eq', "it''s"],
];
const LAST_NAMES = [
  ...["O'Brien", "O''Brien", 'Smith', 'smith', 'van der Berg', 'Núñez', 'Jr., Bob', 'and', "' or 1 eq 1 or '"],
  ...['Two\nLines', 'Müller-Lüdenscheidt', '山田', 'Ω', 'a+b=c&d'],
];
const CITIES = ['Lindon', 'Reykjavík', '', 'São Paulo', 'Apia', null, 'St. John’s'];
const NOTES = ['', null, 'plain', 'Zeilen\r\nund\tTabs', '<b>bold</b> & more', '🏳️‍🌈'];
/** Days around which zones and calendars differ. */
const DAYS = [
  ...['1999-12-31', '2000-01-01', '2000-02-29', '2024-02-29', '2024-03-10', '2024-12-31', '2025-01-01', '2038-01-19'],
];
const RATES = ['0.10', '0.20', '0.30', '15.05', '27000.00', '99999.99', '123456789012.34'];

const isActive = (index: number) => index % 5 !== 4;
const option = (name: string) => cycle(OPTIONS[name] ?? []);
const firstName = cycle(FIRST_NAMES);
const lastName = cycle(LAST_NAMES, 5, 2);

/** The same employees every time; dates and amounts as text, null for none. */
const EMPLOYEES = makeRows(EMPLOYEE_COUNT, {
  eeid: (index) => FIRST_ID + index,
  employeeNumber: (index) => (index % 10 === 0 ? '' : String(FIRST_ID + index + 9000)),
  firstName,
  middleName: cycle([null, '', 'Q.', 'Ann']),
  lastName,
  preferredName: cycle([null, null, 'Sam', 'Ömer']),
  status: (index) => (isActive(index) ? 'Active' : 'Inactive'),
  email: sparse(11, (index) => `user${FIRST_ID + index}@example.com`, 0),
  homeEmail: (index) => (index % 4 === 0 ? `home+${FIRST_ID + index}@example.org` : null),
  workPhone: (index) => (index % 6 === 0 ? '' : `+1 801-555-${String(index).padStart(4, '0')}`),
  mobilePhone: sparse(7, (index) => `555 ${FIRST_ID + index}`, 0),
  hireDate: sparse(13, cycle(DAYS), 0),
  originalHireDate: () => null,
  terminationDate: (index) => (isActive(index) ? null : pick(DAYS, index + 3)),
  dateOfBirth: sparse(9, (index) => `19${60 + (index % 40)}-0${1 + (index % 9)}-28`, 0),
  gender: option('gender'),
  maritalStatus: sparse(3, option('maritalStatus'), 0),
  addressLineOne: cycle(['1 Main St.', '', null, 'Straße des 17. Juni 135']),
  city: cycle(CITIES),
  country: option('country'),
  ethnicity: sparse(8, option('ethnicity'), 0),
  jobInformationJobTitle: option('jobInformationJobTitle'),
  jobInformationDepartment: sparse(17, option('jobInformationDepartment'), 0),
  jobInformationDivision: option('jobInformationDivision'),
  jobInformationLocation: option('jobInformationLocation'),
  jobInformationReportsTo: (index) => (index === 0 ? null : 'Ashley Smith'),
  supervisorEid: (index) => (index === 0 ? null : FIRST_ID + Math.floor((index - 1) / 8)),
  employmentStatus: (index) => (isActive(index) ? pick(['Full-Time', 'Part-Time', 'Contractor'], index) : 'Terminated'),
  compensationPayRate: sparse(12, cycle(RATES), 0),
  compensationPayRateCurrencyCode: () => 'USD',
  compensationPayType: option('compensationPayType'),
  compensationEffectiveDate: cycle(DAYS, 1, 1),
  ssn: () => null,
  name: (index) => `${firstName(index)} ${lastName(index)}`,
  customField4401: sparse(5, option('customField4401'), 0),
  customField4402: cycle([true, false, null]),
  customField4403: cycle(NOTES),
  customField4404: (index) => `B-${FIRST_ID + index}`,
});

const BLANK = Object.fromEntries(COLUMNS.map(({ dataset }) => [dataset, null]));

/** When each of them was changed first and last, and whether it is gone, are columns of nobody's. */
export function createEmployees(clock: MovableClock, onChange?: TableOptions['onChange']): Table {
  return createTable({
    ...(onChange && { onChange }),
    rows: EMPLOYEES,
    keyOf: ({ eeid }) => String(eeid),
    initial: (_, rows) => ({
      ...BLANK,
      status: 'Active',
      eeid: Math.max(...rows().map(({ eeid }) => Number(eeid))) + 1,
    }),
    stamps: { clock, write: wholeSecond, created: ['insertedMs'], changed: ['changedMs'] },
    deleted: 'isDeleted',
  });
}

const wholeSecond = (ms: number) => Math.floor(ms / 1000) * 1000;

/** Entries of the tables of an employee: two dependents, one, or none. */
export function listEntries(section: string, eeid: number): readonly TableRow[] {
  if (section !== 'hrisDependents') return [];
  return times(eeid % 3, (index) => ({
    dependentFirstName: pick(FIRST_NAMES, eeid + index),
    dependentBirthDate: pick(DAYS, eeid + index),
  }));
}
