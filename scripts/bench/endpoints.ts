/**
 * Measures endpoints: `npm run bench:endpoints [-- --seconds 5] [--json file]`. First the cost of an endpoint that does not want an event, then
 * deliveries per second with endpoints of which one in five wants each event. PostgreSQL, sender and receiver are processes of their own on
 * loopback, and all of them share the machine. Ends by itself.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { compileWish, createChoice } from '../../src/events/endpoints/choose.ts';
import type { EventSource, NewEvent } from '../../src/events/model.ts';
import { createPacer } from '../../src/pace.ts';
import { drained, startLoadDatabase } from '../event-load/postgres.ts';
import { startReceiver, startSender } from '../event-load/processes.ts';
import { describeMachine, limitTo, round } from './measure.ts';

const { values: given } = parseArgs({
  options: { seconds: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const seconds = Number(given.seconds);
const COUNTS = [0, 1, 5, 20] as const;
const INSTANCES = [0, 1, 2, 3, 4] as const;
const BODY_BYTES = 1024;
const IN_FLIGHT = 500;
const DECISIONS = 20_000;
const LIMIT_MS = 10 * 60_000;

type Figures = Readonly<Record<string, number>>;

const source: EventSource = {
  ...{ accountId: 1, instanceId: 1, instanceName: 'Shop', tags: ['a', 'b'], elementKey: 'load', hub: 'general' },
  ...{ callbackUrl: undefined, isEnabled: true, signatureKey: undefined, ordered: false },
};
const event: NewEvent = {
  ...{ accountId: 1, instanceId: 1, type: 'deals.updated', objectName: 'deals', objectId: '7' },
  object: { id: '7', stage: 'Lost', amount: 100, owner: { name: 'Ada' } },
};
const UNWANTED = "objectName = 'deals' AND object.stage = 'Won' AND object.amount > 1000 AND instance.tags != 'c'";

/** Returns the microseconds that the decision about one event takes with this many endpoints, none of which wants it. */
async function decisionMicros(count: number): Promise<number> {
  const wish = compileWish({ eventTypes: ['*'], where: UNWANTED });
  const wanting = Array.from({ length: count }, (_, index) => {
    return { receiver: { subscriptionId: index, host: 'example.com', ordered: false }, ...wish };
  });
  const records = { record: async () => undefined, types: async () => undefined };
  const choose = createChoice(wanting, {
    records,
    pacer: createPacer(new AbortController().signal),
    clock: SYSTEM_CLOCK,
  });
  for (let done = 0; done < DECISIONS; done++) await choose(event, source);
  const startedAt = process.hrtime.bigint();
  for (let done = 0; done < DECISIONS; done++) await choose(event, source);
  return Number(process.hrtime.bigint() - startedAt) / 1000 / DECISIONS;
}

/** Without endpoints, each instance has a callback URL. With them, it has none, and its number decides which endpoints want its events. */
async function throughput(count: number): Promise<Figures> {
  const [database, receiver] = await Promise.all([startLoadDatabase(), startReceiver()]);
  try {
    const endpoints = Array.from({ length: count }, (_, index) => ({
      url: `${receiver.url}/endpoint-${index}`,
      where: `objectName = 'items' AND instance.id = ${index % INSTANCES.length} AND object.text LIKE 'x%'`,
    }));
    const callbackUrls = INSTANCES.map((id) => (count === 0 ? `${receiver.url}/callback-${id}` : null));
    const setup = { databaseUrl: database.url, accountIds: database.accountIds, bodyBytes: BODY_BYTES, options: {} };
    const sender = await startSender({ ...setup, callbackUrls, endpoints });
    const saturate = (firstNumber: number, forSeconds: number) =>
      sender.saturate({
        seconds: forSeconds,
        firstNumber,
        instanceIds: INSTANCES,
        inFlight: IN_FLIGHT,
        until: 'accept',
      });
    await saturate(0, 1);
    await drained(database.knex);
    await receiver.report();
    const startedMs = performance.now();
    const report = await saturate(10_000_000, seconds);
    await drained(database.knex);
    const elapsedSeconds = (performance.now() - startedMs) / 1000;
    const { received } = await receiver.report();
    await sender.stop();
    return {
      eventsPerSecond: Math.round(report.accepted / report.seconds),
      deliveriesPerSecond: Math.round(received / elapsedSeconds),
      deliveriesPerEvent: round(received / report.accepted),
      acceptP50Ms: round(report.accept.p50, 1),
      acceptP99Ms: round(report.accept.p99, 1),
      senderCpuMsPer1000Events: Math.round((report.cpuMs * 1000) / Math.max(1, report.accepted)),
    };
  } finally {
    await receiver.stop();
    await database.stop();
  }
}

limitTo(LIMIT_MS);
const decisions: Record<string, Figures> = {};
for (const count of COUNTS.slice(1)) {
  const micros = await decisionMicros(count);
  decisions[`${count} endpoints`] = {
    microsPerEvent: round(micros),
    microsPerEndpoint: round(micros / count),
  };
}
const results: Record<string, Figures> = {};
for (const count of COUNTS) results[count === 0 ? 'callback URLs' : `${count} endpoints`] = await throughput(count);
const conditions = {
  ...describeMachine(),
  besides: 'PostgreSQL (durable), sender, receiver and whatever else runs',
  bodyBytes: BODY_BYTES,
  secondsOfEach: seconds,
};
console.log(conditions);
console.log('The cost of endpoints that do not want an event:');
console.table(decisions);
console.log('Endpoints of which one in five wants each event:');
console.table(results);
if (given.json !== undefined)
  await writeFile(given.json, `${JSON.stringify({ conditions, decisions, results }, null, 2)}\n`);
