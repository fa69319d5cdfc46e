import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createSandbox, type ScriptCall, type ScriptJob, TRANSFORMATION_LIMITS } from '../../src/scripts/index.ts';

/**
 * Measures the sandbox of scripts: the start, the time per record, the memory of many different scripts, and for how long the thread of
 * the event loop stands still meanwhile. `node scripts/bench/scripts.ts`
 */
const PLAIN = `
  transformedObject.name = originalObject.first + ' ' + originalObject.last;
  transformedObject.isNew = originalObject.count === 0;
  done(transformedObject);`;
const WITH_LODASH = `const _ = require('lodash'); transformedObject.name = _.startCase(originalObject.first); done(transformedObject);`;
const WITH_ALL = `const r = require; transformedObject.at = r('moment')(originalObject.created).utc().format('YYYY'); done(transformedObject);`;

const originalObject = {
  ...{ id: '0031x00000', first: 'Ann', last: 'Lee', email: 'ann@example.com', phone: '+1 555 0100', count: 3 },
  ...{ created: '2024-01-01T00:00:00Z', tags: ['a', 'b'], address: { city: 'Paris', street: 'Rue', zip: '1' } },
};
const transformedObject = { id: '0031x00000', email: 'ann@example.com', phone: '+1 555 0100', city: 'Paris' };
const call: ScriptCall = { values: { originalObject, transformedObject, fromVendor: true } };

const sandbox = createSandbox({ clock: SYSTEM_CLOCK });

function run(body: string, records: number, job: Partial<ScriptJob> = {}): Promise<readonly unknown[]> {
  const parameters = ['originalObject', 'transformedObject', 'fromVendor'];
  const calls = new Array<ScriptCall>(records).fill(call);
  const limits = TRANSFORMATION_LIMITS;
  return sandbox.run({ owner: 1, body, parameters, mutable: ['transformedObject'], calls, limits, ...job });
}

async function measure(work: () => Promise<unknown>, times: number): Promise<number> {
  const all: number[] = [];
  for (let index = 0; index < times; index++) {
    const begin = performance.now();
    await work();
    all.push(performance.now() - begin);
  }
  return all.sort((one, other) => one - other)[Math.floor(times / 2)] ?? 0;
}

/** Measures the longest time between two turns. Without a core for itself, the thread also waits for the operating system. */
function watchTurns(): () => { readonly wallMs: number; readonly cpuMs: number } {
  const longest = { wallMs: 0, cpuMs: 0 };
  let last = { at: performance.now(), ...process.threadCpuUsage() };
  const timer = setInterval(() => {
    const now = { at: performance.now(), ...process.threadCpuUsage() };
    longest.wallMs = Math.max(longest.wallMs, now.at - last.at);
    longest.cpuMs = Math.max(longest.cpuMs, (now.user - last.user + now.system - last.system) / 1000);
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return longest;
  };
}

function megabytes(): number {
  return process.memoryUsage.rss() / 1024 / 1024;
}

function say(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(58)} ${value.toFixed(1).padStart(9)} ${unit}`);
}

say('start of the first thread, with one record', await measure(() => run(PLAIN, 1), 1), 'ms');
for (const [name, body] of Object.entries({ 'no library': PLAIN, lodash: WITH_LODASH, 'all libraries': WITH_ALL })) {
  say(`first use, ${name}`, await measure(() => run(body, 1), 1), 'ms');
  for (const records of [1, 25, 200]) {
    await measure(() => run(body, records), 10);
    const ms = await measure(() => run(body, records), 60);
    say(`a record of ${records}, ${name}`, (ms * 1000) / records, 'µs');
  }
}

const before = megabytes();
for (const scripts of [1000, 10_000]) {
  const begin = performance.now();
  for (let index = 0; index < scripts; index++) await run(`${PLAIN} // ${index}`, 1, { owner: index });
  say(`${scripts} different scripts, each`, ((performance.now() - begin) * 1000) / scripts, 'µs');
  say(`memory after ${scripts} more scripts`, megabytes() - before, 'MB more');
}

const HOSTILE = {
  loops: 'while (true);',
  hangs: '[].indexOf.call({ length: 2 ** 53 - 1 }, 1);',
  'memory bombs': 'const all = []; while (true) all.push({});',
  'long texts': "done('x'.repeat(1e6));",
  'many values': 'done(new Array(199_000).fill(1));',
  'long consoles': "for (let i = 0; i < 1000; i++) console.log('x'.repeat(1e4));",
};
for (const [name, body] of Object.entries(HOSTILE)) {
  const stop = watchTurns();
  await Promise.all([1, 2, 3, 4].map((owner) => run(body, 8, { owner })));
  const { wallMs, cpuMs } = stop();
  say(`longest turn of the event loop: ${name}`, wallMs, 'ms');
  say(`  of which CPU time of its thread`, cpuMs, 'ms');
}
await sandbox.close();
