import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { createByteBudget } from '../../src/connector/client/index.ts';
import { isAppError } from '../../src/errors.ts';
import { readFileForm } from '../../src/http/file-form.ts';

const KB = 1024;
const PIECE = Buffer.alloc(16 * KB, 'x');
const PIECES = 1_280;
/** The buffers of the streams between the two ends. */
const MOST_HELD = 512 * KB;

describe('a form with a file', () => {
  let given: number;

  function* form(): Generator<Buffer, void> {
    yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    for (let count = 0; count < PIECES; count++) {
      given += PIECE.length;
      yield PIECE;
    }
    yield Buffer.from('\r\n--b--\r\n');
  }

  /** As much of a request and its response as is looked at. */
  function open() {
    given = 0;
    const socket = Object.assign(new EventEmitter(), { pause: () => {}, resume: () => {}, destroyed: false });
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'transfer-encoding': 'chunked' };
    const request = Object.assign(Readable.from(form(), { objectMode: false, highWaterMark: 64 * KB }), {
      headers,
      socket,
    });
    const response = Object.assign(new EventEmitter(), { locals: {}, destroyed: false });
    return { request: request as unknown as Request, response: response as unknown as Response };
  }

  it('is held in no more than a few buffers, however large it is and slow whoever takes it', async () => {
    const { request, response } = open();
    const budget = createByteBudget(10 * MOST_HELD);
    const { signal } = new AbortController();
    const { bytes, file } = await readFileForm(request, response, { budget, signal });
    expect(file).to.deep.equal({ name: 'a', type: 'text/plain' });
    let taken = 0;
    let mostHeld = 0;
    for await (const piece of bytes) {
      taken += piece.length;
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      mostHeld = Math.max(mostHeld, given - taken);
    }
    expect(taken).to.equal(PIECES * PIECE.length);
    expect(mostHeld).to.be.within(1, MOST_HELD);
    expect(budget.heldBytes()).to.equal(MOST_HELD);
    response.emit('close');
    expect(budget.heldBytes()).to.equal(0);
  });

  it('is OVERLOADED where there is no room for it', async () => {
    const { request, response } = open();
    const bounds = { budget: createByteBudget(MOST_HELD), signal: new AbortController().signal };
    const error = await readFileForm(request, response, bounds).catch((reason: unknown) => reason);
    expect(isAppError(error, 'OVERLOADED')).to.equal(true);
    expect(given).to.equal(0);
  });

  it('is thrown away when its request ends, so that the connection goes on', async () => {
    const { request, response } = open();
    const controller = new AbortController();
    const bounds = { budget: createByteBudget(10 * MOST_HELD), signal: controller.signal };
    await readFileForm(request, response, bounds);
    controller.abort();
    await new Promise((resolve) => request.once('end', resolve));
    expect(given).to.equal(PIECES * PIECE.length);
  });
});
