import type { ObjectSpec } from '../connector/index.ts';
import { AppError, type ErrorCode, invalidRequest, isAppError } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import { ExactNumber, isJsonObject, parseJson } from '../numbers/exact-json.ts';
import type { Resources } from '../resources/index.ts';
import type { ObjectTarget } from '../resources/opened.ts';
import { sizeOf } from '../resources/record.ts';
import { quoteText, type Row, reader } from '../where/index.ts';
import { valueMaker } from './convert.ts';
import type { CallCount } from './file-writer.ts';
import type { InputRow } from './input-file.ts';
import type { BulkJob, BulkUpload, RowOutcome, UploadAction } from './job.ts';
import type { StoredOutcome } from './outcomes.ts';

/** A row that is to be written. */
interface RowToWrite {
  readonly row: InputRow;
  /** Whether the row may have been sent before. */
  readonly isDoubtful: boolean;
}

/** A row after a try to write it: settled, or still open if the error was not the row's own fault. */
export type WrittenRow =
  | { readonly kind: 'settled'; readonly outcome: StoredOutcome }
  | { readonly kind: 'open'; readonly error: unknown; readonly mayBeWritten: boolean };

/** Writes a batch of rows. The outcomes have the order of the rows. Never rejects. */
type WriteRows = (rows: readonly RowToWrite[]) => Promise<readonly WrittenRow[]>;

export interface WritePorts {
  readonly resources: Pick<
    Resources,
    'getObject' | 'createRecord' | 'updateRecord' | 'deleteRecord' | 'listRecords' | 'rateLimitOf'
  >;
}

interface WriteInput {
  readonly job: BulkJob & { readonly upload: BulkUpload };
  readonly instance: Instance;
  readonly object: ObjectSpec;
  readonly calls: CallCount;
  readonly signal: AbortSignal;
  /** Returns whether another row may be started. Rows that were not started stay open. */
  readonly mayWrite: () => boolean;
  /** Aborts rows that are being written. */
  readonly writeSignal: AbortSignal;
  /** Number of rows that are written at the same time. */
  readonly width: number;
}

/** The outcome of a row at the provider. */
interface Written {
  readonly outcome: Exclude<RowOutcome, 'failed'>;
  readonly id: string | null;
  /** Whether sending the row again would write it again. */
  readonly isRepeatable: boolean;
}

/** A row while it is written, with the calls that it may make. */
interface RowWrite {
  readonly values: Row;
  readonly isDoubtful: boolean;
  readonly target: ObjectTarget;
}

