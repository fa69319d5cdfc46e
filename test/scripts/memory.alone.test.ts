import { expect } from 'chai';
import { done, openSandbox } from './setup.ts';

const MIB = 1024 * 1024;
const MOST_GROWTH = 48 * MIB;

describe('the memory of scripts', () => {
  it('returns after 10,000 different scripts of as many accounts', async () => {
    const sandbox = openSandbox({ threads: 1 });
    const runAll = async (from: number, count: number) => {
      for (let owner = from; owner < from + count; owner++)
        expect(await sandbox.one(`const a = 'x'.repeat(1e5); done(${owner});`, { owner })).to.deep.equal(done(owner));
    };
    await runAll(0, 1000);
    const before = process.memoryUsage.rss();
    await runAll(1000, 10_000);
    expect(process.memoryUsage.rss() - before).to.be.below(MOST_GROWTH);
    await sandbox.close();
  });

  it('returns after 200 memory bombs and 200 overflows of the stack', async () => {
    const sandbox = openSandbox({ threads: 1 });
    const bomb = 'const all = []; while (true) all.push(new Uint8Array(1e5));';
    const overflow = "eval('('.repeat(60000));";
    for (let index = 0; index < 10; index++) {
      expect(await sandbox.one(bomb)).to.have.property('kind', 'failed');
      expect(await sandbox.one(overflow)).to.have.property('kind', 'failed');
    }
    const before = process.memoryUsage.rss();
    for (let index = 0; index < 200; index++) {
      await sandbox.one(bomb, { owner: index });
      await sandbox.one(overflow, { owner: index });
    }
    expect(process.memoryUsage.rss() - before).to.be.below(MOST_GROWTH);
    expect(await sandbox.one('done(1);')).to.deep.equal(done(1));
    await sandbox.close();
  });
});
