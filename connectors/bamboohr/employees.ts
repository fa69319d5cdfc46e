import {
  type ConnectorContext,
  type CreateInput,
  defineObject,
  type Json,
  json,
  list,
  nativesOf,
  notFound,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
  path,
  type UpdateInput,
} from '#connector';
import { changedEmployees } from './changes.ts';
import type { EmployeeField } from './employee-fields.ts';
import { assertStored } from './employee-writes.ts';
import { employeeFiles } from './files.ts';
import { timeOff } from './time-off.ts';
import { datasetTranslator } from './where.ts';

/** The fields by native name, which is the name in the dataset. */
type Columns = ReadonlyMap<string, EmployeeField>;

interface Ports {
  readonly send: ConnectorContext['send'];
  readonly columns: Columns;
}

const ID = 'eeid';

/**
 * Creates the object `employees`. Lists come from the `employee` dataset, single records from the employee endpoints. Both have the same
 * fields under different names. This object returns records under the names of the dataset, which are the native names.
 */
export function createEmployees(fields: readonly EmployeeField[]): ObjectSpec {
  const columns: Columns = new Map(fields.map((field) => [field.spec.native, field]));
  const rows = list<string>({
    request: ({ natives, filter, orderBy, order, page }) =>
      queryDataset({
        // BambooHR requires every field of `orderBy` to be among `fields`.
        fields: unique([
          ID,
          ...natives.filter((native) => !isInTable(columns, native)),
          ...orderBy.map(({ field }) => field.native),
        ]),
        ...(filter !== undefined && { filter }),
        orderBy: order,
        ...page,
      }),
    rows: readRows,
    paging: {
      kind: 'number',
      page: 'page',
      size: 'pageSize',
      max: 1000,
      total: ({ body }) => json.at(body, 'meta', 'totalItems'),
    },
    order: { term: (native, direction) => `${native} ${direction}`, id: ID },
  });
  const employees = defineObject<string>({
    label: 'Employees',
    description: 'All employees that the owner of the API key may see, including inactive employees and future hires.',
    native: 'employee',
    fields: Object.fromEntries(fields.map(({ name, spec }) => [name, spec])),
    shape: { kind: 'and-xor-or' },
    translator: datasetTranslator,
    list: {
      // The request that explain shows. `run` adds calls for the entries of tables.
      ...rows,
      run: async ({ send, config }, input) => {
        const page = rows.read(await send(rows.request(input, config)), input);
        const inTables = nativesOf(input).filter((native) => isInTable(columns, native));
        if (inTables.length === 0) return page;
        return { ...page, records: await addEntries({ send, columns }, page.records, inTables) };
      },
    },
    get: { run: ({ send }, input) => getEmployee({ send, columns }, input.id, nativesOf(input)) },
    create: { run: ({ send }, input) => createEmployee({ send, columns }, input) },
    update: { run: ({ send }, input) => updateEmployee({ send, columns }, input) },
    changes: { feed: changedEmployees },
  });
  // The children are added afterwards, because their filters have other types than the dataset's filter.
  return Object.freeze({ ...employees, children: { files: employeeFiles, 'time-off': timeOff } });
}