/** Creates a writer that writes each row by a call of its own. */
export function createRowWriter({ resources }: WritePorts, input: WriteInput): WriteRows {
  const { job, instance, object, calls, signal, writeSignal, mayWrite } = input;
  const { upload, objectName } = job;
  const idField = idFieldOf(object);
  const isById = upload.identifier === idField;
  const readId = reader(idField);
  const toValues = valuesMaker(job, object);

  async function create({ values, target }: RowWrite): Promise<Written> {
    const { record } = await resources.createRecord(target, withoutNulls(values));
    return { outcome: 'created', id: textOf(readId(record)), isRepeatable: false };
  }

  async function update(write: RowWrite, id = identify(write.values)): Promise<Written> {
    const values = without(write.values, upload.identifier);
    await resources.updateRecord(write.target, id, values);
    return { outcome: 'updated', id, isRepeatable: true };
  }

  async function remove({ isDoubtful, target, values }: RowWrite): Promise<Written> {
    const id = isById ? identify(values) : await find({ values, target });
    // It is gone by the time before.
    if (id === undefined && isDoubtful) return { outcome: 'deleted', id: null, isRepeatable: true };
    const known = known404(id, values);
    try {
      await resources.deleteRecord(target, known);
    } catch (error) {
      if (!isDoubtful || !isAppError(error, 'NOT_FOUND')) throw error;
    }
    return { outcome: 'deleted', id: known, isRepeatable: true };
  }

  async function upsert(write: RowWrite): Promise<Written> {
    const { values } = write;
    if (!isById) {
      const id = await find(write);
      return id === undefined ? { ...(await create(write)), isRepeatable: true } : update(write, id);
    }
    if (textOf(reader(upload.identifier)(values)) === null) return create(write);
    try {
      return await update(write);
    } catch (error) {
      const mayHaveId = object.fields[idField]?.createable === true;
      if (!mayHaveId || !isAppError(error, 'NOT_FOUND')) throw error;
      return { ...(await create(write)), isRepeatable: true };
    }
  }

  const ACTIONS: Readonly<Record<UploadAction, (write: RowWrite) => Promise<Written>>> = {
    create,
    update: async (write) => (isById ? update(write) : update(write, known404(await find(write), write.values))),
    upsert,
    delete: remove,
  };

  /**
   * Returns the value that identifies the record of a row.
   * @throws AppError REQUEST_INVALID without a value
   */
  function identify(values: Row): string {
    const text = textOf(reader(upload.identifier)(values));
    if (text !== null && text !== '') return text;
    throw rowInvalid(`'${upload.identifier}' has no value, but it identifies the record.`);
  }

  /**
   * Finds the record of a row.
   * @throws AppError CONFLICT if several records have the value
   */
  async function find({ values, target }: Pick<RowWrite, 'values' | 'target'>): Promise<string | undefined> {
    const { identifier } = upload;
    const text = identify(values);
    const where = `\`${identifier}\` = ${literalOf(reader(identifier)(values), text)}`;
    const asked = { where, fields: idField, pageSize: 2, maxProviderCalls: MOST_FINDING_CALLS, pushdownOnly: false };
    const { records, cutBy } = await resources.listRecords(target, asked);
    const [first, second] = records;
    if (second !== undefined) throw new AppError('CONFLICT', `Several records have '${text}' in '${identifier}'.`);
    if (first === undefined && cutBy !== undefined)
      throw new AppError('WHERE_UNSUPPORTED', `The search for '${identifier}' at the provider did not reach its end.`);
    return first && (textOf(readId(first)) ?? undefined);
  }

  function known404(id: string | undefined, values: Row): string {
    if (id !== undefined) return id;
    throw new AppError('NOT_FOUND', `No record has '${identify(values)}' in '${upload.identifier}'.`);
  }

  async function write({ row, isDoubtful }: RowToWrite): Promise<WrittenRow> {
    if (!mayWrite()) return { kind: 'open', error: signal.reason, mayBeWritten: false };
    // The memory of the provider's responses is counted until then.
    const end = new AbortController();
    const tally = { providerCalls: 0 };
    const target = { instance, objectName, signal: AbortSignal.any([writeSignal, end.signal]), tally };
    const outcomeOf = (stored: Omit<StoredOutcome, 'row'>): WrittenRow => ({
      kind: 'settled',
      outcome: { row: row.number, ...stored },
    });
    try {
      const { outcome, id, isRepeatable } = await ACTIONS[upload.action]({ values: toValues(row), isDoubtful, target });
      const doubtful = isDoubtful && !isRepeatable;
      return outcomeOf({ outcome, id, doubtful, code: null, message: doubtful ? SENT_TWICE : null });
    } catch (error) {
      if (!isOwnFault(error)) return { kind: 'open', error, mayBeWritten: !isAppError(error, ...UNSENT) };
      return outcomeOf({ ...failureOf(error), doubtful: isDoubtful && !isRepeatable(job.upload) });
    } finally {
      calls.providerCalls += tally.providerCalls;
      end.abort(ROW_DONE);
    }
  }

  /** Returns a key of the row's record. Rows of the same record are written one after the other, in the order of the file. */
  function recordOf({ row }: RowToWrite): string {
    if (upload.action === 'create') return `${row.number}`;
    try {
      return `=${identify(toValues(row))}`;
    } catch (error) {
      // Writing the row reports the fault.
      if (isOwnFault(error)) return `${row.number}`;
      throw error;
    }
  }

  return async (rows) => {
    const written = new Array<WrittenRow>(rows.length);
    const waiting = Map.groupBy(rows.entries(), ([, row]) => recordOf(row)).values();
    const lane = async () => {
      for (const ofOne of waiting) for (const [index, row] of ofOne) written[index] = await write(row);
    };
    await Promise.all(Array.from({ length: Math.min(input.width, rows.length) }, lane));
    return written;
  };
}

/** One error for all rows, because each new one would record its stack. */
const ROW_DONE = new Error('The row was written.');
/** A search by a text field ends soon; one whose rows are filtered again may need some pages. */
const MOST_FINDING_CALLS = 25;
const SENT_TWICE = 'The row was sent twice, because the first request was interrupted. There may be two records of it.';

