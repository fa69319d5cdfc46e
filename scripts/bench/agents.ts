/**
 * Measures what the tool `query_records` adds to the plain GET with the same fields: `node scripts/bench/agents.ts [--calls 500]`. The requests
 * go one after another on kept connections to a service with the simulator of BambooHR, in turns, so that both meet the same machine.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { type RunningService, startService, UNLIMITED } from './running-service.ts';

const CONFIGURATION = { username: 'demo-key', 'company.name': 'acme', simulator: true };
const WHERE = "status = 'Active' AND hireDate >= 2020-01-01";
const FIELDS = ['id', 'firstName', 'lastName', 'hireDate', 'status'];
const LIMIT = 20;
const WARM_UP_CALLS = 100;

const { values: options } = parseArgs({ options: { calls: { type: 'string', default: '500' } } });

async function post(service: RunningService, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(service.baseUrl + path, {
    method: 'POST',
    headers: { authorization: service.authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
  return JSON.parse(await response.text());
}

async function timed(send: () => Promise<Response>): Promise<number> {
  const startedMs = SYSTEM_CLOCK.steady();
  const response = await send();
  const text = await response.text();
  const ms = SYSTEM_CLOCK.steady() - startedMs;
  if (!response.ok || text.includes('"isError":true')) throw new Error(text);
  return ms;
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0;
}

const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
// PostgreSQL needs to enter it.
await chmod(dataDir, 0o755);
const service = await startService({ dataDir, environment: UNLIMITED });
try {
  const { id } = await post(service, '/instances', {
    element: { key: 'bamboohr' },
    name: 'bench',
    configuration: CONFIGURATION,
  });
  const { key } = await post(service, '/keys', { name: 'bench', access: 'read', instances: [id] });
  const authorization = `Bearer ${key}`;
  const query = new URLSearchParams({ where: WHERE, fields: FIELDS.join(), pageSize: String(LIMIT) });
  const get = () => fetch(`${service.baseUrl}/employees?${query}`, { headers: { authorization } });
  const callWith = (args: object) => () =>
    fetch(new URL('/mcp', service.baseUrl), {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'query_records', arguments: { object: 'employees', where: WHERE, limit: LIMIT, ...args } },
      }),
    });
  const ways = { GET: get, 'query_records with fields': callWith({ fields: FIELDS }), query_records: callWith({}) };
  const times = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
  for (let call = 0; call < Number(options.calls) + WARM_UP_CALLS; call++) {
    for (const [name, send] of Object.entries(ways)) {
      const ms = await timed(send);
      if (call >= WARM_UP_CALLS) times.get(name)?.push(ms);
    }
  }
  for (const [name, all] of times)
    console.log(`${name}: median ${quantile(all, 0.5).toFixed(2)} ms, p95 ${quantile(all, 0.95).toFixed(2)} ms`);
} finally {
  await service.stop();
  await rm(dataDir, { recursive: true, force: true });
}