function isInTable(columns: Columns, native: string): boolean {
  return columns.get(native)?.table !== undefined;
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function queryDataset(query: Json): ProviderRequest {
  return { method: 'POST', path: '/api/v2/datasets/employee/data', json: query, idempotent: true };
}

function readRows(body: unknown): readonly Json[] {
  const rows = json.array(json.at(body, 'data'), 'the rows of the employee dataset');
  return rows.map((row) => json.object(json.at(row, 'fields'), 'the fields of a row'));
}

/** Maximum number of fields per request. Source: "The maximum number of fields per request." */
const MAX_FIELDS = 400;

/**
 * Reads an employee from the employee endpoints.
 * @throws what `send` throws; not found also for an id that names another resource
 */
async function getEmployee(ports: Ports, id: string, wanted: readonly string[]): Promise<Json> {
  const natives = unique([ID, ...wanted]);
  const isShared = (native: string) => ports.columns.get(native)?.endpoint !== undefined;
  const record: Record<string, unknown> = {};
  for (const some of chunksOf(natives.filter(isShared), MAX_FIELDS)) {
    Object.assign(record, await getShared(ports, id, some));
  }
  const others = natives.filter((native) => !isShared(native));
  const single = others.filter((native) => !isInTable(ports.columns, native));
  const row = single.length === 0 ? {} : await getRow(ports, record, single);
  const [complete = {}] = await addEntries(ports, [{ ...row, ...record }], others);
  return complete;
}

async function getShared({ send, columns }: Ports, id: string, natives: readonly string[]): Promise<Json> {
  const named = natives.map((native) => [native, columns.get(native)?.endpoint ?? native] as const);
  const fields = named.map(([, name]) => name).join(',');
  const { body } = await send({ path: path`/api/v1/employees/${id}`, query: { fields } });
  const response = json.object(body, 'an employee');
  // `/employees/directory` and similar paths are other resources.
  if (response.id === undefined) throw notFound(`BambooHR has no employee '${id}'.`);
  const found = named.filter(([, name]) => Object.hasOwn(response, name));
  return Object.fromEntries(found.map(([native, name]) => [native, response[name]]));
}

/** Reads the fields that only the dataset has. */
async function getRow({ send }: Ports, record: Json, fields: readonly string[]): Promise<Json> {
  const { body } = await send(queryDataset({ fields, filter: `${ID} eq ${idOf(record)}`, page: 1, pageSize: 1 }));
  return readRows(body)[0] ?? {};
}

function idOf(record: Json): number {
  return Number(record[ID]);
}

/** Maximum number of employees per query for their entries. It limits the length of the filter. */
const MAX_OWNERS = 50;

/**
 * Adds the columns of tables among `natives` to the records. Each column becomes a list with the values of all entries. Each table gets a
 * query of its own: together with other columns each entry would become a row, and two tables would yield every pair of their entries.
 */
async function addEntries(
  ports: Ports,
  records: readonly unknown[],
  natives: readonly string[],
): Promise<readonly Json[]> {
  const owners = json.objects(records, 'the rows');
  const entries = new Map(owners.map((owner): [number, Record<string, unknown>] => [idOf(owner), {}]));
  const tables = Map.groupBy(natives, (native) => ports.columns.get(native)?.table);
  for (const [table, columns] of tables) {
    if (table === undefined) continue;
    for (const some of chunksOf([...entries.keys()], MAX_OWNERS)) {
      const rows = Map.groupBy(await listTableRows(ports, some, columns), idOf);
      for (const id of some) Object.assign(entries.get(id) ?? {}, toLists(rows.get(id) ?? [], columns));
    }
  }
  return owners.map((owner) => ({ ...owner, ...entries.get(idOf(owner)) }));
}

const TABLE_PAGE_SIZE = 1000;

async function listTableRows(
  { send }: Ports,
  owners: readonly number[],
  columns: readonly string[],
): Promise<readonly Json[]> {
  const filter = owners.map((id) => `${ID} eq ${id}`).join(' or ');
  const query = { fields: [ID, ...columns], filter, orderBy: `${ID} asc`, pageSize: TABLE_PAGE_SIZE };
  const rows: Json[] = [];
  for (let page = 1; ; page++) {
    const found = readRows((await send(queryDataset({ ...query, page }))).body);
    rows.push(...found);
    if (found.length < TABLE_PAGE_SIZE) return rows;
  }
}

/** Collects the entries of one employee by column. An employee without entries has a row with empty columns. */
function toLists(rows: readonly Json[], columns: readonly string[]): Json {
  const entries = rows.filter((row) => columns.some((column) => (row[column] ?? '') !== ''));
  return Object.fromEntries(columns.map((column) => [column, entries.map((entry) => entry[column] ?? null)]));
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/**
 * Creates an employee, and reads the stored record.
 * @throws what `send` throws; rejected when BambooHR created the employee but ignored a value
 */
async function createEmployee(ports: Ports, input: CreateInput): Promise<Json> {
  const response = await ports.send({
    method: 'POST',
    path: '/api/v1/employees',
    json: toEndpoint(ports, input.values),
  });
  const id = readCreatedId(response);
  const after = await getEmployee(ports, id, [...nativesOf(input), ...Object.keys(input.values)]);
  assertStored(ports.columns, `created the employee ${id}`, { written: input.values, before: {}, after });
  return after;
}

/**
 * Returns the id of a created employee: the id in the body, or the last number of the header Location. Source: "the URL to view the
 * employee. The ID will be included".
 */
export function readCreatedId({ headers, body }: ProviderResponse): string {
  const located = /(\d+)\D*$/.exec(headers.location ?? '')?.[1];
  return json.key(json.at(body, 'id') ?? located, 'the id of the new employee');
}

/**
 * Updates an employee. BambooHR returns 200 whether it accepts a field or not. The values before the update show which fields it ignored,
 * as opposed to those that it stores in another spelling.
 * @throws what `send` throws; rejected when a field kept its value
 */
async function updateEmployee(ports: Ports, input: UpdateInput): Promise<Json> {
  const { id, values: written } = input;
  const before = await getEmployee(ports, id, Object.keys(written));
  await ports.send({ method: 'POST', path: path`/api/v1/employees/${id}`, json: toEndpoint(ports, written) });
  const after = await getEmployee(ports, id, [...nativesOf(input), ...Object.keys(written)]);
  assertStored(ports.columns, `reported that it changed the employee ${id}`, { written, before, after });
  return after;
}

function toEndpoint({ columns }: Ports, values: Json): Json {
  return Object.fromEntries(
    Object.entries(values).map(([native, value]) => [columns.get(native)?.endpoint ?? native, value]),
  );
}
