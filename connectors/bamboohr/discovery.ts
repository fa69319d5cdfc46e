import { type ConnectorContext, defined, type Json, json } from '#connector';
import { type CatalogueField, WELL_KNOWN_NAMES } from './employee-fields.ts';

/** Filters contain names without quotes, so other names of a catalogue are left out. */
const DATASET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads the account's own fields with two calls, and one more call per further 1,000 columns of the dataset. */
export async function loadCatalogue(context: ConnectorContext): Promise<readonly CatalogueField[]> {
  const [columns, fields] = await Promise.all([loadColumns(context), context.send({ path: '/api/v1/meta/fields' })]);
  return joinCatalogue(
    columns.filter(({ name }) => typeof name === 'string' && DATASET_NAME.test(name)),
    json.objects(fields.body, 'the list of employee fields'),
  );
}

async function loadColumns({ send }: ConnectorContext): Promise<readonly Json[]> {
  const columns: Json[] = [];
  for (let page = 1; ; page++) {
    const { body } = await send({ path: '/api/v1_2/datasets/employee/fields', query: { page, page_size: 1000 } });
    columns.push(...json.objects(json.at(body, 'fields'), 'the fields of the employee dataset'));
    if (page >= Number(json.at(body, 'pagination', 'total_pages') ?? 1)) return columns;
  }
}

/** Names such as `customField4337` and `customTable4372`, which contain the number of their employee field. */
const NUMBERED = /^custom(Field|Table)(\d+)$/;

/** Sections with one entry per employee. For the tables among them, the dataset contains the current row. */
const SINGLE_SECTIONS: ReadonlySet<unknown> = new Set([
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
 * Joins the columns with their employee fields: by number, by the alias of a well-known field, and otherwise by label. Labels are not
 * unique: `City` is a field of the employee, of a dependent and of an emergency contact. So a label counts only if exactly one unmatched
 * field and one column of a single section have it.
 */
export function joinCatalogue(columns: readonly Json[], fields: readonly Json[]): readonly CatalogueField[] {
  const current = fields.filter(({ deprecated }) => deprecated !== true);
  const byNumber = new Map(current.map((field) => [String(field.id), field]));
  const byAlias = new Map(current.filter(isWhole).map((field) => [json.findText(field.alias), field]));
  const findSure = (name: string) => {
    const number = NUMBERED.exec(name)?.[2];
    const alias = WELL_KNOWN_NAMES.get(name);
    return number !== undefined ? byNumber.get(number) : alias === undefined ? undefined : byAlias.get(alias);
  };
  const sure = new Map(columns.map((column) => [column, findSure(String(column.name))]));
  const taken = new Set(sure.values());
  const fieldByLabel = uniqueBy(
    current.filter((field) => !taken.has(field)),
    ({ name }) => foldLabel(name),
  );
  const columnByLabel = uniqueBy(columns.filter(isSingle), ({ label }) => foldLabel(label));
  return columns.map((column) => {
    const label = foldLabel(column.label);
    const labelled = columnByLabel.get(label) === column ? fieldByLabel.get(label) : undefined;
    return toCatalogueField(column, sure.get(column) ?? labelled);
  });
}

/** Returns whether this is a whole field. Parts of a field share its alias: `4403.1` is the currency of 4403. */
function isWhole({ id }: Json): boolean {
  return !String(id).includes('.');
}

function isSingle({ entityName }: Json): boolean {
  return SINGLE_SECTIONS.has(entityName);
}

/** Folds a label, so that `Pay Rate` and `Pay rate` are equal. */
function foldLabel(label: unknown): string {
  return String(label).trim().toLowerCase();
}

function uniqueBy(items: readonly Json[], keyOf: (item: Json) => string): ReadonlyMap<string, Json> {
  const groups = Map.groupBy(items, keyOf);
  return new Map([...groups].flatMap(([key, [first, second]]) => (first && !second ? [[key, first]] : [])));
}

function toCatalogueField(column: Json, field: Json | undefined): CatalogueField {
  const dataset = String(column.name);
  const alias = field !== undefined && isWhole(field) ? json.findText(field.alias) : undefined;
  const certain = WELL_KNOWN_NAMES.has(dataset) || NUMBERED.exec(dataset)?.[1] === 'Field';
  return defined({
    dataset,
    custom: NUMBERED.test(dataset),
    certain,
    table: certain || isSingle(column) ? undefined : String(column.entityName),
    label: json.findText(column.label),
    type: json.findText(field?.type),
    endpoint: alias ?? (field && String(field.id)),
  });
}
