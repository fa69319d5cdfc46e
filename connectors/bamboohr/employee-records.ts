import { type ConnectorContext, notFound, type ProviderRequest, path } from '#connector';
import { getArray, getObject, type Json } from './answer.ts';
import type { EmployeeField } from './employee-fields.ts';

/** By native name, which is the dataset's. */
export type Columns = ReadonlyMap<string, EmployeeField>;

export interface EmployeePorts {
  readonly send: ConnectorContext['send'];
  readonly columns: Columns;
}

export const ID = 'eeid';

/** What the employee endpoints call a field; undefined where only the dataset has it. */
export function nameOf({ columns }: Pick<EmployeePorts, 'columns'>, native: string): string | undefined {
  return columns.get(native)?.endpoint;
}

export function queryDataset(json: Json): ProviderRequest {
  return { method: 'POST', path: '/api/v2/datasets/employee/data', json, idempotent: true };
}

/** Those from one place up to another. */
export function readRecords(answer: Json, start = 0, end?: number): readonly Json[] {
  const rows = getArray(answer.data, 'the rows of the employee dataset').slice(start, end);
  return rows.map((row) => getObject(getObject(row, 'a row').fields, 'the fields of a row'));
}

/** "The maximum number of fields per request." */
const MAX_FIELDS = 400;

/** @throws what `send` throws; not found also for an id that names another resource. */
export async function getEmployee(ports: EmployeePorts, id: string, wanted: readonly string[]): Promise<Json> {
  const natives = unique([ID, ...wanted]);
  const shared = natives.filter((native) => nameOf(ports, native) !== undefined);
  const record: Record<string, unknown> = {};
  for (let start = 0; start < shared.length; start += MAX_FIELDS) {
    Object.assign(record, await getShared(ports, id, shared.slice(start, start + MAX_FIELDS)));
  }
  const [datasetOnly, inTables] = splitTables(
    ports,
    natives.filter((native) => nameOf(ports, native) === undefined),
  );
  const row = datasetOnly.length === 0 ? {} : await getRow(ports, record, datasetOnly);
  return { ...row, ...record, ...(await loadEntries(ports, [record], inTables)).get(idOf(record)) };
}

async function getShared(ports: EmployeePorts, id: string, natives: readonly string[]): Promise<Json> {
  const named = natives.map((native) => [native, nameOf(ports, native) ?? native] as const);
  const fields = named.map(([, name]) => name).join(',');
  const { body } = await ports.send({ path: path`/api/v1/employees/${id}`, query: { fields } });
  const answer = getObject(body, 'an employee');
  // `/employees/directory` and the like are other resources.
  if (answer.id === undefined) throw notFound(`BambooHR has no employee '${id}'.`);
  const found = named.filter(([, name]) => Object.hasOwn(answer, name));
  return Object.fromEntries(found.map(([native, name]) => [native, answer[name]]));
}

/** The fields that only the dataset has. */
async function getRow({ send }: EmployeePorts, record: Json, natives: readonly string[]): Promise<Json> {
  const filter = `${ID} eq ${idOf(record)}`;
  const { body } = await send(queryDataset({ fields: natives, filter, page: 1, pageSize: 1 }));
  return readRecords(getObject(body, 'the rows of the employee dataset'))[0] ?? {};
}

/** Columns with one value, and columns of tables. */
export function splitTables(
  { columns }: Pick<EmployeePorts, 'columns'>,
  natives: readonly string[],
): readonly [single: readonly string[], inTables: readonly string[]] {
  const isInTable = (native: string) => columns.get(native)?.table !== undefined;
  return [natives.filter((native) => !isInTable(native)), natives.filter(isInTable)];
}

export function idOf(record: Json): number {
  return Number(record[ID]);
}

/** Employees in one query for their entries: a filter must not become too long. */
const MAX_OWNERS = 50;

/**
 * The entries of employees by their id: for each column a list with the values of all entries. Beside other columns an entry would
 * be a row of its own, and the entries of two tables every pair of them, so each table is asked for alone.
 */
export async function loadEntries(
  ports: EmployeePorts,
  records: readonly Json[],
  natives: readonly string[],
): Promise<ReadonlyMap<number, Json>> {
  const owners = records.map(idOf);
  const entries = new Map(owners.map((id): [number, Record<string, unknown>] => [id, {}]));
  for (const columns of Map.groupBy(natives, (native) => ports.columns.get(native)?.table).values()) {
    for (let start = 0; start < owners.length; start += MAX_OWNERS) {
      const some = owners.slice(start, start + MAX_OWNERS);
      const rows = Map.groupBy(await listTableRows(ports, some, columns), idOf);
      for (const id of some) Object.assign(entries.get(id) ?? {}, toLists(rows.get(id) ?? [], columns));
    }
  }
  return entries;
}

const TABLE_PAGE_SIZE = 1000;

async function listTableRows(
  { send }: EmployeePorts,
  owners: readonly number[],
  columns: readonly string[],
): Promise<readonly Json[]> {
  const query = {
    fields: [ID, ...columns],
    filter: owners.map((id) => `${ID} eq ${id}`).join(' or '),
    orderBy: `${ID} asc`,
    pageSize: TABLE_PAGE_SIZE,
  };
  const rows: Json[] = [];
  for (let page = 1; ; page++) {
    const { body } = await send(queryDataset({ ...query, page }));
    const found = readRecords(getObject(body, 'the rows of the employee dataset'));
    rows.push(...found);
    if (found.length < TABLE_PAGE_SIZE) return rows;
  }
}

/** An employee without entries is there with nothing in all columns. */
function toLists(rows: readonly Json[], columns: readonly string[]): Json {
  const entries = rows.filter((row) => columns.some((column) => (row[column] ?? '') !== ''));
  return Object.fromEntries(columns.map((column) => [column, entries.map((entry) => entry[column] ?? null)]));
}

export function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
