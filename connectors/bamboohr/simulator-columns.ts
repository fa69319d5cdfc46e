/** A field as the simulated account has it: in the `employee` dataset, and among the employee fields when it has an alias. */
export interface Column {
  readonly dataset: string;
  readonly label: string;
  /** The dataset's word for the type. */
  readonly type: 'text' | 'int' | 'date' | 'bool' | 'options' | 'currency' | 'govIdText';
  /** Number, alias and type of the employee field. */
  readonly field?: readonly [id: number, alias: string, type: string];
  readonly options?: readonly string[];
}

const DEPARTMENTS = ['Engineering', "Men's & Women's Wear", 'Marketing', 'R&D', 'Überwachung', '人事'];
const DIVISIONS = ['North', 'South, East', 'Rest of the "World"'];
const LOCATIONS = ['Lindon', 'Reykjavík', 'São Paulo', 'Apia', 'Remote'];
const JOB_TITLES = ['Engineer', 'Senior Engineer', 'HR Generalist', 'Buyer', 'CEO'];
const EMPLOYMENT = ['Full-Time', 'Part-Time', 'Contractor', 'Terminated'];
const GENDERS = ['Male', 'Female', 'Non-binary'];
const MARITAL = ['Single', 'Married', 'Common Law'];
const COUNTRIES = ['United States', 'Iceland', 'Brazil', 'Samoa'];
const PAY_TYPES = ['Salary', 'Hourly'];

function text(dataset: string, label: string, id: number, alias = dataset, type = 'text'): Column {
  return { dataset, label, type: 'text', field: [id, alias, type] };
}

function date(dataset: string, label: string, id: number): Column {
  return { dataset, label, type: 'date', field: [id, dataset, 'date'] };
}

function options(dataset: string, label: string, id: number, alias: string, values: readonly string[]): Column {
  return { dataset, label, type: 'options', field: [id, alias, 'list'], options: values };
}

export const COLUMNS: readonly Column[] = [
  { dataset: 'eeid', label: 'EEID', type: 'int', field: [4001, 'id', 'integer'] },
  text('employeeNumber', 'Employee #', 1340),
  text('firstName', 'First Name', 1),
  text('middleName', 'Middle Name', 2),
  text('lastName', 'Last Name', 3),
  text('preferredName', 'Preferred Name', 1358),
  options('status', 'Status', 1356, 'status', ['Active', 'Inactive']),
  text('email', 'Work Email', 1345, 'workEmail', 'email'),
  text('homeEmail', 'Home Email', 1346, 'homeEmail', 'email'),
  text('workPhone', 'Work Phone', 12, 'workPhone', 'phone'),
  text('mobilePhone', 'Mobile Phone', 14, 'mobilePhone', 'phone'),
  date('hireDate', 'Hire Date', 5),
  date('originalHireDate', 'Original Hire Date', 1349),
  date('terminationDate', 'Termination Date', 4314),
  date('dateOfBirth', 'Birth Date', 6),
  options('gender', 'Gender', 7, 'gender', GENDERS),
  options('maritalStatus', 'Marital Status', 8, 'maritalStatus', MARITAL),
  text('addressLineOne', 'Address Line 1', 1360, 'address1'),
  text('city', 'City', 1361),
  options('country', 'Country', 1362, 'country', COUNTRIES),
  options('jobInformationJobTitle', 'Job Title', 17, 'jobTitle', JOB_TITLES),
  options('jobInformationDepartment', 'Department', 4, 'department', DEPARTMENTS),
  options('jobInformationDivision', 'Division', 1355, 'division', DIVISIONS),
  options('jobInformationLocation', 'Location', 18, 'location', LOCATIONS),
  text('jobInformationReportsTo', 'Reporting to', 91, 'supervisor', 'employee'),
  { dataset: 'supervisorEid', label: 'Supervisor EID', type: 'int', field: [4512, 'supervisorEId', 'integer'] },
  options('employmentStatus', 'Employment Status', 16, 'employmentHistoryStatus', EMPLOYMENT),
  {
    dataset: 'compensationPayRate',
    label: 'Pay rate',
    type: 'currency',
    field: [19, 'payRate', 'currency'],
  },
  options('compensationPayType', 'Pay type', 1350, 'payType', PAY_TYPES),
  { dataset: 'compensationEffectiveDate', label: 'Compensation: Date', type: 'date' },
  { dataset: 'ssn', label: 'SSN', type: 'govIdText', field: [9, 'ssn', 'ssn'] },
  options('customField4401', 'T-Shirt Size', 4401, 'customTShirtSize', ['S', 'M', 'L']),
  { dataset: 'customField4402', label: 'Works remotely', type: 'bool', field: [4402, 'customRemote', 'checkbox'] },
  text('customField4403', 'About me', 4403, 'customAboutMe', 'textarea'),
];

export const COLUMN_BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map((column) => [column.dataset, column]));

/** By alias and by number, which the employee endpoints take alike. */
export const COLUMN_BY_REFERENCE: ReadonlyMap<string, Column> = new Map(
  COLUMNS.flatMap((column): [string, Column][] => {
    if (column.field === undefined) return [];
    const [id, alias] = column.field;
    return [
      [alias, column],
      [String(id), column],
    ];
  }),
);
