/**
 * Measures the discovery of an OData service as large as one of SAP S/4HANA: `npm run bench:metadata [-- --json]`.
 * Every object is then used once. Figures in milliseconds; a stall is CPU time of the main thread without a turn of its event loop.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import odata from '../../connectors/odata/index.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createByteBudget, type ProviderClient } from '../../src/connector/client/index.ts';
import { AppError } from '../../src/errors.ts';
import { composeResources } from '../../src/resources/index.ts';
import { printLargeMetadata } from './s4-metadata.ts';

const { values: options } = parseArgs({ options: { json: { type: 'boolean', default: false } } });

const document = printLargeMetadata();
const signal = new AbortController().signal;
const client: ProviderClient = {
  send: () => Promise.reject(new Error('Discovery runs in execute.')),
  sendForFile: () => Promise.reject(new Error('There are no files.')),
  upload: () => Promise.reject(new Error('There are no files.')),
  pass: () => Promise.reject(new Error('Nothing is passed on.')),
  judge: () => new AppError('INTERNAL', 'Nothing is judged.'),
  preview: () => ({ method: 'GET', url: '' }),
  execute: async (operation, input, { config }) => {
    if (!('run' in operation)) throw new Error('Nothing is called but discovery.');
    return operation.run({ config, signal, send: async () => ({ status: 200, headers: {}, body: document }) }, input);
  },
};
const keys = { seal: (plain: string) => plain, open: (sealed: string) => sealed };
const budget = createByteBudget(Number.POSITIVE_INFINITY);
const resources = composeResources(
  { clock: SYSTEM_CLOCK, keys },
  { client, budget, tokensOf: () => undefined, noteCredentials: async () => {} },
);
const instance = {
  accountId: 1,
  id: 1,
  settingsVersion: 1,
  connector: odata,
  config: { 'base.url': 'https://demo.example.com' },
  disabled: false,
  intact: true,
  valid: true,
  refusedCalls: [],
};

interface Measured<Result> {
  readonly result: Result;
  readonly wallMs: number;
  /** The longest stretch without a turn of the event loop, by the CPU time of this thread. */
  readonly stallMs: number;
}

async function measure<Result>(work: () => Promise<Result>): Promise<Measured<Result>> {
  let stallMs = 0;
  let measuring = true;
  const watch = async () => {
    for (let before = process.threadCpuUsage(); measuring; before = process.threadCpuUsage()) {
      await new Promise((resolve) => setImmediate(resolve));
      const { user, system } = process.threadCpuUsage(before);
      stallMs = Math.max(stallMs, (user + system) / 1000);
    }
  };
  const watching = watch();
  const startedAtMs = performance.now();
  const result = await work();
  const wallMs = performance.now() - startedAtMs;
  await new Promise((resolve) => setImmediate(resolve));
  measuring = false;
  await watching;
  return { result, wallMs, stallMs };
}

async function heapMegabytes(): Promise<number> {
  await sleep(100);
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

const before = await heapMegabytes();
const listed = await measure(() => resources.listObjects({ instance, signal }));
const afterListing = await heapMegabytes();
const names = Object.keys(listed.result);
const [first = ''] = names;
const described = await measure(() => resources.getObject({ instance, objectName: first, signal }));
let worst = described;
for (const objectName of names) {
  const each = await measure(() => resources.getObject({ instance, objectName, signal }));
  if (each.stallMs > worst.stallMs) worst = each;
}
const afterAll = await heapMegabytes();
const fields = Object.keys(worst.result.fields).length;

const figures = {
  documentMegabytes: round(Buffer.byteLength(document) / 1024 / 1024),
  objects: names.length,
  listMs: round(listed.wallMs),
  listStallMs: round(listed.stallMs),
  describeFirstMs: round(described.wallMs),
  describeWorstStallMs: round(worst.stallMs),
  fieldsOfWorst: fields,
  keptAfterListingMegabytes: round(afterListing - before),
  keptAfterDescribingAllMegabytes: round(afterAll - before),
};
if (options.json) console.log(JSON.stringify(figures));
else console.table(figures);

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
