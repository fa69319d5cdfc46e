import { expect } from 'chai';
import { createDueLooks } from '../../src/events/timers.ts';
import { createTrace, currentTrace, withTrace } from '../../src/trace.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const LOOK_MS = 5_000;

describe('looks for due work', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** Looks that claim all work that is due. `during` runs between a claim and the query for the next due time. */
  function start(gatherMs: number, during: (claims: number) => void = () => {}) {
    const clock = createVirtualClock();
    const dues: number[] = [];
    const claims: { readonly atMs: number; readonly dues: readonly number[]; readonly traced: boolean }[] = [];
    const looks = createDueLooks({
      clock,
      signal: new AbortController().signal,
      options: { gatherMs, lookMs: LOOK_MS },
      takeDue: async (noteQuery) => {
        noteQuery();
        const claimed = dues.filter((due) => due <= clock.steady());
        claims.push({ atMs: clock.steady(), dues: claimed, traced: currentTrace() !== undefined });
        await turn();
        during(claims.length);
        return false;
      },
      nextDue: async (claimed) => {
        const later = dues.filter((due) => due + clock.now() - clock.steady() > claimed.getTime());
        return later.length === 0 ? undefined : new Date(Math.min(...later) + clock.now() - clock.steady());
      },
      noteFailure: (error) => {
        throw error;
      },
    });
    looks.start();
    const settle = async () => {
      for (let turns = 0; turns < 10; turns++) await turn();
    };
    const pass = async (ms: number) => {
      await settle();
      await clock.advance(ms, settle);
    };
    return { clock, dues, claims, looks, pass };
  }

  it('claim work that becomes due between the claim and the query for the next due time', async () => {
    const { clock, dues, claims, pass } = start(0, (count) => {
      if (count === 1) void clock.advance(3, async () => {});
    });
    dues.push(2);
    await pass(LOOK_MS - 10);
    expect(claims.map((claim) => claim.dues)).to.deep.equal([[], [2]]);
  });

  it('are repeated once for all calls during a look, when it has ended', async () => {
    const { claims, looks, pass } = start(0, (count) => {
      if (count === 1) for (let calls = 0; calls < 10; calls++) looks.look();
    });
    await pass(1);
    expect(claims).to.have.length(2);
    await pass(LOOK_MS - 10);
    expect(claims).to.have.length(2);
    await pass(20);
    expect(claims).to.have.length(3);
  });

  it('are not repeated sooner than queries may follow one another', async () => {
    const { claims, looks, pass } = start(100, (count) => {
      if (count === 1) looks.look();
    });
    await pass(99);
    expect(claims).to.have.length(1);
    await pass(2);
    expect(claims.map(({ atMs }) => atMs)).to.deep.equal([0, 100]);
  });

  it('do not belong to the request that causes them', async () => {
    const { claims, looks, pass } = start(0);
    await pass(1);
    withTrace({ trace: createTrace('request'), span: undefined }, looks.look);
    await pass(1);
    expect(claims.map(({ traced }) => traced)).to.deep.equal([false, false]);
  });
});
