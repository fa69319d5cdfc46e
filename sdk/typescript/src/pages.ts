import type { ApiResponse } from '../runtime.js';
import { CausewayError } from './errors.js';

/** Requests one page of a list. It calls an operation whose name ends in `Raw` with the given `nextPage`. */
export type ListPage<Entry> = (page: { readonly nextPage?: string }) => Promise<ApiResponse<readonly Entry[]>>;

/** A page of records. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Token of the next page, for `nextPage`; undefined on the last page. */
  readonly nextPage: string | undefined;
  /** Response headers. They say how the filter was evaluated. */
  readonly headers: Headers;
}

export async function* allOf<Entry>(list: ListPage<Entry>): AsyncGenerator<Entry, void> {
  let nextPage: string | undefined;
  do {
    const { rows, ...page } = await pageOf(await list(nextPage === undefined ? {} : { nextPage }));
    yield* rows;
    if (page.nextPage !== undefined && page.nextPage === nextPage) {
      throw new CausewayError('The service returned the current page as the next one, so the list would never end.');
    }
    nextPage = page.nextPage;
  } while (nextPage !== undefined);
}

export async function pageOf<Row>(response: ApiResponse<readonly Row[]>): Promise<Page<Row>> {
  const { headers } = response.raw;
  return { rows: await response.value(), nextPage: headers.get('Elements-Next-Page-Token') ?? undefined, headers };
}
