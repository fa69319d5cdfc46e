import { expect } from 'chai';
import fc from 'fast-check';
import { createPages } from '../../src/bulk/pages.ts';
import { AppError } from '../../src/errors.ts';
import type { Position } from '../../src/resources/page.ts';
import type { TimedRateLimit } from '../../src/resources/rate-limits.ts';
import type { WalkedPage } from '../../src/resources/walks.ts';
import { runs } from '../../suite/effort.ts';
import { createService } from '../resources/fake-provider.ts';

const LIMIT = 10;

interface Asked {
  readonly offset: number;
  readonly signal: AbortSignal;
  readonly answer: (page?: Partial<WalkedPage>) => void;
  readonly fail: (error: Error) => void;
}

const positionAt = (offset: number): Position => ({
  query: 0,
  cursor: String(offset),
  rowsBefore: offset,
  skipRows: 0,
  skipMatches: 0,
  limit: LIMIT,
});

const offsetOf = ({ rowsBefore = 0 }: Position) => rowsBefore;

const pageOf = (offset: number, count = LIMIT): WalkedPage => ({
  records: Array.from({ length: count }, (_, index) => ({ id: offset + index })),
  next: positionAt(offset + count),
  bytes: 1000,
  providerCalls: 1,
});

/** Pages of a provider that answers when the test says so. */
function usePages({ pagesAtOnce = 4, rateLimit }: { pagesAtOnce?: number; rateLimit?: TimedRateLimit } = {}) {
  const asked: Asked[] = [];
  const came: WalkedPage[] = [];
  const broken = new AbortController();
  const readPage = (target: { readonly signal: AbortSignal }, _: unknown, position: Position): Promise<WalkedPage> => {
    const offset = offsetOf(position);
    const { promise, resolve, reject } = Promise.withResolvers<WalkedPage>();
    target.signal.addEventListener('abort', () => reject(target.signal.reason));
    asked.push({
      offset,
      signal: target.signal,
      answer: (page = {}) => resolve({ ...pageOf(offset), ...page }),
      fail: reject,
    });
    return promise;
  };
  const { createInstance } = createService({});
  const pages = createPages(
    { resources: { readPage, rateLimitOf: () => rateLimit } },
    {
      target: { instance: Object.assign(createInstance()), objectName: 'rows', signal: broken.signal },
      query: {},
      walk: { pagesAtOnce, behind: (position) => positionAt(offsetOf(position) + position.limit) },
      onPage: (page) => void came.push(page),
    },
  );
  const last = (offset: number) => {
    const found = asked.findLast((one) => one.offset === offset);
    if (found === undefined) throw new Error(`Nobody asked for the page at ${offset}`);
    return found;
  };
  /** The next page, answered, and what comes behind it begun. */
  const turn = async (offset: number, page?: Partial<WalkedPage>, rows = 1000) => {
    const read = pages.read(positionAt(offset));
    last(offset).answer(page);
    const found = await read;
    pages.release();
    if (found.next !== undefined) pages.begin(found.next, rows);
    return found;
  };
  return { pages, asked, came, broken, last, turn, offsets: () => asked.map(({ offset }) => offset) };
}

