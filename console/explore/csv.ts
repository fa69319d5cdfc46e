import { cellOf, defuse, printCells } from '../../src/bulk/csv-cells.ts';
import type { Row } from '../../src/where/row-values.ts';
import type { RecordColumn } from './columns.ts';

/** Prints rows as CSV for a spreadsheet, in the form of a bulk download: no cell can become a formula. */
export function printCsv(columns: readonly RecordColumn[], rows: readonly Row[]): string {
  const header = printCells(columns.map(({ name }) => defuse(name, undefined)));
  const lines = rows.map((row) => printCells(columns.map(({ read, field }) => defuse(cellOf(read(row)), field))));
  return header + lines.join('');
}

/** Lets the browser save a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
