/** The healthy tenant, on a thread of its own, so that what the attacker does in this process does not delay its clock. */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { DEMO, QUERY } from '../../bench/running-service.ts';
import type { HealthyCommand, HealthySamples, HealthySetup, Phase } from './messages.ts';

const { baseUrl, authorization, userSecret, perSecond }: HealthySetup = workerData;
const GIVE_UP_MS = 15_000;
const FIRST_EVENTS = 10;

type Samples = { readonly [Name in keyof HealthySamples]: HealthySamples[Name][number][] };

const agent = new Agent({ keepAlive: true });
const samples = new Map<Phase, Samples>();
const running = new Map<Phase, Set<Promise<void>>>();
const arrivals = new Map<number, () => void>();
let phase: Phase = 'ignored';
let lastEvent = 0;

const receiver = createServer((incoming, response) => {
  text(incoming).then((body) => {
    response.writeHead(204).end();
    arrivals.get(Number(/"number":(\d+)/.exec(body)?.[1]))?.();
  });
});
await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
const instance = await createInstance(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`);
const onInstance = `User ${userSecret}, Element ${instance.token}`;

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly authorization: string;
  readonly body?: object;
}

function send({ method = 'GET', path, authorization, body }: Call): Promise<string> {
  const headers = { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(GIVE_UP_MS);
    const sent = request(baseUrl + path, { method, agent, headers, signal }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(answer);
        else
          reject(new Error(`${method} ${path.split('?')[0]} returned ${response.statusCode} ${answer.slice(0, 200)}`));
      }, reject);
    });
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function createInstance(callbackUrl: string): Promise<{ readonly id: number; readonly token: string }> {
  const configuration = {
    ...DEMO,
    'event.notification.enabled': true,
    'event.notification.callback.url': callbackUrl,
  };
  const body = { element: { key: 'bamboohr' }, name: 'healthy', configuration };
  return JSON.parse(await send({ method: 'POST', path: '/instances', authorization, body }));
}

async function call(what: Call, dueAt: number, { callMs }: Samples): Promise<void> {
  await send(what);
  callMs.push(performance.now() - dueAt);
}

async function sendEvent(dueAt: number, into: Samples): Promise<void> {
  const number = ++lastEvent;
  const arrived = Promise.withResolvers<void>();
  arrivals.set(number, arrived.resolve);
  const late = setTimeout(() => arrived.reject(new Error('an event did not arrive')), GIVE_UP_MS);
  try {
    const body = { instanceId: instance.id, data: { number } };
    const accepted = call({ method: 'POST', path: '/events/test', authorization, body }, dueAt, into);
    await Promise.all([accepted, arrived.promise]);
    into.eventMs.push(performance.now() - dueAt);
  } finally {
    clearTimeout(late);
    arrivals.delete(number);
  }
}

const query = (dueAt: number, into: Samples) =>
  call({ path: `/employees?${new URLSearchParams(QUERY)}`, authorization: onInstance }, dueAt, into);
const list = (dueAt: number, into: Samples) => call({ path: '/instances', authorization }, dueAt, into);
const CALLS = [query, list, query, list, sendEvent];

function samplesOf(of: Phase): Samples {
  const known = samples.get(of) ?? { callMs: [], eventMs: [], failures: [] };
  samples.set(of, known);
  return known;
}

/** Sends requests at fixed times, whatever the responses are. A client that waits for each response would not notice a pause. */
async function runForEver(): Promise<void> {
  const beganAt = performance.now();
  for (let number = 0; ; number++) {
    const dueAt = beganAt + (number * 1000) / perSecond;
    await sleep(Math.max(0, dueAt - performance.now()));
    run(dueAt, number);
  }
}

function run(dueAt: number, number: number): void {
  const into = samplesOf(phase);
  const under = running.get(phase) ?? new Set();
  running.set(phase, under);
  const done = CALLS[number % CALLS.length]?.(dueAt, into)
    .catch((error: unknown) => void into.failures.push(error instanceof Error ? error.message : String(error)))
    .finally(() => under.delete(done ?? Promise.resolve()));
  if (done !== undefined) under.add(done);
}

async function take(of: Phase): Promise<void> {
  await Promise.all(running.get(of) ?? []);
  parentPort?.postMessage(samplesOf(of));
  samples.delete(of);
}

parentPort?.on('message', (command: HealthyCommand) => {
  if (command.kind === 'phase') phase = command.phase;
  else void take(command.phase);
});

for (let event = 0; event < FIRST_EVENTS; event++) await sendEvent(performance.now(), samplesOf('ignored'));
parentPort?.postMessage('ready');
void runForEver();
