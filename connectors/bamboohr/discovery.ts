import type { ConnectorContext } from '#connector';
import { findText, getArray, getObject, type Json } from './answer.ts';

/** One column of the `employee` dataset, and what the employee endpoints call the same field. */
export interface CatalogueField {
  readonly dataset: string;
  readonly label?: string;
  /** The word that BambooHR has for the type: of the dataset if it says one, otherwise of the employee field. */
  readonly type?: string;
  /** The alias, or the number, under which the employee endpoints know the field. Absent when they are not known to have it. */
  readonly endpoint?: string;
  readonly custom: boolean;
}

/** Names stand unquoted in filters, so anything else in a catalogue is left out. */
const DATASET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads the account's own fields: two calls, and one more per further 500 columns of the dataset. */
export async function loadCatalogue(context: ConnectorContext): Promise<readonly CatalogueField[]> {
  const [columns, fields] = await Promise.all([loadColumns(context), loadEmployeeFields(context)]);
  const byId = new Map(fields.map((field) => [String(field.id), field]));
  return columns
    .filter((column) => typeof column.name === 'string' && DATASET_NAME.test(column.name))
    .map((column) => toCatalogueField(column, byId.get(String(column.id))));
}

/** `field` is the employee field with the same id, where the column tells its id. */
function toCatalogueField(column: Json, field: Json | undefined): CatalogueField {
  const label = findText(column.label);
  const type = findText(column.type) ?? findText(field?.type);
  const alias = findText(field?.alias);
  const endpoint = alias ?? (field === undefined ? undefined : String(field.id));
  return {
    dataset: String(column.name),
    custom: alias?.startsWith('custom') ?? false,
    ...(label !== undefined && { label }),
    ...(type !== undefined && { type }),
    ...(endpoint !== undefined && { endpoint }),
  };
}

async function loadColumns({ send }: ConnectorContext): Promise<readonly Json[]> {
  const columns: Json[] = [];
  for (let page = 1; ; page++) {
    const { body } = await send({ path: '/api/v1_2/datasets/employee/fields', query: { page } });
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
