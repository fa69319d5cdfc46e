import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { findValidation, parseQuery, type Validate } from '../../src/api/validation.ts';

describe('findValidation', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** @returns where `respond` takes what was validated */
  async function serve(validate: Validate, respond: RequestHandler, params = {}): Promise<string> {
    const app = express();
    app.set('query parser', parseQuery);
    app.use(express.json({ type: () => true }));
    const check: RequestHandler = async (request, response) => {
      const input = await validate(request, response, params);
      response.locals.input = input;
      request.next?.();
    };
    app.use('/elements/api-v2', check, respond, tell);
    const server = app.listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/elements/api-v2`;
  }

  it('shows one spelling of the type to the validator, which compiles its schemas anew for each', async () => {
    const url = await serve(findValidation('createInstance', false), (request, response) => {
      response.json({ type: request.headers['content-type'] });
    });
    const body = JSON.stringify({ element: { key: 'bamboohr' }, name: 'x', configuration: {} });
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json; a=1; b=2']) {
      const response = await fetch(`${url}/instances`, { method: 'POST', headers: { 'content-type': type }, body });
      expect(await response.json(), type).to.deep.equal({ type: 'application/json' });
    }
  });

  it('converts the first request for an operation as it does the others', async () => {
    const url = await serve(findValidation('listInstances', false), (_request, response) => {
      response.json(response.locals.input.query);
    });
    for (let request = 0; request < 3; request++) {
      const response = await fetch(`${url}/instances?tags[]=a&pageSize=${request + 1}`);
      expect(await response.json()).to.deep.equal({ tags: ['a'], pageSize: request + 1 });
    }
  });

  it('gives a request that comes again what it gave the first, and judges another by itself', async () => {
    const respond: RequestHandler = ({ headers }, response) => {
      const { query } = response.locals.input;
      response.json({ query, calls: headers['elements-max-provider-calls'], isFrozen: Object.isFrozen(query) });
    };
    const url = await serve(findValidation('listRecords', false), respond, { objectName: 'employees' });
    const ask = async (search: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}/employees?${search}`, { headers });
      return response.ok ? response.json() : response.text();
    };
    const where = "name = 'a'";
    const search = new URLSearchParams({ where, pageSize: '7' }).toString();
    await ask('pageSize=1');
    for (let request = 0; request < 2; request++) {
      const one = { query: { where, pageSize: 7, onTransformationError: 'ignore' }, calls: 25, isFrozen: true };
      expect(await ask(search)).to.deep.equal(one);
      expect(await ask(search, { 'elements-max-provider-calls': '3' })).to.deep.equal({ ...one, calls: 3 });
      expect(await ask(search, { 'elements-max-provider-calls': '0' })).to.match(/elements-max-provider-calls/i);
      expect(await ask(search, { 'elements-max-provider-calls': '' })).to.match(/elements-max-provider-calls/i);
      expect(await ask(`${search}&pagesize=8`)).to.match(/Unknown query parameter 'pagesize'/);
      expect(await ask(`${search}0`)).to.deep.equal({ ...one, query: { ...one.query, pageSize: 70 } });
    }
  });

  it('ends a request whose response does not fit the spec', async () => {
    const url = await serve(findValidation('listHubs', true), (_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.json([{ key: 1 }]);
    });
    for (let request = 0; request < 2; request++) {
      const response = await fetch(`${url}/hubs`, { signal: AbortSignal.timeout(5000) });
      expect(response.status).to.equal(500);
      expect(await response.text()).to.match(/^\/response\/0 must have required property/);
    }
  });
});

const tell: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(500).end(String(error.message));
};
