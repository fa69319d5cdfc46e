import { expect } from 'chai';
import bamboohr from '../../connectors/bamboohr/index.ts';
import {
  DEMO_CONFIGURATION as BAMBOOHR,
  createSimulator as createBambooHr,
} from '../../connectors/bamboohr/simulator.ts';
import salesforce from '../../connectors/salesforce/index.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { createSimulator as createSalesforce } from '../../connectors/salesforce/simulator.ts';
import type { Config, Connector } from '../../src/connector/contract.ts';
import { createMovableClock } from '../../src/connector/simulator/clock.ts';
import { createFollower } from '../../suite/follower.ts';
import { type CreateSimulator, type ServedSimulator, serveSimulator } from '../../suite/served.ts';

const DAY_MS = 86_400_000;
const DAYS = 5;

describe('a poller that forgets what it has seen', () => {
  let provider: ServedSimulator;

  afterEach(() => provider.stop());

  async function follow(connector: Connector, create: CreateSimulator, config: Config, objectName: string) {
    provider = await serveSimulator(connector.key, create);
    const clock = createMovableClock();
    const { simulatorsUrl } = provider;
    const { poll, remembered } = createFollower({ connector, config, simulatorsUrl, objectName, clock });
    const wait = async (byMs: number) => {
      clock.move(byMs);
      await provider.command('/simulate/clock', { byMs });
    };
    const change = (counts: object) => provider.command('/simulate/changes', { table: objectName, ...counts });
    const types = async () => (await poll()).map(({ type }) => type);
    return { wait, change, types, remembered };
  }

  it('does not tell of a deletion again, however long ago the last one was', async () => {
    const { wait, change, types } = await follow(salesforce, createSalesforce, CONNECTED, 'Contact');
    await types();
    await change({ remove: 1 });
    expect(await types()).to.deep.equal(['Contact.deleted']);
    for (let day = 1; day <= DAYS; day++) {
      await wait(DAY_MS + 3_600_000);
      await change({ update: 1 });
      expect(await types(), `day ${day}`).to.deep.equal(['Contact.updated']);
      expect(await types(), `day ${day}`).to.deep.equal([]);
    }
  });

  for (const [connector, create, config, name] of [
    [salesforce, createSalesforce, CONNECTED, 'Contact'],
    [bamboohr, createBambooHr, BAMBOOHR, 'employees'],
  ] as const) {
    it(`does not remember more with each change, of ${connector.name}`, async () => {
      const { wait, change, types, remembered } = await follow(connector, create, config, name);
      await types();
      const before = remembered();
      for (let day = 1; day <= DAYS; day++) {
        await change({ update: 10 });
        await wait(DAY_MS + 3_600_000);
        expect(await types(), `day ${day}`).to.have.length(10);
      }
      // Of the last days: what it began with is forgotten by then.
      expect(remembered()).to.be.at.most(before + 30);
    });
  }
});
