import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { type Call, Fault, type SimulatedResponse } from '#connector/simulator';

/** Separators by Salesforce's names for them. */
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

export function signsOf({ columnDelimiter, lineEnding }: CsvStyle) {
  return { delimiter: DELIMITERS[columnDelimiter] ?? ',', ending: LINE_ENDINGS[lineEnding] ?? '\n' };
}

/** Prints a row. Every value has quotes, including the empty one, which stands for null. */
export function printRow(values: readonly string[], style: CsvStyle): string {
  const { delimiter, ending } = signsOf(style);
  return values.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter) + ending;
}

/**
 * Responds with CSV, compressed if the request accepts this. The documents say that results are always compressed, but a client that does
 * not accept this could not read them.
 */
export function respondWithCsv(
  call: Call,
  pieces: Iterable<string>,
  headers: SimulatedResponse['headers'] = {},
): SimulatedResponse {
  const text = Readable.from(encode(pieces), { objectMode: false });
  const reported = { 'content-type': 'text/csv', ...headers };
  if (!/\bgzip\b/i.test(String(call.headers['accept-encoding'] ?? ''))) return { headers: reported, stream: text };
  const packed = createGzip({ level: constants.Z_BEST_SPEED });
  pipeline(text, packed, () => undefined);
  return { headers: { ...reported, 'content-encoding': 'gzip' }, stream: packed };
}

function* encode(pieces: Iterable<string>): Generator<Buffer> {
  for (const piece of pieces) if (piece !== '') yield Buffer.from(piece);
}

/** A row of an uploaded file. */
export interface CsvRow {
  readonly cells: readonly string[];
  /** The text of the row without its end. */
  readonly text: string;
  /** The error of the row. Other rows are read nevertheless. */
  readonly problem?: string | undefined;
}

/**
 * Reads the rows of a file.
 * @throws Fault for a file with an unclosed quote, or with another end of its first row than the job declares
 */
export function readRows(text: string, style: CsvStyle): readonly CsvRow[] {
  const newline = text.indexOf('\n');
  const found = newline > 0 && text[newline - 1] === '\r' ? 'CRLF' : 'LF';
  if (newline >= 0 && found !== style.lineEnding) {
    throw badFile(
      `ClientInputError : LineEnding is invalid on user data. Current LineEnding setting is ${style.lineEnding}`,
    );
  }
  const rows: CsvRow[] = [];
  for (let at = 0; at < text.length; ) {
    const { end, ...row } = readRow(text, at, signsOf(style));
    if (row.text !== '') rows.push(row);
    at = end;
  }
  return rows;
}

function badFile(message: string): Fault {
  return new Fault(400, 'INVALIDBATCH', message);
}

type Signs = ReturnType<typeof signsOf>;

function readRow(text: string, begin: number, signs: Signs): CsvRow & { readonly end: number } {
  const cells: string[] = [];
  let problem: string | undefined;
  for (let at = begin; ; at++) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? endOfQuoted(text, at) : endOfPlain(text, at, signs);
    const cell = text.slice(at, end);
    cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (!isQuoted && cell.includes('"')) problem = 'unescaped quote';
    at = endOfPlain(text, end, signs);
    if (at > end) problem = 'characters behind a quote';
    if (text[at] !== signs.delimiter) {
      return { cells, problem, text: text.slice(begin, at), end: at + signs.ending.length };
    }
  }
}

/** Returns the position after the closing quote. */
function endOfQuoted(text: string, begin: number): number {
  for (let from = begin + 1; ; from += 2) {
    from = text.indexOf('"', from);
    if (from < 0) throw badFile('InvalidBatch : Failed to parse CSV. EOF reached before closing an opened quote');
    if (text[from + 1] !== '"') return from + 1;
  }
}

function endOfPlain(text: string, begin: number, { delimiter, ending }: Signs): number {
  // This loop checks each character. A search for a separator that the file lacks would read to its end for each cell.
  let end = begin;
  while (end < text.length && text[end] !== delimiter && !text.startsWith(ending, end)) end++;
  return end;
}
