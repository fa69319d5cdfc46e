import Table from 'cli-table3';
import type { Colors } from 'picocolors/types.js';
import stringWidth from 'string-width';
import { cellOf, printable, shortened } from './texts.js';

/** The columns of a list by their headings, in order. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

const GAP = 2;
/** Maximum width of a cell in a terminal. */
const WIDEST_CELL = 48;
const NO_LINES = Object.fromEntries(
  ['top', 'bottom', 'left', 'right'].flatMap((side) => [
    [side, ''],
    [`${side}-mid`, ''],
    [`${side}-left`, ''],
    [`${side}-right`, ''],
  ]),
);

export interface TableText {
  readonly text: string;
  /** Columns that are hidden because the terminal is too narrow. */
  readonly leftOut: readonly string[];
}

/**
 * Prints rows below headings. In a terminal, long cells are cut and the last columns are hidden if `width` is too small
 * for them.
 */
export function tableText<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  colors: Colors,
  width = Number.POSITIVE_INFINITY,
): TableText {
  const isTerminal = Number.isFinite(width);
  const cells = Object.entries(columns).map(([heading, valueIn]) => {
    const texts = rows.map((row) => printable(cellOf(valueIn(row))));
    const shown = isTerminal ? texts.map((text) => shortened(text, Math.min(WIDEST_CELL, width))) : texts;
    return { heading, shown, width: Math.max(stringWidth(heading), ...shown.map((text) => stringWidth(text))) + GAP };
  });
  let used = 0;
  const fitting = cells.filter((column, index) => {
    used += column.width;
    return index === 0 || used - GAP <= width;
  });
  const table = new Table({
    head: fitting.map(({ heading }) => colors.bold(heading)),
    chars: { ...NO_LINES, mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '', middle: ' '.repeat(GAP) },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  table.push(...rows.map((_, row) => fitting.map(({ shown }) => shown[row] ?? '')));
  const text = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  const names = new Set(fitting.map(({ heading }) => heading));
  return { text, leftOut: cells.map(({ heading }) => heading).filter((heading) => !names.has(heading)) };
}
