import { expect } from 'chai';
import { type Liveness, watchLiveness } from '../../src/app/liveness.ts';
import { silentLog } from '../support/database.ts';

describe('watchLiveness', () => {
  let nowMs = 0;
  let works = true;
  let couldWork = true;
  let liveness: Liveness;

  beforeEach(() => {
    [nowMs, works, couldWork] = [0, true, true];
    liveness = watchLiveness({
      works: async () => works,
      couldWork: async () => couldWork,
      now: () => nowMs,
      log: silentLog,
    });
  });
  afterEach(() => liveness.stop());

  async function lookFor(seconds: number): Promise<boolean> {
    for (const endMs = nowMs + seconds * 1000; nowMs < endMs; nowMs += 10_000) await liveness.look();
    return liveness.isStuck();
  }

  it('finds a process stuck that gets nothing from a database that answers others, after two minutes', async () => {
    works = false;
    expect(await lookFor(110)).to.equal(false);
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
