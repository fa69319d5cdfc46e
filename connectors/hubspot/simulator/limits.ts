import { type Call, createBudget, type MovableClock, type TableRow } from '#connector/simulator';
import { invalid } from './faults.ts';

/** Creates a limit of calls: of all in ten seconds, or of searches in one. HubSpot sends no Retry-After. */
export function createRates(clock: MovableClock, calls: number | undefined, windowMs = 10_000) {
  if (calls === undefined) return undefined;
  return createBudget({
    ...{ calls, windowMs, clock, sendsRetryAfter: false },
    headers: ({ left }) => ({
      'x-hubspot-ratelimit-max': String(calls),
      'x-hubspot-ratelimit-remaining': String(left),
      'x-hubspot-ratelimit-interval-milliseconds': String(windowMs),
    }),
  });
}

interface Sizes {
  readonly idOf: (row: TableRow) => string;
  readonly usual: number;
  readonly most: number;
}

/**
 * Returns a page of a list, whose cursor is the id of the last record before it.
 * @throws Fault 400 for an invalid size or cursor
 */
export function takeAfter(rows: readonly TableRow[], { query, isStuck }: Call, { idOf, usual, most }: Sizes) {
  const [after, limit] = [query.get('after') ?? '0', Number(query.get('limit') ?? usual)];
  if (!/^\d+$/.test(after)) throw invalid('after is no cursor', 'after');
  if (!(limit >= 1 && limit <= most)) throw invalid(`limit is from 1 to ${most}`, 'limit');
  const left = rows.filter((row) => Number(idOf(row)) > Number(after));
  const results = left.slice(0, limit);
  const last = results.at(-1);
  const next = isStuck ? after : last && left.length > limit ? idOf(last) : undefined;
  return { results, paging: next === undefined ? undefined : { next: { after: next, link: `?after=${next}` } } };
}
