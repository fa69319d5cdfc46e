import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { CollectedBytes } from '../../src/collected-bytes.ts';
import { decodeResponse } from '../../src/egress/decode.ts';
import { Exchange } from '../../src/egress/exchange.ts';

const CRUMBS = 100_000;
const LIMITS = {
  hostname: 'provider.example',
  timeoutMs: 60_000,
  maxBytes: 1_000_000_000,
  onExcess: 'fail',
  failureBytes: undefined,
  takeBytes: undefined,
  signal: undefined,
} as const;

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
    const exchange = new Exchange(SYSTEM_CLOCK, { ...LIMITS, maxBytes: CRUMBS });
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

describe('answers that come together', () => {
  it('share the bytes of a turn', async () => {
    const piece = Buffer.alloc(64 * 1024);
    const controllers = Array.from({ length: 40 }, createController);
    let pieces = 0;
    const exchanges = controllers.map((controller) => {
      const exchange = new Exchange(SYSTEM_CLOCK, LIMITS);
      const receive = () => {
        for (let n = 0; n < 4 && !controller.paused; n++, pieces++) exchange.onResponseData(controller, piece);
      };
      exchange.onRequestStart(controller);
      exchange.onResponseStart(controller, 200, {});
      controller.onResume = receive;
      return { exchange, receive };
    });
    const perTurn: number[] = [];
    for (const { receive } of exchanges) receive();
    perTurn.push(pieces);
    while (controllers.some(({ paused }) => paused)) {
      const before = pieces;
      await nextTurn();
      perTurn.push(pieces - before);
    }
    // 1 MB; of each of the others the one piece that had come already.
    expect(Math.max(...perTurn)).to.be.at.most(16 + 40);
    expect(Math.max(...perTurn.slice(1))).to.be.at.most(16);
    for (const { exchange } of exchanges) exchange.onResponseEnd();
    await Promise.all(exchanges.map(({ exchange }) => exchange.response));
  });
});

describe('an answer that is a failure', () => {
  const receive = async (status: number, headers: Record<string, string>) => {
    const exchange = new Exchange(SYSTEM_CLOCK, { ...LIMITS, failureBytes: 100 });
    const controller = createController();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, status, headers);
    for (let n = 0; n < 5; n++) exchange.onResponseData(controller, Buffer.alloc(60, n));
    exchange.onResponseEnd();
    const { body } = await exchange.response;
    return { bytes: body.length, aborted: controller.aborted };
  };

  it('is read as far as its words may be', async () => {
    expect(await receive(500, { 'content-length': '1000000000000' })).to.deep.equal({ bytes: 100, aborted: true });
    expect(await receive(404, {})).to.deep.equal({ bytes: 100, aborted: true });
    expect(await receive(200, {})).to.deep.equal({ bytes: 300, aborted: false });
  });

  it('is read to its end where it is packed, and unpacked as far as that', async () => {
    expect(await receive(500, { 'content-encoding': 'gzip' })).to.deep.equal({ bytes: 300, aborted: false });
    const limits = { ...LIMITS, failureBytes: 2_000_000 };
    const body = gzipSync(Buffer.alloc(30_000_000));
    const headers = { 'content-encoding': 'gzip' };
    const failure = await decodeResponse({ status: 500, headers, body }, limits);
    expect(failure.body.length).to.be.within(2_000_000, 3_000_000);
    const success = await decodeResponse({ status: 200, headers, body }, limits);
    expect(success.body.length).to.equal(30_000_000);
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
      this.onResume();
    },
    onResume() {},
    abort() {
      this.aborted = true;
    },
  };
}
