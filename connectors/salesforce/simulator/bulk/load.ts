import { Fault } from '#connector/simulator';
import { completeId } from '../ids.ts';
import { createRow, deleteRow, getObject, updateRow } from '../records.ts';
import type { Dataset } from '../rows.ts';
import type { FieldSchema, ObjectSchema } from '../schema.ts';
import { type CsvRow, readRows } from './csv.ts';
import type { JobTerms, Work } from './jobs.ts';

/** What became of a row. */
export type Outcome =
  | { readonly kind: 'done'; readonly id: string; readonly created: boolean }
  | { readonly kind: 'failed'; readonly id: string; readonly error: string };

/** The rows that were sent, and what became of those that are done. */
export interface Load extends Work {
  /** @throws Fault 400 for a file that cannot be read, and for a second one */
  readonly put: (text: string) => void;
  readonly uploads: () => number;
  readonly header: () => CsvRow;
  readonly row: (index: number) => CsvRow;
  readonly outcomes: readonly Outcome[];
}

type Values = Readonly<Record<string, unknown>>;

export function createLoad(dataset: Dataset, terms: JobTerms): Load {
  let text = '';
  let uploads = 0;
  let read: readonly CsvRow[] | undefined;
  let failed = 0;
  const outcomes: Outcome[] = [];
  const object = getObject(terms.object);
  const all = () => {
    read ??= readRows(text, terms);
    return read;
  };
  const header = () => all()[0] ?? { cells: [], text: '' };
  const row = (index: number) => all()[index + 1] ?? { cells: [], text: '' };

  return {
    put: (sent) => {
      uploads++;
      // Only the first is kept; the job cannot be closed after a second one.
      if (uploads === 1) text = sent.replace(/^\uFEFF/, '');
    },
    uploads: () => uploads,
    header,
    row,
    get bytes() {
      return text.length;
    },
    outcomes,
    total: () => Math.max(0, all().length - 1),
    problem: () => problemOf(() => assertHeader(header().cells, terms, object)),
    advance: (until) => {
      const target = { dataset, terms, object, names: header().cells, keys: indexByKey(dataset, terms) };
      for (let index = outcomes.length; index < until; index++) {
        const outcome = loadRow(target, row(index));
        if (outcome.kind === 'failed') failed++;
        outcomes.push(outcome);
      }
    },
    told: () => ({
      numberRecordsProcessed: outcomes.length,
      numberRecordsFailed: failed,
      apiActiveProcessingTime: 0,
      apexProcessingTime: 0,
      isPkChunkingSupported: false,
    }),
  };
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** @throws Fault whose message is the job's */
function assertHeader(names: readonly string[], terms: JobTerms, { fields }: ObjectSchema): void {
  const needed = NEEDED[terms.operation]?.(terms) ?? [];
  const wrong = names.find((name) => !Object.hasOwn(fields, name)) ?? needed.find((name) => !names.includes(name));
  if (wrong !== undefined) throw new Fault(400, 'INVALIDBATCH', `InvalidBatch : Field name not found : ${wrong}`);
  if (terms.operation === 'delete' && names.length > 1) {
    throw new Fault(400, 'INVALIDBATCH', "InvalidBatch : The 'delete' batch must contain only ids");
  }
}

const NEEDED: Readonly<Record<string, (terms: JobTerms) => readonly string[]>> = {
  update: () => ['Id'],
  delete: () => ['Id'],
  upsert: ({ externalIdFieldName = 'Id' }) => [externalIdFieldName],
};

interface Target {
  readonly dataset: Dataset;
  readonly terms: JobTerms;
  readonly object: ObjectSchema;
  readonly names: readonly string[];
  /** Ids by the value of the external id; kept up to date while the target is used. */
  readonly keys: Map<unknown, string[]>;
}

function indexByKey(
  dataset: Dataset,
  { object, operation, externalIdFieldName: key = 'Id' }: JobTerms,
): Target['keys'] {
  const keys: Target['keys'] = new Map();
  if (operation !== 'upsert') return keys;
  for (const row of dataset.get(object)?.rows() ?? []) {
    const ids = keys.get(row[key]);
    if (ids === undefined) keys.set(row[key], [String(row.Id)]);
    else ids.push(String(row.Id));
  }
  return keys;
}

function loadRow(target: Target, { cells, problem }: CsvRow): Outcome {
  const id = cells[target.names.indexOf('Id')] ?? '';
  try {
    if (problem !== undefined) throw new Fault(400, 'CLIENT_INPUT_ERROR', `Failed to parse CSV: ${problem}`);
    if (cells.length !== target.names.length) {
      const message = `Failed to parse CSV: ${cells.length} values for ${target.names.length} columns`;
      throw new Fault(400, 'CLIENT_INPUT_ERROR', message);
    }
    return { kind: 'done', ...(WRITES[target.terms.operation] ?? insert)(target, id, readValues(target, cells)) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { kind: 'failed', id, error: printError(error) };
  }
}

/** `REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --`. */
function printError({ code, message, fields }: Fault): string {
  return `${code}:${message}:${fields.map((field) => `${field} `).join('')}--`;
}

/** Empty is untouched, `#N/A` is null. */
function readValues({ names, object }: Target, cells: readonly string[]): Values {
  const values: Record<string, unknown> = {};
  names.forEach((name, index) => {
    const cell = cells[index] ?? '';
    const field = object.fields[name];
    if (name === 'Id' || cell === '' || field === undefined) return;
    values[name] = cell === '#N/A' ? null : readCell(name, field, cell);
  });
  return values;
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['yes', 'y', 'true', 'on', '1'].map((word) => [word, true])),
  ...Object.fromEntries(['no', 'n', 'false', 'off', '0'].map((word) => [word, false])),
};

const CELLS: Readonly<Record<string, (cell: string) => unknown>> = {
  boolean: (cell) => BOOLEANS[cell.toLowerCase()],
  int: (cell) => (/^[+-]?\d+$/.test(cell) && Math.abs(Number(cell)) < 2 ** 31 ? Number(cell) : undefined),
  double: readDouble,
  currency: readDouble,
  percent: readDouble,
  date: (cell) => /^(\d{4}-\d{2}-\d{2})(T.*)?$/.exec(cell)?.[1],
  datetime: (cell) =>
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:?\d{2})$/.test(cell) ? cell : undefined,
};