/** Codes of errors after which nothing was written. */
const UNSENT = [
  'RATE_LIMITED',
  'PROVIDER_RATE_LIMITED',
  'OVERLOADED',
  'INSTANCE_CREDENTIALS_FAILED',
  'FORBIDDEN',
] as const;
/** Errors of a row that another attempt would not change. */
const OWN_FAULTS: readonly ErrorCode[] = [
  'REQUEST_INVALID',
  'WHERE_SYNTAX',
  'WHERE_INVALID',
  'WHERE_UNSUPPORTED',
  'NOT_FOUND',
  'OPERATION_UNSUPPORTED',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'PROVIDER_REJECTED',
];

export function isOwnFault(error: unknown): error is AppError {
  return isAppError(error, ...OWN_FAULTS);
}

/** Characters that are kept of what a provider says of a row. */
const LONGEST_MESSAGE = 2_000;

/** Returns the error of a row with a code and message of the API. */
export function failureOf(error: unknown): Pick<StoredOutcome, 'id' | 'outcome' | 'code' | 'message'> {
  const failed = { id: null, outcome: 'failed' } as const;
  if (!isAppError(error)) return { ...failed, code: 'INTERNAL', message: 'The row could not be written.' };
  const { code, message, providerMessage } = error;
  const whole = providerMessage === undefined ? message : `${message} ${providerMessage}`;
  return { ...failed, code, message: whole.replaceAll('\0', '').slice(0, LONGEST_MESSAGE).toWellFormed() };
}

/** Returns whether rows can be sent twice and still be written once. */
export function isRepeatable({ action }: BulkUpload): boolean {
  return action !== 'create';
}

export function idFieldOf({ idField = 'id' }: ObjectSpec): string {
  return idField;
}

/**
 * Returns the function that converts a row to the values of a record.
 * @throws AppError REQUEST_INVALID for a row that cannot be read
 */
export function valuesMaker(
  { upload: { columns = [], action, identifier } }: Pick<WriteInput['job'], 'upload'>,
  { fields }: ObjectSpec,
) {
  const makers = columns.map((name) => {
    const { type = 'string', format } = fields[name] ?? {};
    return { name, toValue: valueMaker({ type, format }) };
  });
  const needed = action === 'delete' ? makers.filter(({ name }) => name === identifier) : makers;

  function ofCells(cells: NonNullable<InputRow['cells']>): Row {
    if (cells.length !== columns.length)
      throw rowInvalid(`The row has ${cells.length} cells, and the header has ${columns.length}.`);
    return Object.fromEntries(
      needed.map(({ name, toValue }) => {
        const cell = cells[columns.indexOf(name)] ?? null;
        return [name, cell === null ? null : toValue(cell)];
      }),
    );
  }

  return ({ cells, line }: InputRow): Row => {
    if (cells === undefined && line === undefined)
      throw new AppError('PAYLOAD_TOO_LARGE', 'The row is larger than 4 MB.');
    const values = cells === undefined ? readLine(line ?? '') : ofCells(cells);
    assertShallow(values);
    return values;
  };
}

function readLine(line: string): Row {
  let row: unknown;
  try {
    row = parseJson(line);
  } catch (cause) {
    throw rowInvalid('The row is not JSON.', cause);
  }
  if (isJsonObject(row)) return row;
  throw rowInvalid('The row is not a JSON object.');
}

/** Values that are nested deeper cannot be printed. */
function assertShallow(values: Row): void {
  try {
    sizeOf(values);
  } catch (cause) {
    throw rowInvalid('The row nests deeper than 200 levels.', cause);
  }
}

function rowInvalid(message: string, cause?: unknown): AppError {
  return cause === undefined
    ? invalidRequest([{ message }])
    : new AppError('REQUEST_INVALID', message, { details: [{ message }], cause });
}

/** Removes fields without a value, because a new record has none. */
export function withoutNulls(values: Row): Row {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

export function without(values: Row, field: string): Row {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== field));
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

function literalOf(value: unknown, text: string): string {
  return typeof value === 'number' || typeof value === 'boolean' || value instanceof ExactNumber
    ? text
    : quoteText(text);
}
