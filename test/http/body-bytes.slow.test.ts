import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createByteBudget } from '../../src/connector/client/index.ts';
import { isAppError } from '../../src/errors.ts';
import { type BodyRoom, openBodyRoom, readBody } from '../../src/http/body-bytes.ts';
import { holdUntilTaken } from '../../src/http/incoming-body.ts';

const CRUMBS = 20_000;
const MB = 1024 * 1024;

const ROOM: BodyRoom = { take: () => true, give: () => {} };

function receive(maxBytes: number, room = ROOM) {
  const socket = new Socket();
  const request = new IncomingMessage(socket);
  const body = readBody(request, maxBytes, room).catch((error: unknown) => error);
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
    // As Node says before it ends a body; otherwise it would take it for broken off.
    request.complete = true;
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

  it('is read no further in a turn in which others brought a megabyte, and goes on later', async () => {
    const bodies = Array.from({ length: 4 }, () => receive(8 * MB));
    for (const { request } of bodies) request.push(Buffer.alloc(MB));
    for (let n = 0; n < 4; n++) await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const held = bodies.filter(({ socket }) => socket.isPaused());
    expect(held).to.have.length.at.least(3);
    await nextTurn();
    await nextTurn();
    expect(held.some(({ socket }) => socket.isPaused())).to.equal(false);
    for (const { request } of bodies) {
      request.complete = true;
      request.push(null);
    }
    for (const { body } of bodies) expect(await body).to.have.length(MB);
  });

  it('gives its memory back when there is no room for all of it, and is read to its end', async () => {
    const budget = createByteBudget(4 * MB);
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    const room = openBodyRoom(budget, 1, response);
    const { request, body } = receive(8 * MB, room);
    request.push(Buffer.alloc(MB));
    await nextTurn();
    expect(budget.heldBytes()).to.equal(MB);
    request.push(Buffer.alloc(MB));
    request.push(Buffer.alloc(1));
    await nextTurn();
    expect(budget.heldBytes()).to.equal(0);
    request.complete = true;
    request.push(null);
    expect(isAppError(await body, 'OVERLOADED')).to.equal(true);
  });

  it('is counted until the answer is sent, unless it is small', async () => {
    const budget = createByteBudget(4 * MB);
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    const small = openBodyRoom(budget, 1, response);
    expect(small.take(1_000)).to.equal(true);
    expect(budget.heldBytes()).to.equal(0);
    const large = openBodyRoom(budget, 1, response);
    expect(large.take(100_000)).to.equal(true);
    expect(budget.heldBytes()).to.equal(100_000);
    response.emit('close');
    expect(budget.heldBytes()).to.equal(0);
  });

  it('is not put together for a caller who has gone', async () => {
    const { request, socket, body } = receive(8 * MB);
    request.push(Buffer.alloc(MB));
    await nextTurn();
    request.complete = true;
    request.push(null);
    await new Promise<void>((resolve) => request.once('end', resolve));
    socket.destroy();
    expect(isAppError(await body, 'REQUEST_INVALID')).to.equal(true);
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
      const body = readBody(request, 10, ROOM).catch((error: unknown) => error);
      request.destroy(new Error('gone'));
      expect(isAppError(await body, 'REQUEST_INVALID')).to.equal(true);
    });
  }
});
