import { can, codec, defined, type FieldSpec, kinds } from '#connector';

/** A column of the `employee` dataset, together with the name that the employee endpoints use for the same field. */
export interface CatalogueField {
  readonly dataset: string;
  readonly label?: string;
  /** BambooHR's name of the employee field's type. The dataset itself has no types. */
  readonly type?: string;
  /** The alias or the number under which the employee endpoints list the field. Absent if they are not known to have the field. */
  readonly endpoint?: string;
  /** Whether the customer created the field. */
  readonly custom: boolean;
  /** Whether the field is a well-known one or a custom field of its own. Only these fields are returned if the caller names none. */
  readonly certain: boolean;
  /** The section of the column, if that may be a table (dependents, education) with many entries per employee. */
  readonly table?: string;
}

/** A field of `employees`: our name, the dataset's name (`spec.native`) and the name that the employee endpoints use. */
export interface EmployeeField {
  readonly name: string;
  readonly spec: FieldSpec & { readonly native: string };
  readonly endpoint?: string;
  /** The table of the column. Such a field has a value for each of the employee's entries in the table. */
  readonly table?: string;
}

/** Writes empty text for null, which clears a field. The field types page does not list null among the values. */
const BLANK = codec.blank();
const TEXT = { type: 'string', write: BLANK.write } as const;

/**
 * The operators of each kind of column. A kind declares only what the description of the dataset query promises, and `exact` only where the
 * documentation leaves nothing about the comparison open:
 * - Text: whether case matters is not documented. The kind compares as `cs`. An `eq` that ignores case only returns too many rows, but a
 *   `ne` that ignores case would miss rows, so `ne` is not declared. `in` accepts a single value, and only on text, numbers and dates.
 * - Dates: a missing value may be stored as 0000-00-00, which is before every date, and may count as different from every value.
 * - Numbers: a missing value may count as 0, and as different from every number.
 * - Amounts, booleans, several options, government ids: no operator is documented.
 */
export const KINDS = {
  id: {
    type: 'integer',
    nullable: false,
    sortable: true,
    filter: { ...can.only('exact', '=', '!='), ...can.order('exact') },
    ...codec.integer,
  },
  text: {
    ...TEXT,
    sortable: true,
    collation: 'cs',
    // BambooHR does not document what an empty literal matches.
    domain: { text: { askable: (text: string) => text !== '' } },
    filter: can.only('superset', '='),
  },
  options: {
    type: 'string',
    sortable: true,
    collation: 'cs',
    domain: { text: { nonEmpty: true } },
    filter: can.only('superset', '=', 'IN'),
    ...BLANK,
  },
  /**
   * The only list of values that is the same for every customer. Requests use BambooHR's own spelling, so its handling of case does not
   * matter.
   */
  status: {
    type: 'string',
    nullable: false,
    sortable: true,
    collation: 'ci',
    values: ['Active', 'Inactive'],
    domain: { closed: true },
    filter: can.only('exact', '=', '!=', 'IN'),
  },
  date: {
    type: 'date',
    sortable: true,
    filter: { ...can.only('exact', '=', '>', '>='), ...can.only('superset', '!=', '<', '<=') },
    // "A complete date with a four-digit year", so neither empty text nor null. Sources: "Field Types", "Update Employee".
    clearable: false,
    ...codec.blank(codec.day),
  },
  integer: {
    type: 'integer',
    sortable: true,
    filter: { ...can.only('superset', '=', '!='), ...can.order('superset') },
    ...codec.blank(codec.integer),
  },
  amount: { type: 'number', ...codec.blank(codec.money) },
  boolean: { type: 'boolean', ...codec.blank(codec.flag('yes', 'no')) },
  list: { type: 'array', read: codec.blank(codec.list()).read },
  opaque: TEXT,
} as const satisfies Record<string, FieldSpec>;

/** Returns the kind for a type of `meta/fields`. Types that the table lacks (`state`, `ssn`, `pay_type`) are shown as text. */
const kindOf = kinds({
  table: KINDS,
  words: {
    text: 'text',
    textarea: 'text',
    email: 'text',
    phone: 'text',
    list: 'options',
    multilist: 'list',
    date: 'date',
    int: 'integer',
    currency: 'amount',
    checkbox: 'boolean',
  },
  unknown: KINDS.opaque,
});

type Known = readonly [dataset: string, name: string, access: 'read' | 'write' | 'require', kind?: keyof typeof KINDS];

/**
 * The well-known columns: dataset name, our name, which is also the endpoints' name, access, and the kind for columns without a type. The
 * README has the sources.
 */
