import { expect } from 'chai';
import fc from 'fast-check';
import type { Connector } from '#connector';
import { loggedIn } from '#connector/suite';
import bamboohr from '../../connectors/bamboohr/index.ts';
import { createSimulator as createBambooHr } from '../../connectors/bamboohr/simulator.ts';
import clover from '../../connectors/clover/index.ts';
import * as cloverSimulator from '../../connectors/clover/simulator.ts';
import fortnox from '../../connectors/fortnox/index.ts';
import * as fortnoxSimulator from '../../connectors/fortnox/simulator.ts';
import odata from '../../connectors/odata/index.ts';
import { createSimulator as createOData } from '../../connectors/odata/simulator.ts';
import quickbooks from '../../connectors/quickbooks/index.ts';
import * as quickbooksSimulator from '../../connectors/quickbooks/simulator.ts';
import requesttracker from '../../connectors/requesttracker/index.ts';
import * as requesttrackerSimulator from '../../connectors/requesttracker/simulator.ts';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator as createSalesforce } from '../../connectors/salesforce/simulator.ts';
import servicenow from '../../connectors/servicenow/index.ts';
import * as servicenowSimulator from '../../connectors/servicenow/simulator.ts';
import twilio from '../../connectors/twilio/index.ts';
import * as twilioSimulator from '../../connectors/twilio/simulator.ts';
import { seedOr } from '../../suite/effort.ts';
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
import { withDatabase } from '../api/support/tenants.ts';
import type { ApiAnswer } from '../support/app.ts';
import { startCapServer } from '../support/cap-server.ts';
import { changeObjects } from '../support/changed-objects.ts';
import { until } from '../support/until.ts';

interface Provider extends Omit<TargetOptions, 'overrides'> {
  /** Rows that are made before, where there are few. */
  readonly more?: { readonly table: string; readonly create: number };
  /** Bytes after which rows are stored, where rows are so long that nearly each of them would be stored by itself. */
  readonly chunkBytes?: number;
  readonly stop?: () => Promise<void>;
}

/** Around ten of the longer rows. */
const LARGER_CHUNK = 3_000;

const oauthOf = ({ DEMO_CONFIGURATION, DEMO_ACCESS_TOKEN, CLIENTS }: OAuthSimulator) => ({
  ...DEMO_CONFIGURATION,
  ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS),
});
type OAuthSimulator = Pick<typeof cloverSimulator, 'DEMO_CONFIGURATION' | 'DEMO_ACCESS_TOKEN' | 'CLIENTS'>;

/** With pages so small that there are several. */
const PROVIDERS: Readonly<Record<string, () => Provider | Promise<Provider>>> = {
  odata: () => ({
    connector: withPagesOf(25, odata),
    configuration: { 'base.url': 'https://shop.example.com/odata/v4/shop' },
    createSimulator: createOData,
  }),
  salesforce: () => ({
    // The least that Salesforce takes.
    connector: withPagesOf(200, salesforce),
    configuration: CONNECTED,
    createSimulator: createSalesforce,
    chunkBytes: LARGER_CHUNK,
    more: { table: 'Contact', create: 600 },
  }),
  // A real server. Two of its lists have pages of its own, of three and of seven rows.
  'SAP CAP': async () => {
    const { url, stop } = await startCapServer();
    return { connector: withPagesOf(25, odata), configuration: { 'base.url': url }, stop };
  },
  bamboohr: () => ({
    connector: withPagesOf(20, bamboohr),
    configuration: { username: 'demo-key', 'company.name': 'acme' },
    createSimulator: createBambooHr,
    chunkBytes: LARGER_CHUNK,
  }),
  clover: () => ({ connector: withPagesOf(10, clover), configuration: oauthOf(cloverSimulator), ...cloverSimulator }),
  fortnox: () => ({
    connector: withPagesOf(10, fortnox),
    configuration: fortnoxSimulator.DEMO_CONFIGURATION,
    ...fortnoxSimulator,
  }),
  quickbooks: () => ({
    connector: withPagesOf(7, quickbooks),
    configuration: oauthOf(quickbooksSimulator),
    ...quickbooksSimulator,
  }),
  requesttracker: () => ({
    connector: withPagesOf(10, requesttracker),
    configuration: requesttrackerSimulator.DEMO_CONFIGURATION,
    ...requesttrackerSimulator,
  }),
  servicenow: () => ({
    connector: withPagesOf(20, servicenow),
    configuration: servicenowSimulator.DEMO_CONFIGURATION,
    chunkBytes: LARGER_CHUNK,
    ...servicenowSimulator,
  }),
  twilio: () => ({
    connector: withPagesOf(40, twilio),
    configuration: twilioSimulator.DEMO_CONFIGURATION,
    chunkBytes: LARGER_CHUNK,
    ...twilioSimulator,
  }),
};

