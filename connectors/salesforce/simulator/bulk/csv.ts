import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { type Answer, type Call, Fault } from '#connector/simulator';

/** Salesforce's words for what stands between values, and at the end of rows. */
export const DELIMITERS: Readonly<Record<string, string>> = {
  BACKQUOTE: '`',
  CARET: '^',
  COMMA: ',',
  PIPE: '|',
  SEMICOLON: ';',
  TAB: '\t',
};
export const LINE_ENDINGS: Readonly<Record<string, string>> = { LF: '\n', CRLF: '\r\n' };

export interface CsvStyle {
  readonly columnDelimiter: string;
  readonly lineEnding: string;
}

/** Every value is quoted, also the empty one, which is null. */
export function printRow(values: readonly string[], style: CsvStyle): string {
  let row = '';
  let separator = '';
  for (const value of values) {
    row += `${separator}"${value.includes('"') ? value.replaceAll('"', '""') : value}"`;
    separator = delimiterOf(style);
  }
  return row + endOf(style);
}

export const delimiterOf = ({ columnDelimiter }: CsvStyle): string => DELIMITERS[columnDelimiter] ?? ',';
export const endOf = ({ lineEnding }: CsvStyle): string => LINE_ENDINGS[lineEnding] ?? '\n';

/**
 * Packed where it is asked for. The documents say that results always are; a client that did not ask for it could not read them.
 */
export function answerCsv(
  call: Call,
  pieces: Iterable<string>,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const text = Readable.from(encode(pieces), { objectMode: false });
  const told = { 'content-type': 'text/csv', ...headers };
  if (!/\bgzip\b/i.test(String(call.headers['accept-encoding'] ?? ''))) return { headers: told, stream: text };
  const packed = createGzip({ level: constants.Z_BEST_SPEED });
  pipeline(text, packed, () => undefined);
  return { headers: { ...told, 'content-encoding': 'gzip' }, stream: packed };
}

function* encode(pieces: Iterable<string>): Generator<Buffer> {
  for (const piece of pieces) if (piece !== '') yield Buffer.from(piece);
}

/** A row as it was sent. */
export interface CsvRow {
  readonly cells: readonly string[];
  /** Its text, without the end. */
  readonly text: string;
  /** What is wrong with it; others are read all the same. */
  readonly problem?: string;
}

/** @throws Fault for a file in which a quote is never closed, or whose rows end otherwise than the job says */
export function readRows(text: string, style: CsvStyle): readonly CsvRow[] {
  assertEnding(text, style);
  const rows: CsvRow[] = [];
  for (let at = 0; at < text.length; ) {
    const { end, ...row } = readRow(text, at, style);
    if (row.text !== '') rows.push(row);
    at = end;
  }
  return rows;
}

/** The end of the first row tells. */
function assertEnding(text: string, { lineEnding }: CsvStyle): void {
  const newline = text.indexOf('\n');
  const found = newline > 0 && text[newline - 1] === '\r' ? 'CRLF' : 'LF';
  if (newline < 0 || found === lineEnding) return;
  throw badFile(`ClientInputError : LineEnding is invalid on user data. Current LineEnding setting is ${lineEnding}`);
}

function badFile(message: string): Fault {
  return new Fault(400, 'INVALIDBATCH', message);
}

function readRow(text: string, begin: number, style: CsvStyle): CsvRow & { readonly end: number } {
  const [delimiter, ending] = [delimiterOf(style), endOf(style)];
  const cells: string[] = [];
  let problem: string | undefined;
  for (let at = begin; ; ) {
    const cell = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at, delimiter, ending);
    let { end } = cell;
    if (cell.value.includes('"') && text[at] !== '"') problem = 'unescaped quote';
    if (end < text.length && text[end] !== delimiter && !text.startsWith(ending, end)) {
      problem = 'characters behind a quote';
      ({ end } = readPlain(text, end, delimiter, ending));
    }
    cells.push(cell.value);
    if (text[end] !== delimiter || end >= text.length) {
      const row = { cells, text: text.slice(begin, end), end: end + ending.length };
      return problem === undefined ? row : { ...row, problem };
    }
    at = end + 1;
  }
}

interface Cell {
  readonly value: string;
  readonly end: number;
}

function readQuoted(text: string, begin: number): Cell {
  for (let from = begin + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) throw badFile('InvalidBatch : Failed to parse CSV. EOF reached before closing an opened quote');
    if (text[quote + 1] !== '"') {
      return { value: text.slice(begin + 1, quote).replaceAll('""', '"'), end: quote + 1 };
    }
    from = quote + 2;
  }
}

function readPlain(text: string, begin: number, delimiter: string, ending: string): Cell {
  const [comma, newline] = [text.indexOf(delimiter, begin), text.indexOf(ending, begin)];
  const end = Math.min(comma < 0 ? text.length : comma, newline < 0 ? text.length : newline);
  return { value: text.slice(begin, end), end };
}
