/**
 * Measures what the TypeScript client adds to a call: `npm run bench:sdk`, after `npm run sdk typescript`. One caller,
 * one call after the other, to a service on loopback: with the client, with `fetch`
 * alone, and with a `curl` for each call as a script has it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type RunningService, startService, UNLIMITED } from './running-service.ts';

const CLIENT = resolve(import.meta.dirname, '../../generated/sdk/typescript/dist/esm/src/index.js');
const WARM_UP = 200;
const CALLS = 2_000;
const CURLS = 50;

interface Client {
  readonly hubs: { readonly listHubs: () => Promise<readonly unknown[]> };
}

type MakeClient = new (options: Readonly<Record<string, string>>) => Client;

/** The callers take turns, so that what else the machine does slows all of them alike. @returns the median time of each, in milliseconds */
async function medians(count: number, callers: Readonly<Record<string, () => Promise<unknown>>>) {
  const results = Object.entries(callers).map(([name, call]) => ({ name, call, times: [] as number[] }));
  for (let round = 0; round < count; round++) {
    for (const { call, times } of results) {
      const start = performance.now();
      await call();
      times.push(performance.now() - start);
    }
  }
  return results.map(({ name, times }) => ({
    name,
    ms: times.toSorted((one, other) => one - other)[Math.floor(count / 2)] ?? 0,
  }));
}

async function measure({ baseUrl, secrets, authorization }: RunningService): Promise<void> {
  const { Causeway }: { readonly Causeway: MakeClient } = await import(pathToFileURL(CLIENT).href);
  const causeway = new Causeway({ url: baseUrl, ...secrets });
  const url = `${baseUrl}/hubs`;
  const headers = { Authorization: authorization };
  const curl = promisify(execFile);
  const callers = {
    'the client': () => causeway.hubs.listHubs(),
    'fetch alone': async () => (await fetch(url, { headers })).json(),
  };
  await medians(WARM_UP, callers);
  const started = { 'a curl for each call': () => curl('curl', ['-s', url, '-H', `Authorization: ${authorization}`]) };
  const results = [...(await medians(CALLS, callers)), ...(await medians(CURLS, started))];
  for (const { name, ms } of results) console.log(`${name}: ${ms.toFixed(2)} ms`);
}

const folder = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
const service = await startService({ dataDir: join(folder, 'data'), environment: UNLIMITED });
try {
  await measure(service);
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
