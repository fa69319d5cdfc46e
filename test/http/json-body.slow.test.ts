import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import express, { type Request, type Response } from 'express';
import { type ByteBudget, createByteBudget } from '../../src/connector/client/index.ts';
import { AppError } from '../../src/errors.ts';
import { isHangUp } from '../../src/http/connection.ts';
import { ORDINARY, readJsonBody } from '../../src/http/json-body.ts';
import { type JsonShape, measureJson } from '../../src/numbers/json-shape.ts';

const NO_LIMIT = { depth: Infinity, members: Infinity, ownMembers: Infinity };

/** To its end. */
function measure(text: string, most: JsonShape = NO_LIMIT, pieceBytes?: number): JsonShape {
  const measuring = measureJson(Buffer.from(text), most, pieceBytes);
  for (let step = measuring.next(); ; step = measuring.next()) if (step.done) return step.value;
}

describe('measureJson', () => {
  for (const [text, depth, members, ownMembers] of [
    ['1', 0, 0, 0],
    ['{}', 1, 0, 0],
    ['[[]]', 2, 1, 1],
    [' [ 1 , 2 ] ', 1, 2, 2],
    ['{"a":[1,2,{"b":3}],"c":"x,]\\"}["}', 3, 6, 2],
    ['{"a":{},"b":[ ]}', 2, 2, 2],
    ['"\\\\",', 0, 1, 0],
    ['"never closed', 0, 0, 0],
  ] as const) {
    it(`counts what is in ${text}`, () => {
      expect(measure(text)).to.deep.equal({ depth, members, ownMembers });
      for (let pieceBytes = 1; pieceBytes < text.length; pieceBytes++) {
        expect(measure(text, NO_LIMIT, pieceBytes), `in pieces of ${pieceBytes}`).to.deep.equal(measure(text));
      }
    });
  }

  it('pauses between the pieces of a large text, within a string too', () => {
    for (const text of [`[${'1,'.repeat(50_000)}1]`, `"${'\\"'.repeat(50_000)}"`]) {
      const pauses = [...measureJson(Buffer.from(text), NO_LIMIT, 10_000)];
      expect(pauses).to.have.length(10);
    }
  });

  it('ends as soon as there is too much', () => {
    const many = `[${'1,'.repeat(100_000)}1]`;
    expect(measure(many, { ...NO_LIMIT, members: 10 })).to.include({ members: 11 });
    expect(measure(many, { ...NO_LIMIT, ownMembers: 10 })).to.include({ ownMembers: 11 });
    expect(measure('['.repeat(100_000), { ...NO_LIMIT, depth: 10 })).to.include({ depth: 11 });
  });
});

describe('readJsonBody', () => {
  it('refuses a large body as OVERLOADED while there is no room, and takes small ones', async () => {
    const send = await serve(createByteBudget(200_000));
    expect(await send(JSON.stringify({ name: 'x'.repeat(80_000) }))).to.equal('taken');
    expect(await send(JSON.stringify({ name: 'x'.repeat(150_000) }))).to.equal('OVERLOADED 2');
    expect(await send(JSON.stringify({ name: 'x'.repeat(80_000) }))).to.equal('taken');
    expect(await send('{}')).to.equal('taken');
  });

  it('drops a large body whose caller hung up while it waited for its turn', async () => {
    const budget = createByteBudget(Number.POSITIVE_INFINITY);
    const request = new IncomingMessage(new Socket());
    const text = JSON.stringify({ name: 'x'.repeat(100_000) });
    Object.assign(request, { method: 'POST', path: '/instances', complete: true });
    Object.assign(request.headers, { 'content-type': 'application/json', 'content-length': String(text.length) });
    const response = Object.assign(new ServerResponse(request), { locals: { scope: 'platform' } });
    const read = readJsonBody(request as Request, response as unknown as Response, {
      limits: ORDINARY,
      budget,
    }).catch((error: unknown) => error);
    request.push(text);
    request.push(null);
    await once(request, 'end');
    expect(budget.heldBytes()).to.equal(text.length);
    response.destroy();
    expect(isHangUp(await read)).to.equal(true);
    expect(request).not.to.have.property('body');
  });
});

/** @returns what sends a body and answers what came of it */
async function serve(budget: ByteBudget): Promise<(body: string) => Promise<string>> {
  const app = express();
  app.use(async (request, response) => {
    response.locals.scope = 'platform';
    try {
      await readJsonBody(request, response, { limits: ORDINARY, budget });
      response.end('taken');
    } catch (error) {
      response.end(error instanceof AppError ? `${error.code} ${error.retryAfterSeconds}` : String(error));
    }
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (body) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const response = await fetch(`http://127.0.0.1:${port}/instances`, { method: 'POST', headers, body });
    return response.text();
  };
}
