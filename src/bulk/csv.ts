import { closingQuote } from '../connector/kit/csv.ts';
import { type Row, reader } from '../where/index.ts';
import { type Cell, cellOf, END_OF_ROW, printCell, printCells } from './csv-cells.ts';
import type { FileColumn } from './job.ts';

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
