import { createServer } from 'node:http';
import { defineConnector, defineObject, json } from '#connector';
import { createBudget } from '#connector/simulator';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { listen } from '../../suite/listen.ts';
import { stopServer } from '../../suite/stop-server.ts';

const ROWS = 300;
const PAGE_SIZE = 10;

/** An element whose provider accepts a number of calls in each window of time, and reports what is left. */
export const LIMITED = defineConnector({
  key: 'limited',
  id: 990_781,
  name: 'Limited',
  description: 'A provider with a rate limit.',
  hub: 'general',
  auth: { type: 'none' },
  configuration: [{ key: 'base.url', type: 'url', required: true, description: 'Where it is.' }],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  objects: {
    rows: defineObject({
      fields: { id: { type: 'string' } },
      list: {
        maxPageSize: PAGE_SIZE,
        request: ({ cursor = '0' }) => ({ path: '/rows', query: { from: cursor } }),
        read: ({ body }, { cursor = '0' }) => {
          const records = json.array(body, 'rows');
          const next = Number(cursor) + records.length;
          return { records, ...(next < ROWS && { next: String(next) }) };
        },
      },
      get: { request: ({ id }) => ({ path: `/rows/${Number(id)}` }), read: ({ body }) => body },
    }),
  },
});

export type LimitedProvider = Awaited<ReturnType<typeof startLimitedProvider>>;

/** Starts a provider of `LIMITED` that accepts `calls` calls in each window, and responds after `latencyMs`. */
export async function startLimitedProvider(options: {
  readonly calls: number;
  readonly windowMs: number;
  readonly latencyMs?: number;
}) {
  const { calls, windowMs, latencyMs = 20 } = options;
  /** All calls so far, and those that were refused. */
  const counts = { calls: 0, refused: 0 };
  let isLimited = true;
  const budget = createBudget({
    calls,
    windowMs,
    clock: SYSTEM_CLOCK,
    headers: ({ left, resetMs }) => ({
      'ratelimit-limit': String(calls),
      'ratelimit-remaining': String(left),
      'ratelimit-reset': String(Math.ceil(resetMs / 1000)),
    }),
  });
  /** Returns the status and the headers of a response. */
  const take = (): { readonly status: number; readonly headers: Readonly<Record<string, string>> } => {
    counts.calls++;
    if (!isLimited) return { status: 200, headers: {} };
    try {
      return { status: 200, headers: budget.take() };
    } catch (error) {
      counts.refused++;
      return { status: 429, headers: Object(error).headers };
    }
  };
  const server = createServer((request, response) => {
    const { status, headers } = take();
    const url = new URL(request.url ?? '/', 'http://limited');
    const from = Number(url.searchParams.get('from') ?? 0);
    const page = Array.from({ length: Math.min(PAGE_SIZE, ROWS - from) }, (_, index) => ({ id: String(from + index) }));
    const body = status === 200 ? (url.pathname === '/rows' ? page : { id: url.pathname.split('/').at(-1) }) : {};
    const respond = () =>
      response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body));
    SYSTEM_CLOCK.after(latencyMs, respond);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    /** Sets whether calls are counted against the limit. */
    limit: (isOn: boolean) => {
      isLimited = isOn;
    },
    close: () => stopServer(server),
  };
}
