import {
  defineObject,
  type ListInput,
  type ListPage,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
  type SortTerm,
} from '#connector';
import { getObject } from './answer.ts';
import type { EmployeeField } from './employee-fields.ts';
import {
  type Columns,
  type EmployeePorts,
  getEmployee,
  ID,
  idOf,
  loadEntries,
  queryDataset,
  readRecords,
  splitTables,
  unique,
} from './employee-records.ts';
import { createEmployee, updateEmployee } from './employee-writes.ts';
import { employeeFiles } from './files.ts';
import { cursorAt, findWindow, getOffset, MAX_PAGE_SIZE } from './paging.ts';
import { timeOff } from './time-off.ts';
import { datasetTranslator } from './where.ts';

/**
 * Lists come from the `employee` dataset, single records from the employee endpoints. Both know the same fields under different
 * names; records leave here under the dataset's, which are the native names of the fields.
 */
export function createEmployees(fields: readonly EmployeeField[]): ObjectSpec {
  const columns: Columns = new Map(fields.map((field) => [field.spec.native, field]));
  const employees = defineObject<string>({
    label: 'Employees',
    description: 'Everybody the owner of the API key may see, inactive people and future hires included.',
    native: 'employee',
    fields: Object.fromEntries(fields.map(({ name, spec }) => [name, spec])),
    shape: { kind: 'and-xor-or' },
    translator: datasetTranslator,
    list: {
      // What a query is explained with; `run` adds calls for the entries of tables.
      request: (input) => requestRows(input, splitTables({ columns }, nativesOf(input.fields))[0]),
      read: readRows,
      run: ({ send }, input) => listEmployees({ send, columns }, input),
      maxPageSize: MAX_PAGE_SIZE,
      cursorAt,
    },
    get: { run: ({ send }, { id, fields }) => getEmployee({ send, columns }, id, nativesOf(fields)) },
    create: { run: ({ send }, input) => createEmployee({ send, columns }, input) },
    update: { run: ({ send }, input) => updateEmployee({ send, columns }, input) },
  });
  // Added afterwards: the children have filters of other types than the dataset's.
  return Object.freeze({ ...employees, children: { files: employeeFiles, 'time-off': timeOff } });
}

function nativesOf(fields: readonly PushedField[]): readonly string[] {
  return fields.map(({ native }) => native);
}

async function listEmployees(ports: EmployeePorts, input: ListInput<string>): Promise<ListPage> {
  const [single, inTables] = splitTables(ports, nativesOf(input.fields));
  const page = readRows(await ports.send(requestRows(input, single)), input);
  if (inTables.length === 0) return page;
  const rows = page.records.map((record) => getObject(record, 'a row'));
  const entries = await loadEntries(ports, rows, inTables);
  return { ...page, records: rows.map((row) => ({ ...row, ...entries.get(idOf(row)) })) };
}

/** `natives`: the wanted columns, none of a table among them. */
export function requestRows(input: ListInput<string>, natives: readonly string[]): ProviderRequest {
  const { page, pageSize } = findWindow(getOffset(input), input.limit);
  return queryDataset({
    // Every field of `orderBy` must be among `fields`.
    fields: unique([ID, ...natives, ...input.orderBy.map(({ field }) => field.native)]),
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

export function readRows({ body }: ProviderResponse, input: ListInput<string>): ListPage {
  const answer = getObject(body, 'the rows of the employee dataset');
  const offset = getOffset(input);
  const { skip } = findWindow(offset, input.limit);
  const records = readRecords(answer, skip, skip + input.limit);
  const total = Number(getObject(answer.meta, 'the number of rows').totalItems);
  const end = offset + records.length;
  return { records, total, ...(records.length > 0 && end < total && { next: cursorAt(end) }) };
}
