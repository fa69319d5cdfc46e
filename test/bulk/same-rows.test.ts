import { expect } from 'chai';
import fc from 'fast-check';
import type { Connector, ObjectSpec, Objects } from '#connector';
import odata from '../../connectors/odata/index.ts';
import { createSimulator as createOData } from '../../connectors/odata/simulator.ts';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator as createSalesforce } from '../../connectors/salesforce/simulator.ts';
import { filtersOn, printFilter } from '../../suite/filters.ts';
import {
  findListings,
  getOk,
  type Listing,
  listAll,
  startTarget,
  type Target,
  type TargetOptions,
} from '../../suite/target.ts';
import { waitUntil } from '../api/support/wait-until.ts';
import type { ApiAnswer } from '../support/app.ts';

const SIMULATORS: Readonly<Record<string, Omit<TargetOptions, 'overrides'>>> = {
  odata: {
    connector: withPagesOf(25, odata),
    configuration: { 'base.url': 'https://shop.example.com/odata/v4/shop' },
    createSimulator: createOData,
  },
  salesforce: {
    // The least that Salesforce takes.
    connector: withPagesOf(200, salesforce),
    configuration: CONNECTED,
    createSimulator: createSalesforce,
  },
};

/** The same, with pages so small that there are several. */
function withPagesOf(maxPageSize: number, connector: Connector): Connector {
  const { objects } = connector;
  const shorten = (object: ObjectSpec): ObjectSpec => {
    const { list, describe } = object;
    return {
      ...object,
      ...(list !== undefined && { list: { ...list, maxPageSize } }),
      ...(describe !== undefined && { describe: async (context) => shorten(await describe(context)) }),
    };
  };
  const shortenAll = (all: Objects) =>
    Object.fromEntries(Object.entries(all).map(([name, object]) => [name, shorten(object)]));
  return {
    ...connector,
    objects:
      typeof objects === 'function' ? async (context) => shortenAll(await objects(context)) : shortenAll(objects),
  };
}

/** Every page is a turn of its own, which begins where the one before was stored. */
const BROKEN_OFF = { sliceMs: 0, storeMs: 0, chunkBytes: 1_000, lookMs: 50 };
const FILTERS = 15;
const LISTINGS = 2;

for (const [name, options] of Object.entries(SIMULATORS)) {
  describe(`a bulk file of ${name}`, () => {
    let target: Target;
    let pages = 0;
    let listings: readonly Listing[];
    before(async function start() {
      this.timeout(60_000);
      target = await startTarget({ ...options, overrides: { bulkOptions: BROKEN_OFF } });
      if (name === 'salesforce') await target.provider?.command('/simulate/changes', { table: 'Contact', create: 600 });
      const all = (await findListings(target)).filter(({ path }) => path.split('/').length === 2);
      listings = all.toSorted((a, b) => b.rows.length - a.rows.length).slice(0, LISTINGS);
    });
    after(() => target.stop());

    async function readInBulk(body: { readonly objectName: string; readonly format: string }): Promise<unknown> {
      const { body: created } = await getOk(target, '/bulk/query', { method: 'POST', body });
      let status: ApiAnswer['body'];
      await waitUntil(async () => {
        status = (await getOk(target, `/bulk/${created.id}/status`)).body;
        return status.status !== 'CREATED' && status.status !== 'RUNNING';
      });
      expect(status, JSON.stringify(status)).to.include({ status: 'COMPLETED' });
      pages = Math.max(pages, status.progress.providerCalls);
      const path = `/bulk/${created.id}/${encodeURIComponent(body.objectName)}`;
      return (await getOk(target, path, { headers: { accept: 'application/json' } })).body;
    }

    it('has the rows of an interactive query, for random filters, through breaks at every page', async () => {
      for (const listing of listings) {
        const objectName = listing.path.slice(1);
        const filters = fc.sample(filtersOn(listing), { numRuns: FILTERS, seed: 16 });
        for (const [index, where] of [undefined, ...filters.map(printFilter)].entries()) {
          const query = where === undefined ? {} : { where };
          const rows = await listAll(target, listing.path, { ...query, pageSize: 5000 });
          const format = index % 2 === 0 ? 'csv' : 'jsonl';
          const body = { objectName, ...query, format };
          expect(await readInBulk(body), `${objectName} where ${where}`).to.deep.equal(rows);
        }
      }
      expect(pages).to.be.above(2);
    }).timeout(180_000);
  });
}
