import { useState } from 'preact/hooks';
import type { Page } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';

/** A list that is requested page by page, forward and back. */
export interface PagedList<Row, Result extends Page<Row> = Page<Row>> extends Loaded<Result> {
  /** Requests the next page. Undefined on the last page. */
  readonly toNext: (() => void) | undefined;
  readonly toPrevious: (() => void) | undefined;
}

/**
 * Requests a list page by page. It returns to the first page when a value in `keys` changes. @param everyMs interval at which the page is
 * requested again while it is visible
 */
export function usePages<Row, Result extends Page<Row> = Page<Row>>(
  load: (nextPage: string | undefined, signal: AbortSignal) => Promise<Result>,
  keys: readonly unknown[],
  { everyMs }: { readonly everyMs?: number | undefined } = {},
): PagedList<Row, Result> {
  const key = JSON.stringify(keys);
  const [visited, setVisited] = useState<{ readonly key: string; readonly tokens: readonly string[] }>({
    key,
    tokens: [],
  });
  const tokens = visited.key === key ? visited.tokens : [];
  const loaded = useLoad((signal) => load(tokens.at(-1), signal), [key, tokens], { everyMs });
  const next = loaded.value?.nextPage;
  return {
    ...loaded,
    toNext: next === undefined ? undefined : () => setVisited({ key, tokens: [...tokens, next] }),
    toPrevious: tokens.length === 0 ? undefined : () => setVisited({ key, tokens: tokens.slice(0, -1) }),
  };
}

export function Pager({ toNext, toPrevious }: Pick<PagedList<unknown>, 'toNext' | 'toPrevious'>) {
  if (toNext === undefined && toPrevious === undefined) return null;
  return (
    <nav class="row end" aria-label="Pages">
      <button type="button" disabled={toPrevious === undefined} onClick={toPrevious}>
        Previous
      </button>
      <button type="button" disabled={toNext === undefined} onClick={toNext}>
        Next
      </button>
    </nav>
  );
}
