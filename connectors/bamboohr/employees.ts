import {
  type ConnectorContext,
  type CreateInput,
  defineObject,
  type ListInput,
  type ListPage,
  notFound,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
  path,
  type RecordInput,
  type SortTerm,
  type UpdateInput,
} from '#connector';
import { findText, getArray, getObject, isObject, type Json } from './answer.ts';
import type { EmployeeField } from './employee-fields.ts';
import { employeeFiles } from './files.ts';
import { cursorAt, findWindow, getOffset, MAX_PAGE_SIZE } from './paging.ts';
import { timeOff } from './time-off.ts';
import { datasetTranslator } from './where.ts';

/**
 * Lists come from the `employee` dataset, single records from the employee endpoints. Both know the same fields under different
 * names; records leave here under the dataset's, which are the native names of the fields.
 */
export function createEmployees(fields: readonly EmployeeField[]): ObjectSpec {
  const endpoints: Endpoints = new Map(
    fields.flatMap(({ spec, endpoint }) => (endpoint === undefined ? [] : [[spec.native, endpoint]])),
  );
  const employees = defineObject<string>({
    label: 'Employees',
    description: 'Everybody the owner of the API key may see, inactive people and future hires included.',
    native: 'employee',
    fields: Object.fromEntries(fields.map(({ name, spec }) => [name, spec])),
    shape: { kind: 'and-xor-or' },
    translator: datasetTranslator,
    list: { request: requestRows, read: readRows, maxPageSize: MAX_PAGE_SIZE, cursorAt },
    get: { run: (context, input) => getEmployee(context, endpoints, input) },
    create: { run: (context, input) => createEmployee(context, endpoints, input) },
    update: { run: (context, input) => updateEmployee(context, endpoints, input) },
  });
  // Added afterwards: the children have filters of other types than the dataset's.
  return Object.freeze({ ...employees, children: { files: employeeFiles, 'time-off': timeOff } });
}

/** Native (dataset) name → the employee endpoints' name. */
type Endpoints = ReadonlyMap<string, string>;

const ID = 'eeid';

function requestRows(input: ListInput<string>): ProviderRequest {
  const { page, pageSize } = findWindow(getOffset(input), input.limit);
  return queryDataset({
    // Every field of `orderBy` must be among `fields`.
    fields: unique([
      ID,
      ...input.fields.map(({ native }) => native),
      ...input.orderBy.map(({ field }) => field.native),
    ]),
    ...(input.filter !== undefined && { filter: input.filter }),
    orderBy: printOrder(input.orderBy),
    page,
    pageSize,
  });
}

/** Without an order the rows come in any, so the id always ends it: pages must neither overlap nor leave gaps. */
function printOrder(orderBy: readonly SortTerm[]): string {
  const terms = orderBy.map(({ field, direction }) => `${field.native} ${direction}`);
  const hasId = orderBy.some(({ field }) => field.native === ID);
  return (hasId ? terms : [...terms, `${ID} asc`]).join(',');
}

function queryDataset(json: Json): ProviderRequest {
  return { method: 'POST', path: '/api/v2/datasets/employee/data', json, idempotent: true };
}

function readRows({ body }: ProviderResponse, input: ListInput<string>): ListPage {
  const answer = getObject(body, 'the rows of the employee dataset');
  const offset = getOffset(input);
  const { skip } = findWindow(offset, input.limit);
  const records = getRows(answer)
    .slice(skip, skip + input.limit)
    .map(readRow);
  const total = Number(getObject(answer.meta, 'the number of rows').totalItems);
  const end = offset + records.length;
  return { records, total, ...(records.length > 0 && end < total && { next: cursorAt(end) }) };
}

function getRows(answer: Json): readonly unknown[] {
  return getArray(answer.data, 'the rows of the employee dataset');
}

function readRow(row: unknown): Json {
  return getObject(getObject(row, 'a row').fields, 'the fields of a row');
}

/** "The maximum number of fields per request." */
const MAX_FIELDS = 400;

/** @throws what `send` throws; not found also for an id that names another resource. */
async function getEmployee(context: ConnectorContext, endpoints: Endpoints, input: RecordInput): Promise<Json> {
  const natives = unique([ID, ...input.fields.map(({ native }) => native)]);
  const shared = natives.filter((native) => endpoints.has(native));
  const record: Record<string, unknown> = {};
  for (let start = 0; start < shared.length; start += MAX_FIELDS) {
    Object.assign(record, await getShared(context, endpoints, input.id, shared.slice(start, start + MAX_FIELDS)));
  }
  const datasetOnly = natives.filter((native) => !endpoints.has(native));
  return datasetOnly.length === 0 ? record : { ...(await getRow(context, record, datasetOnly)), ...record };
}

async function getShared(
  { send }: ConnectorContext,
  endpoints: Endpoints,
  id: string,
  natives: readonly string[],
): Promise<Json> {
  const names = natives.map((native) => endpoints.get(native) ?? native);
  const { body } = await send({ path: path`/api/v1/employees/${id}`, query: { fields: names.join(',') } });
  const answer = getObject(body, 'an employee');
  // `/employees/directory` and the like are other resources.
  if (answer.id === undefined) throw notFound(`BambooHR has no employee '${id}'.`);
  const found = natives.filter((_, index) => Object.hasOwn(answer, names[index] ?? ''));
  return Object.fromEntries(found.map((native) => [native, answer[endpoints.get(native) ?? native]]));
}

/** The fields that only the dataset has. */
async function getRow({ send }: ConnectorContext, record: Json, natives: readonly string[]): Promise<Json> {
  const filter = `${ID} eq ${record[ID]}`;
  const { body } = await send(queryDataset({ fields: natives, filter, page: 1, pageSize: 1 }));
  const [row] = getRows(getObject(body, 'the rows of the employee dataset'));
  return row === undefined ? {} : readRow(row);
}

async function createEmployee(context: ConnectorContext, endpoints: Endpoints, input: CreateInput): Promise<Json> {
  const response = await context.send({
    method: 'POST',
    path: '/api/v1/employees',
    json: toEndpoint(endpoints, input.values),
  });
  return getEmployee(context, endpoints, { id: readCreatedId(response), fields: input.fields });
}

/** The Location is a URL "to view the employee in the web app. The ID of the employee will be included": its last number. */
export function readCreatedId({ headers, body }: ProviderResponse): string {
  const inLocation = /(\d+)\D*$/.exec(headers.location ?? '')?.[1];
  const id = inLocation ?? (isObject(body) ? findText(body.id) : undefined);
  if (id === undefined) throw new Error('BambooHR answered without the id of the new employee.');
  return id;
}

async function updateEmployee(context: ConnectorContext, endpoints: Endpoints, input: UpdateInput): Promise<Json> {
  const { id, fields, values } = input;
  await context.send({
    method: 'POST',
    path: path`/api/v1/employees/${id}`,
    json: toEndpoint(endpoints, values),
  });
  return getEmployee(context, endpoints, { id, fields });
}

function toEndpoint(endpoints: Endpoints, values: Json): Json {
  return Object.fromEntries(Object.entries(values).map(([native, value]) => [endpoints.get(native) ?? native, value]));
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}
