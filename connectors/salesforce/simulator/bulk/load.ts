import { Fault, type TableRow } from '#connector/simulator';
import { completeId } from '../ids.ts';
import { getObject, type Organization, readTime } from '../organization.ts';
import type { Field } from '../schema.ts';
import { type CsvRow, readRows } from './csv.ts';
import type { JobContent, JobTerms } from './jobs.ts';

/** The result of a row. */
export type Outcome = { readonly id: string } & ({ readonly created: boolean } | { readonly error: string });

/** The uploaded rows, and the results of the processed ones. */
export interface Load extends JobContent {
  readonly put: (text: string) => void;
  readonly uploads: () => number;
  /** Returns the rows, the first of which is the header. Empty for a file that cannot be read, which fails the job. */
  readonly rows: () => readonly CsvRow[];
  readonly outcomes: readonly Outcome[];
}

export function createLoad(organization: Organization, terms: JobTerms): Load {
  let text = '';
  let uploads = 0;
  let read: { readonly rows: readonly CsvRow[]; readonly problem?: string | undefined } | undefined;
  const outcomes: Outcome[] = [];
  const file = () => (read ??= readFile(text, terms));
  return {
    put: (sent) => {
      uploads++;
      // Only the first upload is stored, because a job cannot be closed after a second one.
      if (uploads === 1) text = sent.replace(/^\uFEFF/, '');
    },
    uploads: () => uploads,
    rows: () => file().rows,
    get bytes() {
      return text.length;
    },
    outcomes,
    total: () => Math.max(0, file().rows.length - 1),
    problem: () => file().problem,
    advance: (until) => {
      const [header, ...rows] = file().rows;
      const load = createRowLoader(organization, terms, header?.cells ?? []);
      outcomes.push(...rows.slice(outcomes.length, until).map(load));
    },
    reported: () => ({
      numberRecordsProcessed: outcomes.length,
      numberRecordsFailed: outcomes.filter((outcome) => 'error' in outcome).length,
    }),
  };
}

function readFile(text: string, terms: JobTerms) {
  try {
    const rows = readRows(text, terms);
    return { rows, problem: problemOf(rows[0]?.cells ?? [], terms) };
  } catch (error) {
    if (error instanceof Fault) return { rows: [], problem: error.message };
    throw error;
  }
}

function problemOf(names: readonly string[], { object, operation, externalIdFieldName = 'Id' }: JobTerms) {
  const needed = operation === 'insert' ? [] : [operation === 'upsert' ? externalIdFieldName : 'Id'];
  const { fields } = getObject(object);
  const wrong = names.find((name) => !Object.hasOwn(fields, name)) ?? needed.find((name) => !names.includes(name));
  if (wrong !== undefined) return `InvalidBatch : Field name not found : ${wrong}`;
  return operation === 'delete' && names.length > 1
    ? "InvalidBatch : The 'delete' batch must contain only ids"
    : undefined;
}

/** Returns a function that writes a row. An external id finds the records that existed when the job began, and those that it created. */
function createRowLoader(organization: Organization, terms: JobTerms, names: readonly string[]) {
  const { object, operation, externalIdFieldName: key = 'Id' } = terms;
  const { fields } = getObject(object);
  const kept = operation === 'upsert' ? (organization.collections[object]?.table.rows() ?? []) : [];
  const ids = Map.groupBy(kept, (row) => row[key]);

  const insert = (id: string, values: TableRow) => {
    if (id === '') return { id: organization.create(object, values), created: true };
    throw rejected('INVALID_FIELD_FOR_INSERT_UPDATE', 'cannot specify Id in an insert call', 'Id');
  };
  /**
   * Returns the id of an existing record.
   * @throws Fault with the error of the row
   */
  const idOf = (written: string) => {
    if (written === '')
      throw rejected(
        'MISSING_ARGUMENT',
        `Id not specified in ${operation === 'delete' ? 'a' : 'an'} ${operation} call`,
      );
    const id = completeId(written);
    if (id === undefined) throw rejected('MALFORMED_ID', `Id: id value of incorrect type: ${written}`, 'Id');
    if (organization.find(object, id) !== undefined) return id;
    throw rejected('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id');
  };
  const update = (written: string, values: TableRow) => {
    const id = idOf(written);
    organization.update(object, id, values);
    return { id, created: false };
  };
  const upsert = (written: string, values: TableRow) => {
    if (key === 'Id') return written === '' ? insert('', values) : update(written, values);
    const value = values[key] ?? undefined;
    if (value === undefined) throw rejected('MISSING_ARGUMENT', `${key} not specified`);
    const found = (ids.get(value) ?? []).map(({ Id }) => String(Id));
    if (found.length > 1) {
      const message = `${key}: more than one record found for external id field: [${found.join(', ')}]`;
      throw rejected('DUPLICATE_EXTERNAL_ID', message, key);
    }
    if (found[0] !== undefined) return update(found[0], values);
    const inserted = insert('', values);
    ids.set(value, [{ Id: inserted.id }]);
    return inserted;
  };
  const remove = (written: string) => {
    const id = idOf(written);
    organization.remove(object, id);
    return { id, created: false };
  };
  const write = { insert, update, upsert, delete: remove }[operation] ?? insert;

  return ({ cells, problem }: CsvRow): Outcome => {
    const id = cells[names.indexOf('Id')] ?? '';
    const mismatch = `${cells.length} values for ${names.length} columns`;
    const unreadable = problem ?? (cells.length === names.length ? undefined : mismatch);
    try {
      if (unreadable !== undefined) throw rejected('CLIENT_INPUT_ERROR', `Failed to parse CSV: ${unreadable}`);
      const values = names.flatMap((name, index) => {
        const cell = cells[index] ?? '';
        const field = fields[name];
        return name === 'Id' || cell === '' || field === undefined ? [] : [[name, readCell(field, cell)] as const];
      });
      return write(id, Object.fromEntries(values));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // The format is `REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --`.
      return { id, error: `${error.code}:${error.message}:${error.fields.map((field) => `${field} `).join('')}--` };
    }
  };
}

function rejected(code: string, message: string, ...fields: readonly string[]): Fault {
  return new Fault(400, code, message, { fields });
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['yes', 'y', 'true', 'on', '1'].map((word) => [word, true])),
  ...Object.fromEntries(['no', 'n', 'false', 'off', '0'].map((word) => [word, false])),
};
const readDouble = (cell: string) => (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? Number(cell) : undefined);

/** Readers of values that are not text. They return undefined for an invalid value. */
const CELLS: Readonly<Record<string, (cell: string) => unknown>> = {
  boolean: (cell) => BOOLEANS[cell.toLowerCase()],
  int: (cell) => (/^[+-]?\d+$/.test(cell) && Math.abs(Number(cell)) < 2 ** 31 ? Number(cell) : undefined),
  double: readDouble,
  currency: readDouble,
  percent: readDouble,
  date: (cell) => /^(\d{4}-\d{2}-\d{2})(T.*)?$/.exec(cell)?.[1],
  datetime: (cell) => (readTime(cell) === undefined ? undefined : cell),
};

/** Reads a cell. An empty cell leaves the field unchanged, and `#N/A` is null. */
function readCell({ name, type }: Field, cell: string): unknown {
  if (cell === '#N/A') return null;
  const read = CELLS[type] ?? ((text: string) => text);
  const value = read(cell);
  if (value !== undefined) return value;
  throw rejected('INVALID_TYPE_ON_FIELD_IN_RECORD', `${name}: value not of required type: ${cell}`, name);
}
