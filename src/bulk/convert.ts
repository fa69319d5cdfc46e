import { readCsvRow } from '../connector/kit/csv.ts';
import { isJsonObject, parseJson } from '../numbers/exact-json.ts';
import { DECIMAL_TEXT, toJsonNumber } from '../numbers/number-value.ts';
import { setPath } from '../resources/record.ts';
import { type Row, reader } from '../where/index.ts';
import { type Cell, cellOf, defuse, END_OF_ROW, printCell, printCells } from './csv-cells.ts';
import type { BulkFormat, BulkJob, FileColumn } from './job.ts';

/** Type in which a file is read. */
export type FileType = 'text/csv' | 'application/x-ndjson' | 'application/json';

/** The way in which a file is read, which need not be the one in which it is stored. */
export interface Rendition {
  readonly type: FileType;
  /** CSV only: whether cells that a spreadsheet would read as formulas are escaped. */
  readonly isDefused: boolean;
}

/** Type of each stored format. */
export const STORED_TYPES: Readonly<Record<BulkFormat, FileType>> = {
  csv: 'text/csv',
  jsonl: 'application/x-ndjson',
};

/** Creates the printer of rows for the format in which a file is stored. */
export function createRowPrinter(format: BulkFormat, columns: readonly FileColumn[]) {
  if (format === 'csv') return { header: printHeader(columns), print: csvPrinter(columns) };
  return { header: '', print: (row: Row) => `${JSON.stringify(row)}\n` };
}

/** Prints a row, with its end. */
export function csvPrinter(columns: readonly FileColumn[]): (row: Row) => string {
  const readers = columns.map(({ name }) => reader(name));
  return (row) => {
    let line = '';
    let separator = '';
    for (const read of readers) {
      line += separator + printCell(cellOf(read(row)));
      separator = ',';
    }
    return line + END_OF_ROW;
  };
}

/** Prints the header row of a file. */
export function printHeader(columns: readonly FileColumn[]): string {
  return printCells(columns.map(({ name }) => name));
}

/** A stored row, in either language. */
interface StoredRow {
  readonly cells: () => readonly Cell[];
  readonly json: () => string;
}

/** Characters of a piece. */
const PIECE = 64 * 1024;

/** Converts the text of a stored file to another form, piece by piece. */
export async function* convertFile(
  texts: AsyncIterable<string>,
  { format, fields: columns }: Pick<BulkJob, 'format'> & { readonly fields: readonly FileColumn[] },
  { type, isDefused }: Rendition,
): AsyncGenerator<string, void> {
  const { head, row: printRow, foot } = PRINTERS[type](columns, isDefused);
  let piece = head;
  let index = 0;
  for await (const row of format === 'csv' ? readCsv(texts, columns) : readLines(texts, columns)) {
    piece += printRow(row, index++);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece + foot;
}

interface FormPrinter {
  readonly head: string;
  readonly row: (row: StoredRow, index: number) => string;
  readonly foot: string;
}

const PRINTERS: Readonly<Record<FileType, (columns: readonly FileColumn[], isDefused: boolean) => FormPrinter>> = {
  'text/csv': (columns, isDefused) => ({
    head: printHeader(columns),
    row: ({ cells }) => printCells(isDefused ? cells().map((cell, at) => defuse(cell, columns[at])) : cells()),
    foot: '',
  }),
  'application/x-ndjson': () => ({ head: '', row: ({ json }) => `${json()}\n`, foot: '' }),
  'application/json': () => ({ head: '[', row: ({ json }, index) => (index === 0 ? '' : ',') + json(), foot: ']' }),
};

/** The rows of a CSV file, without its header. */
async function* readCsv(texts: AsyncIterable<string>, columns: readonly FileColumn[]): AsyncGenerator<StoredRow, void> {
  const toRecord = recordMaker(columns);
  let isHeader = true;
  let rest = '';
  for await (const text of texts) {
    rest += text;
    let at = 0;
    for (let read = readCsvRow(rest, at); read !== undefined; read = readCsvRow(rest, at)) {
      const { cells, end } = read;
      at = end;
      if (!isHeader) yield { cells: () => cells, json: () => JSON.stringify(toRecord(cells)) };
      isHeader = false;
    }
    rest = rest.slice(at);
  }
  if (rest !== '') throw new Error('A stored file ends within a row.');
}

async function* readLines(
  texts: AsyncIterable<string>,
  columns: readonly FileColumn[],
): AsyncGenerator<StoredRow, void> {
  const readers = columns.map(({ name }) => reader(name));
  const cellsOf = (line: string) => {
    const row = parseJson(line);
    return readers.map((read) => cellOf(isJsonObject(row) ? read(row) : null));
  };
  let rest = '';
  for await (const text of texts) {
    rest += text;
    let at = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', at)) {
      const line = rest.slice(at, end);
      at = end + 1;
      yield { cells: () => cellsOf(line), json: () => line };
    }
    rest = rest.slice(at);
  }
  if (rest !== '') throw new Error('A stored file ends within a row.');
}

/** The record that the cells of a row were made of. */
function recordMaker(columns: readonly FileColumn[]): (cells: readonly Cell[]) => Row {
  const makers = columns.map((column) => ({ path: column.name.split('.'), toValue: valueMaker(column) }));
  return (cells) => {
    const record: Record<string, unknown> = {};
    for (const [at, { path, toValue }] of makers.entries()) {
      const cell = cells[at] ?? null;
      setPath(record, path, cell === null ? null : toValue(cell));
    }
    return record;
  };
}

/** Returns the inverse of `cellOf` for a column. */
export function valueMaker({ type, format }: Pick<FileColumn, 'type' | 'format'>): (cell: string) => unknown {
  switch (type) {
    case 'number':
    case 'integer':
      return format === DECIMAL_TEXT ? (cell) => cell : toJsonNumber;
    case 'boolean':
      return (cell) => (cell === 'true' ? true : cell === 'false' ? false : cell);
    case 'object':
    case 'array':
      return parseMembers;
    default:
      return (cell) => cell;
  }
}

/** Parses a cell with members. Some providers send a text although their metadata declare members. */
function parseMembers(cell: string): unknown {
  if (!/^[[{]/.test(cell)) return cell;
  try {
    return parseJson(cell);
  } catch (error) {
    if (error instanceof SyntaxError) return cell;
    throw error;
  }
}
