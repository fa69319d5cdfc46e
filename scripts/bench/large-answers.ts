/**
 * Measures how long the event loop stands still over the largest answers of a provider: the CPU time of the main thread from
 * one turn of the loop to the next, while callers read a page. As for the service, a third of the heap is for such answers.
 * `node --expose-gc [--max-old-space-size=512] scripts/bench/large-answers.ts [--megabytes 30] [--callers 1]`.
 * Everything stays on loopback and stops by itself.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { isMainThread, MessageChannel, Worker, workerData } from 'node:worker_threads';
import express from 'express';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createByteBudget, createProviderClient } from '../../src/connector/client/index.ts';
import type { Connector, ObjectSpec } from '../../src/connector/index.ts';
import { createEgress } from '../../src/egress/index.ts';
import { isAppError } from '../../src/errors.ts';
import { sendJson } from '../../src/http/json-response.ts';
import { composeResources } from '../../src/resources/index.ts';

const { values: options } = parseArgs({
  options: { megabytes: { type: 'string', default: '30' }, callers: { type: 'string', default: '1' } },
});

function printRows(bytes: number, printRow: (id: number) => string): string {
  const rows: string[] = [];
  for (let size = 0, id = 0; size < bytes; id++) {
    const row = printRow(id);
    rows.push(row);
    size += row.length + 1;
  }
  return `{"data":{"rows":[${rows.join(',')}]}}`;
}

const person = (id: number) =>
  JSON.stringify({
    id,
    name: `Name of ${id}`,
    status: id % 2 === 0 ? 'Active' : 'Inactive',
    amount: id + 0.25,
    address: { city: `Ulm ${id}`, zip: '89073' },
    text: 'what there is to say '.repeat(20),
  });

const BODIES: Readonly<Record<string, (bytes: number) => string>> = {
  people: (bytes) => printRows(bytes, person),
  tiny: (bytes) => printRows(bytes, (id) => `{"id":${id}}`),
  names: (bytes) => printRows(bytes, (id) => `{"id":${id},"k${id}":1}`),
};

/** The provider has a thread of its own. */
async function serve(): Promise<void> {
  const bodies = new Map(Object.entries(BODIES).map(([name, print]) => [`/${name}`, print(workerData.bytes)]));
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(bodies.get(request.url ?? ''));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  workerData.port.postMessage((server.address() as AddressInfo).port);
}

function objectOf(name: string): ObjectSpec {
  return {
    fields: {
      id: { type: 'integer', nullable: false },
      name: { type: 'string' },
      status: { type: 'string' },
      address: { type: 'object' },
      text: { type: 'string' },
    },
    list: {
      maxPageSize: 5000,
      request: () => ({ path: `/${name}` }),
      read: ({ body }) => ({ records: Reflect.get(Reflect.get(Object(body), 'data'), 'rows') }),
    },
  };
}

function createConnector(port: number): Connector {
  const address = `127.0.0.1:${port}`;
  return {
    key: 'large',
    id: 1,
    name: 'Large',
    description: 'Large answers',
    hub: 'general',
    auth: { type: 'none' },
    configuration: [],
    baseUrl: () => `http://${address}`,
    hosts: [address],
    objects: Object.fromEntries(Object.keys(BODIES).map((name) => [name, objectOf(name)])),
    probe: { path: '/people' },
  };
}

/** One `setImmediate` after the other runs once in each turn, and does not keep the loop from waiting. */
function watchLoop() {
  let longestMs = 0;
  let turns = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const used = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (used.user + used.system) / 1000);
    turns++;
    setImmediate(look).unref();
  };
  setImmediate(look).unref();
  return {
    reset: () => {
      longestMs = 0;
      turns = 0;
      before = process.threadCpuUsage();
    },
    read: () => ({ longestMs: Math.round(longestMs * 10) / 10, turns }),
  };
}

async function measure(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const bytes = Number(options.megabytes) * 1024 * 1024;
  const worker = new Worker(import.meta.filename, { workerData: { bytes, port: port2 }, transferList: [port2] });
  const port = await new Promise<number>((resolve) => port1.once('message', resolve));
  port1.close();

  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const budget = createByteBudget(getHeapStatistics().heap_size_limit / 3);
  const client = createProviderClient({
    egress,
    budget,
    clock: SYSTEM_CLOCK,
    random: { fraction: Math.random },
  });
  const keys = { seal: (plain: string) => plain, open: (sealed: string) => sealed };
  const resources = composeResources(
    { clock: SYSTEM_CLOCK, keys },
    { client, budget, tokensOf: () => undefined, noteCredentials: async () => {} },
  );
  const instance = {
    accountId: 1,
    id: 1,
    connector: createConnector(port),
    config: {},
    settingsVersion: 1,
    disabled: false,
    valid: true,
    refusedCalls: [],
  };
  const app = express();
  app.response.json = sendJson;
  app.get('/:object', async (request, response) => {
    const controller = new AbortController();
    response.once('close', () => controller.abort());
    const { where, orderBy } = request.query;
    const list = await resources.listRecords(
      { instance, objectName: request.params.object, signal: controller.signal },
      {
        where: where === undefined ? undefined : String(where),
        orderBy: orderBy === undefined ? undefined : String(orderBy),
        pageSize: 5000,
        maxProviderCalls: 25,
        pushdownOnly: false,
      },
    );
    response.json(list.records);
  });
  app.use((error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    response.status(isAppError(error) ? error.status : 500).end();
  });
  const listener = app.listen(0, '127.0.0.1');
  await new Promise((done) => listener.once('listening', done));
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const loop = watchLoop();
  const results: Record<string, unknown> = {};
  for (const object of Object.keys(BODIES)) {
    for (const query of ['', "?where=name like '%zzz%'", "?where=name like '%9%'", '?orderBy=name desc']) {
      await sleep(200);
      global.gc?.();
      await sleep(50);
      loop.reset();
      const startedAtMs = performance.now();
      const request = { url: `${url}/${object}${encodeURI(query)}`, maxBytes: 2 ** 28 };
      const answers = await Promise.all(Array.from({ length: Number(options.callers) }, () => egress.request(request)));
      results[`${object}${query}`] = {
        statuses: [...new Set(answers.map(({ status }) => status))].join(', '),
        megabytes: Math.max(...answers.map(({ body }) => body.length)) >> 20,
        ms: Math.round(performance.now() - startedAtMs),
        ...loop.read(),
      };
    }
  }
  console.table(results);
  await new Promise((done) => listener.close(done));
  await egress.close();
  await worker.terminate();
}

await (isMainThread ? measure() : serve());
