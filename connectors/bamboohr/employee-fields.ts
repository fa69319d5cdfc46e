import type { FieldSpec } from '#connector';
import type { CatalogueField } from './discovery.ts';
import {
  readAmount,
  readBoolean,
  readDate,
  readInteger,
  readOption,
  writeAmount,
  writeCheckbox,
  writeText,
} from './values.ts';

/** A field of `employees`: ours, the dataset's (`spec.native`) and the employee endpoints' name of it. */
export interface EmployeeField {
  readonly name: string;
  readonly spec: FieldSpec & { readonly native: string };
  readonly endpoint?: string;
}

/**
 * What each kind of column can do. Only what the description of the dataset query promises is declared, and `exact` only where
 * nothing about the comparison is open:
 * - Text: whether cases are told apart is not documented. Compared as `cs`, an `eq` that ignores case only finds too much; a `ne`
 *   that ignores case would find too little, so there is none. `in` takes one value only on text, numbers and dates.
 * - Dates: no value may be stored as 0000-00-00, which is before every date, and may count as different from one.
 * - Numbers: no value may count as 0, and as different from every number.
 * - Amounts, booleans, several options, government ids: no operator is documented.
 */
const KINDS = {
  id: {
    type: 'integer',
    nullable: false,
    sortable: true,
    filter: { '=': 'exact', '!=': 'exact', '<': 'exact', '<=': 'exact', '>': 'exact', '>=': 'exact' },
    read: readInteger,
  },
  text: { type: 'string', sortable: true, collation: 'cs', filter: { '=': 'superset' }, write: writeText },
  options: {
    type: 'string',
    sortable: true,
    collation: 'cs',
    filter: { '=': 'superset', IN: 'superset' },
    read: readOption,
    write: writeText,
  },
  /** The only list that is the same for every customer: see `amongListed` for why this is exact. */
  status: {
    type: 'string',
    nullable: false,
    sortable: true,
    collation: 'ci',
    values: ['Active', 'Inactive'],
    filter: { '=': 'exact', '!=': 'exact', IN: 'exact', 'NOT IN': 'exact' },
  },
  date: {
    type: 'date',
    sortable: true,
    filter: { '=': 'exact', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'exact', '>=': 'exact' },
    read: readDate,
    write: writeText,
  },
  integer: {
    type: 'integer',
    sortable: true,
    filter: { '=': 'superset', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'superset', '>=': 'superset' },
    read: readInteger,
    write: writeText,
  },
  amount: { type: 'number', read: readAmount, write: writeAmount },
  boolean: { type: 'boolean', read: readBoolean, write: writeCheckbox },
  list: { type: 'array' },
  opaque: { type: 'string', write: writeText },
} as const satisfies Record<string, FieldSpec>;

type Kind = keyof typeof KINDS;

/** BambooHR's type words, of datasets and of employee fields. A word that is not here is shown and not filtered. */
const KIND_BY_TYPE: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['text', 'text'],
  ['textarea', 'text'],
  ['email', 'text'],
  ['phone', 'text'],
  ['options', 'options'],
  ['list', 'options'],
  ['multilist', 'list'],
  ['date', 'date'],
  ['int', 'integer'],
  ['integer', 'integer'],
  ['currency', 'amount'],
  ['bool', 'boolean'],
  ['checkbox', 'boolean'],
]);

type Access = 'read' | 'write' | 'require';

