import { isDeepStrictEqual } from 'node:util';
import type { Instance } from '../instances/instance.ts';
import type { Resources } from '../resources/index.ts';
import type { ObjectTarget } from '../resources/opened.ts';
import type { Position } from '../resources/page.ts';
import { callsBesideCallers } from '../resources/rate-limits.ts';
import type { Walk, WalkedPage, WalkRequest } from '../resources/walks.ts';

/** Reads pages, some of which are requested before they are needed. The memory of a page is counted until it is released. */
export type Pages = ReturnType<typeof createPages>;

interface PagesInput {
  readonly target: Omit<ObjectTarget, 'instance'> & { readonly instance: Instance };
  readonly query: WalkRequest;
  readonly walk: Pick<Walk, 'pagesAtOnce' | 'behind'>;
  /** Called for each page that arrived, even if it is not needed. */
  readonly onPage: (page: WalkedPage) => void;
}

/** Maximum memory of the pages that are requested in advance, estimated by the size of the last ones. */
const MOST_BYTES = 8 * 1024 * 1024;

interface Reading {
  readonly position: Position;
  readonly page: Promise<WalkedPage>;
  readonly end: AbortController;
  /** Whether the position is a guess: it is right if the page before it is full. */
  readonly isGuess: boolean;
  hasCome: boolean;
}

/**
 * Reads several pages at once where a provider pages by position. One more is read whenever a page had to be awaited
 * and the next was where it was expected. After an unexpected page, pages that were read ahead are discarded and
 * pages are read one at a time. The rows are therefore those of sequential reads, at shorter intervals, so that a
 * list has less time to change.
 */
export function createPages(
  { resources }: { readonly resources: Pick<Resources, 'readPage' | 'rateLimitOf'> },
  { target, query, walk, onPage }: PagesInput,
) {
  let readings: Reading[] = [];
  let last: Reading | undefined;
  let pageBytes = 0;
  let atOnce = 1;
  let most = walk.pagesAtOnce;

  function start(position: Position, isGuess: boolean): Reading {
    const end = new AbortController();
    const signal = AbortSignal.any([target.signal, end.signal]);
    const page = resources.readPage({ ...target, signal }, query, position);
    const reading: Reading = { position, page, end, isGuess, hasCome: false };
    const came = (one: WalkedPage) => {
      reading.hasCome = true;
      onPage(one);
    };
    // It may fail before a caller waits for it.
    page.then(came, () => undefined);
    return reading;
  }

  /** Drops all pages that were requested at guessed positions, and reads one page at a time again. */
  function giveUpGuesses(): void {
    drop();
    atOnce = 1;
    most = 1;
  }

  function drop(): void {
    for (const { end } of readings) end.abort();
    readings = [];
  }

  function takeNext(position: Position): Reading {
    if (readings.length > 0 && !isDeepStrictEqual(readings[0]?.position, position)) giveUpGuesses();
    return readings.shift() ?? start(position, false);
  }

  function hasRoom({ limit }: Position, rows: number): boolean {
    const count = readings.length;
    const calls = callsBesideCallers(resources.rateLimitOf(target.instance));
    return count < Math.min(atOnce, calls) && count * pageBytes < MOST_BYTES && count * limit < rows;
  }

  return {
    /** Starts to read at a position: its page, and further pages up to this number of rows. */
    begin: (position: Position, rows: number) => {
      if (readings.length > 0 && !isDeepStrictEqual(readings[0]?.position, position)) giveUpGuesses();
      if (readings.length === 0) readings.push(start(position, false));
      for (let end = readings.at(-1); end !== undefined && hasRoom(end.position, rows); end = readings.at(-1)) {
        const behind = walk.behind(end.position);
        if (behind === undefined) return;
        readings.push(start(behind, true));
      }
    },
    isReading: () => readings.length > 0,
    /**
     * Returns the page at a position.
     * @throws AppError as calls of the provider
     */
    read: async (position: Position) => {
      last = takeNext(position);
      const { isGuess, hasCome } = last;
      const page = await last.page.catch((error: unknown) => {
        if (!isGuess || target.signal.aborted) throw error;
        last?.end.abort();
        giveUpGuesses();
        last = start(position, false);
        return last.page;
      });
      pageBytes = Math.max(pageBytes, page.bytes);
      const isPredicted = page.next !== undefined && isDeepStrictEqual(page.next, walk.behind(position));
      if (isPredicted && !hasCome) atOnce = Math.min(atOnce + 1, most);
      return page;
    },
    /** Releases the page that was read last. */
    release: () => last?.end.abort(),
    /** Aborts all reads in progress and releases the memory of all pages. */
    close: () => {
      drop();
      last?.end.abort();
    },
  };
}
