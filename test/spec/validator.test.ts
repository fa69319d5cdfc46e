import { once } from 'node:events';
import type { Server } from 'node:http';
import { expect } from 'chai';
import express, { type ErrorRequestHandler } from 'express';
import { createRoutes } from '../../src/api/routes.ts';
import { findValidation, parseQuery, type Scope } from '../../src/api/validation.ts';

const NEW_INSTANCE = { element: { key: 'bamboohr' }, name: 'Payroll', configuration: { 'company.name': 'mycompany' } };

describe('the spec, read by express-openapi-validator', () => {
  const servers: Partial<Record<Scope, Server>> = {};
  before(async () => {
    servers.platform = await startEcho('platform');
    servers.instance = await startEcho('instance');
    servers.record = await startEcho('record');
  });
  after(() => {
    for (const server of Object.values(servers)) server.close();
  });

  async function call(scope: Scope, method: string, path: string, body?: unknown): Promise<Answer> {
    const json = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const url = `${baseUrl(servers[scope])}/elements/api-v2${path}`;
    const response = await fetch(url, body === undefined ? { method } : json);
    return JSON.parse(await response.text());
  }

  it('is routed by scope: the same path is the platform’s without a token and the provider’s with one', async () => {
    expect((await call('platform', 'GET', '/elements')).operationId).to.equal('listElements');
    expect((await call('record', 'GET', '/elements')).operationId).to.equal('listRecords');
    expect((await call('platform', 'GET', '/instances')).operationId).to.equal('listInstances');
    expect((await call('instance', 'GET', '/instances')).operationId).to.equal('listInstances');
  });

  it('leaves the paths outside the base path to the provider’s objects', async () => {
    expect((await call('record', 'GET', '/docs')).operationId).to.equal('listRecords');
    expect(await call('platform', 'GET', '/health/live')).to.include({ status: 404 });
  });

  it('takes objects, hubs and records for what they are', async () => {
    const expected = {
      '/objects': 'listObjects',
      '/objects/employees/metadata': 'getObjectMetadata',
      '/objects/employees/files/metadata': 'getChildObjectMetadata',
      '/hubs/humancapital/objects/employees/files/metadata': 'getHubChildObjectMetadata',
      '/hubs/humancapital/objects': 'listHubObjects',
      '/hubs/humancapital/objects/employees/metadata': 'getHubObjectMetadata',
      '/hubs/humancapital/employees': 'listHubRecords',
      '/hubs/humancapital/employees/7': 'getHubRecord',
      '/hubs/humancapital/employees/7/files': 'listHubChildRecords',
      '/employees': 'listRecords',
      '/employees/a%2Fb': 'getRecord',
      '/employees/7/files': 'listChildRecords',
    };
    for (const [path, operationId] of Object.entries(expected)) {
      const scope = path.startsWith('/employees') ? 'record' : 'instance';
      expect((await call(scope, 'GET', path)).operationId, path).to.equal(operationId);
    }
  });

  it('gives handlers numbers, defaults and tags', async () => {
    const list = await call('platform', 'GET', '/instances?tags[]=a&tags%5B%5D=b&searchText=12');
    expect(list.query).to.deep.equal({ tags: ['a', 'b'], searchText: '12', pageSize: 200 });
    const one = await call('platform', 'GET', '/instances?tags[]=a&pageSize=5000');
    expect(one.query).to.deep.equal({ tags: ['a'], pageSize: 5000 });
  });

  it('takes a filter whose quotes and colons are not percent-encoded', async () => {
    const where = "name='a' AND (at>='2024-01-01T00:00:00Z' OR id IN (1,2))";
    const raw = await call('record', 'GET', `/employees?where=${where.replaceAll(' ', '%20')}`);
    expect(raw.query).to.include({ where });
    const encoded = await call('record', 'GET', `/employees?${new URLSearchParams({ where })}`);
    expect(encoded.query).to.include({ where });
  });

  for (const [path, fault] of [
    ['/employees?pagesize=5', '/query/pagesize'],
    ['/employees?pageSize=5001', '/query/pageSize'],
    ['/employees?pageSize=0', '/query/pageSize'],
    ['/employees?page=-1', '/query/page'],
    ['/employees?page=one', '/query/page'],
    ['/employees?where=a&where=b', '/query/where'],
  ] as const) {
    it(`refuses ${path}`, async () => {
      expect(await call('record', 'GET', path)).to.deep.include({ status: 400, faults: [fault] });
    });
  }

  it('takes the first page as 0, and the wish for a total', async () => {
    const raw = await call('record', 'GET', '/employees?returnTotalCount=true&page=0');
    expect(raw.query).to.include({ returnTotalCount: true, page: 0 });
  });

  it('takes an instance whose configuration has any keys', async () => {
    const configuration = {
      url: 'https://example.com',
      simulator: 'true',
      retries: 3,
      'event.poller.configuration': {},
    };
    const response = await call('platform', 'POST', '/instances', { ...NEW_INSTANCE, configuration });
    expect(response).to.include({ operationId: 'createInstance' });
  });

  for (const [fault, change] of [
    ['/body/nmae', { nmae: 'x' }],
    ['/body/name', { name: ' ' }],
    ['/body/name', { name: 'x'.repeat(256) }],
    ['/body/configuration', { configuration: undefined }],
    ['/body/element/id', { element: { key: 'bamboohr', id: 1 } }],
    ['/body/tags', { tags: Array.from({ length: 101 }, (_, index) => `tag ${index}`) }],
    ['/body/tags/0', { tags: [''] }],
    ['/body/providerData/code', { providerData: { code: 1 } }],
    ['/body/providerData/realmId', { providerData: { code: 'x', realmId: 'x'.repeat(4001) } }],
  ] as const) {
    it(`refuses an instance with a fault in ${fault}: ${JSON.stringify(change).slice(0, 50)}`, async () => {
      const response = await call('platform', 'POST', '/instances', { ...NEW_INSTANCE, ...change });
      expect(response.status).to.equal(400);
      expect(new Set(response.faults)).to.deep.equal(new Set([fault]));
    });
  }

  it('refuses an id that no number can hold', async () => {
    const response = await call('platform', 'GET', '/instances/99999999999999999999');
    expect(response).to.deep.include({ status: 400, faults: ['/params/id'] });
  });

  it('takes a record with any members', async () => {
    const response = await call('record', 'POST', '/employees', { name: 'x', manager: null, tags: [1], address: {} });
    expect(response).to.include({ operationId: 'createRecord' });
  });
});

interface Answer {
  readonly operationId?: string;
  readonly query?: object;
  readonly status?: number;
  readonly faults?: readonly string[];
}

/** A server that finds the operation and validates as the service does, and then answers what a handler would see. */
async function startEcho(scope: Scope): Promise<Server> {
  const findRoute = createRoutes(scope);
  const app = express();
  app.set('query parser', parseQuery);
  app.use(express.json());
  app.use('/elements/api-v2', async (request, response) => {
    const route = findRoute(request.path);
    const id = route?.operations[request.method];
    if (route === undefined || id === undefined) return void response.json({ status: 404 });
    const { query } = await findValidation(id, false)(request, response, route.readParams());
    response.json({ operationId: id, query });
  });
  app.use(answerFault);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const answerFault: ErrorRequestHandler = (error, _request, response, _next) => {
  const faults = Object(error.errors);
  response.json({ status: error.status, faults: Object.values(faults).map((fault) => Object(fault).path) });
};

function baseUrl(server: Server | undefined): string {
  const address = server?.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen.');
  return `http://127.0.0.1:${address.port}`;
}
