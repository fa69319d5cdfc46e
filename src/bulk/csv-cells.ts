import { ExactNumber } from '../numbers/exact-json.ts';

// Cells of CSV. The console exports with them too, in browsers: nothing that this file imports may be Node's own.

/** Value of a CSV cell. Null means that there is no value, which differs from the empty text. */
export type Cell = string | null;

export const END_OF_ROW = '\r\n';

/** Characters that would end a cell or a row (RFC 4180). */
const AWKWARD = /[",\r\n]/;

/** Returns a value as a CSV cell. Objects and lists become JSON. */
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

/** Characters that spreadsheets read as the beginning of a formula (OWASP, CSV Injection). */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Returns a cell for people who open the file in a spreadsheet: no text is a formula. A number stays a number. */
export function defuse(cell: Cell, column: { readonly type: string } | undefined): Cell {
  if (cell === null || !FORMULA.test(cell)) return cell;
  const isNumber = (column?.type === 'number' || column?.type === 'integer') && NUMBER.test(cell);
  return isNumber ? cell : `'${cell}`;
}
