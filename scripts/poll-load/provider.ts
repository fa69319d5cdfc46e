/**
 * The provider of a measurement, in a process of its own, and the receiver of the events that are made of its changes: so one clock tells
 * how long each took, and one list which are missing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve, tell } from '../event-load/child.ts';
import { createLatencyRecorder, nowMicros } from '../event-load/clock.ts';
import type { NewestThing, Pace, ProviderCommand, ProviderReport } from './messages.ts';

interface Thing {
  readonly id: string;
  readonly version: number;
  readonly createdMs: number;
  readonly updatedMs: number;
}

interface Change {
  readonly tenant: number;
  readonly id: string;
  readonly madeMicros: number;
  servedMicros: number | undefined;
  readonly webhookIds: Set<string>;
}

const TEXT = 'x'.repeat(300);
const TICK_MS = 10;
const HOUR_MS = 3_600_000;
/** Of changes: those that make a record. The others change one whose event has come, so that no change hides another. */
const NEW_SHARE = 0.3;

const tenants: Map<string, Thing>[] = [];
/** By record and version. */
const changes = new Map<string, Change>();
/** Records of each tenant whose last event came. */
const settled: string[][] = [];
const fromChange = createLatencyRecorder();
const fromResponse = createLatencyRecorder();
let calls = 0;
let repeated = 0;
let unknown = 0;
let nextId = 0;
let timer: NodeJS.Timeout | undefined;
let late = 0;
let slow = 0;

const keyOf = (id: string, version: number) => `${id}@${version}`;

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  if (request.method === 'POST') return receive(request, response);
  answer(new URL(request.url ?? '/', 'http://provider'), response);
});

function answer({ pathname, searchParams }: URL, response: ServerResponse): void {
  const [, , tenant = ''] = pathname.split('/');
  const things = pathname === '/me' ? [] : listOf(Number(tenant), searchParams);
  calls++;
  const send = () => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ things }));
  if (slow > 0) setTimeout(send, Math.random() * slow);
  else send();
}

function listOf(tenant: number, query: URLSearchParams): readonly object[] {
  const sinceMs = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z');
  const sign = query.get('order')?.startsWith('updated desc') === true ? -1 : 1;
  const offset = Number(query.get('offset') ?? 0);
  const found = [...(tenants[tenant]?.values() ?? [])]
    .filter(({ updatedMs }) => updatedMs >= sinceMs)
    .sort((a, b) => sign * (a.updatedMs - b.updatedMs) || (a.id < b.id ? -1 : 1))
    .slice(offset, offset + Number(query.get('limit') ?? 200));
  return found.map(show);
}

function show({ id, version, createdMs, updatedMs }: Thing): object {
  const change = changes.get(keyOf(id, version));
  if (change !== undefined) change.servedMicros ??= nowMicros();
  const [updated, created] = [new Date(updatedMs).toISOString(), new Date(createdMs).toISOString()];
  return { id, version, text: TEXT, updated, created };
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('error', () => response.destroy());
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    note(JSON.parse(Buffer.concat(chunks).toString()), String(request.headers['webhook-id']));
    response.writeHead(204).end();
  });
}

function note({ data }: { data: { object?: { id: string; version: number } } }, webhookId: string): void {
  const change = data.object && changes.get(keyOf(data.object.id, data.object.version));
  if (change === undefined) {
    unknown++;
    return;
  }
  if (change.webhookIds.has(webhookId)) repeated++;
  if (change.webhookIds.size === 0) {
    const micros = nowMicros();
    fromChange.note(micros - change.madeMicros);
    fromResponse.note(micros - (change.servedMicros ?? micros));
    settled[change.tenant]?.push(change.id);
  }
  change.webhookIds.add(webhookId);
}

function fill(count: number, records: number): readonly NewestThing[] {
  // Between two seconds: a time of a whole second does not tell versions apart by itself.
  const nowMs = Math.floor(Date.now() / 1000) * 1000 + 1;
  const newest: NewestThing[] = [];
  for (let tenant = 0; tenant < count; tenant++) {
    const things = new Map<string, Thing>();
    for (let index = 0; index < records; index++) {
      const id = `r${nextId++}`;
      const atMs = nowMs - HOUR_MS * (records - index);
      things.set(id, { id, version: 1, createdMs: atMs, updatedMs: atMs });
      newest[tenant] = { id, updated: new Date(atMs).toISOString() };
    }
    tenants.push(things);
    settled.push([...things.keys()]);
  }
  return newest;
}

/** Its time is that of its beginning, and it is seen when it is committed, as with databases. */
function change(tenant: number): void {
  const things = tenants[tenant];
  const ids = settled[tenant];
  if (things === undefined || ids === undefined) return;
  const id = Math.random() < NEW_SHARE || ids.length === 0 ? `r${nextId++}` : (ids.shift() ?? '');
  const nowMs = Date.now();
  const before = things.get(id);
  const version = (before?.version ?? 0) + 1;
  const madeMicros = nowMicros();
  setTimeout(() => {
    changes.set(keyOf(id, version), { tenant, id, madeMicros, servedMicros: undefined, webhookIds: new Set() });
    things.set(id, { id, version, createdMs: before?.createdMs ?? nowMs, updatedMs: nowMs });
  }, Math.random() * late);
}

function begin({ perSecond, mostLateMs, mostSlowMs }: Pace): void {
  late = mostLateMs;
  slow = mostSlowMs;
  const startedMs = performance.now();
  let made = 0;
  timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1000) * perSecond;
    for (; made < due; made++) change(Math.floor(Math.random() * tenants.length));
  }, TICK_MS);
}

async function end(): Promise<void> {
  clearInterval(timer);
  await new Promise((resolve) => setTimeout(resolve, late + TICK_MS));
}

function report(): ProviderReport {
  const all = [...changes.values()];
  return {
    calls,
    changes: all.length,
    missing: all.filter(({ webhookIds }) => webhookIds.size === 0).length,
    repeated,
    acceptedTwice: all.filter(({ webhookIds }) => webhookIds.size > 1).length,
    unknown,
    fromChange: fromChange.take(),
    fromResponse: fromResponse.take(),
  };
}

await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, resolve));
const { port } = server.address() as AddressInfo;

serve<ProviderCommand>(async (command) => {
  switch (command.kind) {
    case 'fill':
      return fill(command.tenants, command.records);
    case 'begin':
      return begin(command.pace);
    case 'end':
      return end();
    case 'report':
      return report();
  }
});
tell({ kind: 'ready', url: `http://127.0.0.1:${port}` });
