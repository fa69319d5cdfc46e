import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import picocolors from 'picocolors';
import type { Colors } from 'picocolors/types.js';
import { type Columns, tableText } from './table.js';
import { cellOf, printable, printableJson } from './texts.js';

export const FORMATS = ['table', 'json', 'csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

/** A stream that may be a terminal. */
export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Screens {
  readonly out: Screen;
  readonly err: Screen;
}

/** Maximum number of hidden columns that a note names. */
const MOST_NAMED = 5;

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/**
 * The output of a command. Results go to the standard output in one format, and everything else goes to the standard
 * error.
 */
export class Output {
  readonly format: Format;
  /** The colors of the standard output. There are none if it is no terminal, or with NO_COLOR. */
  readonly colors: Colors;
  readonly errColors: Colors;
  readonly #screens: Screens;
  #progress = '';

  constructor(format: Format, screens: Screens) {
    this.format = format;
    this.#screens = screens;
    this.colors = colorsOf(screens.out);
    this.errColors = colorsOf(screens.err);
  }

  /**
   * Prints a list: its columns in a table or CSV, whole entries in JSON.
   * @returns the number of entries
   */
  async list<Row extends object>(rows: Rows<Row>, columns: Columns<Row>, empty = 'None.'): Promise<number> {
    return this.format === 'table' ? this.#table(rows, columns, empty) : this.#stream(rows, columns);
  }

  /** Prints one value: as JSON, or in the words of `text`. */
  async one(value: object, text: () => string): Promise<void> {
    if (this.format === 'table') await this.print(text());
    else if (this.format === 'csv') await this.#stream([value], columnsOf(Object.keys(value)));
    else await this.print(printableJson(value, this.format === 'json' ? 2 : undefined));
  }

  /** Prints a line of the result. */
  async print(line: string): Promise<void> {
    await write(this.#screens.out, `${line}\n`);
  }

  /** Prints a note for people, beside the result. */
  note(text: string): void {
    this.#erase();
    this.#screens.err.write(`${text}\n`);
  }

  /** Prints the progress on a line that the next call replaces. Prints nothing if the standard error is no terminal. */
  progress(text: string): void {
    if (this.#screens.err.isTTY !== true) return;
    this.#erase();
    this.#progress = printable(text);
    this.#screens.err.write(this.#progress);
  }

  /** Removes the line of the progress. */
  done(): void {
    this.#erase();
  }

  #erase(): void {
    if (this.#progress !== '') this.#screens.err.write('\r\u001b[K');
    this.#progress = '';
  }

  async #table<Row extends object>(rows: Rows<Row>, columns: Columns<Row>, empty: string): Promise<number> {
    const all: Row[] = [];
    for await (const row of rows) all.push(row);
    if (all.length === 0) {
      this.note(empty);
      return 0;
    }
    const { isTTY, columns: width } = this.#screens.out;
    const { text, leftOut } = tableText(all, columns, this.colors, isTTY === true ? (width ?? 80) : undefined);
    await this.print(text);
    if (leftOut.length > 0) this.note(this.errColors.dim(leftOutText(leftOut.map(printable))));
    return all.length;
  }

  async #stream<Row extends object>(rows: Rows<Row>, columns: Columns<Row>): Promise<number> {
    const { out } = this.#screens;
    const before = this.format === 'json' ? '[\n  ' : this.format === 'csv' ? csvLine(Object.keys(columns)) : '';
    const between = this.format === 'json' ? ',\n  ' : '';
    let count = 0;
    for await (const row of rows) await write(out, `${count++ === 0 ? before : between}${this.#entry(row, columns)}`);
    if (this.format === 'json') await write(out, count === 0 ? '[]\n' : '\n]\n');
    else if (count === 0) await write(out, before);
    return count;
  }

  #entry<Row extends object>(row: Row, columns: Columns<Row>): string {
    if (this.format === 'csv') return csvLine(Object.values(columns).map((valueIn) => valueIn(row)));
    return this.format === 'json' ? printableJson(row, 2).replaceAll('\n', '\n  ') : `${printableJson(row)}\n`;
  }
}

function leftOutText(names: readonly string[]): string {
  const named = names.slice(0, MOST_NAMED).join(', ');
  return `Not shown, because the terminal is too narrow: ${named}${names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''}. --json shows all.`;
}

/** Returns columns that print members unchanged. */
export function columnsOf(names: readonly string[]): Columns<object> {
  return Object.fromEntries(
    names.map((name) => [name, (row: object) => (Object.hasOwn(row, name) ? Object(row)[name] : undefined)]),
  );
}

/** Prints a line of CSV (RFC 4180). A missing value is an empty cell, and an empty text is `""`. */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => (value === null || value === undefined ? null : cellOf(value)));
  return stringify([cells], { record_delimiter: 'windows', quoted_match: /^$|[\r\n]/ });
}

function colorsOf({ isTTY }: Screen): Colors {
  return picocolors.createColors(isTTY === true && !process.env.NO_COLOR);
}

async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}