/** The same, with other pages. */
function withPagesOf(maxPageSize: number, connector: Connector): Connector {
  return changeObjects(connector, (object) => ({
    ...object,
    ...(object.list !== undefined && { list: { ...object.list, maxPageSize } }),
  }));
}

const IS_FULL = process.env.CONFORMANCE === 'full';
/** Each filter makes a job that reads the whole list of most providers once more. */
const FILTERS = IS_FULL ? 3 : 1;
/** Of most providers one list is read, because their lists have pages of one kind. */
const LISTINGS: Readonly<Record<string, number>> = { odata: 2, salesforce: 2, 'SAP CAP': 2 };
const SEED = seedOr(16);

/** Whatever is read is stored at once. */
const SMALL_STEPS = { storeMs: 0, lookMs: 50, firstBackoffMs: 1 };
const SMALL_CHUNK = 1_000;

/**
 * What a process is to the others that dies at a checkpoint. Every second time it dies after the commit: somebody else has the job, and what it had in
 * memory is nobody's. Otherwise before: the step is undone. A sequence counts on whatever is undone.
 */
const DEATHS = `
  create sequence deaths;
  create function die() returns trigger language plpgsql as $$ begin
    if nextval('deaths') % 2 = 0 then raise exception 'it died before its commit'; end if;
    if new.position is not null then
      new.lease = gen_random_uuid();
      new.lease_until = now() - interval '1 second';
    end if;
    return new;
  end $$;
  create trigger die before update on bulk_job for each row
    when (new.lease = old.lease and new.position is distinct from old.position) execute function die()`;

for (const name of Object.keys(PROVIDERS)) {
  describe(`a bulk file of ${name}`, () => {
    let provider: Provider | undefined;
    let target: Target;
    let listings: readonly Listing[];
    before(async function start() {
      this.timeout(120_000);
      provider = await PROVIDERS[name]?.();
      if (provider === undefined) throw new Error(`There is no provider ${name}.`);
      const { chunkBytes = SMALL_CHUNK, more } = provider;
      target = await startTarget({ ...provider, overrides: { bulkOptions: { ...SMALL_STEPS, chunkBytes } } });
      if (more !== undefined) await target.provider?.command('/simulate/changes', more);
      await withDatabase(target, (knex) => knex.raw(DEATHS));
      const all = (await findListings(target)).filter(({ path }) => path.split('/').length === 2);
      listings = all.toSorted((a, b) => b.rows.length - a.rows.length).slice(0, LISTINGS[name] ?? 1);
    });
    after(async () => {
      await target?.stop();
      await provider?.stop?.();
    });

    async function readInBulk(body: { readonly objectName: string; readonly format: string }): Promise<unknown> {
      const { body: created } = await getOk(target, '/bulk/query', { method: 'POST', body });
      let status: ApiAnswer['body'];
      await until(async () => {
        status = (await getOk(target, `/bulk/${created.id}/status`)).body;
        return status.status !== 'CREATED' && status.status !== 'RUNNING';
      });
      expect(status, JSON.stringify(status)).to.include({ status: 'COMPLETED' });
      const path = `/bulk/${created.id}/${encodeURIComponent(body.objectName)}`;
      return (await getOk(target, path, { headers: { accept: 'application/json' } })).body;
    }

    it('has the rows of an interactive query, for random filters, though its process dies at every checkpoint', async () => {
      for (const listing of listings) {
        const objectName = listing.path.slice(1);
        const filters = fc.sample(filtersOn(listing), { numRuns: FILTERS, seed: SEED });
        for (const [index, where] of [undefined, ...filters.map(printFilter)].entries()) {
          const query = where === undefined ? {} : { where };
          const rows = await listAll(target, listing.path, { ...query, pageSize: 5000 });
          const format = index % 2 === 0 ? 'csv' : 'jsonl';
          const body = { objectName, ...query, format };
          expect(await readInBulk(body), `${objectName} where ${where}`).to.deep.equal(rows);
        }
      }
      const { rows } = await withDatabase(target, (knex) => knex.raw('select last_value::int as deaths from deaths'));
      expect(rows[0].deaths).to.be.above(10);
    }).timeout(900_000);
  });
}
