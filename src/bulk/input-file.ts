import { type CsvError, parse } from 'csv-parse';
import { createPacer } from '../pace.ts';
import type { Cell } from './csv-cells.ts';
import type { BulkFormat } from './job.ts';

/** Maximum size of a row in bytes. Larger rows are not read. */
const MOST_ROW_BYTES = 4 * 1024 * 1024;
/** Number of bytes that are parsed at a time: a few milliseconds of work. */
const PIECE_BYTES = 32 * 1024;

/** A row of an uploaded file. */
export interface InputRow {
  /** Row number, starting at 1. The header has none. */
  readonly number: number;
  /** Byte offset at which the row begins. `endByte` is behind its line end. */
  readonly startByte: number;
  readonly endByte: number;
  /** CSV only: the cells of the row. */
  readonly cells?: readonly Cell[];
  /** NDJSON only: the line of the row; absent if it is too large to read. */
  readonly line?: string;
}

/** The error of a file in which rows cannot be distinguished from some byte on. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
}

interface InputStart {
  /** Byte offset at which the next row begins. */
  readonly byte: number;
  /** Number of rows before it. */
  readonly row: number;
}

type ReadRows = (
  bytes: AsyncIterable<Buffer>,
  begin: InputStart & { readonly columns: number },
  signal: AbortSignal,
) => AsyncGenerator<InputRow, void>;

/** Reads the rows of a file from a position on; `columns` is the number of columns in the header. All rows before a BrokenFile are returned. @throws BrokenFile */
export const ROW_READERS: Readonly<Record<BulkFormat, ReadRows>> = { csv: readCsvRows, jsonl: readLines };

async function* piecesOf(bytes: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const pacer = createPacer(signal);
  for await (const part of bytes)
    for (let at = 0; at < part.length; at += PIECE_BYTES) {
      if (pacer.isDue()) await pacer.pause();
      yield part.subarray(at, at + PIECE_BYTES);
    }
}

interface FoundRow {
  readonly cells: readonly Cell[];
  /** Bytes that were read when it ended. */
  readonly end: number;
}

/** RFC 4180 with either end of line. A cell that is empty without quotes has no value. */
function openCsvParser(columns: number) {
  let found: FoundRow[] = [];
  let failure: Error | undefined;
  const parser = parse({
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    // A row of one column that has no value is an empty line.
    skip_empty_lines: columns > 1,
    max_record_size: MOST_ROW_BYTES,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
    on_record: (cells: readonly Cell[], { bytes }) => {
      found.push({ cells, end: bytes });
      return null;
    },
  });
  parser.on('error', (error) => {
    failure = error;
  });
  parser.resume();
  const settled = (error: Error | null | undefined, resolve: () => void) => {
    failure ??= error ?? undefined;
    resolve();
  };
  return {
    write: (piece: Buffer) => new Promise<void>((resolve) => parser.write(piece, (error) => settled(error, resolve))),
    end: () =>
      new Promise<void>((resolve) => {
        parser.once('close', resolve);
        parser.end((error?: Error | null) => settled(error, resolve));
      }),
    take: () => {
      const taken = found;
      found = [];
      return taken;
    },
    failure: () => failure,
    close: () => parser.destroy(),
  };
}

async function* readCsvRows(...[bytes, { byte, row, columns }, signal]: Parameters<ReadRows>): ReturnType<ReadRows> {
  const parser = openCsvParser(columns);
  let number = row;
  let startByte = byte;

  function* rows(): Generator<InputRow, void> {
    for (const { cells, end } of parser.take()) {
      yield { number: ++number, startByte, endByte: byte + end, cells };
      startByte = byte + end;
    }
    const failure = parser.failure();
    if (failure !== undefined) throw new BrokenFile(explain(failure), { cause: failure });
  }

  try {
    for await (const piece of piecesOf(bytes, signal)) {
      await parser.write(piece);
      yield* rows();
    }
    await parser.end();
    yield* rows();
  } finally {
    parser.close();
  }
}

const FAULTS: Readonly<Partial<Record<string, string>>> = {
  CSV_MAX_RECORD_SIZE: 'is larger than 4 MB, or has a quote that is not closed',
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'has a quote within a quoted cell that is not doubled',
  INVALID_OPENING_QUOTE: 'has a quote inside a cell that does not begin with one',
};

function explain(error: Error & Partial<Pick<CsvError, 'code'>>): string {
  return FAULTS[error.code ?? ''] ?? 'is not CSV';
}

const NEWLINE = 0x0a;

async function* readLines(...[bytes, { byte, row }, signal]: Parameters<ReadRows>): ReturnType<ReadRows> {
  let number = row;
  let startByte = byte;
  let size = 0;
  let parts: Buffer[] = [];

  /** @returns undefined for an empty line */
  function take(): InputRow | undefined {
    const line = size > MOST_ROW_BYTES ? undefined : Buffer.concat(parts).toString();
    const endByte = startByte + size;
    const bytesOfRow = { startByte, endByte };
    startByte = endByte;
    size = 0;
    parts = [];
    if (line === undefined) return { number: ++number, ...bytesOfRow };
    return line.trim() === '' ? undefined : { number: ++number, ...bytesOfRow, line };
  }

  function keep(part: Buffer): void {
    size += part.length;
    if (size <= MOST_ROW_BYTES) parts.push(part);
    else parts = [];
  }

  for await (const piece of piecesOf(bytes, signal)) {
    let at = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, at)) {
      keep(piece.subarray(at, end + 1));
      at = end + 1;
      const found = take();
      if (found !== undefined) yield found;
    }
    keep(piece.subarray(at));
  }
  const last = size > 0 ? take() : undefined;
  if (last !== undefined) yield last;
}

/** Header row of a CSV file. */
interface CsvHeader {
  readonly names: readonly Cell[];
  /** Byte offset behind the header. */
  readonly endByte: number;
}

/**
 * Reads the header of a CSV file; undefined for a file without rows.
 * @throws BrokenFile
 */
export async function readHeader(head: Buffer, beginByte: number): Promise<CsvHeader | undefined> {
  const begin = { byte: beginByte, row: 0, columns: 1 };
  const bytes = async function* () {
    yield head.subarray(beginByte);
  };
  for await (const { cells = [], endByte } of readCsvRows(bytes(), begin, new AbortController().signal))
    return { names: cells, endByte };
  return undefined;
}