/** Endpoint name (which is ours) → dataset name, kind where the catalogue tells none, access. The sources are in the README. */
const KNOWN: Readonly<Record<string, readonly [dataset: string, kind: Kind, access: Access]>> = {
  id: ['eeid', 'id', 'read'],
  employeeNumber: ['employeeNumber', 'opaque', 'write'],
  firstName: ['firstName', 'text', 'require'],
  middleName: ['middleName', 'opaque', 'write'],
  lastName: ['lastName', 'text', 'require'],
  preferredName: ['preferredName', 'opaque', 'write'],
  status: ['status', 'status', 'read'],
  workEmail: ['email', 'opaque', 'write'],
  homeEmail: ['homeEmail', 'opaque', 'write'],
  workPhone: ['workPhone', 'opaque', 'write'],
  mobilePhone: ['mobilePhone', 'opaque', 'write'],
  homePhone: ['homePhone', 'opaque', 'write'],
  hireDate: ['hireDate', 'date', 'write'],
  originalHireDate: ['originalHireDate', 'date', 'write'],
  terminationDate: ['terminationDate', 'date', 'read'],
  dateOfBirth: ['dateOfBirth', 'date', 'write'],
  gender: ['gender', 'opaque', 'write'],
  maritalStatus: ['maritalStatus', 'opaque', 'write'],
  address1: ['addressLineOne', 'opaque', 'write'],
  address2: ['addressLineTwo', 'opaque', 'write'],
  city: ['city', 'opaque', 'write'],
  state: ['state', 'opaque', 'write'],
  zipcode: ['zipcode', 'opaque', 'write'],
  country: ['country', 'opaque', 'write'],
  jobTitle: ['jobInformationJobTitle', 'opaque', 'write'],
  department: ['jobInformationDepartment', 'options', 'write'],
  division: ['jobInformationDivision', 'opaque', 'write'],
  location: ['jobInformationLocation', 'opaque', 'write'],
  supervisor: ['jobInformationReportsTo', 'opaque', 'read'],
  supervisorEId: ['supervisorEid', 'opaque', 'read'],
  employmentHistoryStatus: ['employmentStatus', 'options', 'write'],
  payRate: ['compensationPayRate', 'amount', 'write'],
  payType: ['compensationPayType', 'opaque', 'write'],
};

/** Kinds that rest on what the column is, whatever word the catalogue has for its type. */
const FIXED: ReadonlySet<Kind> = new Set<Kind>(['id', 'status', 'amount']);

/**
 * The fields of this account: those of the catalogue only, the well-known under the names of the employee endpoints, the others
 * under their dataset names.
 * @throws Error when the catalogue lacks the employee id, without which no row can be told from another.
 */
export function buildFields(catalogue: readonly CatalogueField[]): readonly EmployeeField[] {
  const columns = new Map(catalogue.map((column) => [column.dataset, column]));
  if (!columns.has('eeid')) throw new Error('BambooHR lists no field eeid in its employee dataset.');
  const known = Object.entries(KNOWN).flatMap(([name, [dataset, kind, access]]): EmployeeField[] => {
    const column = columns.get(dataset);
    return column === undefined ? [] : [{ name, endpoint: name, spec: knownSpec(column, kind, access) }];
  });
  const taken = new Set(known.map(({ spec }) => spec.native));
  const others = catalogue.filter(({ dataset }) => !taken.has(dataset)).map(toField);
  return [...known, ...others];
}

function knownSpec(column: CatalogueField, kind: Kind, access: Access): EmployeeField['spec'] {
  const writable = access !== 'read';
  return {
    ...toSpec(column, FIXED.has(kind) ? kind : (findKind(column) ?? kind)),
    ...(writable && { createable: true, updateable: true }),
    ...(access === 'require' && { required: true }),
  };
}

function toField(column: CatalogueField): EmployeeField {
  const { dataset, endpoint, custom } = column;
  // A column may have the endpoint name of another one, e.g. `id`.
  const name = dataset in KNOWN ? `dataset_${dataset}` : dataset;
  // Which of the standard fields may be written is documented for the well-known ones only.
  const writable = custom && { custom, createable: true, updateable: true };
  return {
    name,
    spec: { ...toSpec(column, findKind(column) ?? 'opaque'), ...writable },
    ...(endpoint !== undefined && { endpoint }),
  };
}

function findKind(column: CatalogueField): Kind | undefined {
  return column.type === undefined ? undefined : (KIND_BY_TYPE.get(column.type) ?? 'opaque');
}

function toSpec({ dataset, label, type }: CatalogueField, kind: Kind): EmployeeField['spec'] {
  return {
    ...KINDS[kind],
    native: dataset,
    ...(label !== undefined && { label }),
    ...(type !== undefined && { nativeType: type }),
  };
}
