/**
 * Measures the service from outside: start, memory, and the additional cost of a query compared with a direct call to the provider. `node
 * scripts/bench/service.ts [--seconds 10] [--json]`. Everything runs on loopback and stops by itself.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import bamboohr from '../../connectors/bamboohr/index.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createByteBudget, createProviderClient } from '../../src/connector/client/index.ts';
import { createEgress, type EgressRequest } from '../../src/egress/index.ts';
import { composeResources } from '../../src/resources/index.ts';
import { cpuMsOf, type RunningService, startService, UNLIMITED } from './running-service.ts';

const CONFIGURATION = { username: 'demo-key', 'company.name': 'acme', simulator: true };
const WHERE = "status = 'Active' AND hireDate >= 2020-01-01";
const FIELDS = 'id,firstName,lastName,hireDate,status';
const PAGE_SIZE = 20;
/** V8 returns the memory for young objects, which the start needed, when nothing has been allocated for about 10 seconds. */
const IDLE_AFTER_MS = 20_000;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } },
});
const seconds = Number(options.seconds);

const services: RunningService[] = [];
const proxies: ChildProcess[] = [];

async function startBareProxy(asks: object): Promise<{ readonly pid: number; readonly url: string }> {
  const environment = { ...process.env, NODE_ENV: 'production', BARE_PROXY_ASKS: JSON.stringify(asks) };
  const child = fork(join(import.meta.dirname, 'bare-proxy.ts'), { env: environment });
  proxies.push(child);
  const [port] = await once(child, 'message');
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}/` };
}

async function createInstance(service: RunningService): Promise<string> {
  const response = await fetch(`${service.baseUrl}/instances`, {
    method: 'POST',
    headers: { authorization: service.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ element: { key: 'bamboohr' }, name: 'bench', configuration: CONFIGURATION }),
  });
  if (!response.ok) throw new Error(`POST /instances returned ${response.status}`);
  const { token }: { token: string } = JSON.parse(await response.text());
  return token;
}

function queryOf(service: RunningService, token: string) {
  const query = new URLSearchParams({ where: WHERE, fields: FIELDS, pageSize: String(PAGE_SIZE) });
  const authorization = `User ${service.secrets.userSecret}, Element ${token}`;
  return { url: `${service.baseUrl}/employees?${query}`, headers: { authorization } };
}

async function firstQuery(service: RunningService): Promise<void> {
  const { url, headers } = queryOf(service, await createInstance(service));
  const response = await fetch(url, { headers });
  const rows: unknown[] = JSON.parse(await response.text());
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
    config: CONFIGURATION,
    settingsVersion: 1,
    disabled: false,
    valid: true,
    refusedCalls: [],
  };
  await resources.listRecords(
    { instance, objectName: 'employees', signal: new AbortController().signal },
    { where: WHERE, fields: FIELDS, pageSize: PAGE_SIZE, maxProviderCalls: 25, pushdownOnly: false },
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
  const sorted = times.slice(Math.floor(times.length / 10)).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
await chmod(dataDir, 0o711);
try {
  const timed = async (): Promise<{ service: RunningService; startSeconds: number }> => {
    const startedAt = performance.now();
    const service = await startService({ dataDir, environment: { ...UNLIMITED, LOG_LEVEL: 'info' } });
    services.push(service);
    await firstQuery(service);
    return { service, startSeconds: (performance.now() - startedAt) / 1000 };
  };
  const cold = await timed();
  await cold.service.stop();
  const warm = await timed();
  const { service } = warm;
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
  const through = queryOf(service, await createInstance(service));
  const oneDirect = await latency(direct);
  const oneThrough = await latency(through);
  const manyDirect = await load([pid], direct, 32);
  const manyThrough = await load([pid], through, 32);
  const bare = await startBareProxy(direct);
  // The provider runs in the process of the service, which does nothing else at this point.
  const manyBare = await load([pid, bare.pid], { url: bare.url }, 32);
  const result = {
    machine: `${cpus().length} × ${cpus()[0]?.model}, Node.js ${process.version}`,
    coldStartSeconds: cold.startSeconds,
    warmStartSeconds: warm.startSeconds,
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
  await service.stop();
  if (options.json) console.log(JSON.stringify(result));
  else console.dir(result, { depth: 5 });
} finally {
  for (const child of proxies) child.kill('SIGTERM');
  await Promise.all(services.map(({ stop }) => stop()));
  await rm(dataDir, { recursive: true, force: true });
}
