/** The receiver of a measurement, in a process of its own. It counts requests and responds as its behaviour is set. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve, tell } from './channel.ts';
import { createLatencyRecorder, type LatencyRecorder, nowMicros } from './clock.ts';
import {
  type Behaviour,
  type ChildMessage,
  type ReceivedNumbers,
  type ReceiverCommand,
  type ReceiverReport,
  readObjectId,
} from './messages.ts';

/** Number of arrivals of each event, by path of an endpoint. Callback URLs share one entry, because each event goes to one of them. */
const seen = new Map<string, Map<number, number>>();
const ENDPOINT = /^\/endpoint-\d+$/;
const ids = new Set<string>();
const behaviours = new Map<string, Behaviour>();
const latencies = new Map<string, LatencyRecorder>();
let received = 0;
let cpu = process.cpuUsage();

const ANSWERS: Readonly<Record<Behaviour, (response: ServerResponse) => void>> = {
  answer: (response) => response.writeHead(204).end(),
  fail: (response) => response.writeHead(500).end(),
  hang: () => {},
  refuse: (response) => response.socket?.resetAndDestroy(),
};

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('latin1')));
  request.on('error', () => response.destroy());
});

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const path = request.url ?? '/';
  const behaviour = behaviours.get(path) ?? behaviours.get('/') ?? 'answer';
  if (behaviour === 'answer') note(path, request, body);
  ANSWERS[behaviour](response);
}

function note(path: string, request: IncomingMessage, body: string): void {
  const { number, scheduledMicros } = readObjectId(body);
  const place = ENDPOINT.test(path) ? path : '';
  const seenThere = seen.get(place) ?? new Map<number, number>();
  seen.set(place, seenThere);
  const times = seenThere.get(number) ?? 0;
  seenThere.set(number, times + 1);
  ids.add(String(request.headers['webhook-id']));
  received++;
  // Only the first delivery of an event counts for the latency, because a second one is always late.
  if (times === 0) recorderOf(path).note(nowMicros() - scheduledMicros);
}

function recorderOf(path: string): LatencyRecorder {
  const known = latencies.get(path);
  if (known !== undefined) return known;
  const recorder = createLatencyRecorder();
  latencies.set(path, recorder);
  return recorder;
}

function report(paths: readonly string[] | undefined): ReceiverReport {
  const merged = createLatencyRecorder();
  for (const [path, recorder] of latencies)
    recorder.drainInto(paths === undefined || paths.includes(path) ? merged : undefined);
  const { user, system } = process.cpuUsage(cpu);
  const result = { received, latency: merged.take(), cpuMs: (user + system) / 1000 };
  received = 0;
  cpu = process.cpuUsage();
  return result;
}

function numbers(): ReceivedNumbers {
  const all = [...seen.values()].flatMap((places) => [...places.values()]);
  const total = all.reduce((sum, times) => sum + times, 0);
  const { '': own = [], ...ofEndpoints } = Object.fromEntries(
    [...seen].map(([place, times]) => [place, [...times.keys()]] as const),
  );
  return { numbers: own, ofEndpoints, duplicates: total - all.length, distinctIds: ids.size };
}

function listen(port: number): Promise<void> {
  return new Promise((resolve) => server.listen({ port, host: '127.0.0.1', backlog: 2048 }, resolve));
}

function close(): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

await listen(0);
const { port } = server.address() as AddressInfo;

serve<ReceiverCommand>(async (command) => {
  switch (command.kind) {
    case 'behave':
      return void behaviours.set(command.path, command.behaviour);
    case 'listen':
      return command.on ? listen(port) : close();
    case 'report':
      return report(command.paths);
    case 'numbers':
      return numbers();
    case 'stop':
      return close();
  }
});
tell({ url: `http://127.0.0.1:${port}` } satisfies ChildMessage);
