import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { CollectedBytes } from '../../src/collected-bytes.ts';
import { Exchange } from '../../src/egress/exchange.ts';

const CRUMBS = 100_000;

describe('an answer that comes byte by byte', () => {
  it('is not kept byte by byte', () => {
    const collected = new CollectedBytes();
    for (let n = 0; n < CRUMBS; n++) collected.add(Buffer.from([n % 256]));
    expect(collected.buffers).to.be.below(30);
    const whole = collected.join();
    expect(whole.length).to.equal(CRUMBS);
    expect(whole.every((byte, index) => byte === index % 256)).to.equal(true);
  });

  for (const sizes of [[], [10], [3, 0, 5], Array.from({ length: 40 }, (_, n) => n * 3_000)]) {
    it(`is whole in the end: pieces of ${sizes.slice(0, 4).join(', ')}${sizes.length > 4 ? ', …' : ''}`, () => {
      const pieces = sizes.map((size, index) => Buffer.alloc(size, index));
      const collected = new CollectedBytes();
      for (const piece of pieces) collected.add(piece);
      expect(collected.join().equals(Buffer.concat(pieces))).to.equal(true);
    });
  }

  it('lets everything else go on in between', async () => {
    const exchange = new Exchange({
      hostname: 'provider.example',
      timeoutMs: 60_000,
      maxBytes: CRUMBS,
      onExcess: 'fail',
      takeBytes: undefined,
      signal: undefined,
    });
    const controller = createController();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    const crumb = Buffer.from(' ');
    let turns = 0;
    for (let n = 0; n < CRUMBS; n++) {
      exchange.onResponseData(controller, crumb);
      for (; controller.paused; turns++) await nextTurn();
    }
    exchange.onResponseEnd();
    expect((await exchange.response).body.length).to.equal(CRUMBS);
    expect(turns).to.be.at.least(20);
  });
});

function createController() {
  return {
    paused: false,
    aborted: false,
    reason: null,
    rawHeaders: null,
    rawTrailers: null,
    pause() {
      this.paused = true;
    },
    resume() {
      this.paused = false;
    },
    abort() {},
  };
}
