import { expect } from 'chai';
import { callUndeclared, compareDiscovery } from './discovery.ts';
import { askForNothing, makeMistakes } from './errors.ts';
import { checkOrders } from './order.ts';
import { findQueries, walkPages } from './paging.ts';
import { assertSound, measureClaims, shareOfTellingFilters } from './soundness.ts';
import { findListings, getOk, type Listing, type Target } from './target.ts';
import { type WriteSample, writeHostileIds, writeRecords } from './writes.ts';

export { assertSound, measureClaims } from './soundness.ts';
export { findListings, type Listing, startTarget, type Target, type TargetOptions } from './target.ts';

export interface ConnectorSuite {
  readonly name: string;
  readonly start: () => Promise<Target>;
  /** One for each object that can be created. */
  readonly writes?: Readonly<Record<string, WriteSample>>;
  /** The provider sorts text in an order of its own, which nothing tells. */
  readonly ownTextOrder?: boolean;
}

/** Random filters on each listing with enough rows; CONFORMANCE_RUNS makes it more, from another seed each time. */
const { CONFORMANCE_RUNS, CONFORMANCE_SEED } = process.env;
const FILTERS = Number(CONFORMANCE_RUNS ?? 150);
const SEED = Number(CONFORMANCE_SEED ?? (CONFORMANCE_RUNS === undefined ? 20260 : Date.now() % 2 ** 31));
/** Fewer rows tell hardly one filter from another. */
const ENOUGH_ROWS = 15;
const LITERALS_PER_CLAIM = CONFORMANCE_RUNS === undefined ? 7 : 60;

/** What every connector must keep, whatever its provider. */
export function describeConnector({ name, start, writes = {}, ownTextOrder = false }: ConnectorSuite): void {
  describe(`${name} keeps what connectors promise`, function suite() {
    this.timeout(Math.max(60_000, FILTERS * 400));
    let target: Target;
    let listings: readonly Listing[];
    let large: readonly Listing[];

    before(async () => {
      target = await start();
      listings = await findListings(target);
      large = listings.filter(({ rows }) => rows.length >= ENOUGH_ROWS);
    });
    after(() => target?.stop());

    const faultsOf = async (some: readonly Listing[], find: (listing: Listing) => Promise<readonly string[]>) => {
      const faults: string[] = [];
      for (const listing of some) faults.push(...(await find(listing)));
      return faults;
    };

    it('has rows to measure by', () => {
      expect(large).not.to.deep.equal([]);
    });

    it('describes its objects as they are declared', async () => {
      assertNone(await compareDiscovery(target));
    });

    it('refuses operations that are not declared, and names those that are', async () => {
      assertNone(await callUndeclared(target, listings));
    });

    it('answers random filters with exactly the rows that they mean', async () => {
      for (const listing of large) await assertSound(target, listing, { filters: FILTERS, seed: SEED });
    });

    it('is asked filters that tell rows apart', () => {
      for (const listing of large) {
        const share = shareOfTellingFilters(listing, { filters: Math.min(FILTERS, 150), seed: SEED });
        expect(share, listing.name).to.be.above(0.15);
      }
    });

    it('has measured every declared operator: exact ones are exact, supersets lack nothing', async () => {
      assertNone(await faultsOf(large, (listing) => measureClaims(target, listing, LITERALS_PER_CLAIM)));
    });

    it('gives the same rows in pages of any size, and tells the last page', async () => {
      const kinds = new Set<string>();
      const faults = await faultsOf(listings, async (listing) => {
        const queries = await findQueries(target, listing, SEED);
        for (const { kind } of queries) kinds.add(kind);
        return (await Promise.all(queries.map((query) => walkPages(target, listing, query)))).flat();
      });
      assertNone(faults);
      expect([...kinds]).to.include.members(['everything', 'pushed', 'residual', 'sparse', 'sorted']);
    });

    it('refuses the page token of another query', async () => {
      for (const listing of large) {
        const { headers } = await getOk(target, listing.path, { query: { pageSize: 5 } });
        const nextPage = headers.get('elements-next-page-token') ?? undefined;
        const [field = ''] = Object.keys(listing.object.fields);
        const query = { pageSize: 5, nextPage, where: `\`${field}\` IS NOT NULL` };
        const answer = await target.call(listing.path, { query });
        expect([answer.status, answer.body.code], listing.name).to.deep.equal([400, 'REQUEST_INVALID']);
      }
    });

    it('sorts by the type of the field and loses nothing by it', async () => {
      assertNone(await faultsOf(large, (listing) => checkOrders(target, listing, { ownTextOrder })));
    });

    it('says precisely what is wrong with a query', async () => {
      assertNone(await faultsOf(listings, (listing) => makeMistakes(target, listing)));
    });

    it('does not find what does not exist', async () => {
      assertNone(await askForNothing(target, listings));
    });

    it('has a sample of every record that can be created', () => {
      const creatable = Object.keys(target.objects).filter((object) => target.objects[object]?.create !== undefined);
      expect(Object.keys(writes).sort()).to.deep.equal(creatable.sort());
    });

    for (const [object, sample] of Object.entries(writes)) {
      it(`stores ${object} as they are given, and nothing of a request that fails`, async () => {
        assertNone(await writeRecords(target, { name: object, sample }));
        assertNone(await writeHostileIds(target, { name: object, sample }));
      });
    }
  });
}

const MOST_SHOWN = 20;

function assertNone(faults: readonly string[]): void {
  const more = faults.length > MOST_SHOWN ? `\n… and ${faults.length - MOST_SHOWN} more` : '';
  if (faults.length > 0) throw new Error(`${faults.slice(0, MOST_SHOWN).join('\n')}${more}`);
}
