import type { ListPage } from '../connector/index.ts';
import { createPacer } from '../pace.ts';
import { type CpuTime, TRANSFORMATION_LIMITS } from '../scripts/index.ts';
import type { Row } from '../where/index.ts';
import type { ScriptRecord } from './scripted-rows.ts';

/** Prepares the row at an index of a page, unless it is ready: then there is nothing to wait for. */
type PrepareRow = (index: number) => Promise<void> | undefined;

/** Pages whose rows must be prepared before they are read, by what prepares them. */
const prepares = new WeakMap<ListPage, PrepareRow>();

/** Remembers how the rows of a page are prepared. */
export function keepPrepare(page: ListPage, prepare: PrepareRow): ListPage {
  prepares.set(page, prepare);
  return page;
}

/** Returns how the rows of a page are prepared, where that is necessary. */
export function prepareOf(page: ListPage): PrepareRow | undefined {
  return prepares.get(page);
}

/** Number of rows that the script runs for at first. Each later run has twice as many, because the page is probably read to its end. */
const FIRST_ROWS = 32;
const MOST_ROWS = 250;

interface ScriptedRows {
  readonly toRecord: (native: unknown) => ScriptRecord;
  /** Returns the rows that the script makes of the first records, at least of one. */
  readonly run: (records: readonly ScriptRecord[], time: CpuTime) => Promise<readonly (Row | undefined)[]>;
  readonly signal: AbortSignal;
}

/**
 * Runs a script over the rows of a page as they are read, so that only a few of its results are in memory, and that no row is transformed
 * for nothing. Rows are read in their order, each once. The time of the script is that of one page.
 */
export function createScriptedPage(natives: readonly unknown[], { toRecord, run, signal }: ScriptedRows) {
  const time: CpuTime = { leftMs: TRANSFORMATION_LIMITS.batchMs };
  const ready = new Map<number, Row | undefined>();
  /** Mapped rows that the script has not run for yet. */
  let waiting: readonly ScriptRecord[] = [];
  let nextRow = 0;
  let rowsAtOnce = FIRST_ROWS;

  async function fill(): Promise<void> {
    const pacer = createPacer(signal);
    const records: ScriptRecord[] = [];
    for (const native of natives.slice(nextRow, nextRow + rowsAtOnce)) {
      if (pacer.isDue()) await pacer.pause();
      records.push(toRecord(native));
    }
    rowsAtOnce = Math.min(MOST_ROWS, 2 * rowsAtOnce);
    waiting = records;
  }

  async function makeReady(index: number): Promise<void> {
    // The rows before the first one that is read are skipped.
    if (ready.size === 0 && waiting.length === 0) nextRow = index;
    while (nextRow <= index) {
      if (waiting.length === 0) await fill();
      const rows = await run(waiting, time);
      waiting = waiting.slice(rows.length);
      for (const row of rows) ready.set(nextRow++, row);
    }
  }

  return {
    prepare: ((index) => (ready.has(index) ? undefined : makeReady(index))) satisfies PrepareRow,
    /** Returns a prepared row and forgets it, or undefined for a row that the script leaves out. */
    take: (index: number): Row | undefined => {
      const row = ready.get(index);
      ready.delete(index);
      return row;
    },
  };
}