const WELL_KNOWN: readonly Known[] = [
  ['eeid', 'id', 'read', 'id'],
  ['employeeNumber', 'employeeNumber', 'write'],
  ['firstName', 'firstName', 'require', 'text'],
  ['middleName', 'middleName', 'write'],
  ['lastName', 'lastName', 'require', 'text'],
  ['preferredName', 'preferredName', 'write'],
  ['status', 'status', 'read', 'status'],
  ['email', 'workEmail', 'write'],
  ['homeEmail', 'homeEmail', 'write'],
  ['workPhone', 'workPhone', 'write'],
  ['mobilePhone', 'mobilePhone', 'write'],
  ['homePhone', 'homePhone', 'write'],
  ['hireDate', 'hireDate', 'write', 'date'],
  ['originalHireDate', 'originalHireDate', 'write', 'date'],
  ['terminationDate', 'terminationDate', 'read', 'date'],
  ['dateOfBirth', 'dateOfBirth', 'write', 'date'],
  ['gender', 'gender', 'write'],
  ['maritalStatus', 'maritalStatus', 'write'],
  ['addressLineOne', 'address1', 'write'],
  ['addressLineTwo', 'address2', 'write'],
  ['city', 'city', 'write'],
  ['state', 'state', 'write'],
  ['zipcode', 'zipcode', 'write'],
  ['country', 'country', 'write'],
  ['jobInformationJobTitle', 'jobTitle', 'write'],
  ['jobInformationDepartment', 'department', 'write', 'options'],
  ['jobInformationDivision', 'division', 'write'],
  ['jobInformationLocation', 'location', 'write'],
  ['jobInformationReportsTo', 'supervisor', 'read'],
  ['supervisorEid', 'supervisorEId', 'read'],
  ['employmentStatus', 'employmentHistoryStatus', 'write', 'options'],
  ['compensationPayRate', 'payRate', 'write', 'amount'],
  ['compensationPayType', 'payType', 'write'],
];

/** Kinds that follow from the column itself, whatever type the catalogue names. */
const FIXED: ReadonlySet<string> = new Set(['id', 'status', 'amount']);

/** The name of each well-known field at the employee endpoints, by its name in the dataset. */
export const WELL_KNOWN_NAMES: ReadonlyMap<string, string> = new Map(
  WELL_KNOWN.map(([dataset, name]) => [dataset, name]),
);
const TAKEN: ReadonlySet<string> = new Set(WELL_KNOWN_NAMES.values());

/**
 * Returns the fields of this account. Only fields of the catalogue are returned: the well-known ones first and under the names of the
 * employee endpoints, the others under their dataset names.
 * @throws Error when the catalogue lacks the employee id, without which rows cannot be distinguished
 */
export function buildFields(catalogue: readonly CatalogueField[]): readonly EmployeeField[] {
  const columns = new Map(catalogue.map((column) => [column.dataset, column]));
  if (!columns.has('eeid'))
    throw new Error("The employee dataset of BambooHR lacks the field 'eeid', the id of an employee.");
  const known = WELL_KNOWN.flatMap((field) => {
    const column = columns.get(field[0]);
    return column === undefined ? [] : [toKnownField(column, field)];
  });
  return [...known, ...catalogue.filter(({ dataset }) => !WELL_KNOWN_NAMES.has(dataset)).map(toField)];
}

function toKnownField(column: CatalogueField, [, name, access, kind = 'opaque']: Known): EmployeeField {
  const isTyped = column.type !== undefined && !FIXED.has(kind);
  // BambooHR ignores values under a name that the account does not list.
  const isWritten = access !== 'read' && column.endpoint !== undefined;
  const spec = {
    ...(isTyped ? kindOf(column.type) : KINDS[kind]),
    ...nameColumn(column),
    ...(isWritten && { createable: true, updateable: true }),
    ...(isWritten && access === 'require' && { required: true }),
  };
  return { name, endpoint: name, spec };
}

function toField(column: CatalogueField): EmployeeField {
  const { dataset, endpoint, custom, table, certain } = column;
  const kind = kindOf(column.type ?? '');
  const isWritten = certain && table === undefined && endpoint !== undefined;
  const spec = {
    ...(table !== undefined ? entriesOf(kind) : certain ? kind : shownOnly(kind)),
    ...nameColumn(column),
    ...(isWritten && { createable: true, updateable: true }),
    ...(custom && { custom }),
  };
  // A column may have the same name as the endpoint field of another column, e.g. `payRate`.
  const name = TAKEN.has(dataset) ? `dataset_${dataset}` : dataset;
  return { name, spec, ...defined({ table, endpoint: table === undefined ? endpoint : undefined }) };
}

/** Returns a field without filters and orders. BambooHR does not document how the dataset compares it. */
function shownOnly({ type, read }: FieldSpec): FieldSpec {
  return defined({ type, read, onDemand: true });
}

/** Returns a field whose value lists the values of all entries, which separate calls fetch. */
function entriesOf({ read }: FieldSpec): FieldSpec {
  const all = read && codec.each({ read, write: read });
  return defined({ type: 'array', nullable: false, onDemand: true, read: all?.read });
}

function nameColumn({ dataset, label, type }: CatalogueField) {
  return { native: dataset, ...defined({ label, nativeType: type }) };
}
