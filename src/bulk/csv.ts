import { ExactNumber } from '../numbers/exact-json.ts';
import { closingQuote } from '../resources/csv-rows.ts';
import { type Row, reader } from '../where/index.ts';
import type { FileColumn } from './job.ts';

/** One value of a row as it stands in a CSV file; null: there is none, which is not the empty text. */
export type Cell = string | null;

export const END_OF_ROW = '\r\n';

/** What would end a cell or a row (RFC 4180). */
const AWKWARD = /[",\r\n]/;

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

/** Objects and lists stand there as JSON. */
export function cellOf(value: unknown): Cell {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  return typeof value === 'object' && !(value instanceof ExactNumber) ? JSON.stringify(value) : String(value);
}

export function printCell(cell: Cell): string {
  if (cell === null) return '';
  if (cell === '') return '""';
  return AWKWARD.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export function printCells(cells: readonly Cell[]): string {
  return cells.map(printCell).join(',') + END_OF_ROW;
}

/** The first row of a file. */
export function printHeader(columns: readonly FileColumn[]): string {
  return printCells(columns.map(({ name }) => name));
}

/** Reads a row that `printCells` or `csvPrinter` printed. @returns undefined where the text ends before the row does */
export function readCells(text: string, begin: number): { readonly cells: Cell[]; readonly end: number } | undefined {
  const cells: Cell[] = [];
  for (let at = begin; ; ) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? endOfQuoted(text, at) : endOfPlain(text, at);
    if (end === undefined) return undefined;
    if (isQuoted) cells.push(text.slice(at + 1, end - 1).replaceAll('""', '"'));
    else cells.push(end === at ? null : text.slice(at, end));
    if (text[end] !== ',') return { cells, end: end + END_OF_ROW.length };
    at = end + 1;
  }
}

function endOfPlain(text: string, begin: number): number | undefined {
  const row = text.indexOf(END_OF_ROW, begin);
  if (row < 0) return undefined;
  const cell = text.indexOf(',', begin);
  return cell < 0 || cell > row ? row : cell;
}

/** Behind the closing quote; what follows on it must be there. */
function endOfQuoted(text: string, begin: number): number | undefined {
  const end = closingQuote(text, begin) + 1;
  const isWhole = end > 0 && (text[end] === ',' || text.startsWith(END_OF_ROW, end));
  return isWhole ? end : undefined;
}

/** What spreadsheets take for the beginning of a formula (OWASP, CSV Injection). */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** The same text for people who open it in a spreadsheet: no cell is a formula. A number stays one. */
export function defuse(cell: Cell, column: FileColumn | undefined): Cell {
  if (cell === null || !FORMULA.test(cell)) return cell;
  const isNumber = (column?.type === 'number' || column?.type === 'integer') && NUMBER.test(cell);
  return isNumber ? cell : `'${cell}`;
}
