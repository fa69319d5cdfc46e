import { expect } from 'chai';
import { behindCallers, callers, createCallers, createPacer } from '../src/pace.ts';
import { createVirtualClock } from './support/virtual-clock.ts';

describe('createPacer', () => {
  it('is due when a slice has lasted long enough, and not for what was waited for before it', () => {
    let nowMs = 0;
    const pacer = createPacer(new AbortController().signal, { steady: () => nowMs });
    expect(pacer.isDue()).to.equal(false);
    nowMs = 100;
    expect(pacer.isDue()).to.equal(true);
    pacer.begin();
    expect(pacer.isDue()).to.equal(false);
    nowMs = 105;
    expect(pacer.isDue()).to.equal(true);
  });
});

describe('work behind callers', () => {
  const turns = async () => {
    for (let count = 0; count < 5; count++) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  /** Tells whether it has come to pass. */
  const watch = (promise: Promise<void>) => {
    const seen = { isOver: false };
    void promise.then(() => {
      seen.isOver = true;
    });
    return seen;
  };

  it('goes on at once where nobody has called', async () => {
    const turn = watch(createCallers(createVirtualClock()).takeTurnBehind());
    await turns();
    expect(turn.isOver).to.equal(true);
  });

  it('waits until no request is under way, but not for ever', async () => {
    const clock = createVirtualClock();
    const { came, takeTurnBehind } = createCallers(clock);
    const ends = [came(), came()];
    const first = watch(takeTurnBehind());
    await turns();
    ends[0]?.();
    await turns();
    expect(first.isOver, 'one is under way').to.equal(false);
    ends[1]?.();
    await turns();
    expect(first.isOver, 'none is').to.equal(true);
    came();
    const second = watch(takeTurnBehind());
    await turns();
    expect(second.isOver).to.equal(false);
    await clock.advance(8);
    await turns();
    expect(second.isOver, 'after a while').to.equal(true);
  });

  it('rests as long as it works while calls come, one rest for each slice, whoever has it', async () => {
    const clock = createVirtualClock();
    const { came, takeTurnBehind } = createCallers(clock);
    came()();
    const slices = [watch(takeTurnBehind()), watch(takeTurnBehind()), watch(takeTurnBehind())];
    for (let rested = 0; rested <= 3; rested++) {
      await turns();
      expect(slices.map(({ isOver }) => isOver)).to.deep.equal([rested > 0, rested > 1, rested > 2]);
      await clock.advance(1);
    }
    await clock.advance(1_000);
    const later = watch(takeTurnBehind());
    await turns();
    expect(later.isOver, 'who has called lately calls no more').to.equal(true);
  });

  it('is paced in smaller slices, and gives way to the callers of the process', async () => {
    let nowMs = 0;
    const { signal } = new AbortController();
    const [ours, behind] = [
      createPacer(signal, { steady: () => nowMs }),
      behindCallers(() => createPacer(signal, { steady: () => nowMs })),
    ];
    nowMs = 1;
    expect([ours.isDue(), behind.isDue()]).to.deep.equal([false, true]);
    const end = callers.came();
    const pauses = [ours.pause(), behind.pause()];
    await pauses[0];
    end();
    await pauses[1];
  });
});
