/**
 * Measures what traces cost a query: without a collector, with one that takes everything, with one that hangs, and with a sampler that takes a hundredth.
 * `node scripts/bench/tracing.ts [--seconds 5] [--rounds 3]`. Everything stays on loopback and stops by itself.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { cpuMsOf, type RunningService, startService, UNLIMITED } from './running-service.ts';

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '5' }, rounds: { type: 'string', default: '3' } },
});
const seconds = Number(options.seconds);
const CONFIGURATION = { username: 'demo-key', 'company.name': 'acme', simulator: true };
const QUERY = new URLSearchParams({
  where: "status = 'Active' AND hireDate >= 2020-01-01",
  fields: 'id,firstName,lastName,hireDate,status',
  pageSize: '20',
});

let exports = 0;
let bytes = 0;
const taking = createServer((request, response) => {
  exports++;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
  });
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
});
const hanging = createServer(() => undefined);
const servers = [taking, hanging];
const urlOf = async (server: typeof taking): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const [takingUrl, hangingUrl] = [await urlOf(taking), await urlOf(hanging)];
const collector = (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
const VARIANTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'without a collector': {},
  'all of it': { ...collector(takingUrl), OTEL_BSP_MAX_QUEUE_SIZE: '100000' },
  'a hundredth': { ...collector(takingUrl), OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' },
  'a collector that hangs': collector(hangingUrl),
};

async function connect({ baseUrl, authorization, secrets }: RunningService): Promise<string> {
  const response = await fetch(`${baseUrl}/instances`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ element: { key: 'bamboohr' }, name: 'bench', configuration: CONFIGURATION }),
  });
  const { token }: { token: string } = JSON.parse(await response.text());
  return `User ${secrets.userSecret}, Element ${token}`;
}

async function measure(environment: Readonly<Record<string, string>>) {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-tracing-'));
  try {
    const service = await startService({ dataDir, environment: { ...UNLIMITED, ...environment } });
    const authorization = await connect(service);
    const load = { url: `${service.baseUrl}/employees?${QUERY}`, headers: { authorization }, connections: 8 };
    await autocannon({ ...load, duration: 3 });
    const before = cpuMsOf([service.pid]);
    const { requests, latency, non2xx } = await autocannon({ ...load, duration: seconds });
    const cpuMs = (cpuMsOf([service.pid]) - before) / requests.total;
    await service.stop();
    if (non2xx > 0) throw new Error(`${non2xx} answers were not 200`);
    return {
      'requests/s': Math.round(requests.average),
      'p50 ms': latency.p50,
      'p99 ms': latency.p99,
      'CPU ms/request': Number(cpuMs.toFixed(3)),
    };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

try {
  for (let round = 1; round <= Number(options.rounds); round++) {
    const figures: Record<string, object> = {};
    for (const [name, environment] of Object.entries(VARIANTS)) figures[name] = await measure(environment);
    console.log(`round ${round}`);
    console.table(figures);
  }
  console.log(`${exports} exports, ${bytes} bytes`);
} finally {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
}
