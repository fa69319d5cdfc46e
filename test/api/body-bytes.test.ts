import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { readBody } from '../../src/api/body-bytes.ts';
import { holdUntilTaken } from '../../src/api/held-reading.ts';
import { isAppError } from '../../src/errors.ts';

const CRUMBS = 20_000;

function receive(maxBytes: number) {
  const socket = new Socket();
  const request = new IncomingMessage(socket);
  const body = readBody(request, maxBytes).catch((error: unknown) => error);
  return { socket, request, body };
}

describe('a body that comes byte by byte', () => {
  it('is read a few pieces a turn, whoever reads on', async () => {
    const { socket, request, body } = receive(CRUMBS);
    let turns = 0;
    for (let n = 0; n < CRUMBS; n++) {
      request.push(Buffer.from([n % 256]));
      await Promise.resolve();
      for (; socket.isPaused(); turns++) {
        // As Node does when it asks the body for more.
        socket.resume();
        await nextTurn();
      }
    }
    request.push(null);
    const bytes = await body;
    expect(turns).to.be.at.least(CRUMBS / 1024);
    expect(bytes).to.deep.equal(Buffer.from(Array.from({ length: CRUMBS }, (_, n) => n % 256)));
  });

  it('is not read before somebody takes it', async () => {
    const request = new IncomingMessage(new Socket());
    request.headers['transfer-encoding'] = 'chunked';
    holdUntilTaken(request);
    for (let n = 0; n < 3; n++) {
      request.socket.resume();
      await nextTurn();
      expect(request.socket.isPaused()).to.equal(true);
    }
    request.resume();
    for (let n = 0; n < 3; n++) await nextTurn();
    expect(request.socket.isPaused()).to.equal(false);
  });

  it('is not kept when it is too large', async () => {
    const { request, body } = receive(10);
    for (let n = 0; n < 100; n++) request.push(Buffer.from(' '));
    request.push(null);
    expect(isAppError(await body, 'PAYLOAD_TOO_LARGE')).to.equal(true);
  });

  for (const [when, isEarly] of [
    ['before it is read', true],
    ['in the middle', false],
  ] as const) {
    it(`may break off ${when}`, async () => {
      const request = new IncomingMessage(new Socket());
      if (isEarly) request.destroy();
      const body = readBody(request, 10).catch((error: unknown) => error);
      request.destroy(new Error('gone'));
      expect(isAppError(await body, 'REQUEST_INVALID')).to.equal(true);
    });
  }
});
