import type { ConnectorContext } from '#connector';
import { findText, getArray, getObject, type Json } from './answer.ts';
import { WELL_KNOWN } from './well-known.ts';

/** One column of the `employee` dataset, and what the employee endpoints call the same field. */
export interface CatalogueField {
  readonly dataset: string;
  readonly label?: string;
  /** BambooHR's word for the type, of the employee field: the dataset tells none. */
  readonly type?: string;
  /** The alias, or the number, under which the employee endpoints list the field. Absent where they are not known to have it. */
  readonly endpoint?: string;
  /** Made by the customer. */
  readonly custom: boolean;
  /** Well-known, or a custom field of its own: what is answered unless a caller names others. */
  readonly certain: boolean;
  /** Its section, where that may be a table (dependents, education), of which an employee has many entries. */
  readonly table?: string;
}

/** Names stand unquoted in filters, so anything else in a catalogue is left out. */
const DATASET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads the account's own fields: two calls, and one more per further 1,000 columns of the dataset. */
export async function loadCatalogue(context: ConnectorContext): Promise<readonly CatalogueField[]> {
  const [columns, fields] = await Promise.all([loadColumns(context), loadEmployeeFields(context)]);
  return joinCatalogue(
    columns.filter(({ name }) => typeof name === 'string' && DATASET_NAME.test(name)),
    fields,
  );
}

/** `customField4337` and `customTable4372` carry the number of their employee field. */
const NUMBERED = /^custom(Field|Table)(\d+)$/;

/** Sections of which every employee has one; of the tables among them the dataset has the current row. */
const SINGLE_SECTIONS: ReadonlySet<string> = new Set([
  'personal',
  'job',
  'jobInformation',
  'employmentStatus',
  'compensation',
  'calculated',
  'defaultStatus',
  'employeeSettings',
]);

/**
 * The columns with their employee fields: by number, by the alias of a well-known one, and otherwise by label. Labels are not
 * unique (`City` is that of the employee, of a dependent and of an emergency contact), so a label counts only where one field
 * that nothing else has taken and one column of a single section have it.
 */
export function joinCatalogue(columns: readonly Json[], fields: readonly Json[]): readonly CatalogueField[] {
  const current = fields.filter(({ deprecated }) => deprecated !== true);
  const byNumber = new Map(current.map((field) => [String(field.id), field]));
  const byAlias = new Map(current.filter(isWhole).map((field) => [findText(field.alias), field]));
  const sure = new Map(
    columns.map((column) => [column, findSure(String(column.name), { byNumber, byAlias })] as const),
  );
  const taken = new Set(sure.values());
  const fieldByLabel = uniqueByLabel(
    current,
    ({ name }) => name,
    (field) => !taken.has(field),
  );
  const columnByLabel = uniqueByLabel(columns, ({ label }) => label, isSingle);
  return columns.map((column) => {
    const label = foldLabel(column.label);
    const labelled = columnByLabel.get(label) === column ? fieldByLabel.get(label) : undefined;
    return toCatalogueField(column, sure.get(column) ?? labelled);
  });
}

interface Found {
  readonly byNumber: ReadonlyMap<string, Json>;
  readonly byAlias: ReadonlyMap<string | undefined, Json>;
}

function findSure(name: string, { byNumber, byAlias }: Found): Json | undefined {
  const number = NUMBERED.exec(name)?.[2];
  if (number !== undefined) return byNumber.get(number);
  const alias = WELL_KNOWN.get(name)?.name;
  return alias === undefined ? undefined : byAlias.get(alias);
}

/** Parts of a field (`4403.1`, the currency of 4403) have its alias. */
function isWhole({ id }: Json): boolean {
  return !String(id).includes('.');
}

function isSingle({ entityName }: Json): boolean {
  return SINGLE_SECTIONS.has(String(entityName));
}

/** `Pay Rate` and `Pay rate` are the same. */
function foldLabel(label: unknown): string {
  return String(label).trim().toLowerCase();
}

function uniqueByLabel(
  items: readonly Json[],
  labelOf: (item: Json) => unknown,
  counts: (item: Json) => boolean,
): ReadonlyMap<string, Json> {
  const groups = Map.groupBy(items.filter(counts), (item) => foldLabel(labelOf(item)));
  return new Map([...groups].flatMap(([label, [first, second]]) => (first && !second ? [[label, first]] : [])));
}

function toCatalogueField(column: Json, field: Json | undefined): CatalogueField {
  const dataset = String(column.name);
  const label = findText(column.label);
  const type = findText(field?.type);
  const endpoint = field === undefined ? undefined : nameAtEndpoint(field);
  const certain = WELL_KNOWN.has(dataset) || NUMBERED.exec(dataset)?.[1] === 'Field';
  return {
    dataset,
    custom: NUMBERED.test(dataset),
    certain,
    ...(!certain && !isSingle(column) && { table: String(column.entityName) }),
    ...(label !== undefined && { label }),
    ...(type !== undefined && { type }),
    ...(endpoint !== undefined && { endpoint }),
  };
}

function nameAtEndpoint(field: Json): string {
  return (isWhole(field) ? findText(field.alias) : undefined) ?? String(field.id);
}

const MAX_FIELDS_PER_PAGE = 1000;

async function loadColumns({ send }: ConnectorContext): Promise<readonly Json[]> {
  const columns: Json[] = [];
  for (let page = 1; ; page++) {
    const query = { page, page_size: MAX_FIELDS_PER_PAGE };
    const { body } = await send({ path: '/api/v1_2/datasets/employee/fields', query });
    const answer = getObject(body, 'the fields of the employee dataset');
    columns.push(...getObjects(answer.fields, 'the fields of the employee dataset'));
    if (page >= getPageCount(answer)) return columns;
  }
}

function getPageCount(answer: Json): number {
  if (answer.pagination === undefined) return 1;
  return Number(getObject(answer.pagination, 'the pagination of the fields').total_pages ?? 1);
}

async function loadEmployeeFields({ send }: ConnectorContext): Promise<readonly Json[]> {
  const { body } = await send({ path: '/api/v1/meta/fields' });
  return getObjects(body, 'the list of employee fields');
}

function getObjects(value: unknown, what: string): readonly Json[] {
  return getArray(value, what).map((item) => getObject(item, what));
}
