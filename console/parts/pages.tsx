import { useState } from 'preact/hooks';
import type { Page } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';

/** A list that is read page by page, forward and back. */
export interface PagedList<Row, Result extends Page<Row> = Page<Row>> extends Loaded<Result> {
  /** Undefined where there is none. */
  readonly toNext: (() => void) | undefined;
  readonly toPrevious: (() => void) | undefined;
}

/** Begins at the first page again when something in `keys` is another. @param everyMs the page is read again, while it is looked at */
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