function readDouble(cell: string): number | undefined {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : undefined;
}

function readCell(name: string, { type }: FieldSchema, cell: string): unknown {
  const read = CELLS[type];
  if (read === undefined) return cell;
  const value = read(cell);
  if (value !== undefined) return value;
  const message = `${name}: value not of required type: ${cell}`;
  throw new Fault(400, 'INVALID_TYPE_ON_FIELD_IN_RECORD', message, { fields: [name] });
}

type Write = (target: Target, id: string, values: Values) => { readonly id: string; readonly created: boolean };

const WRITES: Readonly<Record<string, Write>> = {
  insert,
  update: (target, written, values) => {
    const id = findId(target, written, 'Id not specified in an update call');
    updateRow(target.dataset, target.terms.object, id, values);
    return { id, created: false };
  },
  delete: (target, written) => {
    const id = findId(target, written, 'Id not specified in a delete call');
    deleteRow(target.dataset, target.terms.object, id);
    return { id, created: false };
  },
  upsert,
};

function insert({ dataset, terms }: Target, id: string, values: Values) {
  if (id !== '')
    throw new Fault(400, 'INVALID_FIELD_FOR_INSERT_UPDATE', 'cannot specify Id in an insert call', { fields: ['Id'] });
  return { id: String(createRow(dataset, terms.object, values).id), created: true };
}

/** @throws Fault as rows have it */
function findId({ dataset, terms }: Target, written: string, missing: string): string {
  if (written === '') throw new Fault(400, 'MISSING_ARGUMENT', missing);
  const id = completeId(written);
  if (id === undefined) {
    throw new Fault(400, 'MALFORMED_ID', `Id: id value of incorrect type: ${written}`, { fields: ['Id'] });
  }
  const row = dataset.get(terms.object)?.find(id);
  if (row === undefined) throw new Fault(400, 'INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
  return id;
}

function upsert(target: Target, written: string, values: Values): ReturnType<Write> {
  const { externalIdFieldName: key = 'Id' } = target.terms;
  if (key === 'Id') return written === '' ? insert(target, '', values) : updateOne(target, written, values);
  const value = values[key];
  if (value === undefined || value === null) throw new Fault(400, 'MISSING_ARGUMENT', `${key} not specified`);
  const found = target.keys.get(value) ?? [];
  if (found.length > 1) {
    const message = `${key}: more than one record found for external id field: [${found.join(', ')}]`;
    throw new Fault(400, 'DUPLICATE_EXTERNAL_ID', message, { fields: [key] });
  }
  const [id] = found;
  if (id !== undefined) return updateOne(target, id, values);
  const inserted = insert(target, '', values);
  target.keys.set(value, [inserted.id]);
  return inserted;
}

function updateOne(target: Target, written: string, values: Values) {
  const id = findId(target, written, 'Id not specified');
  updateRow(target.dataset, target.terms.object, id, values);
  return { id, created: false };
}
