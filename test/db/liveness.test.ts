import { expect } from 'chai';
import { type Liveness, watchLiveness } from '../../src/db/liveness.ts';
import { silentLog } from '../support/database.ts';
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts';

describe('watchLiveness', () => {
  let clock: VirtualClock;
  let works = true;
  let couldWork = true;
  let liveness: Liveness;

  beforeEach(() => {
    clock = createVirtualClock();
    [works, couldWork] = [true, true];
    liveness = watchLiveness({
      works: async () => works,
      couldWork: async () => couldWork,
      clock,
      log: silentLog,
    });
  });
  afterEach(() => liveness.stop());

  async function lookFor(seconds: number): Promise<boolean> {
    await clock.advance(seconds * 1000);
    return liveness.isStuck();
  }

  it('finds a process stuck that gets nothing from a database that answers others, after two minutes of looking every ten seconds', async () => {
    works = false;
    expect(await lookFor(120)).to.equal(false);
    expect(await lookFor(10)).to.equal(true);
  });

  it('does not, while the database answers nobody', async () => {
    [works, couldWork] = [false, false];
    expect(await lookFor(600)).to.equal(false);
  });

  it('takes it back as soon as one query gets through', async () => {
    works = false;
    expect(await lookFor(300)).to.equal(true);
    works = true;
    expect(await lookFor(10)).to.equal(false);
    works = false;
    expect(await lookFor(100), 'and counts from the beginning').to.equal(false);
  });

  it('does not count the time when the database was away', async () => {
    works = false;
    await lookFor(100);
    couldWork = false;
    await lookFor(10);
    couldWork = true;
    expect(await lookFor(100)).to.equal(false);
  });
});
