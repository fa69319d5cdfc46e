/**
 * Measures the service from outside: start, memory, and the additional cost of a query compared with a direct call to the provider. `node
 * scripts/bench/service.ts [--seconds 10] [--json]`. Everything runs on loopback and stops by itself.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import bamboohr from '../../connectors/bamboohr/index.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createByteBudget, createProviderClient } from '../../src/connector/client/index.ts';
import { createEgress, type EgressRequest } from '../../src/egress/index.ts';
import { composeResources } from '../../src/resources/index.ts';
import { cpuMsOf, describeMachine, quantile } from './measure.ts';
import {
  connectDemo,
  DEMO,
  ENDS_WITH_STARTER,
  QUERY,
  queryOf,
  type RunningService,
  startService,
  UNLIMITED,
  withDataDir,
} from './running-service.ts';

const PAGE_SIZE = Number(QUERY.pageSize);

/** V8 returns the memory for young objects, which the start needed, when nothing has been allocated for about 10 seconds. */
const IDLE_AFTER_MS = 20_000;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } },
});
const seconds = Number(options.seconds);

/** Starts the proxy in a process that ends with this one. */
async function startBareProxy(asks: object) {
  const environment = { ...process.env, NODE_ENV: 'production', BARE_PROXY_ASKS: JSON.stringify(asks) };
  const child = fork(join(import.meta.dirname, 'bare-proxy.ts'), { env: environment, execArgv: ENDS_WITH_STARTER });
  const [port] = await once(child, 'message');
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}/`, stop: () => child.kill() };
}

async function firstQuery(service: RunningService): Promise<void> {
  const { token } = await connectDemo(service);
  const rows = await service.call<readonly unknown[]>(`/employees?${new URLSearchParams(QUERY)}`, { token });
  if (rows.length !== PAGE_SIZE) throw new Error(`The first query returned ${rows.length} rows`);
}

/** Records the request that the connector sends for the query: the one that a caller would send without the service. */
async function recordProviderRequest(simulatorsUrl: string): Promise<EgressRequest> {
  const sent: EgressRequest[] = [];
  const egress = createEgress({ allow: [], simulatorsUrl });
  const recording = {
    ...egress,
    request: (request: EgressRequest) => {
      sent.push(request);
      return egress.request(request);
    },
  };
  const clock = SYSTEM_CLOCK;
  const client = createProviderClient({ egress: recording, clock, random: { fraction: Math.random }, simulatorsUrl });
  const budget = createByteBudget(Number.POSITIVE_INFINITY);
  const keys = { seal: (plain: string) => plain, open: (sealed: string) => sealed };
  const resources = composeResources(
    { clock, keys },
    { client, budget, tokensOf: () => undefined, noteCredentials: async () => {} },
  );
  const instance = {
    accountId: 1,
    id: 1,
    connector: bamboohr,
    config: DEMO,
    settingsVersion: 1,
    disabled: false,
    valid: true,
    refusedCalls: [],
  };
  await resources.listRecords(
    { instance, objectName: 'employees', signal: new AbortController().signal },
    { ...QUERY, pageSize: PAGE_SIZE, maxProviderCalls: 25, pushdownOnly: false },
  );
  await egress.close();
  const last = sent.at(-1);
  if (last === undefined) throw new Error('The connector sent nothing');
  return last;
}

interface Load {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requestsPerSecond: number;
  readonly cpuMsPerRequest: number;
}

/** Sends a request repeatedly and measures the CPU time of the processes in `pids`. */
async function load(pids: readonly number[], request: autocannon.Options, connections: number): Promise<Load> {
  await autocannon({ ...request, connections, duration: 3 });
  const before = cpuMsOf(pids);
  const result = await autocannon({ ...request, connections, duration: seconds });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} answers were not 200, ${result.errors} failed`);
  return {
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    requestsPerSecond: Math.round(result.requests.average),
    cpuMsPerRequest: (cpuMsOf(pids) - before) / result.requests.total,
  };
}

/**
 * Uses one connection by hand, because the load generator counts whole milliseconds. Like the generator, it requests uncompressed
 * responses.
 */
async function latency(request: { url: string; method?: string; headers: Record<string, string>; body?: string }) {
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const headers = { ...request.headers, 'accept-encoding': 'identity' };
  const times: number[] = [];
  const endAt = performance.now() + seconds * 1000;
  while (performance.now() < endAt) {
    const startedAt = performance.now();
    await egress.request({ ...request, headers, method: request.method === 'POST' ? 'POST' : 'GET' });
    times.push(performance.now() - startedAt);
  }
  await egress.close();
  const warm = times.slice(Math.floor(times.length / 10));
  return { p50Ms: quantile(warm, 0.5), p99Ms: quantile(warm, 0.99) };
}

async function start(dataDir: string): Promise<{ readonly service: RunningService; readonly startSeconds: number }> {
  const startedAt = performance.now();
  const service = await startService({ dataDir, environment: { ...UNLIMITED, LOG_LEVEL: 'info' } });
  await firstQuery(service);
  return { service, startSeconds: (performance.now() - startedAt) / 1000 };
}

await withDataDir(async (dataDir) => {
  const cold = await start(dataDir);
  await cold.service.stop();
  const { service, startSeconds } = await start(dataDir);
  const { pid } = service;
  await sleep(IDLE_AFTER_MS);
  const residentMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

  const sent = await recordProviderRequest(service.simulatorsUrl);
  const direct = {
    url: String(sent.url),
    method: sent.method === 'POST' ? ('POST' as const) : ('GET' as const),
    headers: { ...sent.headers },
    ...(sent.body !== undefined && { body: String(sent.body) }),
  };
  const through = queryOf(service, (await connectDemo(service)).token);
  const oneDirect = await latency(direct);
  const oneThrough = await latency(through);
  const manyDirect = await load([pid], direct, 32);
  const manyThrough = await load([pid], through, 32);
  const bare = await startBareProxy(direct);
  // The provider runs in the process of the service, which does nothing else at this point.
  const manyBare = await load([pid, bare.pid], { url: bare.url }, 32);
  const result = {
    ...describeMachine(),
    coldStartSeconds: cold.startSeconds,
    warmStartSeconds: startSeconds,
    idleMemoryMb: residentMb,
    oneConnection: {
      direct: oneDirect,
      through: oneThrough,
      addedP50Ms: oneThrough.p50Ms - oneDirect.p50Ms,
      addedP99Ms: oneThrough.p99Ms - oneDirect.p99Ms,
    },
    connections32: {
      direct: manyDirect,
      through: manyThrough,
      bareProxy: manyBare,
      shareOfBareProxy: manyThrough.requestsPerSecond / manyBare.requestsPerSecond,
      addedCpuMsPerRequest: manyThrough.cpuMsPerRequest - manyDirect.cpuMsPerRequest,
    },
  };
  bare.stop();
  await service.stop();
  if (options.json) console.log(JSON.stringify(result));
  else console.dir(result, { depth: 5 });
});
