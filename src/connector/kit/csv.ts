import { ResponseError } from '../define.ts';

/** Maximum number of cells in a row. A record may have as many members. */
const MOST_CELLS = 100_000;

/**
 * Returns the rows of a CSV text (RFC 4180), beginning with the row of names. Rows end with CRLF or LF.
 * @throws Error for a quote that does not end or ends too early, and for a row of more than 100,000 cells
 */
export function* csvRows(text: string): Generator<readonly string[], void> {
  for (let at = 0; at < text.length; ) {
    // The last row may have no end.
    const whole = readCsvRow(text, at);
    const row = whole ?? readCsvRow(`${text.slice(at)}\n`, 0);
    if (row === undefined) throw new ResponseError(`The CSV has a quoted text after position ${at} that does not end.`);
    yield row.cells.map((cell) => cell ?? '');
    at = whole?.end ?? text.length;
  }
}

/** A row of CSV and the offset of the next row. A cell that is empty without quotes is null. */
export interface CsvRow {
  readonly cells: readonly (string | null)[];
  readonly end: number;
}

/**
 * Reads the row that begins at an offset.
 * @returns the row, or undefined where the text ends before the row does
 * @throws Error as `csvRows`
 */
export function readCsvRow(text: string, begin: number): CsvRow | undefined {
  const cells: (string | null)[] = [];
  for (let at = begin; ; ) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? endOfQuoted(text, at) : endOfPlain(text, at);
    if (end === undefined) return undefined;
    if (isQuoted) cells.push(text.slice(at + 1, end - 1).replaceAll('""', '"'));
    else cells.push(end === at ? null : text.slice(at, end));
    if (cells.length > MOST_CELLS) throw new ResponseError(`The CSV has a row of more than ${MOST_CELLS} cells.`);
    if (text[end] !== ',') return { cells, end: end + (text[end] === '\r' ? 2 : 1) };
    at = end + 1;
  }
}

const END = /[,\n]|\r\n/g;

function endOfPlain(text: string, begin: number): number | undefined {
  END.lastIndex = begin;
  return END.exec(text)?.index;
}

/** Returns the offset behind the closing quote: the first quote that is not doubled. Undefined where the text ends too early. */
function endOfQuoted(text: string, begin: number): number | undefined {
  let quote = text.indexOf('"', begin + 1);
  while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2);
  const behind = text.slice(quote + 1, quote + 3);
  if (quote < 0 || behind === '' || behind === '\r') return undefined;
  if (/^(?:,|\n|\r\n)/.test(behind)) return quote + 1;
  throw new ResponseError(`The CSV has a quoted text at position ${begin} that does not end.`);
}
