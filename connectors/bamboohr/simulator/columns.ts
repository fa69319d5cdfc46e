/** A field as the simulated account has it: in the `employee` dataset, and among the employee fields where it has a number. */
export interface Column {
  readonly dataset: string;
  readonly label: string;
  /** `entityName` of the dataset. */
  readonly section: string;
  /** What the dataset compares it as. It does not tell. */
  readonly type: 'text' | 'int' | 'date' | 'bool' | 'options' | 'currency' | 'govIdText';
  /** Of the employee field. */
  readonly field?: EmployeeField;
  /** A name that the employee endpoints take without listing it. */
  readonly unlisted?: string;
  /** The owner of the key sees it and cannot change it. */
  readonly locked?: true;
}

interface EmployeeField {
  readonly id: number | string;
  /** Its label among the employee fields, where that is another one. */
  readonly name?: string;
  readonly alias?: string;
  readonly type: string;
}

/** The lists to choose from. */
export const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  status: ['Active', 'Inactive'],
  gender: ['Male', 'Female', 'Non-binary'],
  maritalStatus: ['Single', 'Married', 'Common Law'],
  country: ['United States', 'Iceland', 'Brazil', 'Samoa'],
  ethnicity: ['Declined', 'Other'],
  jobInformationJobTitle: ['Engineer', 'Senior Engineer', 'HR Generalist', 'Buyer', 'CEO'],
  jobInformationDepartment: ['Engineering', "Men's & Women's Wear", 'Marketing', 'R&D', 'Überwachung', '人事'],
  jobInformationDivision: ['North', 'South, East', 'Rest of the "World"'],
  jobInformationLocation: ['Lindon', 'Reykjavík', 'São Paulo', 'Apia', 'Remote'],
  employmentStatus: ['Full-Time', 'Part-Time', 'Contractor', 'Terminated'],
  compensationPayType: ['Salary', 'Hourly'],
  customField4401: ['S', 'M', 'L'],
};

const COMPARED_AS: Readonly<Record<string, Column['type']>> = {
  date: 'date',
  list: 'options',
  gender: 'options',
  marital_status: 'options',
  country: 'options',
  status: 'options',
  pay_type: 'options',
  currency: 'currency',
  checkbox: 'bool',
  ssn: 'govIdText',
};

type More = Partial<Column> & { readonly name?: string; readonly alias?: string };
type Made = (section: string) => Column;

/** A column with an employee field; the alias is the dataset name unless said otherwise. */
function column(dataset: string, label: string, id: number, type: string, more: More = {}): Made {
  const { name, alias = dataset, ...rest } = more;
  const field = { id, type, alias, ...(name !== undefined && { name }) };
  return (section) => ({ dataset, label, section, type: COMPARED_AS[type] ?? 'text', field, ...rest });
}

/** A column that is no employee field, or one with another label. */
function datasetOnly(dataset: string, label: string, more: Partial<Column> = {}): Made {
  return (section) => ({ dataset, label, section, type: 'text', ...more });
}

function inSection(section: string, ...columns: readonly Made[]): readonly Column[] {
  return columns.map((make) => make(section));
}

