import { expect } from 'chai';
import { createKeyedSemaphore, createSemaphore } from '../../src/db/semaphore.ts';

describe('createTurns', () => {
  const refuse = () => new Error('refused');
  const gate = () => Promise.withResolvers<string>();
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('lets some work at a time, and the others in the order in which they came', async () => {
    const turns = createSemaphore({ atOnce: 2, refuse });
    const gates = [gate(), gate(), gate(), gate()];
    const started: number[] = [];
    const works = gates.map(({ promise }, index) =>
      turns.run(() => {
        started.push(index);
        return promise;
      }),
    );
    await settled();
    expect(started).to.deep.equal([0, 1]);
    gates[1]?.resolve('b');
    expect(await works[1]).to.equal('b');
    await settled();
    expect(started).to.deep.equal([0, 1, 2]);
    for (const { resolve } of gates) resolve('x');
    await Promise.all(works);
    expect(started).to.deep.equal([0, 1, 2, 3]);
    expect(turns.isIdle()).to.equal(true);
  });

  it('hands the turn of a work that failed on', async () => {
    const turns = createSemaphore({ atOnce: 1, refuse });
    const first = turns.run(() => Promise.reject(new Error('broken')));
    const second = turns.run(async () => 'second');
    expect(await first.catch((error: Error) => error.message)).to.equal('broken');
    expect(await second).to.equal('second');
  });

  it('refuses who finds the line full', async () => {
    const turns = createSemaphore({ atOnce: 1, mostWaiting: 1, refuse });
    const { promise, resolve } = gate();
    const [first, second] = [turns.run(() => promise), turns.run(async () => 'second')];
    expect(await turns.run(async () => 'third').catch((error: Error) => error.message)).to.equal('refused');
    resolve('first');
    expect(await Promise.all([first, second])).to.deep.equal(['first', 'second']);
    expect(await turns.run(async () => 'fourth')).to.equal('fourth');
  });

  it('refuses who waits too long, and gives the turn to the next', async () => {
    const turns = createSemaphore({ atOnce: 1, waitMs: 20, refuse });
    const { promise, resolve } = gate();
    const first = turns.run(() => promise);
    expect(await turns.run(async () => 'second').catch((error: Error) => error.message)).to.equal('refused');
    resolve('first');
    expect(await first).to.equal('first');
    expect(await turns.run(async () => 'third')).to.equal('third');
    expect(turns.isIdle()).to.equal(true);
  });

  it('has a line for each key', async () => {
    const turns = createKeyedSemaphore({ atOnce: 1, mostWaiting: 0, refuse });
    const { promise, resolve } = gate();
    const first = turns.run(1, () => promise);
    expect(await turns.run(1, async () => 'again').catch((error: Error) => error.message)).to.equal('refused');
    expect(await turns.run(2, async () => 'another')).to.equal('another');
    resolve('first');
    await first;
    expect(await turns.run(1, async () => 'again')).to.equal('again');
  });
});
