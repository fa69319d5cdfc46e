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

export function readRecords(answer: Json): readonly Json[] {
  return getArray(answer.data, 'the rows of the employee dataset').map((row) =>
    getObject(getObject(row, 'a row').fields, 'the fields of a row'),
  );
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
  const datasetOnly = natives.filter((native) => nameOf(ports, native) === undefined);
  return datasetOnly.length === 0 ? record : { ...(await getRow(ports, record, datasetOnly)), ...record };
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

/** The fields that only the dataset has; of a column that is a table's, one of its rows. */
async function getRow({ send }: EmployeePorts, record: Json, natives: readonly string[]): Promise<Json> {
  const filter = `${ID} eq ${Number(record[ID])}`;
  const { body } = await send(queryDataset({ fields: natives, filter, page: 1, pageSize: 1 }));
  return readRecords(getObject(body, 'the rows of the employee dataset'))[0] ?? {};
}

export function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
