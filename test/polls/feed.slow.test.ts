import { expect } from 'chai';
import bamboohr from '../../connectors/bamboohr/index.ts';
import { createSimulator, DEMO_CONFIGURATION } from '../../connectors/bamboohr/simulator.ts';
import { createMovableClock } from '../../src/connector/simulator/clock.ts';
import { createFollower } from '../../suite/follower.ts';
import { type ServedSimulator, serveSimulator } from '../../suite/served.ts';

const SETTLED_MS = 10_000;
const CHANGED = 30;

describe('changes that a provider tells by ids', () => {
  let provider: ServedSimulator;

  afterEach(() => provider.stop());

  it('have the records that single reads give, read many at a time', async () => {
    provider = await serveSimulator('bamboohr', createSimulator);
    const clock = createMovableClock();
    const config = DEMO_CONFIGURATION;
    const { simulatorsUrl } = provider;
    const follower = createFollower({ connector: bamboohr, config, simulatorsUrl, objectName: 'employees', clock });
    await follower.poll();
    const before = follower.calls();
    await provider.command('/simulate/changes', { table: 'employees', create: 5, update: CHANGED - 5, remove: 2 });
    clock.move(SETTLED_MS);
    await provider.command('/simulate/clock', { byMs: SETTLED_MS });
    const events = await follower.poll();
    const calls = follower.calls() - before;
    const told = events.filter(({ type }) => type !== 'employees.deleted');
    expect(told.length).to.be.at.least(CHANGED - 2);
    expect(calls).to.be.at.most(10);
    for (const { objectId = '', object } of told) expect(object).to.deep.equal(await follower.read(objectId));
  });
});
