import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { readJsonBody } from '../../src/api/json-body.ts';
import { measureJson } from '../../src/api/json-shape.ts';

const NO_LIMIT = { depth: Infinity, members: Infinity, ownMembers: Infinity };

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
      expect(measureJson(Buffer.from(text), NO_LIMIT)).to.deep.equal({ depth, members, ownMembers });
    });
  }

  it('ends as soon as there is too much', () => {
    const many = Buffer.from(`[${'1,'.repeat(100_000)}1]`);
    expect(measureJson(many, { ...NO_LIMIT, members: 10 })).to.include({ members: 11 });
    expect(measureJson(many, { ...NO_LIMIT, ownMembers: 10 })).to.include({ ownMembers: 11 });
    expect(measureJson(Buffer.from('['.repeat(100_000)), { ...NO_LIMIT, depth: 10 })).to.include({ depth: 11 });
  });
});

describe('readJsonBody', () => {
  it('leaves one spelling of the type to the validator, which compiles its schemas anew for each', async () => {
    const app = express();
    app.use((_request, response, next) => {
      response.locals.scope = 'platform';
      next();
    });
    app.use(async (request, response) => {
      await readJsonBody(request, response);
      response.json(request.headers['content-type']);
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const send = async (type: string, body?: string) => {
      const init = { method: 'POST', headers: { 'content-type': type }, ...(body !== undefined && { body }) };
      return JSON.parse(await (await fetch(`http://127.0.0.1:${port}/instances`, init)).text());
    };
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json; a=1; b=2']) {
      expect(await send(type, '{}'), type).to.equal('application/json');
    }
    expect(await send('text/anything; a=1')).to.equal('application/json');
    server.close();
  });
});