/** Names, labels, numbers, aliases and types are those of a real account, save the custom fields. */
export const COLUMNS: readonly Column[] = [
  ...inSection('calculated', datasetOnly('eeid', 'EEID', { type: 'int', unlisted: 'id' })),
  ...inSection(
    'personal',
    column('employeeNumber', 'Employee #', 636, 'employee_number'),
    column('firstName', 'First Name', 1, 'text'),
    column('middleName', 'Middle Name', 5, 'text'),
    column('lastName', 'Last Name', 2, 'text'),
    column('preferredName', 'Preferred Name', 1358, 'text'),
    column('status', 'Status', 387, 'status', { section: 'defaultStatus' }),
    column('email', 'Work Email', 15, 'email', { alias: 'workEmail' }),
    column('homeEmail', 'Home Email', 1357, 'email'),
    column('workPhone', 'Work Phone', 634, 'phone'),
    column('mobilePhone', 'Mobile Phone', 13, 'phone'),
    column('hireDate', 'Hire Date', 3, 'date', { section: 'job' }),
    column('originalHireDate', 'Original Hire Date', 4333, 'date', { section: 'job' }),
    column('terminationDate', 'Termination Date', -38, 'date', { section: 'calculated' }),
    column('dateOfBirth', 'Date of Birth', 6, 'date', { name: 'Birth Date' }),
    column('gender', 'Gender', 154, 'gender'),
    column('maritalStatus', 'Marital Status', 155, 'marital_status'),
    column('addressLineOne', 'Address line 1', 8, 'text', { name: 'Address Line 1', alias: 'address1' }),
    column('city', 'City', 10, 'text'),
    column('country', 'Country', 3991, 'country'),
    column('ethnicity', 'Ethnicity', 1037, 'list', { section: 'job' }),
  ),
  ...inSection(
    'jobInformation',
    column('jobInformationJobTitle', 'Job Title', 17, 'list', { alias: 'jobTitle' }),
    column('jobInformationDepartment', 'Department', 4, 'list', { alias: 'department' }),
    column('jobInformationDivision', 'Division', 1355, 'list', { alias: 'division' }),
    column('jobInformationLocation', 'Location', 18, 'list', { alias: 'location' }),
    column('jobInformationReportsTo', 'Reports To', 91, 'employee', {
      name: 'Reporting to',
      alias: 'reportsTo',
      unlisted: 'supervisor',
    }),
    datasetOnly('supervisorEid', 'Supervisor EID', { section: 'calculated', type: 'int', unlisted: 'supervisorEId' }),
  ),
  ...inSection(
    'employmentStatus',
    column('employmentStatus', 'Employment Status', 16, 'list', { alias: 'employmentHistoryStatus' }),
  ),
  ...inSection(
    'compensation',
    column('compensationPayRate', 'Pay Rate', 19, 'currency', { name: 'Pay rate', alias: 'payRate' }),
    datasetOnly('compensationPayRateCurrencyCode', 'Pay rate - Currency code', {
      // A part of the pay rate, with its alias.
      field: { id: '19.1', alias: 'payRate', type: 'text' },
    }),
    column('compensationPayType', 'Pay Type', 156, 'pay_type', { name: 'Pay type', alias: 'payType' }),
    datasetOnly('compensationEffectiveDate', 'Effective Date', { type: 'date' }),
  ),
  ...inSection('personal', column('ssn', 'SSN', 7, 'ssn')),
  ...inSection('calculated', datasetOnly('name', 'Name')),
  ...inSection(
    'custom',
    column('customField4401', 'T-Shirt Size', 4401, 'list', { alias: 'customTShirtSize' }),
    column('customField4402', 'Works remotely', 4402, 'checkbox', { alias: 'customRemote' }),
    column('customField4403', 'About me', 4403, 'textarea', { alias: 'customAboutMe' }),
    column('customField4404', 'Badge', 4404, 'text', { alias: 'customBadge', locked: true }),
  ),
  ...inSection(
    'hrisDependents',
    datasetOnly('dependentFirstName', 'First Name'),
    datasetOnly('dependentBirthDate', 'Birth Date', { type: 'date' }),
  ),
  ...inSection('customTable_13', datasetOnly('customTable4607', 'Name', { field: { id: 4607, type: 'text' } })),
];

/** Sections of which an employee has many entries. */
export const TABLES: ReadonlySet<string> = new Set(['hrisDependents', 'customTable_13']);

/** Employee fields that are no columns under their names. */
export const OTHER_FIELDS = [
  { id: '4340.4', name: 'Emergency contact: Relationship', type: 'relationship' },
  { id: 1358, type: 'text', deprecated: true, name: 'Nickname', alias: 'nickname' },
  { id: 387, type: 'status', deprecated: true, name: 'Employment Status', alias: 'employmentStatus' },
  { id: 1923, name: 'Dependent First Name', type: 'text' },
  { id: 1928, name: 'Dependent Birth Date', type: 'date' },
];

export const COLUMN_BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map((each) => [each.dataset, each]));

/** By alias and by number, which the employee endpoints take alike. */
export const COLUMN_BY_REFERENCE: ReadonlyMap<string, Column> = new Map(
  COLUMNS.filter(({ section }) => !TABLES.has(section)).flatMap((each) =>
    referencesOf(each).map((reference): [string, Column] => [reference, each]),
  ),
);

function referencesOf({ field, unlisted }: Column): readonly string[] {
  const isPart = String(field?.id).includes('.');
  return [unlisted, field && String(field.id), isPart ? undefined : field?.alias].filter((name) => name !== undefined);
}
