/**
 * Measures what the tool `query_records` adds to the plain GET with the same fields: `node scripts/bench/agents.ts [--calls 500]`. The requests
 * go one after another on kept connections to a service with the simulator of BambooHR, in turns, so that both meet the same machine.
 */
import { quantile, readNumbers } from './measure.ts';
import { connectDemo, QUERY, type RunningService, UNLIMITED, withService } from './running-service.ts';

const WARM_UP_CALLS = 100;

const { calls } = readNumbers({ calls: 500 });

async function timed(send: () => Promise<Response>): Promise<number> {
  const startedMs = performance.now();
  const response = await send();
  const text = await response.text();
  const ms = performance.now() - startedMs;
  if (!response.ok || text.includes('"isError":true')) throw new Error(text);
  return ms;
}

async function waysOf(service: RunningService): Promise<Readonly<Record<string, () => Promise<Response>>>> {
  const { id } = await connectDemo(service);
  const body = { name: 'bench', access: 'read', instances: [id] };
  const { key } = await service.call<{ readonly key: string }>('/keys', { body });
  const authorization = `Bearer ${key}`;
  const { where, fields, pageSize } = QUERY;
  const callWith = (more: object) => () => {
    const args = { object: 'employees', where, limit: Number(pageSize), ...more };
    const params = { name: 'query_records', arguments: args };
    return fetch(new URL('/mcp', service.baseUrl), {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
  };
  return {
    GET: () => fetch(`${service.baseUrl}/employees?${new URLSearchParams(QUERY)}`, { headers: { authorization } }),
    'query_records with fields': callWith({ fields: fields.split(',') }),
    query_records: callWith({}),
  };
}

await withService({ environment: UNLIMITED }, async (service) => {
  const ways = Object.entries(await waysOf(service)).map(([name, send]) => ({ name, send, times: [] as number[] }));
  for (let call = 0; call < calls + WARM_UP_CALLS; call++) {
    for (const { send, times } of ways) {
      const ms = await timed(send);
      if (call >= WARM_UP_CALLS) times.push(ms);
    }
  }
  for (const { name, times } of ways)
    console.log(`${name}: median ${quantile(times, 0.5).toFixed(2)} ms, p95 ${quantile(times, 0.95).toFixed(2)} ms`);
});
