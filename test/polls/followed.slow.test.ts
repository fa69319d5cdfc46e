import { expect } from 'chai';
import bamboohr from '../../connectors/bamboohr/index.ts';
import * as bambooHrSimulator from '../../connectors/bamboohr/simulator.ts';
import odata from '../../connectors/odata/index.ts';
import * as odataSimulator from '../../connectors/odata/simulator.ts';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator as createSalesforce } from '../../connectors/salesforce/simulator.ts';
import { createMovableClock } from '../../src/connector/simulator/clock.ts';
import { createFollower } from '../../suite/follower.ts';
import { type ServedSimulator, serveSimulator } from '../../suite/served.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAYS = 5;

const PROVIDERS = {
  salesforce: { connector: salesforce, create: createSalesforce, config: CONNECTED },
  bamboohr: {
    connector: bamboohr,
    create: bambooHrSimulator.createSimulator,
    config: bambooHrSimulator.DEMO_CONFIGURATION,
  },
  odata: { connector: odata, create: odataSimulator.createSimulator, config: odataSimulator.DEMO_CONFIGURATION },
} as const;

describe('a poller that follows an object of a provider', () => {
  let provider: ServedSimulator;
  afterEach(() => provider.stop());

  async function follow(key: keyof typeof PROVIDERS, objectName: string) {
    const { connector, create, config } = PROVIDERS[key];
    provider = await serveSimulator(key, create);
    const clock = createMovableClock();
    const { simulatorsUrl } = provider;
    const follower = createFollower({ connector, config, simulatorsUrl, objectName, clock });
    return {
      ...follower,
      wait: async (byMs: number) => {
        clock.move(byMs);
        await provider.command('/simulate/clock', { byMs });
      },
      change: async (counts: object) =>
        Object(await provider.command('/simulate/changes', { table: objectName, ...counts })),
      types: async () => (await follower.poll()).map(({ type }) => type),
      /** The filters that the provider was asked with from a request on. */
      filtersSince: (from: number) =>
        provider.seen
          .slice(from)
          .map(({ target }) => new URL(target, 'http://provider').searchParams.get('$filter'))
          .filter((filter) => filter !== null),
    };
  }

  it('does not tell of a deletion again, however long ago the last one was', async () => {
    const { wait, change, types } = await follow('salesforce', 'Contact');
    await types();
    await change({ remove: 1 });
    expect(await types()).to.deep.equal(['Contact.deleted']);
    for (let day = 1; day <= DAYS; day++) {
      await wait(DAY_MS + HOUR_MS);
      await change({ update: 1 });
      expect(await types(), `day ${day}`).to.deep.equal(['Contact.updated']);
      expect(await types(), `day ${day}`).to.deep.equal([]);
    }
  });

  for (const [key, objectName] of [
    ['salesforce', 'Contact'],
    ['bamboohr', 'employees'],
  ] as const) {
    it(`does not remember more with each change, of ${key}`, async () => {
      const { wait, change, types, remembered } = await follow(key, objectName);
      await types();
      const before = remembered();
      for (let day = 1; day <= DAYS; day++) {
        await change({ update: 10 });
        await wait(DAY_MS + HOUR_MS);
        expect(await types(), `day ${day}`).to.have.length(10);
      }
      // Of the last days: what it began with is forgotten by then.
      expect(remembered()).to.be.at.most(before + 30);
    });
  }

  it('reads records that a provider tells by ids many at a time, and as single reads give them', async () => {
    const { poll, calls, read, change, wait } = await follow('bamboohr', 'employees');
    await poll();
    const before = calls();
    await change({ create: 5, update: 25, remove: 2 });
    await wait(10_000);
    const events = await poll();
    expect(calls() - before).to.be.at.most(10);
    const told = events.filter(({ type }) => type !== 'employees.deleted');
    expect(told.length).to.be.at.least(28);
    for (const { objectId = '', object } of told) expect(object).to.deep.equal(await read(objectId));
  });

  it('asks for what changed by a field whose name tells that, where nothing is declared, and misses nothing', async () => {
    const { poll, change, filtersSince } = await follow('odata', 'Products');
    expect(await poll()).to.deep.equal([]);
    const { length } = provider.seen;
    const { created, updated } = await change({ create: 2, update: 3 });
    expect((await poll()).map(({ objectId }) => objectId)).to.have.members([...created, ...updated]);
    expect(await poll()).to.deep.equal([]);
    const filters = filtersSince(length);
    expect(filters).not.to.deep.equal([]);
    for (const filter of filters) expect(filter).to.match(/^ChangedAt ge /);
  });

  it('compares all records where no name tells it', async () => {
    const { poll, filtersSince } = await follow('odata', 'Countries');
    expect(await poll()).to.deep.equal([]);
    expect(await poll()).to.deep.equal([]);
    expect(filtersSince(0)).to.deep.equal([]);
  });
});
