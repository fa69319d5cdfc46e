import { expect } from 'chai';
import { FULL } from '../../../suite/effort.ts';
import { type PagedQuery, walkPages } from '../../../suite/paging.ts';
import type { Listing, Target } from '../../../suite/target.ts';

const ROWS = Array.from({ length: 29 }, (_, index) => ({ id: index + 1 }));

const LISTING: Listing = {
  name: 'orders',
  path: '/orders',
  idField: 'id',
  object: { fields: { id: { type: 'integer' } } },
  rows: ROWS,
};

const QUERY: PagedQuery = { kind: 'pushed', where: 'total > 0', rows: ROWS.length };

/**
 * A service that finds a row with each call to its provider, and has 25 calls for an answer unless it is told otherwise.
 * @param lost rows between two pages
 */
function serve(rows: readonly unknown[], lost = 0): Pick<Target, 'call'> {
  return {
    call: async (_path, { query = {}, headers = {} } = {}) => {
      const pageSize = Number(query.pageSize);
      const begin = Number(query.nextPage ?? 0);
      const reached = begin + Number(headers['Elements-Max-Provider-Calls'] ?? 25);
      const first = begin + (Number(query.page ?? 1) - 1) * pageSize;
      const last = Math.min(first + pageSize, reached, rows.length);
      const body = rows.slice(first, Math.max(first, last));
      const hasNext = last < rows.length;
      return {
        status: 200,
        body,
        headers: new Headers({
          'elements-returned-count': String(body.length),
          'elements-provider-calls': String(last - begin),
          ...(hasNext && { 'elements-next-page-token': String(last + lost), link: '</orders>; rel="next"' }),
          ...(hasNext && body.length < pageSize && { 'elements-partial-result': 'scan-budget' }),
        }),
      };
    },
  };
}

describe('the pages that the suite walks', () => {
  it('may be more than the calls of one answer reach', async () => {
    expect(await walkPages(serve(ROWS), LISTING, QUERY, FULL)).to.deep.equal([]);
  });

  it('are found to lose a row', async () => {
    const faults = await walkPages(serve(ROWS, 1), LISTING, QUERY, FULL);
    expect(faults.join('\n')).to.match(/in pages of 7 by nextPage: 26 rows \(26 different\), but one page has 28/);
  });
});