describe('pages of a bulk job', () => {
  it('are read several at once, one more with each that is where it was foretold, and given in their order', async () => {
    const { pages, last, turn, offsets } = usePages();
    await turn(0);
    expect(offsets()).to.deep.equal([0, 10, 20]);
    await turn(10);
    expect(offsets()).to.deep.equal([0, 10, 20, 30, 40]);
    await turn(20);
    await turn(30);
    expect(offsets(), 'not more than four under way').to.deep.equal([0, 10, 20, 30, 40, 50, 60, 70]);
    // The page that is wanted is the last to come.
    for (const offset of [70, 60, 50]) last(offset).answer();
    const read = pages.read(positionAt(40));
    last(40).answer();
    expect((await read).records[0]).to.deep.equal({ id: 40 });
    expect((await pages.read(positionAt(50))).records[0]).to.deep.equal({ id: 50 });
    expect(offsets().filter((offset) => offset === 50)).to.have.length(1);
  });

  it('are not more at once as long as none has to be waited for', async () => {
    const { pages, last, turn, offsets } = usePages();
    await turn(0);
    for (const offset of [10, 20, 30]) {
      last(offset).answer();
      await new Promise<void>((resolve) => setImmediate(resolve));
      pages.begin((await pages.read(positionAt(offset))).next ?? positionAt(0), 1000);
    }
    expect(offsets()).to.deep.equal([0, 10, 20, 30, 40, 50]);
  });

  it('are read one at a time where the connector does not say more', async () => {
    const { turn, offsets } = usePages({ pagesAtOnce: 1 });
    for (const offset of [0, 10, 20]) await turn(offset);
    expect(offsets()).to.deep.equal([0, 10, 20, 30]);
  });

  it('are read one at a time from the first that is short on, and nothing of what was foretold is used', async () => {
    const { asked, last, turn, offsets } = usePages();
    await turn(0);
    await turn(10, { records: pageOf(10, 7).records, next: positionAt(17) });
    expect(last(20).signal.aborted).to.equal(true);
    await turn(17);
    await turn(27);
    expect(offsets().slice(3)).to.deep.equal([17, 27, 37]);
    expect(asked.filter(({ signal }) => !signal.aborted).map(({ offset }) => offset)).to.deep.equal([37]);
  });

  it('that fail ahead of their turn are read again in it, and from then on one at a time', async () => {
    const { pages, last, turn, offsets } = usePages();
    await turn(0);
    last(20).fail(new AppError('PROVIDER_RATE_LIMITED', 'Too many at once.'));
    await turn(10);
    const read = pages.read(positionAt(20));
    await Promise.resolve();
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(offsets().filter((offset) => offset === 20)).to.have.length(2);
    last(20).answer();
    const { next } = await read;
    expect(next).to.deep.equal(positionAt(30));
    pages.begin(positionAt(30), 1000);
    expect(offsets().filter((offset) => offset === 30)).to.have.length(2);
    expect(offsets().at(-1)).to.equal(30);
  });

  it('that fail in their turn fail the job, as before', async () => {
    const { pages, last } = usePages();
    const read = pages.read(positionAt(0));
    last(0).fail(new AppError('PROVIDER_UNAVAILABLE', 'Away.'));
    expect(await read.catch((error: unknown) => String(error))).to.include('Away.');
  });

  it('behind the end are not told of, whatever comes of them', async () => {
    const { pages, last, turn, asked } = usePages();
    await turn(0);
    last(20).fail(new AppError('PROVIDER_PROTOCOL', 'There is no page 3.'));
    const { next } = await turn(10, { records: pageOf(10, 4).records, next: undefined } as Partial<WalkedPage>);
    expect(next).to.equal(undefined);
    pages.close();
    expect(asked.filter(({ signal }) => !signal.aborted)).to.deep.equal([]);
  });

  it('are not asked for beyond the rows that are wanted', async () => {
    const { turn, offsets } = usePages();
    await turn(0, {}, 10);
    expect(offsets()).to.deep.equal([0, 10]);
    await turn(10, {}, 11);
    expect(offsets()).to.deep.equal([0, 10, 20, 30]);
  });

  it('leave the calls of the provider to callers that are theirs', async () => {
    const few = usePages({ rateLimit: { limit: 100, remaining: 27, resetSeconds: 60 } });
    for (const offset of [0, 10, 20]) await few.turn(offset);
    expect(few.offsets()).to.deep.equal([0, 10, 20, 30, 40]);
  });

  it('are fewer at once the larger they are', async () => {
    const { turn, offsets } = usePages();
    for (const offset of [0, 10, 20]) await turn(offset, { bytes: 5 * 1024 * 1024 });
    expect(offsets(), 'two of 5 MB').to.deep.equal([0, 10, 20, 30, 40]);
  });

  it('are all broken off when the job is', async () => {
    const { pages, asked, turn, broken } = usePages();
    for (const offset of [0, 10]) await turn(offset);
    const read = pages.read(positionAt(20));
    broken.abort(new Error('cancelled'));
    expect(await read.catch((error: unknown) => String(error))).to.include('cancelled');
    expect(asked).to.have.length(5);
    expect(asked.every(({ signal }) => signal.aborted)).to.equal(true);
  });

  it('count each that came, also where nobody needs it', async () => {
    const { came, last, turn } = usePages();
    await turn(0);
    last(20).answer();
    await turn(10, { next: positionAt(15) });
    expect(came).to.have.length(3);
  });

  it('are those of one at a time, however full they are, in whatever order they come, and whatever fails ahead of its turn', async () => {
    const plan = fc.record({
      counts: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(LIMIT) }, fc.integer({ min: 1, max: LIMIT })), {
        minLength: 1,
        maxLength: 12,
      }),
      fates: fc.infiniteStream(fc.constantFrom('now', 'later', 'fails')),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ counts, fates }) => {
        const { pages, asked } = usePages();
        const starts = counts.map((_, index) => counts.slice(0, index).reduce((sum, count) => sum + count, 0));
        const answerOf = (offset: number): WalkedPage => {
          const at = starts.indexOf(offset);
          // In the middle of a page, or behind the end: what stands there must not get into the file.
          if (at < 0) return { ...pageOf(1_000_000 + offset) };
          const { next, ...page } = pageOf(offset, counts[at]);
          return at === counts.length - 1 || next === undefined ? page : { ...page, next };
        };
        const ids: unknown[] = [];
        let settled = 0;
        const settle = (isTurn: boolean, nextOffset?: number) => {
          for (; settled < asked.length; settled++) {
            const one = asked[settled];
            const { value: fate } = fates.next();
            if (fate === 'fails' && !isTurn && one?.offset !== nextOffset)
              one?.fail(new AppError('PROVIDER_UNAVAILABLE', 'Away.'));
            else if (fate === 'later' && !isTurn) return;
            else if (one !== undefined) one.answer({ next: undefined, ...answerOf(one.offset) } as WalkedPage);
          }
        };
        for (let position: Position | undefined = positionAt(0); position !== undefined; ) {
          let isThere = false;
          const read: Promise<WalkedPage> = pages.read(position).finally(() => {
            isThere = true;
          });
          while (!isThere) {
            settle(true);
            await new Promise<void>((resolve) => setImmediate(resolve));
          }
          const page: WalkedPage = await read;
          ids.push(...page.records.map(({ id }) => id));
          position = page.next;
          if (position !== undefined) pages.begin(position, 1000);
          settle(false, position?.rowsBefore);
          pages.release();
        }
        pages.close();
        expect(ids).to.deep.equal(Array.from({ length: ids.length }, (_, index) => index));
        expect(ids).to.have.length(counts.reduce((sum, count) => sum + count, 0));
      }),
      { numRuns: runs(200) },
    );
  });
});
