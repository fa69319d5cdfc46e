import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { Exchange } from '../../src/egress/exchange.ts';

const CALLS = 60;
const LIMITS = {
  hostname: 'provider.example',
  timeoutMs: 60_000,
  maxBytes: 1_000,
  onExcess: 'fail',
  failureBytes: undefined,
  takeBytes: undefined,
} as const;

function createController() {
  return {
    aborted: false,
    paused: false,
    reason: null,
    pause: () => {},
    resume: () => {},
    abort() {
      this.aborted = true;
    },
  };
}

const WAYS: Readonly<Record<string, Fail>> = {
  'their callers go': (_exchanges, caller) => caller.abort(),
  'their server closes its connections': (exchanges) => {
    for (const { exchange, controller } of exchanges) exchange.onResponseError(controller, new Error('closed'));
  },
};

type Controller = ReturnType<typeof createController>;
type Call = { readonly exchange: Exchange; readonly controller: Controller };
type Fail = (calls: readonly Call[], caller: AbortController) => void;

describe('calls that fail in one moment', () => {
  for (const [when, fail] of Object.entries(WAYS)) {
    it(`because ${when} end a few in each turn`, async () => {
      await nextTurn();
      const caller = new AbortController();
      let ended = 0;
      const calls = Array.from({ length: CALLS }, () => {
        const controller = createController();
        const exchange = new Exchange(SYSTEM_CLOCK, { ...LIMITS, signal: caller.signal });
        exchange.onRequestStart(controller);
        exchange.response.catch(() => ended++);
        return { exchange, controller };
      });
      fail(calls, caller);
      const perTurn: number[] = [];
      while (ended < CALLS) {
        const before = ended;
        await nextTurn();
        perTurn.push(ended - before);
      }
      // This test looks between the turns, and may see those of two together.
      expect(Math.max(...perTurn)).to.be.at.most(16);
      expect(calls.every(({ controller }) => controller.aborted)).to.equal(true);
    });
  }

  it('keep nothing of an answer that comes while they wait for their turn', async () => {
    const caller = new AbortController();
    const calls = Array.from({ length: CALLS }, () => {
      const controller = createController();
      const exchange = new Exchange(SYSTEM_CLOCK, { ...LIMITS, signal: caller.signal });
      exchange.onRequestStart(controller);
      return { exchange, controller };
    });
    caller.abort();
    for (const { exchange, controller } of calls) {
      exchange.onResponseStart(controller, 200, {});
      exchange.onResponseData(controller, Buffer.from('late'));
      exchange.onResponseEnd();
    }
    const outcomes = await Promise.allSettled(calls.map(({ exchange }) => exchange.response));
    expect(new Set(outcomes.map(({ status }) => status))).to.deep.equal(new Set(['rejected']));
  });
});
