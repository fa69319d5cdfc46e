import { expect } from 'chai';
import type { ApiAnswer } from '../../support/app.ts';

/** The token of the next page; undefined for the last one. */
export const nextPageOf = ({ headers }: ApiAnswer) => headers.get('elements-next-page-token') ?? undefined;

/** Every page of a list, each of which says how many rows it has. */
export async function pagesOf(ask: (nextPage?: string) => Promise<ApiAnswer>): Promise<readonly ApiAnswer[]> {
  const pages: ApiAnswer[] = [];
  let nextPage: string | undefined;
  do {
    const page = await ask(nextPage);
    expect(page.status, JSON.stringify(page.body)).to.equal(200);
    expect(page.headers.get('elements-returned-count')).to.equal(String(page.body.length));
    pages.push(page);
    nextPage = nextPageOf(page);
  } while (nextPage !== undefined);
  return pages;
}

/** The rows of all pages. */
export async function rowsOf(ask: (nextPage?: string) => Promise<ApiAnswer>): Promise<ApiAnswer['body'][]> {
  return (await pagesOf(ask)).flatMap(({ body }) => body);
}
